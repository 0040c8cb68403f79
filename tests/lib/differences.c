/* differences.c - how the loss of a problem changes with its inputs: differences of the library's own forward pass
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/differences.h"

#include "tools/oracle/convert.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- Leaves ---- */

/* One more, of n elements that lie nowhere yet. NULL: no memory. */
static struct differences_leaf *add(struct differences *x, const char *name, struct image *image, int type, int64_t n,
                                    double step)
{
    struct differences_leaf *const to = &x->leaf[x->n++];
    *to = (struct differences_leaf){ name, image, type, n, NULL, NULL, NULL, NULL, step };
    to->where = malloc(((size_t)n + 1) * sizeof *to->where);
    to->value = calloc((size_t)n + 1, sizeof *to->value);
    to->got = calloc((size_t)n + 1, sizeof *to->got);
    to->want = calloc((size_t)n + 1, sizeof *to->want);
    if (!to->where || !to->value || !to->got || !to->want)
        return NULL;
    for (int64_t i = 0; i < n; i++)
        to->where[i] = NOWHERE;
    return to;
}

/* All entries of K and V; of what these share gradients have one entry, which is the sum. */
static cl_int add_tensor(struct differences *x, int which, const struct tensor *from)
{
    static const char *const names[] = { "dQ", "dK", "dV" };
    const struct tensor *const gradient = &x->g.x[which];
    const int64_t entry = from->n[1] * from->n[2] * from->width;
    struct differences_leaf *const to = add(x, names[which - GRADED_DQ], from->image, from->type,
                                            tensor_count(gradient), 0x1p-11);
    if (!to)
        return CL_OUT_OF_HOST_MEMORY;
    for (int64_t i = 0; i < tensor_count(from); i++) {
        const int64_t row = i / from->width, h = row / from->n[2] % from->n[1], n = row % from->n[2];
        const int64_t b = i / entry, at = gradient->n[0] == 1 ? i % entry : i;
        if (!trial_stores(&x->g.t, from, b, h, n))
            continue;
        to->where[at] = tensor_at(from, b, h, n) + (size_t)(i % from->width);
        to->value[at] = from->value[i];
    }
    return CL_SUCCESS;
}

/* Numbers in float move by steps that float has: they and all steps are multiples of one small number. */
static double coarse(double x)
{
    return isfinite(x) ? ldexp(rint(ldexp(x, 16)), -16) : x;
}

