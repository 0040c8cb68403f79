/* judge_merge.c - whether a plan merges partial results right
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/judge_merge.h"

#include "judge/sample.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Odd numbers, and more parts than one lane of any work-group adds up in a chain. */
enum { HEADS = 3, ROWS_OF_HEAD = 5, STATE_ROWS = HEADS * ROWS_OF_HEAD, STATE_PARTS = 133 };

/* ---- The numbers ---- */

/* Of row 0 every part saw nothing, of the others some. LSE from -4 to 4. */
static double lse_of(int64_t part, int64_t row)
{
    const int64_t at = part * STATE_ROWS + row;
    return !row || sample_hash(41, at) % 4 == 0 ? -(double)INFINITY : 2 * sample_number(42, at);
}

/* Of a part that saw something. */
static double o_of(int64_t part, int64_t row, int64_t column, int64_t dv)
{
    return sample_number(43, (part * STATE_ROWS + row) * dv + column);
}

/* ---- Buffers ---- */

struct states {
    const clattn_problem *p;
    cl_mem o_parts, lse_parts, o, lse;
    size_t scalar, element, lse_size; /* bytes: of what is read, of O, and of LSE */
    int lse_type;
    unsigned char *room;    /* for the largest of them */
};

static size_t elements(const struct states *x, bool parts, bool o)
{
    return (size_t)STATE_ROWS * (parts ? STATE_PARTS : 1) * (o ? (size_t)x->p->dv : 1);
}

static cl_int make(cl_mem *out, cl_context context, const void *from, size_t bytes, struct why *why)
{
    cl_int status;
    *out = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, (void *)(uintptr_t)from, &status);
    if (*out && !status)
        return CL_SUCCESS;
    *out = NULL;
    return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
}

static cl_int make_inputs(struct states *x, cl_context context, struct why *why)
{
    const int64_t dv = x->p->dv;
    const int type = x->scalar == sizeof(double) ? CLATTN_F64 : CLATTN_F32;
    const size_t n = elements(x, true, true), rows = elements(x, true, false);
    for (size_t i = 0; i < rows; i++)
        sample_store(x->lse_type, lse_of((int64_t)i / STATE_ROWS, (int64_t)i % STATE_ROWS),
                     x->room + i * x->lse_size);
    const cl_int status = make(&x->lse_parts, context, x->room, rows * x->lse_size, why);
    unsigned char *to = x->room;
    for (size_t i = 0; i < rows && !status; i++) {
        const int64_t part = (int64_t)i / STATE_ROWS, row = (int64_t)i % STATE_ROWS;
        const bool saw = !isinf(lse_of(part, row)); /* else it has NaN */
        for (int64_t c = 0; c < dv; c++, to += x->scalar)
            sample_store(type, saw ? o_of(part, row, c, dv) : (double)NAN, to);
    }
    return status ? status : make(&x->o_parts, context, x->room, n * x->scalar, why);
}

static cl_int open_states(struct states *x, const struct launch *l, struct why *why)
{
    cl_int status;
    memset(x, 0, sizeof *x);
    x->p = &l->problem;
    x->scalar = x->p->type == CLATTN_F64 ? sizeof(double) : sizeof(float);
    x->element = problem_type_size(x->p->o_type);
    x->lse_type = problem_lse_type(x->p);
    x->lse_size = problem_type_size(x->lse_type);
    if (!(x->room = malloc(elements(x, true, true) * x->scalar)))
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    if ((status = make_inputs(x, l->plan.context, why)))
        return status;
    memset(x->room, 0xff, elements(x, false, true) * sizeof(double));
    status = make(&x->o, l->plan.context, x->room, elements(x, false, true) * x->element, why);
    return status ? status : make(&x->lse, l->plan.context, x->room, elements(x, false, false) * x->lse_size, why);
}

static void close_states(struct states *x)
{
    const cl_mem all[] = { x->o_parts, x->lse_parts, x->o, x->lse };
    for (int i = 0; i < 4; i++)
        if (all[i])
            clReleaseMemObject(all[i]);
    free(x->room);
}

/* ---- The answer ---- */

/* One row as clattn.h defines it: what each part counts, 0 where it saw nothing, and the result's LSE. */
struct merged {
    double weight[STATE_PARTS], size[STATE_PARTS]; /* size: 1 + |LSE| of the part */
    double lse, doubt, unit, chain;
};

