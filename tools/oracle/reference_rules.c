/* reference_rules.c - what masks and changes of scores do to a row of scores, in float64: a rule for each
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/reference_rules.h"

#include <math.h>
#include <string.h>

int64_t reference_cells(const int64_t shape[4], int64_t b, int64_t h, int64_t q, int64_t *step)
{
    const int64_t at[3] = { b, h, q };
    int64_t index = 0;
    for (int axis = 0; axis < 3; axis++)
        index = index * shape[axis] + at[axis] % shape[axis];
    *step = shape[3] != 1;
    return index * shape[3];
}

static void upper(int64_t *hi, int64_t most) { *hi = most < *hi ? most : *hi; }
static void lower(int64_t *lo, int64_t least) { *lo = least > *lo ? least : *lo; }

static bool is_causal(const clattn_problem *p) { return p->causal; }
static bool has_window(const clattn_problem *p) { return p->flags & CLATTN_WINDOW; }
static bool is_alibi(const clattn_problem *p) { return p->flags & CLATTN_ALIBI; }

static void causal_range(const struct reference *r, struct reference_line *at)
{
    if (is_causal(&r->p))
        upper(&at->hi, at->diagonal + 1);
}

static void window_range(const struct reference *r, struct reference_line *at)
{
    if (has_window(&r->p) && r->p.window_right >= 0)
        upper(&at->hi, at->diagonal + r->p.window_right + 1);
    if (has_window(&r->p) && r->p.window_left >= 0)
        lower(&at->lo, at->diagonal - r->p.window_left);
}

static void mask_keep(const struct reference *r, const struct reference_line *at, unsigned char *keep)
{
    int64_t step;
    const unsigned char *mask = r->mask ? r->mask + reference_cells(r->mask_shape, at->b, at->h, at->q, &step) : NULL;
    for (int64_t k = at->lo; k < at->hi && mask; k++)
        keep[k] = keep[k] && mask[k * step] != 0;
}

static void blocks_keep(const struct reference *r, const struct reference_line *at, unsigned char *keep)
{
    int64_t step;
    const unsigned char *map =
        r->block_map ? r->block_map + reference_cells(r->block_shape, at->b, at->h, at->q / r->block_q, &step) : NULL;
    for (int64_t k = at->lo; k < at->hi && map; k++)
        keep[k] = keep[k] && map[k / r->block_k * step] != 0;
}

static void bias_keep(const struct reference *r, const struct reference_line *at, unsigned char *keep)
{
    int64_t step;
    const double *bias = r->bias ? r->bias + reference_cells(r->bias_shape, at->b, at->h, at->q, &step) : NULL;
    for (int64_t k = at->lo; k < at->hi && bias; k++)
        keep[k] = keep[k] && bias[k * step] != -INFINITY;
}

/* Functions that change scores return 1 where they did, 0 where there is nothing to do, and -1. */
static int softcap_change(const struct reference *r, const struct reference_line *at, double *s, unsigned char *keep)
{
    (void)keep;
    for (int64_t k = at->lo; k < at->hi && r->p.softcap > 0; k++)
        s[k] = r->p.softcap * tanh(s[k] / r->p.softcap);
    return r->p.softcap > 0;
}

static int mod_change(const struct reference *r, const struct reference_line *at, double *s, unsigned char *keep)
{
    if (!r->mod || at->lo >= at->hi)
        return 0;
    if (r->mod(r->user, s, keep, at->b, at->h, at->q, r->nk) != 0)
        return -1;
    for (int64_t k = at->lo; k < at->hi; k++)
        keep[k] = keep[k] && s[k] != -INFINITY;
    return 1;
}

static double slope_of(const struct reference *r, const struct reference_line *at)
{
    return r->slopes[(r->slopes_b == 1 ? 0 : at->b) * r->h + at->h];
}

static int alibi_change(const struct reference *r, const struct reference_line *at, double *s, unsigned char *keep)
{
    (void)keep;
    if (!r->slopes || r->p.flags & CLATTN_BIAS_SLOPES)
        return 0;
    const double slope = slope_of(r, at);
    for (int64_t k = at->lo; k < at->hi; k++)
        s[k] -= slope * fabs((double)(at->diagonal - k));
    return 1;
}