static cl_int add_bias(struct differences *x)
{
    struct trial *const t = &x->g.t;
    const struct graded_cells *const gradient = &x->g.cells[GRADED_DBIAS];
    struct differences_leaf *const to = gradient->count ? add(x, "dBias", &t->bias.image, t->c.problem.bias_type,
                                                              gradient->count, 0x1p-11) : NULL;
    unsigned char *const used = to ? trial_bias_used(t) : NULL;
    for (int64_t i = 0, index[4]; i < gradient->count && used; i++) {
        to->value[i] = t->x.bias[i] = coarse(t->x.bias[i]);
        if (used[i] && isfinite(to->value[i]))
            to->where[i] = array4_at(&t->bias, i, index);
    }
    const int good = !gradient->count || used;
    free(used);
    return good ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* Sinks, or slopes: rows of h, `stride` apart. A slope counts as many times as keys are away. */
static cl_int add_list(struct differences *x, int which, double *from, const clattn_array *array, int64_t stride)
{
    const int slopes = which == GRADED_DSLOPES;
    const int64_t n = graded_cells_wanted(&x->g, which), h = x->g.t.sizes.h;
    if (!n)
        return CL_SUCCESS;
    struct differences_leaf *const to = add(x, slopes ? "dSlope" : "dSink", &x->g.t.list[slopes ? SLOPES : SINKS],
                                            CLATTN_F32, n, slopes ? 0x1p-16 : 0x1p-11);
    for (int64_t i = 0; i < n && to; i++) {
        to->value[i] = from[i] = coarse(from[i]);
        to->where[i] = array->offset + (size_t)(i / h * stride + i % h);
    }
    return to ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_int add_captured(struct differences *x, size_t i)
{
    struct trial *const t = &x->g.t;
    const int64_t n = graded_cells_wanted(&x->g, GRADED_DAUX + (int)i);
    float *const from = t->x.aux[i].data;
    if (!n)
        return CL_SUCCESS;
    struct differences_leaf *const to = add(x, t->x.aux[i].name, &t->captured[i], CLATTN_F32, n, 0x1p-13);
    for (int64_t at = 0; at < n && to; at++) {
        to->value[at] = coarse((double)from[at]);
        from[at] = (float)to->value[at];
        to->where[at] = t->aux[i].offset + (size_t)at;
    }
    return to ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

static cl_int add_all(struct differences *x)
{
    struct trial *const t = &x->g.t;
    cl_int e;
    if ((e = add_tensor(x, GRADED_DQ, &t->q)) || (e = add_tensor(x, GRADED_DK, &t->k)) ||
        (e = add_tensor(x, GRADED_DV, &t->v)) || (e = add_bias(x)) ||
        (e = add_list(x, GRADED_DSLOPES, t->x.slopes, &t->args.slopes, t->args.slopes_stride)) ||
        (e = add_list(x, GRADED_DSINKS, t->x.sinks, &t->args.sinks, 0)))
        return e;
    for (size_t i = 0; i < t->x.n_aux && !e; i++)
        e = add_captured(x, i);
    return e;
}

/* Puts a leaf so far along a direction. */
static cl_int move(struct differences *x, int leaf, differences_direction along, const void *user, double by)
{
    const struct differences_leaf *const l = &x->leaf[leaf];
    for (int64_t i = 0; i < l->n; i++)
        if (l->where[i] != NOWHERE) {
            const double to = l->value[i] + (by != 0 ? by * along(user, l->where[i]) : 0);
            convert_store(l->type, &to, l->image->byte + l->where[i] * convert_size(l->type), 1);
        }
    return image_write(l->image, x->d->queue);
}

/* ---- The loss ---- */

static cl_int read_o(struct differences *x)
{
    return tensor_fetch(&x->g.t.o, x->g.t.q_rows, x->d->queue) ? CL_SUCCESS : CL_INVALID_BUFFER_SIZE;
}

static int is_row(const struct trial *t, int64_t row)
{
    return row % t->sizes.nq < t->q_rows[row / t->sizes.nq / t->sizes.h];
}

/* The problem's own sink of a head, where it is now; -inf: none. */
static double own_sink(const struct trial *t, int64_t h)
{
    double sink = -INFINITY;
    if (t->x.sinks)
        convert_load(CLATTN_F32, t->list[SINKS].byte + (t->args.sinks.offset + (size_t)h) * sizeof(float), &sink, 1);
    return sink;
}

/* What dLSE adds, from outputs of the twin. */
static void add_lse(struct differences *x)
{
    const struct trial *const t = &x->g.t;
    for (int64_t row = 0; row < x->rows; row++) {
        const int64_t h = row / t->sizes.nq % t->sizes.h;
        if (!is_row(t, row))
            continue;
        const double part = t->o.value[row * t->o.width], sink = own_sink(t, h);
        const double lse = x->sink[h] + log(part / (1 - part)), most = fmax(lse, sink);
        if (most == -INFINITY)
            continue;
        const double term = x->g.x[GRADED_DLSE].value[row] * (most + log(exp(lse - most) + exp(sink - most)));
        x->loss[row] += term;
        x->loss_size += fabs(term);
    }
}

static cl_int run_twin(struct differences *x)
{
    struct trial *const t = &x->g.t;
    const cl_mem v = t->args.v.mem;
    const clattn_array sinks = t->args.sinks;
    t->args.v.mem = x->ones.mem;
    t->args.sinks = x->twin_sinks;
    cl_int e = trial_run(t, x->twin, x->d->queue);
    t->args.v.mem = v;
    t->args.sinks = sinks;
    return e ? e : read_o(x);
}

/* Of each row, of inputs as they are. */
static cl_int find_loss(struct differences *x)
{
    struct trial *const t = &x->g.t;
    cl_int e = trial_run(t, x->forward, x->d->queue);
    e = e ? e : read_o(x);
    x->loss_size = 0;
    for (int64_t row = 0; row < x->rows && !e; row++) {
        x->loss[row] = 0;
        for (int64_t i = row * t->dv; i < (row + 1) * t->dv && is_row(t, row); i++) {
            const double term = x->g.x[GRADED_DOUT].value[i] * t->o.value[i];
            x->loss[row] += term;
            x->loss_size += fabs(term);
        }
    }
    if (!e && x->twin && !(e = run_twin(x)))
        add_lse(x);
    return e;
}

cl_int differences_along(struct differences *x, int leaf, differences_direction along, const void *user,
                         struct differences_sum *sum)
{
    /* What is left out is of the order of step^6. */
    static const struct {
        double by, weight;
    } point[] = { { 1, 45 }, { -1, -45 }, { 2, -9 }, { -2, 9 }, { 3, 1 }, { -3, -1 } };
    const double step = x->leaf[leaf].step;
    cl_int e = CL_SUCCESS;
    *sum = (struct differences_sum){ 0, 0, 0, 0 };
    memset(x->slope, 0, (size_t)x->rows * sizeof *x->slope);
    for (size_t i = 0; i < sizeof point / sizeof *point && !e; i++) {
        if ((e = move(x, leaf, along, user, point[i].by * step)) || (e = find_loss(x)))
            break;
        for (int64_t row = 0; row < x->rows; row++)
            x->slope[row] += point[i].weight / 60 * x->loss[row] / step;
    }
    sum->noise = DBL_EPSILON * x->loss_size / step;
    for (int64_t row = 0; row < x->rows; row++) {
        sum->exact += x->slope[row];
        sum->size += fabs(x->slope[row]);
        sum->stored += x->slope[row] * x->factor[row];
    }
    return e ? e : move(x, leaf, along, user, 0);
}

/* ---- Gradients ---- */

/* Factors of rows, by the LSE that the forward call stored; it must be float64's but for that. */
static int find_factors(struct differences *x, char *why, size_t len)
{
    const struct trial *const t = &x->g.t;
    unsigned char *const now = image_read(t->lse.image, x->d->queue);
    int good = now != NULL;
    for (int64_t row = 0; row < x->rows && good; row++) {
        const int64_t b = row / t->sizes.nq / t->sizes.h, h = row / t->sizes.nq % t->sizes.h;
        const double want = t->lse.value[row];
        double stored = want;
        if (is_row(t, row))
            convert_load(CLATTN_F32, now + tensor_at(&t->lse, b, h, row % t->sizes.nq) * sizeof(float), &stored, 1);
        x->factor[row] = stored == want ? 1 : exp(want - stored);
        if (stored == want || fabs(stored - want) <= 0x1.01p-24 * fabs(want))
            continue;
        snprintf(why, len, "LSE of row %lld is %.9g, not %.9g", (long long)row, stored, want);
        good = 0;
    }
    free(now);
    return good;
}

/* Rows that no sequence has are in no buffer, and so have no gradient. */
static void take_tensor(struct differences *x, int which, int64_t width, const int32_t *there)
{
    struct differences_leaf *const to = &x->leaf[which - GRADED_DQ];
    const struct tensor *const from = &x->g.x[which];
    for (int64_t i = 0; i < to->n; i++) {
        const int64_t row = i / width, b = row / from->n[2] / from->n[1];
        to->got[i] = row % from->n[2] < there[b] ? from->value[i] : 0;
        to->want[i] = x->g.want[which][i];
    }
}

static void take_gradients(struct differences *x)
{
    struct graded *const g = &x->g;
    int at = GRADED_N - GRADED_DQ;
    take_tensor(x, GRADED_DQ, g->t.d, g->t.q_rows);
    take_tensor(x, GRADED_DK, g->t.d, g->t.k_rows);
    take_tensor(x, GRADED_DV, g->t.dv, g->t.k_rows);
    for (int i = 0; i < GRADED_CELLS; i++)
        if (graded_cells_wanted(g, i)) {
            const struct differences_leaf *const to = &x->leaf[at++];
            memcpy(to->got, g->cells[i].got, (size_t)to->n * sizeof *to->got);
            memcpy(to->want, g->cells[i].want, (size_t)to->n * sizeof *to->want);
        }
}

int differences_run(struct differences *x, clattn_plan backward, char *why, size_t len)
{
    cl_int e = trial_run(&x->g.t, x->forward, x->d->queue);
    if (!e && !find_factors(x, why, len))
        return 0;
    e = e ? e : graded_run(&x->g, backward, x->d->queue);
    if (e) {
        harness_words(x->d->handle, e, why, len);
        return 0;
    }
    if (!graded_fetch(&x->g, x->d->queue, why, len))
        return 0;
    take_gradients(x);
    return 1;
}

/* ---- Making ---- */

/* Sinks near the LSE of their heads: parts of them are neither 0 nor 1, where digits are lost. */
static cl_int make_twin(struct differences *x)
{
    const struct trial *const t = &x->g.t;
    const int64_t h = t->sizes.h;
    const size_t n = t->v.image->size / sizeof(double);
    float *const sinks = calloc((size_t)h + 1, sizeof *sinks);
    const double one = 1;
    cl_int e = sinks ? image_alloc(&x->ones, n, CLATTN_F64) : CL_OUT_OF_HOST_MEMORY;
    for (int64_t i = 0; i < h && !e; i++)
        x->sink[i] = -INFINITY;
    for (int64_t row = 0; row < x->rows && !e; row++)
        x->sink[row / t->sizes.nq % h] = fmax(x->sink[row / t->sizes.nq % h], t->lse.value[row]);
    for (int64_t i = 0; i < h && !e; i++) {
        sinks[i] = x->sink[i] > -INFINITY ? (float)x->sink[i] - 2 : 0;
        x->sink[i] = (double)sinks[i];
    }
    for (size_t i = 0; i < n && !e; i++)
        convert_store(CLATTN_F64, &one, x->ones.byte + i * sizeof one, 1);
    e = e ? e : image_buffer(&x->ones, x->d->cl.context, CL_MEM_READ_ONLY);
    e = e ? e : trial_make_list(&x->sinks, x->d->cl.context, CLATTN_F32, sinks, (size_t)h, 0, &x->twin_sinks);
    free(sinks);
    return e;
}

static cl_int make_plans(struct differences *x, char *why, size_t len)
{
    clattn_problem p;
    memcpy(&p, &x->g.t.c.problem, sizeof p); /* all bytes: the harness compares them */
    p.flags &= ~(uint32_t)CLATTN_BACKWARD;
    p.aux_grads = 0;
    cl_int e = harness_plan(x->d, &p, NULL, &x->forward, why, len);
    if (e || !x->g.args.dlse.mem)
        return e;
    p.flags |= CLATTN_SINKS;
    p.dropout_p = 0; /* which LSE does not know of */
    e = harness_plan(x->d, &p, NULL, &x->twin, why, len);
    return e ? e : make_twin(x);
}

cl_int differences_make(struct differences *x, const struct device *d, const clattn_workload *c, enum layout layout,
                        unsigned wanted, char *why, size_t len)
{
    struct trial *const t = &x->g.t;
    memset(x, 0, sizeof *x);
    x->d = d;
    cl_int e = graded_make(&x->g, d->cl.context, d->queue, c, layout, wanted);
    snprintf(why, len, "%s", t->why ? t->why : "");
    if (e)
        return e;
    x->rows = t->sizes.b * t->sizes.h * t->sizes.nq;
    x->loss = calloc((size_t)x->rows * 3 + (size_t)t->sizes.h + 1, sizeof *x->loss);
    if (!x->loss)
        return CL_OUT_OF_HOST_MEMORY;
    x->slope = x->loss + x->rows;
    x->factor = x->slope + x->rows;
    x->sink = x->factor + x->rows;
    e = add_all(x);
    for (int i = 0; i < x->n && !e; i++) /* numbers may be others than trial_make() made up */
        e = move(x, i, NULL, NULL, 0);
    e = e ? e : graded_truth(&x->g, d->queue);
    return e ? e : make_plans(x, why, len);
}

void differences_free(struct differences *x)
{
    for (int i = 0; i < x->n; i++) {
        free(x->leaf[i].where);
        free(x->leaf[i].value);
        free(x->leaf[i].got);
        free(x->leaf[i].want);
    }
    image_free(&x->ones);
    image_free(&x->sinks);
    free(x->loss);
    graded_free(&x->g);
    memset(x, 0, sizeof *x);
}