static void merge_row(struct merged *m, const clattn_problem *p, int64_t row)
{
    double top = -(double)INFINITY, sum = 0;
    int n = 0;
    for (int i = 0; i < STATE_PARTS; i++)
        top = fmax(top, lse_of(i, row));
    for (int i = 0; i < STATE_PARTS && top > -(double)INFINITY; i++) {
        sum += exp(lse_of(i, row) - top);
        n += lse_of(i, row) > -(double)INFINITY;
    }
    m->lse = sum > 0 ? top + log(sum) : top;
    m->unit = p->type == CLATTN_F64 ? 0x1p-53 : 0x1p-24;
    m->chain = 16 + 2 * log2(1 + (double)n);
    m->doubt = 0;
    for (int i = 0; i < STATE_PARTS; i++) {
        const double x = lse_of(i, row);
        m->weight[i] = isinf(x) ? 0 : exp(x - m->lse);
        m->size[i] = isinf(x) ? 0 : 1 + fabs(x);
        m->doubt += m->weight[i] * m->size[i];
    }
}

static bool is_close(double got, double want, double bound)
{
    return got == want || fabs(got - want) <= bound;
}

static bool is_o_right(const struct states *x, const struct merged *m, int64_t row, int64_t column, double got)
{
    double of[STATE_PARTS], o = 0, t1 = 0, t2 = 0;
    if (isinf(m->lse))
        return got == 0;
    for (int i = 0; i < STATE_PARTS; i++) {
        of[i] = m->weight[i] > 0 ? o_of(i, row, column, x->p->dv) : 0;
        o += m->weight[i] * of[i];
    }
    for (int i = 0; i < STATE_PARTS; i++) {
        t1 += m->weight[i] * m->size[i] * fabs(of[i] - o);
        t2 += m->weight[i] * fabs(of[i]);
    }
    return is_close(got, o, m->unit * (32 * t1 + m->chain * t2) + sample_answer_rounding(x->p->o_type, o));
}

static bool is_row_right(const struct states *x, int64_t row, const unsigned char *o, const unsigned char *lse)
{
    struct merged m;
    const double unit = x->lse_type == CLATTN_F64 ? 0x1p-53 : 0x1p-24;
    merge_row(&m, x->p, row);
    const double bound = isinf(m.lse) ? 0 : unit * (32 * m.doubt + m.chain + 2 * fabs(m.lse));
    bool good = is_close(sample_load(x->lse_type, lse + (size_t)row * x->lse_size), m.lse, bound);
    for (int64_t c = 0; c < x->p->dv && good; c++)
        good = is_o_right(x, &m, row, c,
                          sample_load(x->p->o_type, o + (size_t)(row * x->p->dv + c) * x->element));
    return good;
}

/* ---- The call ---- */

static cl_int run_merge(const struct states *x, struct launch *l, cl_command_queue queue, struct why *why)
{
    const clattn_sizes sizes = { 1, HEADS, HEADS, ROWS_OF_HEAD, 0, 0, 0, 0 };
    const struct waits none = { 0, NULL, NULL, NULL };
    clattn_merge_args a = CLATTN_MERGE_ARGS_INIT;
    a.sizes = &sizes;
    a.parts = STATE_PARTS;
    a.o_parts.mem = x->o_parts;
    a.lse_parts.mem = x->lse_parts;
    a.o.mem = x->o;
    a.lse.mem = x->lse;
    return launch_run(l, &launch_merge, queue, &a, &none, why);
}

static cl_int check_merged(const struct states *x, cl_command_queue queue, struct why *why)
{
    unsigned char lse[STATE_ROWS * sizeof(double)];
    cl_int status = clEnqueueReadBuffer(queue, x->o, CL_TRUE, 0, elements(x, false, true) * x->element, x->room, 0,
                                        NULL, NULL);
    if (!status)
        status = clEnqueueReadBuffer(queue, x->lse, CL_TRUE, 0, STATE_ROWS * x->lse_size, lse, 0, NULL, NULL);
    if (status)
        return why_cl(why, status, "clEnqueueReadBuffer");
    for (int64_t row = 0; row < STATE_ROWS; row++)
        if (!is_row_right(x, row, x->room, lse))
            return why_set(why, CLATTN_ERROR_WRONG_RESULT, "it merges partial results wrong: row %d of head %d",
                           (int)(row % ROWS_OF_HEAD), (int)(row / ROWS_OF_HEAD));
    return CL_SUCCESS;
}

cl_int judge_merge_states(struct launch *l, cl_command_queue queue, struct why *why)
{
    struct states x;
    cl_int status = open_states(&x, l, why);
    if (!status && !(status = run_merge(&x, l, queue, why)))
        status = check_merged(&x, queue, why);
    if (queue)
        (void)clFinish(queue);
    close_states(&x);
    return status;
}
