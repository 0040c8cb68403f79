/* mods.c - the score_mods of examples/score_mods in float64, for the reference
 * SPDX-License-Identifier: Apache-2.0
 *
 * Written from what they are to compute, not from their texts. */
#include "config.h"

#include "tests/lib/mods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* One element; the buffers by name. */
struct at {
    const struct extras *x;
    int64_t b, h, q, k;
};

/* Element i of a captured buffer; NaN where there is none. */
static double captured(const struct extras *x, const char *name, int64_t i)
{
    for (size_t n = 0; n < x->n_aux; n++) {
        const struct aux *a = &x->aux[n];
        if (strcmp(a->name, name) != 0 || i < 0 || (size_t)i >= a->count)
            continue;
        return a->type == CLATTN_F32 ? (double)((const float *)a->data)[i]
               : a->type == CLATTN_I32 ? (double)((const int32_t *)a->data)[i]
                                       : (double)((const unsigned char *)a->data)[i];
    }
    return NAN;
}

static double alibi(const struct at *at, double s)
{
    return s - pow(2, (double)(-1 - at->h)) * (double)llabs(at->q - at->k);
}

static double causal(const struct at *at, double s)
{
    return at->k <= at->q ? s : -INFINITY;
}

static double document(const struct at *at, double s)
{
    return captured(at->x, "document", at->q) == captured(at->x, "document", at->k) ? s : -INFINITY;
}

static double pair_bias(const struct at *at, double s)
{
    const double kinds = 4 * captured(at->x, "kind", at->q) + captured(at->x, "kind", at->k);
    return s + captured(at->x, "table", 32 * at->h + (int64_t)kinds);
}

static double relative(const struct at *at, double s)
{
    return s - fmin((double)llabs(at->q - at->k), 64) / 16 - (at->k > at->q ? 1 : 0);
}

/* The least distance of each bucket. */
static double relative_bias(const struct at *at, double s)
{
    static const int64_t least[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91 };
    const int64_t distance = llabs(at->q - at->k);
    int64_t bucket = 15;
    while (distance < least[bucket])
        bucket--;
    return s + captured(at->x, "table", 32 * at->h + (at->k > at->q ? 16 : 0) + bucket);
}

static double softcap(const struct at *at, double s)
{
    (void)at;
    return 30 * tanh(s / 30);
}

static double strided(const struct at *at, double s)
{
    return at->k <= at->q && (at->q - at->k < 16 || at->k % 8 == 0) ? s : -INFINITY;
}

static double tanh_gate(const struct at *at, double s)
{
    const double open = captured(at->x, "gate", at->h) * s + captured(at->x, "level", at->b);
    return s / (1 + exp(-2 * open)) + captured(at->x, "worth", at->k);
}

static const struct {
    const char *name;
    double (*change)(const struct at *at, double s);
} mods[] = {
    { "alibi.cl", alibi },
    { "causal.cl", causal },
    { "document.cl", document },
    { "pair_bias.cl", pair_bias },
    { "relative.cl", relative },
    { "relative_bias.cl", relative_bias },
    { "softcap.cl", softcap },
    { "strided.cl", strided },
    { "tanh_gate.cl", tanh_gate },
};
enum { MODS = sizeof mods / sizeof *mods };

int mods_reference(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk)
{
    const struct extras *x = user;
    struct at at = { x, b, h, q, 0 };
    for (size_t n = 0; n < x->n_mods; n++) {
        size_t i = 0;
        while (i < MODS && strcmp(mods[i].name, x->mods[n].name) != 0)
            i++;
        if (i == MODS)
            return -1;
        for (at.k = 0; at.k < nk; at.k++)
            if (keep[at.k] && !(n > 0 && s[at.k] == -INFINITY)) /* what one mod drops no other brings back */
                s[at.k] = mods[i].change(&at, s[at.k]);
    }
    return 0;
}
