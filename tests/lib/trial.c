/* trial.c - tensors, layouts and buffers of one problem
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/trial.h"

#include "tools/oracle/quantise.h"
#include "tools/oracle/reference_rules.h"
#include "tools/oracle/verify.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[LAYOUTS] = { "plain",  "padded",  "packed", "shared",
                                            "repeat", "offsets", "uneven", "aligned", "shared-k", "shared-v" };

const char *layout_name(enum layout l)
{
    return l < LAYOUTS ? names[l] : "?";
}

enum layout layout_find(const char *name)
{
    int l = 0;
    while (l < LAYOUTS && strcmp(names[l], name))
        l++;
    return (enum layout)l;
}

int64_t tensor_count(const struct tensor *x)
{
    return x->n[0] * x->n[1] * x->n[2] * x->width;
}

/* In pages, of axes page, head and row of the page. */
static size_t paged_at(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    const struct paging *const p = x->paging;
    const int64_t page = p->table[b * p->slots + n / p->page];
    if (page < 0 || page >= p->n)
        return NOWHERE;
    return x->offset + (size_t)(page * x->stride[0] + h * x->stride[1] + n % p->page * x->stride[2]);
}

size_t tensor_at(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    if (x->paging)
        return paged_at(x, b, h, n);
    if (x->cu)
        return x->offset + (size_t)(h * x->stride[1] + (x->cu[b] + n) * x->stride[2]);
    return x->offset + (size_t)(b * x->stride[0] + h * x->stride[1] + n * x->stride[2]);
}

double *tensor_row(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    return x->value + ((b * x->n[1] + h) * x->n[2] + n) * x->width;
}

double *tensor_copy(const struct tensor *x)
{
    const size_t n = (size_t)tensor_count(x) * sizeof(double);
    double *const to = malloc(n + 1);
    if (!to)
        abort();
    return memcpy(to, x->value, n);
}

/* ---- Placing ---- */

/* How often an axis steps: varlen sequences have no axis b, and one of rows for them all; pages are in its place. */
static int64_t extent(const struct tensor *x, int axis)
{
    if (x->paging)
        return axis == 0 ? x->paging->n : axis == 1 ? x->n[1] : x->paging->page;
    if (x->cu)
        return axis == 0 ? 1 : axis == 1 ? x->n[1] : x->total;
    return x->n[axis];
}

/* Gaps between rows, heads and entries. */
enum { NONE, ODD, ALL_ALIGNED };

/* Strides of `x` with every level `gap` blocks wider than needed; `once` has a bit for each axis that is not stored.
 * Returns the elements of the whole buffer. */
static size_t place(struct tensor *x, int bthd, int padded, int once)
{
    static const int order[2][3] = { { 2, 1, 0 }, { 1, 2, 0 } };
    static const int64_t gap[3] = { 5, 3, 11 }, nowhere = (int64_t)1 << 40;
    const int64_t block = quantise_block(x->type), aligned = block > 8 ? block : 8;
    int64_t step = x->width;
    int i;
    x->offset = (size_t)(padded == ALL_ALIGNED ? aligned : padded ? 7 * block : 0);
    for (i = 0; i < 3; i++) {
        int axis = order[bthd][i];
        step += padded == ALL_ALIGNED ? aligned + (aligned - step % aligned) % aligned : padded ? gap[i] * block : 0;
        x->stride[axis] = once >> axis & 1 ? 0 : step;
        step *= once >> axis & 1 ? (extent(x, axis) > 0) : extent(x, axis);
    }
    if (x->cu && padded)
        x->stride[0] = nowhere; /* counts for nothing */
    return x->offset + (size_t)(step + (padded == ODD ? 13 * block : 0));
}

/* Q, K and V of a row side by side: [b,n,(h+hk) d + hk dv] (bthd or not). */
static size_t place_packed(struct trial *t)
{
    struct tensor *x[3] = { &t->q, &t->k, &t->v };
    int64_t row = t->q.n[1] * t->d + t->k.n[1] * (t->d + t->dv), at = 0;
    int i;
    for (i = 0; i < 3; i++) {
        x[i]->image = &t->image[0];
        x[i]->offset = (size_t)at;
        x[i]->stride[0] = row * extent(x[i], 2);
        x[i]->stride[1] = x[i]->width;
        x[i]->stride[2] = row;
        at += x[i]->n[1] * x[i]->width;
    }
    return (size_t)(row * extent(&t->q, 2) * extent(&t->q, 0));
}

