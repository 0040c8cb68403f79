/* states.c - partial results to be merged: made up, placed anyhow in buffers, and judged against float64
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/states.h"

#include "tests/lib/trial.h"
#include "tools/oracle/convert.h"
#include "tools/oracle/reference_bound.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { O_PARTS, LSE_PARTS, O, LSE };
static const double ln2 = 0.693147180559945309417;

static int64_t rows_of(const struct states *s)
{
    return s->n[0] * s->n[1] * s->n[2];
}

/* ---- Places ---- */

/* Parts and the axes b, h and n, the nearest first. */
enum { PART = 3 };
static const int orders[STATES_LAYOUTS][4] = { { 2, 1, 0, PART }, { PART, 2, 1, 0 }, { 0, 1, 2, PART } };

/* Strides with gaps; returns the elements of the buffer. */
static size_t place(const struct states *s, clattn_tensor *t, int64_t *part_stride, int64_t width, int64_t parts)
{
    const int64_t gap = s->layout == STATES_PLAIN ? 0 : 3;
    int64_t step = width + gap;
    t->offset = s->layout == STATES_PLAIN ? 0 : 5;
    for (int i = 0; i < 4; i++) {
        const int axis = orders[s->layout][i];
        int64_t *const stride = axis == PART ? part_stride : &t->stride[axis];
        *stride = step;
        step = step * (axis == PART ? parts : s->n[axis]) + gap;
    }
    return t->offset + (size_t)step;
}

/* Element 0 of a row of a part: row r counts b, h and n. */
static size_t at(const struct states *s, const clattn_tensor *t, int64_t part_stride, int64_t part, int64_t r)
{
    const int64_t n = r % s->n[2], h = r / s->n[2] % s->n[1], b = r / s->n[2] / s->n[1];
    return t->offset + (size_t)(part * part_stride + b * t->stride[0] + h * t->stride[1] + n * t->stride[2]);
}

/* As they are, in full; what the call gets may leave them out. */
struct places {
    clattn_tensor t[4];
    int64_t part[4];
    size_t count[4];
};
static struct places places_of(const struct states *s)
{
    struct places p;
    memset(&p, 0, sizeof p);
    for (int i = 0; i < 4; i++)
        p.count[i] = place(s, &p.t[i], &p.part[i], i % 2 ? 1 : s->dv, i < O ? s->parts : 1);
    return p;
}

static void make_args(struct states *s, const struct places *p, uint32_t flags)
{
    clattn_tensor *const to[] = { &s->args.o_parts, &s->args.lse_parts, &s->args.o, &s->args.lse };
    s->args.struct_size = sizeof s->args;
    s->args.sizes = &s->sizes;
    s->args.parts = s->parts;
    s->args.flags = flags;
    for (int i = 0; i < 4; i++) {
        to[i]->mem = s->image[i].mem;
        to[i]->offset = p->t[i].offset;
        if (s->layout != STATES_PLAIN)
            memcpy(to[i]->stride, p->t[i].stride, sizeof to[i]->stride);
    }
    if (s->layout != STATES_PLAIN) {
        s->args.o_parts_stride = p->part[O_PARTS];
        s->args.lse_parts_stride = p->part[LSE_PARTS];
    }
}

/* ---- Values ---- */

static void store_row(const struct states *s, int which, int type, size_t element, const double *x, size_t n)
{
    convert_store(type, x, s->image[which].byte + element * convert_size(type), n);
}

/* LSE as the caller's flags have it; what it is exactly then goes back to lse. */
static void store_lse(struct states *s, size_t element, double *lse)
{
    const int in_log2 = (s->args.flags & CLATTN_LSE_IN_LOG2) != 0;
    const double given = in_log2 ? *lse / ln2 : *lse;
    double stored = s->lse_type == CLATTN_F64 ? given : (double)(float)given;
    *lse = in_log2 ? stored * ln2 : stored;
    if (*lse == -(double)INFINITY && s->args.flags & CLATTN_LSE_IN_EMPTY_INF)
        stored = (double)INFINITY;
    store_row(s, LSE_PARTS, s->lse_type, element, &stored, 1);
}

