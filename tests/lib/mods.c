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

/* By the least distance of each. */
static int64_t bucket(const struct at *at)
{
    static const int64_t least[16] = { 0, 1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 23, 32, 46, 64, 91 };
    int64_t i = 15;
    while (llabs(at->q - at->k) < least[i])
        i--;
    return i;
}
static double relative_bias(const struct at *at, double s)
{
    return s + captured(at->x, "table", 32 * at->h + (at->k > at->q ? 16 : 0) + bucket(at));
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

static double head_scale(const struct at *at, double s)
{
    return s * captured(at->x, "factor", at->h);
}

/* ---- Derivatives ---- */

/* A derivative, and the size of what it is added up from. */
struct slope {
    double x, size;
};

static struct slope slope_of_softcap(const struct at *at, double s)
{
    (void)at;
    return (struct slope){ 1 / (cosh(s / 30) * cosh(s / 30)), 1 };
}

static struct slope slope_of_head_scale(const struct at *at, double s)
{
    const double factor = captured(at->x, "factor", at->h);
    (void)s;
    return (struct slope){ factor, fabs(factor) };
}

/* The logistic function of twice what tanh_gate is told, and its derivative by that. */
static double openness(const struct at *at, double s, double *steep)
{
    const double open = captured(at->x, "gate", at->h) * s + captured(at->x, "level", at->b);
    const double part = 1 / (1 + exp(-2 * open));
    *steep = 2 * part * (1 - part);
    return part;
}
static struct slope slope_of_tanh_gate(const struct at *at, double s)
{
    double steep;
    const double part = openness(at, s, &steep), gate = captured(at->x, "gate", at->h);
    return (struct slope){ part + s * steep * gate, 1 + fabs(s * gate) };
}
static struct slope by_level(const struct at *at, double s)
{
    double steep;
    (void)openness(at, s, &steep);
    return (struct slope){ s * steep, fabs(s) };
}
static struct slope by_gate(const struct at *at, double s)
{
    return (struct slope){ s * by_level(at, s).x, s * s };
}
static struct slope by_factor(const struct at *at, double s)
{
    (void)at;
    return (struct slope){ s, fabs(s) };
}

static int64_t head_of(const struct at *at) { return at->h; }
static int64_t entry_of(const struct at *at) { return at->b; }
static int64_t key_of(const struct at *at) { return at->k; }
static int64_t pair_of(const struct at *at)
{
    return 32 * at->h + 4 * (int64_t)captured(at->x, "kind", at->q) + (int64_t)captured(at->x, "kind", at->k);
}
static int64_t bucket_of(const struct at *at)
{
    return 32 * at->h + (at->k > at->q ? 16 : 0) + bucket(at);
}

/* ---- The table ---- */

enum { LEARNT = 3 };
static const struct {
    const char *name;
    double (*change)(const struct at *at, double s);
    struct slope (*slope)(const struct at *at, double s); /* the derivative of that by s; NULL: 1, or dropped */
    struct {
        const char *name; /* of a captured buffer, of which one element matters */
        int64_t (*index)(const struct at *at);
        struct slope (*slope)(const struct at *at, double s); /* the derivative by that; NULL: 1 */
    } learnt[LEARNT];
} mods[] = {
    { "alibi.cl", alibi, NULL, { { NULL, NULL, NULL } } },
    { "causal.cl", causal, NULL, { { NULL, NULL, NULL } } },
    { "document.cl", document, NULL, { { NULL, NULL, NULL } } },
    { "head_scale.cl", head_scale, slope_of_head_scale, { { "factor", head_of, by_factor } } },
    { "pair_bias.cl", pair_bias, NULL, { { "table", pair_of, NULL } } },
    { "relative.cl", relative, NULL, { { NULL, NULL, NULL } } },
    { "relative_bias.cl", relative_bias, NULL, { { "table", bucket_of, NULL } } },
    { "softcap.cl", softcap, slope_of_softcap, { { NULL, NULL, NULL } } },
    { "strided.cl", strided, NULL, { { NULL, NULL, NULL } } },
    { "tanh_gate.cl", tanh_gate, slope_of_tanh_gate,
      { { "gate", head_of, by_gate }, { "level", entry_of, by_level }, { "worth", key_of, NULL } } },
};
enum { MODS = sizeof mods / sizeof *mods };

static size_t find(const char *name)
{
    size_t i = 0;
    while (i < MODS && strcmp(mods[i].name, name) != 0)
        i++;
    return i;
}

int mods_reference(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk)
{
    const struct extras *x = user;
    struct at at = { x, b, h, q, 0 };
    for (size_t n = 0; n < x->n_mods; n++) {
        const size_t i = find(x->mods[n].name);
        if (i == MODS)
            return -1;
        for (at.k = 0; at.k < nk; at.k++)
            if (keep[at.k] && !(n > 0 && s[at.k] == -INFINITY)) /* what one mod drops no other brings back */
                s[at.k] = mods[i].change(&at, s[at.k]);
    }
    return 0;
}

/* ---- Back ---- */

/* How far off a derivative by s may be that is computed: by functions of OpenCL, 5 units off, one on top of the other;
 * and by what is wrong with s. */
static double wrong_by(struct slope (*slope)(const struct at *, double), const struct at *at, double s, double a,
                       double u)
{
    const double step = 1e-4 * (1 + fabs(s));
    const double bend = fabs(slope(at, s + step).x - slope(at, s - step).x) / (2 * step);
    return 64 * u * slope(at, s).size + bend * u * (8 + 4 * a);
}

/* What element `index` of a captured buffer receives; more: of the sum's size. */
static void receive(const struct mods_gradients *g, const char *name, int64_t index, double x, double off, double more)
{
    for (size_t n = 0; n < g->x->n_aux; n++)
        if (!strcmp(g->x->aux[n].name, name) && g->daux[n]) {
            g->daux[n][index] += x;
            g->bound[n][index] += off + more * fabs(x);
        }
}

/* One element, back through mod i, whose score was s. */
static void differentiate(const struct mods_gradients *g, size_t i, const struct at *at, double s, double a,
                          const struct reference_mod_row *r)
{
    double *const ds = &r->ds[at->k], *const off = &r->off[at->k];
    for (int n = 0; n < LEARNT && mods[i].learnt[n].name; n++) {
        struct slope (*const slope)(const struct at *, double) = mods[i].learnt[n].slope;
        const double by = slope ? slope(at, s).x : 1, wrong = slope ? wrong_by(slope, at, s, a, r->u) : 0;
        receive(g, mods[i].learnt[n].name, mods[i].learnt[n].index(at), *ds * by, *off * fabs(by) + fabs(*ds) * wrong,
                r->more);
    }
    if (mods[i].slope) {
        const double factor = mods[i].slope(at, s).x;
        *off = *off * fabs(factor) + fabs(*ds) * wrong_by(mods[i].slope, at, s, a, r->u);
        *ds *= factor;
    }
}

int mods_back(void *user, const struct reference_mod_row *r)
{
    const struct mods_gradients *const g = user;
    const struct extras *const x = g->x;
    struct at at = { x, r->b, r->h, r->q, 0 };
    size_t which[CLATTN_MODS_MAX];
    for (size_t n = 0; n < x->n_mods; n++)
        if ((which[n] = find(x->mods[n].name)) == MODS)
            return -1;
    for (at.k = 0; at.k < r->nk; at.k++) {
        double s[CLATTN_MODS_MAX + 1] = { r->s[at.k] };
        if (r->ds[at.k] == 0 && r->off[at.k] == 0)
            continue;
        for (size_t n = 0; n < x->n_mods; n++)
            s[n + 1] = mods[which[n]].change(&at, s[n]);
        for (size_t n = x->n_mods; n--;)
            differentiate(g, which[n], &at, s[n], r->a[at.k], r);
    }
    return 0;
}
