/* verdict.c - what a run left in its buffers, against float64
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trial.h"

#include "../tools/convert.h"
#include "../tools/reference.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads an image back. 1 when nothing outside the rows of `x` differs from what was there; x->value gets the rows. x is
 * NULL for an input, where nothing may differ. */
static int fetch(struct image *im, struct tensor *x, cl_command_queue queue)
{
    unsigned char *now = malloc(im->size + 1);
    int64_t b, h, n;
    int same;
    if (!now || (im->size && clEnqueueReadBuffer(queue, im->mem, CL_TRUE, 0, im->size, now, 0, NULL, NULL))) {
        free(now);
        return 0;
    }
    for (b = 0; x && b < x->n[0]; b++)
        for (h = 0; h < x->n[1]; h++)
            for (n = 0; n < x->n[2]; n++) {
                size_t size = convert_size(x->type), at = tensor_at(x, b, h, n) * size;
                convert_load(x->type, now + at, tensor_row(x, b, h, n), (size_t)x->width);
                memcpy(im->byte + at, now + at, (size_t)x->width * size);
            }
    same = !memcmp(im->byte, now, im->size);
    free(now);
    return same;
}

int trial_fetch(struct trial *t, cl_command_queue queue, char *why, size_t len)
{
    static const char *const name[5] = { "Q", "K", "V", "O", "LSE" };
    int i;
    for (i = 0; i < 5; i++)
        if (t->image[i].mem && !fetch(&t->image[i], i == 3 ? &t->o : i == 4 && t->c.lse ? &t->lse : NULL, queue)) {
            snprintf(why, len, "bytes outside the result changed in the buffer of %s", name[i]);
            return 0;
        }
    return 1;
}

int trial_reference(const struct trial *t, double *o, double *lse, double *conditioning)
{
    const clattn_problem *p = &t->c.problem;
    struct reference r = { 0 };
    r.b = t->sizes.b;
    r.h = t->sizes.h;
    r.hk = t->sizes.hk;
    r.nq = t->sizes.nq;
    r.nk = t->sizes.nk;
    r.d = t->d;
    r.dv = t->dv;
    r.scale = p->scale != 0 || p->flags & CLATTN_SCALE ? p->scale : 1 / sqrt((double)t->d);
    r.causal = p->causal;
    r.align = p->align;
    r.offset = t->sizes.offset;
    r.q_len = t->q_len;
    r.kv_len = t->kv_len;
    r.kv_start = t->kv_start;
    r.offsets = t->offsets;
    return reference_forward(&r, t->q.value, t->k.value, t->v.value, o, lse, conditioning);
}

double trial_largest(const struct trial *t)
{
    double most = 0;
    int64_t b, h, n, i;
    for (b = 0; b < t->v.n[0]; b++)
        for (h = 0; h < t->v.n[1]; h++)
            for (n = t->kv_start[b]; n < t->kv_len[b]; n++)
                for (i = 0; i < t->v.width; i++)
                    most = fmax(most, fabs(tensor_row(&t->v, b, h, n)[i]));
    return most;
}

/* 1 when every element of `x` is within `bound` of `want`, and exact where the row sees nothing (lse -inf). */
static int compare(const struct tensor *x, const char *name, const double *want, const double *lse, double bound,
                   char *why, size_t len)
{
    int64_t i, n = tensor_count(x), bad = -1;
    double worst = 0;
    for (i = 0; i < n; i++) {
        int exact = lse[i / x->width] == -INFINITY;
        double error = x->value[i] == want[i] ? 0 : exact ? INFINITY : fabs(x->value[i] - want[i]);
        if (!(error <= bound) && !(error <= worst)) { /* NaN is an error too */
            worst = isnan(error) ? INFINITY : error;
            bad = i;
        }
    }
    if (bad >= 0) {
        int64_t row = bad / x->width;
        snprintf(why, len, "%s[b %lld, h %lld, q %lld, %lld] is %.9g, want %.9g: error %.3g, bound %.3g", name,
                 (long long)(row / x->n[2] / x->n[1]), (long long)(row / x->n[2] % x->n[1]), (long long)(row % x->n[2]),
                 (long long)(bad % x->width), x->value[bad], want[bad], worst, bound);
    }
    return bad < 0;
}

static int judge(struct trial *t, double *o, double *lse, char *why, size_t len)
{
    double conditioning = 0;
    if (trial_reference(t, o, lse, &conditioning)) {
        snprintf(why, len, "the reference ran out of memory");
        return 0;
    }
    if (!compare(&t->o, "O", o, lse, reference_bound_o(t->o.type, conditioning, trial_largest(t)), why, len))
        return 0;
    return !t->c.lse || compare(&t->lse, "LSE", lse, lse, reference_bound_lse(t->o.type, conditioning), why, len);
}

int trial_verify(struct trial *t, cl_command_queue queue, char *why, size_t len)
{
    double *o, *lse;
    int good;
    if (!trial_fetch(t, queue, why, len))
        return 0;
    o = calloc((size_t)tensor_count(&t->o) + 1, sizeof *o);
    lse = calloc((size_t)tensor_count(&t->lse) + 1, sizeof *lse);
    good = o && lse && judge(t, o, lse, why, len);
    free(o);
    free(lse);
    return good;
}