static void store_all(struct states *s, const struct places *p)
{
    image_poison(&s->image[O_PARTS], s->type);
    image_poison(&s->image[LSE_PARTS], s->lse_type);
    for (int64_t part = 0; part < s->parts; part++)
        for (int64_t r = 0; r < rows_of(s); r++) {
            double *const row = s->o + (part * rows_of(s) + r) * s->dv;
            store_row(s, O_PARTS, s->type, at(s, &p->t[O_PARTS], p->part[O_PARTS], part, r), row, (size_t)s->dv);
            convert_load(s->type, s->image[O_PARTS].byte +
                                      at(s, &p->t[O_PARTS], p->part[O_PARTS], part, r) * convert_size(s->type),
                         row, (size_t)s->dv);
            store_lse(s, at(s, &p->t[LSE_PARTS], p->part[LSE_PARTS], part, r), &s->lse[part * rows_of(s) + r]);
        }
    image_canaries(&s->image[O]);
    image_canaries(&s->image[LSE]);
}

static void make_up(struct states *s, uint64_t seed)
{
    const int64_t rows = rows_of(s);
    for (int64_t i = 0; i < s->parts * rows; i++) {
        const int empty = i % rows % 7 == 3 || trial_hash(seed, 1, (uint64_t)i) % 5 == 0;
        s->lse[i] = empty ? -(double)INFINITY : 2 * trial_normal(seed, 2, (uint64_t)i);
        for (int64_t c = 0; c < s->dv; c++)
            s->o[i * s->dv + c] = !empty ? trial_normal(seed, 3, (uint64_t)(i * s->dv + c))
                                  : c % 2 ? (double)INFINITY : (double)NAN;
    }
}

cl_int states_make(struct states *s, cl_context context, const clattn_problem *p, const int64_t n[3], int64_t parts,
                   enum states_layout layout, uint32_t flags, uint64_t seed)
{
    cl_int e = CL_SUCCESS;
    memset(s, 0, sizeof *s);
    memcpy(s->n, n, sizeof s->n);
    s->parts = parts;
    s->dv = p->dv ? p->dv : p->d;
    s->type = p->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32;
    s->o_type = p->o_type ? p->o_type : p->type ? p->type : CLATTN_F32;
    s->lse_type = p->flags & CLATTN_LSE_F64 ? CLATTN_F64 : CLATTN_F32;
    s->layout = layout;
    s->sizes = (clattn_sizes){ .b = n[0], .h = n[1], .nq = n[2] };
    s->args.flags = flags;
    s->o = calloc((size_t)(parts * rows_of(s) * s->dv) + 1, sizeof *s->o);
    s->lse = calloc((size_t)(parts * rows_of(s)) + 1, sizeof *s->lse);
    if (!s->o || !s->lse)
        return CL_OUT_OF_HOST_MEMORY;
    const struct places places = places_of(s);
    const int types[] = { s->type, s->lse_type, s->o_type, s->lse_type };
    for (int i = 0; i < 4 && !e; i++)
        e = image_alloc(&s->image[i], places.count[i], types[i]);
    if (e)
        return e;
    make_up(s, seed);
    store_all(s, &places);
    for (int i = 0; i < 4 && !e; i++)
        e = image_buffer(&s->image[i], context, i < O ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE);
    make_args(s, &places, flags);
    return e;
}

cl_int states_store(struct states *s, cl_command_queue queue)
{
    const struct places places = places_of(s);
    cl_int e = CL_SUCCESS;
    store_all(s, &places);
    for (int i = 0; i < 4 && !e; i++)
        e = s->image[i].mem ? image_write(&s->image[i], queue) : CL_SUCCESS;
    return e;
}

cl_int states_run(struct states *s, clattn_plan plan, cl_command_queue queue)
{
    const cl_int e = clattn_enqueue_merge(plan, queue, &s->args, 0, NULL, NULL);
    return e ? e : clFinish(queue);
}

