/* verdict.c - what a run left in its buffers, against float64
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trial.h"

#include "../tools/convert.h"
#include "../tools/verify.h"
#include "mods.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Reads an image back. 1 when nothing outside the rows of `x` differs from what was there; x->value gets the rows. x is
 * NULL for an input, where nothing may differ. */
static int fetch(const struct trial *t, struct image *im, struct tensor *x, cl_command_queue queue)
{
    unsigned char *now = image_read(im, queue);
    int64_t b, h, n;
    int same;
    if (!now)
        return 0;
    for (b = 0; x && b < x->n[0]; b++)
        for (h = 0; h < x->n[1]; h++)
            for (n = 0; n < x->n[2] && trial_stores(t, x, b, h, n); n++) {
                size_t size = convert_size(x->type), at = tensor_at(x, b, h, n) * size;
                convert_load(x->type, now + at, tensor_row(x, b, h, n), (size_t)x->width);
                memcpy(im->byte + at, now + at, (size_t)x->width * size);
            }
    same = !memcmp(im->byte, now, im->size);
    free(now);
    return same;
}

/* ---- What was given ---- */

/* How many cells of the mask this block has, and how many of them keep. */
static void count_block(const struct trial *t, const int64_t index[4], int64_t *all, int64_t *keep)
{
    const int64_t *shape = t->x.mask_shape, step[4] = { 1, 1, t->x.block_q, t->x.block_k };
    int64_t low[4], high[4], i[4];
    int axis;
    for (axis = 0; axis < 4; axis++) {
        low[axis] = shape[axis] == 1 ? 0 : index[axis] * step[axis];
        high[axis] = shape[axis] == 1 || low[axis] + step[axis] > shape[axis] ? shape[axis] : low[axis] + step[axis];
    }
    *all = *keep = 0;
    for (i[0] = low[0]; i[0] < high[0]; i[0]++)
        for (i[1] = low[1]; i[1] < high[1]; i[1]++)
            for (i[2] = low[2]; i[2] < high[2]; i[2]++)
                for (i[3] = low[3]; i[3] < high[3]; i[3]++) {
                    *keep += t->x.mask[((i[0] * shape[1] + i[1]) * shape[2] + i[2]) * shape[3] + i[3]] != 0;
                    ++*all;
                }
}

/* A map that the device made, or did not: 0 where no key is kept and only there, 2 only where all are. */
static int check_map(struct trial *t, const unsigned char *now, char *why, size_t len)
{
    int64_t index[4], i, all, keep;
    int blank = 1;
    for (i = 0; i < tensor4_count(&t->map); i++)
        blank = blank && now[tensor4_at(&t->map, i, index)] == NOT_MADE;
    for (i = 0; i < tensor4_count(&t->map) && !blank; i++) {
        const size_t at = tensor4_at(&t->map, i, index);
        count_block(t, index, &all, &keep);
        if ((now[at] == 0) != (keep == 0) || (now[at] == 2 && keep != all) || now[at] > 2) {
            snprintf(why, len, "block map[%lld,%lld,%lld,%lld] is %d where %lld of %lld are kept", (long long)index[0],
                     (long long)index[1], (long long)index[2], (long long)index[3], now[at], (long long)keep,
                     (long long)all);
            return 0;
        }
        t->map.image.byte[at] = now[at];
    }
    return 1;
}

static int check_made(struct trial *t, cl_command_queue queue, char *why, size_t len)
{
    unsigned char *now = image_read(&t->map.image, queue);
    int good = now && check_map(t, now, why, len);
    if (good && memcmp(now, t->map.image.byte, t->map.image.size)) {
        snprintf(why, len, "bytes outside the block map changed in its buffer");
        good = 0;
    }
    free(now);
    return good;
}

static int check_given(struct trial *t, cl_command_queue queue, char *why, size_t len)
{
    int i, same = image_unchanged(&t->bias.image, queue) && image_unchanged(&t->mask.image, queue);
    for (i = 0; i < LISTS; i++)
        same = same && image_unchanged(&t->list[i], queue);
    for (i = 0; i < CLATTN_AUX_MAX; i++)
        same = same && image_unchanged(&t->captured[i], queue);
    if (t->map.image.size && t->mask.image.size && !check_made(t, queue, why, len))
        return 0;
    if (t->map.image.size && !t->mask.image.size)
        same = same && image_unchanged(&t->map.image, queue);
    if (!same)
        snprintf(why, len, "a buffer that is only read changed");
    return same;
}

/* ---- O and LSE ---- */

/* Whether nothing around the workspace was written. */
static int workspace_is_kept(const struct image *im, cl_command_queue queue)
{
    unsigned char *now;
    if (!im->mem)
        return 1;
    now = image_read(im, queue);
    const int same = now && !memcmp(now, im->byte, WORKSPACE_MARGIN) &&
                     !memcmp(now + im->size - WORKSPACE_MARGIN, im->byte + im->size - WORKSPACE_MARGIN, WORKSPACE_MARGIN);
    free(now);
    return same;
}