/* Settles which layouts this problem allows. */
static enum layout settle(const struct trial *t, enum layout l)
{
    const clattn_problem *p = &t->c.problem;
    int one = t->q.type == t->k.type && t->q.type == t->v.type;
    int same_rows = t->sizes.nq == t->sizes.nk && !(p->flags & CLATTN_CU_Q) == !(p->flags & CLATTN_CU_K);
    if (l == PACKED && !(one && same_rows && !p->page))
        return PADDED;
    if (l == OFFSETS && !reference_needs_diagonal(p))
        return PADDED;
    if ((l == SHARED_K || l == SHARED_V) && (p->page || p->flags & CLATTN_CU_K))
        return PADDED;
    if (l == UNEVEN && !(p->flags & (CLATTN_CU_Q | CLATTN_CU_K)))
        return PADDED;
    return l;
}

static int gaps_of(enum layout l)
{
    return l == ALIGNED ? ALL_ALIGNED : l == PLAIN ? NONE : ODD;
}

size_t trial_place(struct tensor *x, int bthd, enum layout l, int without_b)
{
    return place(x, bthd, gaps_of(l), without_b);
}

static cl_int lay_out(struct trial *t)
{
    struct tensor *x[5] = { &t->q, &t->k, &t->v, &t->o, &t->lse };
    int padded = gaps_of(t->layout), i;
    cl_int e = CL_SUCCESS;
    for (i = 0; i < 5 && !e; i++) {
        int once = t->layout == SHARED     ? !x[i]->paging
                   : t->layout == REPEAT   ? (i == 1 ? 6 : 2)
                   : t->layout == SHARED_K ? i == 1
                   : t->layout == SHARED_V ? i == 2
                                           : 0;
        int rows_outside = x[i]->paging ? t->layout == PLAIN || t->c.seed % 2
                                        : t->c.bthd || (x[i]->cu && t->layout != SHARED);
        size_t n;
        if (t->layout == PACKED && i < 3) {
            n = i ? 0 : place_packed(t);
        } else {
            x[i]->image = &t->image[i];
            n = place(x[i], rows_outside && i < 4, padded, i == 1 || i == 2 ? once : 0);
        }
        e = image_alloc(&t->image[i], n, x[i]->type);
    }
    return e;
}

/* ---- Values ---- */

static void shape(struct tensor *x, int type, int64_t b, int64_t h, int64_t n, int64_t width)
{
    x->type = type;
    x->n[0] = b;
    x->n[1] = h;
    x->n[2] = n;
    x->width = width;
}

static void shape_all(struct trial *t)
{
    const clattn_problem *p = &t->c.problem;
    const clattn_sizes *s = &t->sizes;
    const int type = p->type ? p->type : CLATTN_F32;
    t->d = p->d;
    t->dv = p->dv ? p->dv : p->d;
    shape(&t->q, type, s->b, s->h, s->nq, t->d);
    shape(&t->k, p->k_type ? p->k_type : type, s->b, s->hk, s->nk, t->d);
    shape(&t->v, p->v_type ? p->v_type : type, s->b, s->hk, s->nk, t->dv);
    shape(&t->o, p->o_type ? p->o_type : type, s->b, s->h, s->nq, t->dv);
    shape(&t->lse, p->flags & CLATTN_LSE_F64 ? CLATTN_F64 : CLATTN_F32, s->b, s->h, s->nq, 1);
}

/* Varlen sequences: where they begin, and how many rows there are. */
static void shape_packed(struct trial *t)
{
    struct tensor *x[5] = { &t->q, &t->o, &t->lse, &t->k, &t->v };
    int i;
    for (i = 0; i < 5; i++) {
        x[i]->cu = t->c.problem.flags & (i < 3 ? CLATTN_CU_Q : CLATTN_CU_K) ? (i < 3 ? t->x.cu_q : t->x.cu_k) : NULL;
        x[i]->total = i < 3 ? t->sizes.total_q : t->sizes.total_k;
    }
}

static cl_int make_values(struct trial *t)
{
    struct tensor *x[5] = { &t->q, &t->k, &t->v, &t->o, &t->lse };
    cl_int e;
    int i;
    for (i = 0; i < 5; i++) {
        x[i]->value = calloc((size_t)tensor_count(x[i]) + 1, sizeof *x[i]->value);
        if (!x[i]->value)
            return CL_OUT_OF_HOST_MEMORY;
    }
    trial_fill_lengths(t);
    if ((e = keys_fill_table(t)) || (e = trial_fill_inputs(t)))
        return e;
    return trial_find_kept(t);
}

/* ---- Buffers ---- */

static cl_int make_buffers(struct trial *t, cl_context context)
{
    cl_int e = CL_SUCCESS;
    int i;
    trial_store_inputs(t);
    trial_store_outputs(t);
    for (i = 0; i < 5 && !e; i++)
        e = image_buffer(&t->image[i], context, i < 3 ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE);
    return e ? e : trial_give(t, context);
}