/* ---- Judging ---- */

/* One row by float64: o[dv], lse, and how far off they may be. */
struct row_truth {
    double lse, lse_bound, n;
};
static struct row_truth row_truth(const struct states *s, int64_t r, double *o, double *bound)
{
    const double u = s->type == CLATTN_F64 ? 0x1p-53 : 0x1p-24;
    const int64_t rows = rows_of(s);
    double top = -(double)INFINITY, sum = 0, doubt = 0, n = 0;
    for (int64_t p = 0; p < s->parts; p++)
        top = fmax(top, s->lse[p * rows + r]);
    for (int64_t c = 0; c < s->dv; c++)
        o[c] = bound[c] = 0;
    for (int64_t p = 0; p < s->parts; p++) {
        const double x = s->lse[p * rows + r], w = x == -(double)INFINITY ? 0 : exp(x - top);
        n += x != -(double)INFINITY;
        sum += w;
        doubt += w > 0 ? w * (1 + fabs(x)) : 0;
        for (int64_t c = 0; c < s->dv && w > 0; c++)
            o[c] += w * s->o[(p * rows + r) * s->dv + c];
    }
    if (!n)
        return (struct row_truth){ -(double)INFINITY, 0, 0 };
    const double chain = 16 + 2 * log2(1 + n), lse = top + log(sum);
    for (int64_t c = 0; c < s->dv; c++)
        o[c] /= sum;
    for (int64_t p = 0; p < s->parts; p++) {
        const double x = s->lse[p * rows + r], w = x == -(double)INFINITY ? 0 : exp(x - top) / sum;
        for (int64_t c = 0; c < s->dv && w > 0; c++) {
            const double v = s->o[(p * rows + r) * s->dv + c];
            bound[c] += u * w * (32 * fabs(v - o[c]) * (1 + fabs(x)) + chain * fabs(v));
        }
    }
    const double lse_u = s->lse_type == CLATTN_F64 ? 0x1p-53 : 0x1p-24;
    return (struct row_truth){ lse, lse_u * (32 * doubt / sum + chain + 2 * fabs(lse)), n };
}

/* ---- What is promised: doc/semantics, "Partial results" and "The bound" ---- */

static double exact_lse(const struct states *s, int64_t p, int64_t r)
{
    return (s->exact_lse ? s->exact_lse : s->lse)[p * rows_of(s) + r];
}

/* The logarithm of the factor that the weight of a part may be off, one of n. */
static double part_off(const struct states *s, int64_t at, double x, double lse, double n)
{
    const double u = reference_precision_of(s->type).unit;
    return u * (32 + 8 * fmin(n, 64) + 96 * fabs(x) + 16 * fabs(x - lse)) + (s->lse_off ? s->lse_off[at] : 0);
}

/* Sums over the parts of a row. */
struct promise {
    double n, lse, most, least, more; /* most: the largest E; N; sum p e^E - 1 */
};
static struct promise promise_of(const struct states *s, int64_t r)
{
    struct promise x = { 0, 0, 0, 0, 0 };
    double top = -(double)INFINITY, sum = 0;
    for (int64_t p = 0; p < s->parts; p++) {
        x.n += exact_lse(s, p, r) != -(double)INFINITY;
        top = fmax(top, exact_lse(s, p, r));
    }
    for (int64_t p = 0; p < s->parts && x.n > 0; p++)
        sum += exp(exact_lse(s, p, r) - top);
    x.lse = x.n > 0 ? top + log(sum) : -(double)INFINITY;
    for (int64_t p = 0; p < s->parts; p++)
        if (exact_lse(s, p, r) != -(double)INFINITY)
            x.most = fmax(x.most, part_off(s, p * rows_of(s) + r, exact_lse(s, p, r), x.lse, x.n));
    return x;
}

