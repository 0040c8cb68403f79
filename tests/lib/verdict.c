/* verdict.c - what a run left in its buffers, against float64
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/trial.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/verify.h"
#include "tests/lib/mods.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Takes the rows out of what the buffer holds now. */
static int take(struct tensor *x, const int32_t *rows, const unsigned char *now)
{
    const size_t size = convert_size(x->type);
    for (int64_t b = 0; b < x->n[0]; b++)
        for (int64_t h = 0; h < x->n[1]; h++)
            for (int64_t n = 0; n < x->n[2] && n < rows[b]; n++) {
                const size_t at = tensor_at(x, b, h, n) * size;
                convert_load(x->type, now + at, tensor_row(x, b, h, n), (size_t)x->width);
                memcpy(x->image->byte + at, now + at, (size_t)x->width * size);
            }
    return !memcmp(x->image->byte, now, x->image->size);
}

int tensor_fetch(struct tensor *x, const int32_t *rows, cl_command_queue queue)
{
    unsigned char *const now = image_read(x->image, queue);
    const int same = now && take(x, rows, now);
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
        low[axis] = shape[axis] == 1 ? 0 : axis < 2 ? index[axis] % shape[axis] : index[axis] * step[axis];
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
    for (i = 0; i < array4_count(&t->map); i++)
        blank = blank && now[array4_at(&t->map, i, index)] == NOT_MADE;
    for (i = 0; i < array4_count(&t->map) && !blank; i++) {
        const size_t at = array4_at(&t->map, i, index);
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
    int i, same = image_unchanged(&t->bias.image, queue) && image_unchanged(&t->mask.image, queue) &&
                  keys_unchanged(t, queue);
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

int workspace_is_kept(const struct image *im, cl_command_queue queue)
{
    unsigned char *now;
    if (!im->mem)
        return 1;
    now = image_read(im, queue);
    const int same =
        now && !memcmp(now, im->byte, WORKSPACE_MARGIN) &&
        !memcmp(now + im->size - WORKSPACE_MARGIN, im->byte + im->size - WORKSPACE_MARGIN, WORKSPACE_MARGIN);
    free(now);
    return same;
}

int trial_fetch(struct trial *t, cl_command_queue queue, char *why, size_t len)
{
    static const char *const name[5] = { "Q", "K", "V", "O", "LSE" };
    for (int i = 0; i < 5; i++) {
        struct tensor *const x = i == 3 ? &t->o : i == 4 && t->c.lse ? &t->lse : NULL;
        const struct image *const im = &t->image[i];
        unsigned char *const now = im->mem ? image_read(im, queue) : NULL;
        const int same = !im->mem || (now && (x ? take(x, t->q_rows, now) : !memcmp(now, im->byte, im->size)));
        if (!same)
            snprintf(why, len, now ? "bytes outside the result changed in the buffer of %s"
                                   : TRIAL_UNREADABLE " the buffer of %s", name[i]);
        free(now);
        if (!same)
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
    r.p = *p;
    r.p.sizes = t->sizes;
    r.type = t->o.type;
    r.narrow_p = t->narrow_p;
    r.b = t->sizes.b;
    r.h = t->sizes.h;
    r.hk = t->sizes.hk;
    r.nq = t->sizes.nq;
    r.nk = t->sizes.nk;
    r.d = t->d;
    r.dv = t->dv;
    r.scale = p->scale != 0 || p->flags & CLATTN_SCALE ? p->scale : 1 / sqrt((double)t->d);
    r.q_len = t->q_len;
    r.kv_len = t->kv_len;
    r.kv_start = t->kv_start;
    r.offsets = t->offsets;
    verify_take_extras(&r, x);
    r.mod = x->n_mods ? mods_reference : NULL;
    r.user = (void *)(uintptr_t)x;
    return r;
}

double trial_share(enum demand demand)
{
    static const double shares[] = { [USUAL] = 0.25, [WHOLE] = 1, [PROMISED] = 0 };
    return shares[demand];
}

int trial_truth(const struct trial *t, const struct reference *given, struct truth *x, unsigned char *seen)
{
    struct reference r = given ? *given : trial_problem(t);
    const int64_t n = tensor_count(&t->o), rows = tensor_count(&t->lse);
    x->o = calloc((size_t)n + 1, sizeof *x->o);
    x->lse = calloc((size_t)rows + 1, sizeof *x->lse);
    x->o_bound = calloc((size_t)n + 1, sizeof *x->o_bound);
    x->lse_bound = calloc((size_t)rows + 1, sizeof *x->lse_bound);
    r.share = trial_share(t->demand);
    if (!x->o || !x->lse || !x->o_bound || !x->lse_bound)
        return -1;
    return reference_forward(&r, t->q.value, t->k.value, t->v.value, x->o, x->lse, x->o_bound, x->lse_bound, seen);
}

void truth_free(struct truth *x)
{
    free(x->o);
    free(x->lse);
    free(x->o_bound);
    free(x->lse_bound);
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

/* The largest part that an error of `x` is of its bound, and words for it when that is above 1; NaN and inf stand where
 * they do in `want`, or that is infinite. */
static double compare(const struct trial *t, const struct tensor *x, const char *name, const double *want,
                      const double *bound, char *why, size_t len)
{
    int64_t i, n = tensor_count(x), bad = -1;
    double worst = 0, worst_error = 0;
    for (i = 0; i < n; i++) {
        const int64_t row = i / x->width, q = row % x->n[2], b = row / x->n[2] / x->n[1];
        const int same = x->value[i] == want[i] || (isnan(want[i]) && isnan(x->value[i]));
        const double error = same ? 0 : isfinite(want[i]) ? fabs(x->value[i] - want[i]) : INFINITY;
        const double part = same ? 0 : isnan(error) ? INFINITY : error / bound[i];
        if (q < t->q_rows[b] && part > worst) {
            worst = part;
            worst_error = error;
            bad = i;
        }
    }
    if (worst > 1)
        describe(x, name, bad, want[bad], worst_error, bound[bad], why, len);
    return worst;
}

double trial_part(const struct trial *t, const struct truth *x, char *why, size_t len)
{
    const double lse = t->c.lse ? compare(t, &t->lse, "LSE", x->lse, x->lse_bound, why, len) : 0;
    return fmax(lse, compare(t, &t->o, "O", x->o, x->o_bound, why, len));
}

double trial_own_part(const struct trial *t, char *why, size_t len)
{
    struct truth x = { NULL, NULL, NULL, NULL };
    const double most = trial_truth(t, NULL, &x, NULL) ? INFINITY : trial_part(t, &x, why, len);
    truth_free(&x);
    return most;
}

int trial_agrees(const struct trial *t, const struct truth *x, char *why, size_t len)
{
    return trial_part(t, x, why, len) <= 1;
}

/* Against the reference, which must keep the keys that kept.c says. */
static int judge(const struct trial *t, char *why, size_t len)
{
    const size_t keys = (size_t)(t->sizes.b * t->sizes.hk * t->sizes.nk);
    unsigned char *seen = calloc(keys + 1, 1);
    struct truth x = { NULL, NULL, NULL, NULL };
    int good = seen && !trial_truth(t, NULL, &x, seen) && (!t->sizes.nq || !memcmp(seen, t->seen, keys));
    if (!good)
        snprintf(why, len, "the reference failed, or keeps other keys");
    good = good && trial_agrees(t, &x, why, len);
    truth_free(&x);
    free(seen);
    return good;
}

int trial_verify(struct trial *t, cl_command_queue queue, char *why, size_t len)
{
    return trial_fetch(t, queue, why, len) && judge(t, why, len);
}