void tensor_argument(const struct tensor *x, int given, clattn_tensor *out)
{
    out->mem = x->image->mem;
    out->offset = x->offset;
    if (given)
        memcpy(out->stride, x->stride, sizeof out->stride);
}

static void argument(const struct trial *t, const struct tensor *x, clattn_tensor *out)
{
    tensor_argument(x, t->layout != PLAIN || (t->c.bthd && x != &t->lse && !x->paging), out);
}

static void make_args(struct trial *t)
{
    t->args.struct_size = sizeof t->args;
    t->args.sizes = &t->sizes;
    argument(t, &t->q, &t->args.q);
    argument(t, &t->k, &t->args.k);
    argument(t, &t->v, &t->args.v);
    argument(t, &t->o, &t->args.o);
    if (t->c.lse)
        argument(t, &t->lse, &t->args.lse);
}

cl_int trial_make(struct trial *t, cl_context context, const clattn_workload *c, enum layout layout)
{
    return trial_make_caches(t, context, c, layout, NULL);
}

cl_int trial_make_caches(struct trial *t, cl_context context, const clattn_workload *c, enum layout layout,
                         const struct caching *caching)
{
    cl_int e;
    memset(t, 0, sizeof *t);
    t->c = *c;
    t->caching = caching;
    t->sizes = c->problem.sizes;
    t->sizes.hk = t->sizes.hk ? t->sizes.hk : t->sizes.h;
    shape_all(t);
    t->layout = settle(t, layout);
    if (t->layout == OFFSETS)
        t->c.problem.align = CLATTN_ALIGN_OFFSETS;
    if ((e = trial_fill_extras(t)))
        return e;
    shape_packed(t);
    keys_shape(t);
    if ((e = lay_out(t)) || (e = make_values(t)) || (e = make_buffers(t, context)))
        return e;
    make_args(t);
    return CL_SUCCESS;
}

cl_int workspace_make(struct image *im, cl_command_queue queue, size_t need)
{
    cl_context context;
    image_free(im);
    cl_int e = clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL);
    e = e ? e : image_alloc(im, need + 2 * WORKSPACE_MARGIN, CLATTN_U8);
    if (e)
        return e;
    image_canaries(im);
    return image_buffer(im, context, CL_MEM_READ_WRITE);
}

static cl_int make_workspace(struct trial *t, clattn_plan plan, cl_command_queue queue)
{
    size_t need;
    cl_int e = clattn_workspace_size(plan, &t->args, &need);
    if (e || need <= t->args.workspace_size)
        return e;
    e = workspace_make(&t->workspace, queue, need);
    t->args.workspace = t->workspace.mem;
    t->args.workspace_offset = WORKSPACE_MARGIN;
    t->args.workspace_size = need;
    return e;
}

cl_int trial_run(struct trial *t, clattn_plan plan, cl_command_queue queue)
{
    char config[512] = "";
    cl_int e = clattn_plan_config(plan, config, sizeof config, NULL);
    e = e ? e : make_workspace(t, plan, queue);
    t->narrow_p = verify_narrow_p(config);
    if (!e && t->map.image.size && t->mask.image.size)
        e = clattn_enqueue_block_map(plan, queue, &t->args, 0, NULL, NULL);
    if (!e)
        e = clattn_enqueue_forward(plan, queue, &t->args, 0, NULL, NULL);
    return e ? e : clFinish(queue);
}

cl_int trial_reset(struct trial *t, cl_command_queue queue)
{
    int i;
    cl_int e = CL_SUCCESS;
    trial_store_outputs(t);
    for (i = 3; i < 5 && !e; i++)
        e = image_write(&t->image[i], queue);
    return e;
}

cl_int trial_upload(struct trial *t, cl_command_queue queue, struct tensor *x)
{
    const cl_int e = keys_write(t, x, queue);
    trial_store(t, x);
    return e ? e : image_write(x->image, queue);
}

cl_int trial_upload_inputs(struct trial *t, cl_command_queue queue)
{
    cl_int e = trial_upload(t, queue, &t->q);
    e = e ? e : trial_upload(t, queue, &t->k);
    return e ? e : trial_upload(t, queue, &t->v);
}

void trial_free(struct trial *t)
{
    int i;
    for (i = 0; i < 5; i++)
        image_free(&t->image[i]);
    image_free(&t->workspace);
    trial_take_back(t);
    extras_free(&t->x);
    free(t->q.value);
    free(t->k.value);
    free(t->v.value);
    free(t->o.value);
    free(t->lse.value);
    free(t->seen);
    free(t->sees);
    memset(t, 0, sizeof *t);
}