/* How much heavier a part may be than it is; a part that may count as 0 adds nothing to N. */
static double heavier(const struct states *s, struct promise *x, int64_t p, int64_t r)
{
    const double score = exact_lse(s, p, r), log_p = score - x->lse;
    const double e = part_off(s, p * rows_of(s) + r, score, x->lse, x->n);
    const int lost = log_p - 2 * x->most < log(reference_precision_of(s->type).lost);
    const double more = reference_excess(log_p, lost ? fmax(e, ln2) : e);
    x->least += lost ? 0 : exp(log_p - e);
    x->more += more;
    return more;
}

/* The sums of a column. */
struct column_promise {
    double wrong, size, far, top; /* W and R before they are divided by N, and what they are at most */
    double off;                   /* what O of a part is off at most */
};
static void take_part(struct column_promise *y, double p, double more, double v, double o, double off)
{
    y->wrong += more * fabs(v - o);
    y->size += (p + more) * fabs(v);
    y->far = fmax(y->far, fabs(v - o));
    y->top = fmax(y->top, fabs(v));
    y->off = fmax(y->off, off);
}

static double column_bound(const struct states *s, const struct promise *x, struct column_promise y, double o)
{
    const struct reference_precision of = reference_precision_of(s->type);
    const double eps = reference_precision_of(s->o_type).eps;
    const double w = (x->least > 0 ? fmin(y.wrong / x->least, y.far) : y.far) + y.off;
    const double size = (x->least > 0 ? fmin(y.size / x->least, y.top) : y.top) + y.off;
    return w + of.unit * (32 + 8 * fmin(x->n, 64)) * size + eps * w + reference_rounding(s->o_type, o) +
           of.flow * x->n;
}

/* row_truth() of what is promised. */
static struct row_truth promised_row(const struct states *s, int64_t r, double *o, double *bound)
{
    struct promise x = promise_of(s, r);
    const double u = reference_precision_of(s->type).unit, *const of_o = s->exact_o ? s->exact_o : s->o;
    for (int64_t c = 0; c < s->dv; c++)
        o[c] = bound[c] = 0;
    if (!(x.n > 0))
        return (struct row_truth){ -(double)INFINITY, 0, 0 };
    for (int64_t p = 0; p < s->parts; p++)
        if (exact_lse(s, p, r) != -(double)INFINITY)
            heavier(s, &x, p, r);
    const struct promise all = x;
    for (int64_t c = 0; c < s->dv; c++) {
        struct column_promise y = { 0, 0, 0, 0, 0 };
        for (int64_t p = 0; p < s->parts; p++)
            if (exact_lse(s, p, r) != -(double)INFINITY)
                o[c] += exp(exact_lse(s, p, r) - x.lse) * of_o[(p * rows_of(s) + r) * s->dv + c];
        for (int64_t p = 0; p < s->parts; p++) {
            const int64_t at = (p * rows_of(s) + r) * s->dv + c;
            if (exact_lse(s, p, r) != -(double)INFINITY)
                take_part(&y, exp(exact_lse(s, p, r) - x.lse), heavier(s, &x, p, r), of_o[at], o[c],
                          s->o_off ? s->o_off[at] : 0);
        }
        bound[c] = column_bound(s, &all, y, o[c]);
    }
    const double storing = s->lse_type != CLATTN_F64 && s->type == CLATTN_F64 ? 0x1p-24 * fabs(all.lse) : 0;
    return (struct row_truth){
        all.lse, log1p(all.more) + u * (32 + 8 * fmin(all.n, 64) + 4 * fabs(all.lse)) + 0x1p-126 + storing, all.n
    };
}

/* LSE as the flags want it. */
static double wanted_lse(const struct states *s, double lse)
{
    if (lse == -(double)INFINITY && s->args.flags & CLATTN_LSE_OUT_EMPTY_INF)
        return INFINITY;
    return s->args.flags & CLATTN_LSE_OUT_LOG2 ? lse / ln2 : lse;
}

