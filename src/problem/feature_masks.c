/* feature_masks.c - the rows of masks: which keys a query sees. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A mask's fragment has the functions cla_NAME_begin, _end, _next, _full and _drop (doc/kernels, "The slots"). */
#include "config.h"

#include "problem/feature.h"

#include "base/number.h"
#include "problem/workload.h"

/* Two numbers with a comma between. */
static cl_int read_two(const char *word, const char *value, int64_t low, int32_t *first, int32_t *second,
                       struct why *why)
{
    int64_t x, y;
    const char *rest = number_read_integer(value, &x);
    if (rest && *rest == ',')
        rest = number_read_integer(rest + 1, &y);
    else
        rest = NULL;
    if (!rest || *rest || x < low || y < low || x > ROWS_MAX || y > ROWS_MAX)
        SYNTAX("\"%.40s\": expected two numbers from %lld to %d with a comma between", word, (long long)low, ROWS_MAX);
    *first = (int32_t)x;
    *second = (int32_t)y;
    return CL_SUCCESS;
}

/* How far key k lies behind the diagonal of query q. */
static int64_t behind(const struct feature_at *at)
{
    return at->k - at->q - at->offset;
}

/* Of a map or a mask. */
static bool is_marked(const struct feature_at *at)
{
    return at->read != 0;
}

/* ---- causal: nothing behind the diagonal ---- */

static bool causal_applies(const clattn_problem *p)
{
    return p->causal;
}

/* The window's fragment does what causal asks as well. */
static bool window_covers(const clattn_problem *p)
{
    return p->flags & CLATTN_WINDOW;
}

static cl_int causal_check(clattn_problem *p, struct why *why)
{
    if (p->causal != 0 && p->causal != 1)
        INVALID("causal is %d, must be 0 or 1", (int)p->causal);
    return CL_SUCCESS;
}

static cl_int causal_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    (void)value;
    if (to->problem.causal)
        SYNTAX("\"%s\": causal and causal-tl contradict each other", word);
    to->problem.causal = 1;
    return CL_SUCCESS;
}

static cl_int causal_read_top_left(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    if (to->problem.align)
        SYNTAX(WORKLOAD_TWO_DIAGONALS);
    to->problem.align = CLATTN_ALIGN_TOP_LEFT;
    return causal_read(to, word, value, why);
}

static void causal_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)c;
    text_add(to, p->align == CLATTN_ALIGN_TOP_LEFT ? " causal-tl" : " causal");
}

static void causal_represent(clattn_workload *class, const clattn_problem *p)
{
    (void)p;
    class->problem.causal = 1;
}

static void causal_range(const clattn_problem *p, int64_t *low, int64_t *high)
{
    (void)p, (void)low;
    *high = *high < 0 ? *high : 0;
}

static bool causal_keeps(const struct feature_at *at)
{
    return behind(at) <= 0;
}

/* ---- window: so many keys on either side of the diagonal ---- */

static cl_int window_check(clattn_problem *p, struct why *why)
{
    if (p->window_left < -1 || p->window_left > ROWS_MAX || p->window_right < -1 || p->window_right > ROWS_MAX)
        INVALID("window %d,%d: bounds are 0 to %d, or -1 for none", (int)p->window_left, (int)p->window_right,
                ROWS_MAX);
    if (!(p->flags & CLATTN_WINDOW) && (p->window_left || p->window_right))
        INVALID("window_left and window_right are given, but flags lacks CLATTN_WINDOW");
    return CL_SUCCESS;
}

static cl_int window_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    clattn_problem *p = &to->problem;
    p->flags |= CLATTN_WINDOW;
    return read_two(word, value, -1, &p->window_left, &p->window_right, why);
}

static void window_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)c;
    text_add(to, " window%d,%d", (int)p->window_left, (int)p->window_right);
}

static void window_represent(clattn_workload *class, const clattn_problem *p)
{
    (void)p;
    class->problem.flags |= CLATTN_WINDOW;
    class->problem.window_left = class->problem.window_right = 256;
}