int trial_fetch(struct trial *t, cl_command_queue queue, char *why, size_t len)
{
    static const char *const name[5] = { "Q", "K", "V", "O", "LSE" };
    int i;
    for (i = 0; i < 5; i++)
        if (t->image[i].mem && !fetch(t, &t->image[i], i == 3 ? &t->o : i == 4 && t->c.lse ? &t->lse : NULL, queue)) {
            snprintf(why, len, "bytes outside the result changed in the buffer of %s", name[i]);
            return 0;
        }
    if (!workspace_is_kept(&t->workspace, queue)) {
        snprintf(why, len, "bytes around the workspace changed");
        return 0;
    }
    return check_given(t, queue, why, len);
}

struct reference trial_problem(const struct trial *t)
{
    const clattn_problem *p = &t->c.problem;
    const struct extras *x = &t->x;
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
    r.softcap = p->softcap;
    r.window = (p->flags & CLATTN_WINDOW) != 0;
    r.window_left = p->window_left;
    r.window_right = p->window_right;
    verify_take_extras(&r, x);
    r.mod = x->n_mods ? mods_reference : NULL;
    r.user = (void *)(uintptr_t)x;
    return r;
}

int trial_reference(const struct trial *t, double *o, double *lse, double *conditioning)
{
    const struct reference r = trial_problem(t);
    return reference_forward(&r, t->q.value, t->k.value, t->v.value, o, lse, conditioning, NULL);
}

double trial_largest(const struct trial *t)
{
    double most = 0;
    int64_t b, h, n, i;
    for (b = 0; b < t->v.n[0]; b++)
        for (h = 0; h < t->v.n[1]; h++)
            for (n = 0; n < t->v.n[2]; n++)
                for (i = 0; i < t->v.width && trial_stores(t, &t->v, b, h, n); i++)
                    most = fmax(most, fabs(tensor_row(&t->v, b, h, n)[i]));
    return most;
}

/* Words for the worst element. */
static void describe(const struct tensor *x, const char *name, int64_t bad, double want, double error, double bound,
                     char *why, size_t len)
{
    const int64_t row = bad / x->width;
    snprintf(why, len, "%s[b %lld, h %lld, q %lld, %lld] is %.9g, want %.9g: error %.3g, bound %.3g", name,
             (long long)(row / x->n[2] / x->n[1]), (long long)(row / x->n[2] % x->n[1]), (long long)(row % x->n[2]),
             (long long)(bad % x->width), x->value[bad], want, error, bound);
}

/* 1 when every element of `x` is within `bound` of `want`, exact in rows that keep no key, and so are infinities. */
static int compare(const struct trial *t, const struct tensor *x, const char *name, const double *want, double bound,
                   char *why, size_t len)
{
    int64_t i, n = tensor_count(x), bad = -1;
    double worst = 0;
    for (i = 0; i < n; i++) {
        const int64_t row = i / x->width, q = row % x->n[2], b = row / x->n[2] / x->n[1];
        const int exact = want[i] == -INFINITY || (x == &t->o && !t->sees[row]);
        const double error = x->value[i] == want[i] ? 0 : exact ? INFINITY : fabs(x->value[i] - want[i]);
        if (q < t->q_rows[b] && !(error <= bound) && !(error <= worst)) { /* NaN is an error too */
            worst = isnan(error) ? INFINITY : error;
            bad = i;
        }
    }
    if (bad >= 0)
        describe(x, name, bad, want[bad], worst, bound, why, len);
    return bad < 0;
}

/* The reference on the way, which must keep the keys that kept.c says. */
static int want(const struct trial *t, double *o, double *lse, double *conditioning)
{
    const struct reference r = trial_problem(t);
    const size_t keys = (size_t)(t->sizes.b * t->sizes.hk * t->sizes.nk);
    unsigned char *seen = calloc(keys + 1, 1);
    int good = seen && !reference_forward(&r, t->q.value, t->k.value, t->v.value, o, lse, conditioning, seen);
    good = good && (!t->sizes.nq || !memcmp(seen, t->seen, keys));
    free(seen);
    return good;
}

static int judge(struct trial *t, double *o, double *lse, char *why, size_t len)
{
    double conditioning = 0;
    if (!want(t, o, lse, &conditioning)) {
        snprintf(why, len, "the reference failed, or keeps other keys");
        return 0;
    }
    if (!compare(t, &t->o, "O", o, reference_bound_o(t->o.type, conditioning, trial_largest(t)), why, len))
        return 0;
    return !t->c.lse || compare(t, &t->lse, "LSE", lse, reference_bound_lse(t->o.type, conditioning), why, len);
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