static int row_is_right(const struct states *s, int64_t r, const double *got, double got_lse, double share,
                        double *room, double *part, char *why, size_t len)
{
    double *const o = room, *const bound = room + s->dv;
    const struct row_truth t = share > 0 ? row_truth(s, r, o, bound) : promised_row(s, r, o, bound);
    const double want = wanted_lse(s, t.lse), unit = s->args.flags & CLATTN_LSE_OUT_LOG2 ? ln2 : 1;
    const double most_lse = (share > 0 ? share : 1) * t.lse_bound / unit;
    int good = got_lse == want || fabs(got_lse - want) <= most_lse;
    *part = got_lse == want ? *part : fmax(*part, fabs(got_lse - want) / most_lse);
    if (!good)
        snprintf(why, len, "row %lld: LSE is %.9g, want %.9g, bound %.3g", (long long)r, got_lse, want, t.lse_bound);
    for (int64_t c = 0; c < s->dv && good; c++) {
        const double most = !t.n ? 0 : share > 0 ? share * bound[c] + reference_rounding(s->o_type, o[c]) : bound[c];
        good = fabs(got[c] - o[c]) <= most;
        *part = got[c] == o[c] ? *part : fmax(*part, fabs(got[c] - o[c]) / most);
        if (!good)
            snprintf(why, len, "row %lld, column %lld: O is %.9g, want %.9g: error %.3g, bound %.3g", (long long)r,
                     (long long)c, got[c], o[c], fabs(got[c] - o[c]), most);
    }
    return good;
}

/* Leaves images as if they had the results from the start. to: or NULL. */
int states_take(struct states *s, cl_command_queue queue, double *to, double *to_lse)
{
    const struct places p = places_of(s);
    int same = 1;
    for (int i = 0; i < 4; i++) {
        const int type = i == O ? s->o_type : s->lse_type;
        const size_t width = i == O ? (size_t)s->dv : 1, size = convert_size(type);
        unsigned char *now = s->image[i].mem ? image_read(&s->image[i], queue) : NULL;
        for (int64_t r = 0; now && i >= O && r < rows_of(s) && (i == O || s->args.lse.mem); r++) {
            const size_t from = at(s, &p.t[i], 0, 0, r) * size;
            if (to)
                convert_load(type, now + from, i == O ? to + r * s->dv : to_lse + r, width);
            memcpy(s->image[i].byte + from, now + from, width * size);
        }
        same = same && (!s->image[i].mem || (now && !memcmp(now, s->image[i].byte, s->image[i].size)));
        free(now);
    }
    return same;
}

/* Results against what parts `of` say. */
static int judge(struct states *s, const struct states *of, cl_command_queue queue, double share, char *why, size_t len)
{
    const int64_t rows = rows_of(s);
    double *const got = calloc((size_t)(rows * (s->dv + 1) + 2 * s->dv) + 1, sizeof *got);
    double *const lse = got + rows * s->dv, *const room = lse + rows;
    int good = got && states_take(s, queue, got, lse);
    s->part = good ? 0 : INFINITY;
    if (!good)
        snprintf(why, len, "something else was written");
    for (int64_t r = 0; r < rows && good; r++)
        good = row_is_right(of, r, got + r * s->dv,
                            s->args.lse.mem ? lse[r] : wanted_lse(of, row_truth(of, r, room, room + s->dv).lse), share,
                            room, &s->part, why, len);
    free(got);
    return good;
}

int states_verify(struct states *s, cl_command_queue queue, double share, char *why, size_t len)
{
    return judge(s, s, queue, share, why, len);
}

int states_verify_as(struct states *s, const struct states *of, cl_command_queue queue, double share, char *why,
                     size_t len)
{
    return judge(s, of, queue, share, why, len);
}

int states_are_kept(struct states *s, cl_command_queue queue)
{
    return states_take(s, queue, NULL, NULL);
}

int states_are_blank(const struct states *s, cl_command_queue queue)
{
    int same = 1;
    for (int i = 0; i < 4; i++)
        same = same && image_unchanged(&s->image[i], queue);
    return same;
}

void states_free(struct states *s)
{
    for (int i = 0; i < 4; i++)
        image_free(&s->image[i]);
    free(s->o);
    free(s->lse);
    memset(s, 0, sizeof *s);
}