static void window_range(const clattn_problem *p, int64_t *low, int64_t *high)
{
    if (p->window_left >= 0 && *low < -p->window_left)
        *low = -p->window_left;
    if (p->window_right >= 0 && *high > p->window_right)
        *high = p->window_right;
}

static bool window_keeps(const struct feature_at *at)
{
    int64_t low = INT64_MIN, high = INT64_MAX;
    window_range(at->p, &low, &high);
    return behind(at) >= low && behind(at) <= high;
}

/* ---- blocks: a map that drops, keeps or leaves to the mask whole blocks of queries and keys ---- */

static cl_int blocks_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    to->problem.flags |= CLATTN_BLOCK_MAP;
    return read_two(word, value, 1, &to->block_q, &to->block_k, why);
}

static void blocks_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)p;
    text_add(to, " blocks:%d,%d", (int)c->block_q, (int)c->block_k);
}

static const char *blocks_unsaid(const clattn_workload *c)
{
    return c->block_q < 1 || c->block_k < 1 ? "blocks smaller than 1" : NULL;
}

/* ---- bool: a byte for each query and key ---- */

static const char *bool_needs(const clattn_problem *p)
{
    /* Has the function that mask_blocks.cl has otherwise. */
    return p->flags & CLATTN_BLOCK_MAP ? NULL : "mask_unmapped.cl";
}

static cl_int bool_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    const char *rest = feature_read_axes(value, &to->problem, to->mask_axes);
    if (!rest || *rest)
        SYNTAX("\"%.40s\": expected the axes bhqk, 1 where broadcast, or 2 to 9 of b and h that repeat", word);
    to->problem.flags |= CLATTN_MASK;
    return CL_SUCCESS;
}

static void bool_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)p;
    feature_print_axes(to, "mask", c->mask_axes);
}

/* Of block maps too: one thins out what a mask does. */
static void bool_represent(clattn_workload *class, const clattn_problem *p)
{
    (void)p;
    class->problem.flags |= CLATTN_MASK;
    class->mask_axes[2] = class->mask_axes[3] = 1;
}

/* ---- The rows ---- */

const struct feature feature_masks[] = {
    { .name = "causal",
      .facts = FEATURE_KNOWS_DIAGONAL,
      .applies = causal_applies,
      .check = causal_check,
      .is_covered = window_covers,
      .fragment = "mask_causal.cl",
      .place = 0,
      .words = { { "causal", false, causal_read }, { "causal-tl", false, causal_read_top_left } },
      .print = causal_print,
      .step = FEATURE_STEP_MASKS,
      .represent = causal_represent,
      .range = causal_range,
      .keeps = causal_keeps },
    { .name = "window",
      .facts = FEATURE_KNOWS_DIAGONAL,
      .flag = CLATTN_WINDOW,
      .check = window_check,
      .fragment = "mask_window.cl",
      .place = 1,
      .words = { { "window", true, window_read } },
      .print = window_print,
      .step = FEATURE_STEP_MASKS,
      .represent = window_represent,
      .range = window_range,
      .keeps = window_keeps },
    { .name = "blocks",
      .facts = FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD,
      .flag = CLATTN_BLOCK_MAP,
      .fragment = "mask_blocks.cl",
      .place = 6,
      .words = { { "blocks:", true, blocks_read } },
      .print = blocks_print,
      .unsaid = blocks_unsaid,
      .step = FEATURE_STEP_READS,
      .represent = bool_represent,
      .reads = FEATURE_READS_MAP,
      .keeps = is_marked },
    { .name = "bool",
      .facts = FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD | FEATURE_GATHERS,
      .flag = CLATTN_MASK,
      .needs = bool_needs,
      .fragment = "mask_bool.cl",
      .place = 5,
      .words = { { "mask:", true, bool_read } },
      .unsaid = feature_unsaid_axes,
      .print = bool_print,
      .step = FEATURE_STEP_READS,
      .represent = bool_represent,
      .reads = FEATURE_READS_MASK,
      .keeps = is_marked },
    { .name = NULL },
};