static int bias_change(const struct reference *r, const struct reference_line *at, double *s, unsigned char *keep)
{
    int64_t step = 0;
    (void)keep;
    const double *bias = r->bias ? r->bias + reference_cells(r->bias_shape, at->b, at->h, at->q, &step) : NULL;
    const double slope = bias && r->p.flags & CLATTN_BIAS_SLOPES ? slope_of(r, at) : 1;
    for (int64_t k = at->lo; k < at->hi && bias; k++)
        s[k] += slope * bias[k * step];
    return bias != NULL;
}

/* Each does nothing where the problem does not ask for it. Scores change in the order of the rows. A sink is none of
 * these: it is the key that weights() begins with. */
static const struct rule {
    /* Leaves one range of keys; decides key by key; changes scores. */
    void (*range)(const struct reference *r, struct reference_line *at);
    void (*keep)(const struct reference *r, const struct reference_line *at, unsigned char *keep);
    int (*change)(const struct reference *r, const struct reference_line *at, double *s, unsigned char *keep);
    bool (*needs_diagonal)(const clattn_problem *p); /* whether it asks where a row's diagonal lies; NULL: never */
} rules[] = {
    { .range = causal_range, .needs_diagonal = is_causal },
    { .range = window_range, .needs_diagonal = has_window },
    { .keep = mask_keep },
    { .keep = blocks_keep },
    { .change = softcap_change },
    { .change = mod_change },
    { .change = alibi_change, .needs_diagonal = is_alibi },
    { .keep = bias_keep, .change = bias_change },
};
enum { RULES = sizeof rules / sizeof *rules };

bool reference_needs_diagonal(const clattn_problem *p)
{
    bool needs = false;
    for (int i = 0; i < RULES; i++)
        needs = needs || (rules[i].needs_diagonal && rules[i].needs_diagonal(p));
    return needs;
}

static int64_t clamp(int64_t x, int64_t least, int64_t most)
{
    return x < least ? least : x > most ? most : x;
}

struct reference_line reference_line_of(const struct reference *r, int64_t b, int64_t h, int64_t q)
{
    const int64_t far = INT64_C(1) << 30; /* offsets beyond count as that */
    const int64_t q_len = r->q_len ? clamp(r->q_len[b], 0, r->nq) : r->nq;
    const int64_t kv_len = r->kv_len ? clamp(r->kv_len[b], 0, r->nk) : r->nk;
    const int64_t offset = r->p.align == CLATTN_ALIGN_BOTTOM_RIGHT ? kv_len - q_len
                           : r->p.align == CLATTN_ALIGN_OFFSET     ? clamp(r->p.sizes.offset, -far, far)
                           : r->p.align == CLATTN_ALIGN_OFFSETS    ? clamp(r->offsets[b], -far, far)
                                                                   : 0;
    const int64_t kv_start = r->kv_start ? clamp(r->kv_start[b], 0, r->nk) : 0;
    struct reference_line at = { r->b0 + b, h, q, q + offset, kv_start, q < q_len ? kv_len : 0 };
    for (int i = 0; i < RULES; i++)
        if (rules[i].range)
            rules[i].range(r, &at);
    if (at.hi <= at.lo)
        at.lo = at.hi = 0;
    return at;
}

void reference_keep(const struct reference *r, const struct reference_line *at, unsigned char *keep)
{
    memset(keep, 0, (size_t)r->nk);
    memset(keep + at->lo, 1, (size_t)(at->hi - at->lo));
    for (int i = 0; i < RULES; i++)
        if (rules[i].keep)
            rules[i].keep(r, at, keep);
}

/* y += |s|, where that is finite: inf in Q or K must not excuse errors elsewhere. */
static void widen(double *y, const double *s, int64_t lo, int64_t hi)
{
    for (int64_t k = lo; k < hi; k++)
        y[k] += isfinite(s[k]) ? fabs(s[k]) : 0;
}

int reference_change(const struct reference *r, const struct reference_line *at, double *s, double *x, double *y,
                     unsigned char *keep)
{
    for (int64_t k = at->lo; k < at->hi; k++) {
        s[k] *= r->scale;
        x[k] *= fabs(r->scale);
        x[k] = isfinite(x[k]) ? x[k] : 0;
        y[k] = 0;
    }
    for (int i = 0; i < RULES; i++) {
        const int changed = rules[i].change ? rules[i].change(r, at, s, keep) : 0;
        if (changed < 0)
            return -1;
        if (changed)
            widen(y, s, at->lo, at->hi);
    }
    return 0;
}
