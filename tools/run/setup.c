/* setup.c - buffers and arguments of one forward call, from arrays of doubles
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/setup.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/inputs.h"
#include "tools/oracle/quantise.h"

#include <stdlib.h>
#include <string.h>

/* A tensor [b,h,n,width] on the device. */
struct shape {
    int64_t b, h, n, width;
    int type, bthd;
};

static size_t bytes_of(const struct shape *t)
{
    return quantise_bytes(t->type, (size_t)t->b * (size_t)t->h * (size_t)t->n * (size_t)t->width);
}

/* Strides of the axes b, h and n, in elements. */
static void strides_of(const struct shape *t, int64_t stride[3])
{
    stride[0] = t->h * t->n * t->width;
    stride[1] = t->bthd ? t->width : t->n * t->width;
    stride[2] = t->bthd ? t->h * t->width : t->width;
}

/* A row on its way between the host and the device's bytes `at`: t says how it is stored there. */
typedef void move_row(const struct shape *t, void *row, unsigned char *at);

static void put_row(const struct shape *t, void *row, unsigned char *at)
{
    convert_store(t->type, row, at, (size_t)t->width);
}

static void get_row(const struct shape *t, void *row, unsigned char *at)
{
    convert_load(t->type, at, row, (size_t)t->width);
}

static void copy_row(const struct shape *t, void *row, unsigned char *at)
{
    memcpy(at, row, quantise_bytes(t->type, (size_t)t->width));
}

/* Moves every row of `rows`, which are `size` bytes each and lie in the order [b,h,n]. */
static void move_rows(const struct shape *t, void *rows, size_t size, unsigned char *bytes, move_row *move)
{
    int64_t stride[3];
    unsigned char *row = rows;
    if (bytes_of(t) == 0)
        return; /* the other axes may still be huge */
    strides_of(t, stride);
    for (int64_t b = 0; b < t->b; b++)
        for (int64_t h = 0; h < t->h; h++)
            for (int64_t n = 0; n < t->n; n++, row += size)
                move(t, row, bytes + quantise_bytes(t->type, (size_t)(b * stride[0] + h * stride[1] + n * stride[2])));
}

/* Makes a buffer of n bytes with the contents of `from`; none when n is 0. */
static cl_int make_buffer(cl_context context, cl_mem *out, const void *from, size_t n)
{
    cl_int status = CL_SUCCESS;
    *out = NULL;
    if (n == 0)
        return CL_SUCCESS;
    *out = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n, (void *)(uintptr_t)from, &status);
    if (status != CL_SUCCESS)
        *out = NULL;
    return status;
}

static cl_int upload(const struct setup *s, cl_mem *out, const void *from, size_t n)
{
    return make_buffer(s->context, out, from, n);
}

cl_int setup_numbers(cl_context context, cl_mem *out, int type, const double *from, size_t n)
{
    const size_t bytes = n * convert_size(type);
    void *const image = malloc(bytes ? bytes : 1);
    if (!image)
        return CL_OUT_OF_HOST_MEMORY;
    if (from)
        convert_store(type, from, image, n);
    else
        memset(image, 0xff, bytes);
    const cl_int e = make_buffer(context, out, image, bytes);
    free(image);
    return e;
}

cl_int setup_numbers_back(cl_command_queue queue, cl_mem mem, int type, double *to, size_t n)
{
    const size_t bytes = n * convert_size(type);
    void *const image = malloc(bytes ? bytes : 1);
    cl_int e = image ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    if (image && bytes)
        e = clEnqueueReadBuffer(queue, mem, CL_TRUE, 0, bytes, image, 0, NULL, NULL);
    if (e == CL_SUCCESS)
        convert_load(type, image, to, n);
    free(image);
    return e;
}

void setup_release(const cl_mem *all, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (all[i])
            (void)clReleaseMemObject(all[i]);
}

/* Rows of values, or of bytes as they are stored; without either an output, filled with bytes that are a NaN in every
 * type. */
static cl_int make_tensor(const struct setup *s, clattn_tensor *out, const struct shape *t, const double *values,
                          const unsigned char *stored)
{
    const size_t n = bytes_of(t), width = (size_t)t->width;
    unsigned char *bytes = malloc(n ? n : 1);
    if (!bytes)
        return CL_OUT_OF_HOST_MEMORY;
    if (stored)
        move_rows(t, (void *)(uintptr_t)stored, quantise_bytes(t->type, width), bytes, copy_row);
    else if (values)
        move_rows(t, (void *)(uintptr_t)values, width * sizeof *values, bytes, put_row);
    else
        memset(bytes, 0xff, n);
    const cl_int status = upload(s, &out->mem, bytes, n);
    strides_of(t, out->stride);
    free(bytes);
    return status;
}

static cl_int make_ints(struct setup *s, clattn_array *out, uint32_t flag, const int32_t *given, const int32_t *listed)
{
    const clattn_problem *p = &s->c.problem;
    if (!(p->flags & flag))
        return CL_SUCCESS;
    if (!given && p->sizes.b > CLATTN_LIST_MAX)
        return CL_INVALID_VALUE;
    return upload(s, &out->mem, given ? given : listed, (size_t)p->sizes.b * sizeof *given);
}

/* Q and O, or K and V, in whichever way they lie; b: of what is padded. */
static struct shape shape_of(const struct setup *s, int query, int64_t b, int64_t width, int type)
{
    const clattn_problem *p = &s->c.problem;
    const clattn_sizes *z = &p->sizes;
    const struct shape padded = { b, query ? z->h : z->hk, query ? z->nq : z->nk, width, type, s->c.bthd };
    const struct shape packed = { 1, padded.h, query ? z->total_q : z->total_k, width, type, 1 };
    return p->flags & (query ? CLATTN_CU_Q : CLATTN_CU_K) ? packed : padded;
}

static struct shape shape_like(const struct setup *s, enum setup_like what)
{
    const clattn_problem *p = &s->c.problem;
    const int64_t b = p->sizes.b, kv_b = s->shared ? 1 : b;
    struct shape lse = shape_of(s, 1, b, 1, CLATTN_F32);
    lse.bthd = 0;
    return what == SETUP_Q      ? shape_of(s, 1, b, p->d, p->type)
           : what == SETUP_K    ? shape_of(s, 0, kv_b, p->d, p->k_type)
           : what == SETUP_V    ? shape_of(s, 0, kv_b, p->dv, p->v_type)
           : what == SETUP_O    ? shape_of(s, 1, b, p->dv, p->o_type)
           : what == SETUP_DOUT ? shape_of(s, 1, b, p->dv, p->type)
                                : lse;
}

cl_int setup_tensor(const struct setup *s, enum setup_like what, const double *values, clattn_tensor *out)
{
    const struct shape t = shape_like(s, what);
    const cl_int e = make_tensor(s, out, &t, values, NULL);
    if ((what == SETUP_K || what == SETUP_V) && s->shared)
        out->stride[0] = 0;
    return e;
}

/* K or V: in a cache, else as Q lies. */
static cl_int make_keys(const struct setup *s, clattn_tensor *out, const struct shape *plain, const struct stored *c,
                        const double *x, int paged)
{
    const struct shape stored = { c ? c->b : 0, c ? c->h : 0, c ? c->n : 0, plain->width, plain->type,
                                  paged || plain->bthd };
    const double *const values = c && c->value ? c->value : x;
    return make_tensor(s, out, c ? &stored : plain, values, c ? c->bytes : NULL);
}

static cl_int make_tensors(struct setup *s, const struct setup_inputs *in)
{
    const struct stored_kv *const c = in->caches;
    const struct shape k = shape_like(s, SETUP_K), v = shape_like(s, SETUP_V);
    const int paged = c && c->pages.table;
    cl_int e = setup_tensor(s, SETUP_Q, in->q, &s->args.q);
    if (e == CL_SUCCESS)
        e = make_keys(s, &s->args.k, &k, c ? &c->k : NULL, in->k, paged);
    if (e == CL_SUCCESS)
        e = make_keys(s, &s->args.v, &v, c ? &c->v : NULL, in->v, paged);
    if (e == CL_SUCCESS)
        e = setup_tensor(s, SETUP_O, NULL, &s->args.o);
    if (e == CL_SUCCESS && in->lse)
        e = setup_tensor(s, SETUP_LSE, NULL, &s->args.lse);
    if (s->shared)
        s->args.k.stride[0] = s->args.v.stride[0] = 0;
    return e;
}

static cl_int make_lengths(struct setup *s, const struct setup_inputs *in, const clattn_workload *c)
{
    cl_int e = make_ints(s, &s->args.q_len, CLATTN_Q_LEN, in->q_len, c->q_len);
    if (e == CL_SUCCESS)
        e = make_ints(s, &s->args.kv_len, CLATTN_KV_LEN, in->kv_len, c->kv_len);
    if (e == CL_SUCCESS)
        e = make_ints(s, &s->args.kv_start, CLATTN_KV_START, in->kv_start, c->kv_start);
    if (e == CL_SUCCESS && in->offsets)
        e = upload(s, &s->args.offsets.mem, in->offsets, (size_t)s->sizes.b * sizeof *in->offsets);
    return e;
}

/* n numbers as `type`; nothing for NULL. */
static cl_int upload_as(const struct setup *s, cl_mem *out, int type, const double *from, size_t n)
{
    return from ? setup_numbers(s->context, out, type, from, n) : CL_SUCCESS;
}

static size_t cells_of(const int64_t shape[4])
{
    return (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2] * (size_t)shape[3];
}

/* Scales or zero points [shape]; nothing for NULL. */
static cl_int make_scales(const struct setup *s, clattn_tensor4 *out, const int64_t shape[4], const double *from)
{
    if (!from)
        return CL_SUCCESS;
    memcpy(out->shape, shape, sizeof out->shape);
    out->stride[3] = 1;
    for (int axis = 3; axis > 0; axis--)
        out->stride[axis - 1] = out->stride[axis] * shape[axis];
    return upload_as(s, &out->mem, CLATTN_F32, from, cells_of(shape));
}

/* What goes with K and V in caches. */
static cl_int make_caches(struct setup *s, const struct stored_kv *c)
{
    clattn_forward_args *a = &s->args;
    const struct pages *const p = &c->pages;
    cl_int e = make_scales(s, &a->k_scale, c->k.scale_shape, c->k.scale);
    if (e == CL_SUCCESS)
        e = make_scales(s, &a->k_zero, c->k.zero_shape, c->k.zero);
    if (e == CL_SUCCESS)
        e = make_scales(s, &a->v_scale, c->v.scale_shape, c->v.scale);
    if (e == CL_SUCCESS)
        e = make_scales(s, &a->v_zero, c->v.zero_shape, c->v.zero);
    if (e != CL_SUCCESS || !p->table)
        return e;
    a->page = (int32_t)p->page;
    a->pages = p->n;
    a->block_table_stride = p->slots;
    return upload(s, &a->block_table.mem, p->table, (size_t)(p->b * p->slots) * sizeof *p->table);
}

/* Bytes, or without any a buffer for them. */
static cl_int make_bytes(const struct setup *s, clattn_tensor4 *out, const int64_t shape[4], const unsigned char *from)
{
    const size_t n = cells_of(shape);
    cl_int e = CL_SUCCESS;
    memcpy(out->shape, shape, sizeof out->shape);
    if (from)
        return upload(s, &out->mem, from, n);
    if (n > 0)
        out->mem = clCreateBuffer(s->context, CL_MEM_READ_WRITE, n, NULL, &e);
    return e;
}

static cl_int make_changes(struct setup *s, const struct extras *x)
{
    clattn_forward_args *a = &s->args;
    const uint32_t flags = s->c.problem.flags;
    const size_t h = (size_t)s->sizes.h;
    cl_int e = upload_as(s, &a->bias.mem, s->c.problem.bias_type, x->bias, x->bias ? cells_of(x->bias_shape) : 0);
    if (x->bias)
        memcpy(a->bias.shape, x->bias_shape, sizeof a->bias.shape);
    if (e == CL_SUCCESS && flags & CLATTN_MASK)
        e = make_bytes(s, &a->mask, x->mask_shape, x->mask);
    if (e == CL_SUCCESS && flags & CLATTN_BLOCK_MAP)
        e = make_bytes(s, &a->block_map, x->block_shape, x->block_map);
    a->block_q = x->block_q;
    a->block_k = x->block_k;
    s->map_due = flags & CLATTN_BLOCK_MAP && !x->block_map;
    if (e == CL_SUCCESS)
        e = upload_as(s, &a->slopes.mem, CLATTN_F32, x->slopes, x->slopes ? (size_t)x->slopes_b * h : 0);
    a->slopes_stride = x->slopes && x->slopes_b > 1 ? s->sizes.h : 0;
    a->dropout_seed = x->dropout_seed;
    a->dropout_offset = x->dropout_offset;
    if (e == CL_SUCCESS)
        e = upload_as(s, &a->sinks.mem, CLATTN_F32, x->sinks, h);
    return e;
}

static cl_int make_extras(struct setup *s, const struct extras *x)
{
    const size_t list = ((size_t)s->sizes.b + 1) * sizeof(int32_t);
    cl_int e = make_changes(s, x);
    if (e == CL_SUCCESS && x->cu_q)
        e = upload(s, &s->args.cu_q.mem, x->cu_q, list);
    if (e == CL_SUCCESS && x->cu_k)
        e = upload(s, &s->args.cu_k.mem, x->cu_k, list);
    for (size_t i = 0; i < x->n_aux && e == CL_SUCCESS; i++)
        e = upload(s, &s->aux[i].mem, x->aux[i].data, x->aux[i].count * (x->aux[i].type == CLATTN_U8 ? 1 : 4));
    s->args.aux = x->n_aux ? s->aux : NULL;
    return e;
}

cl_int setup_open(struct setup *s, const struct opencl *where, const clattn_workload *c, const struct setup_inputs *in)
{
    cl_int e;
    memset(s, 0, sizeof *s);
    s->c = *c;
    s->c.problem = inputs_defaults(&c->problem);
    s->context = where->context;
    s->shared = in->shared && c->problem.sizes.b != 1;
    s->sizes = s->c.problem.sizes;
    s->args.struct_size = sizeof s->args;
    s->args.sizes = &s->sizes;
    s->queue = clCreateCommandQueue(where->context, where->device, 0, &e);
    if (e != CL_SUCCESS) {
        s->queue = NULL;
        return e;
    }
    e = make_tensors(s, in);
    if (e == CL_SUCCESS)
        e = make_lengths(s, in, c);
    if (e == CL_SUCCESS && in->caches)
        e = make_caches(s, in->caches);
    if (e == CL_SUCCESS && in->x)
        e = make_extras(s, in->x);
    return e;
}

/* Makes the workspace that the call needs, once. */
static cl_int make_workspace(struct setup *s, clattn_plan plan)
{
    size_t need = 0;
    cl_int e = clattn_workspace_size(plan, &s->args, &need);
    if (e != CL_SUCCESS || need <= s->workspace)
        return e;
    if (s->args.workspace)
        (void)clReleaseMemObject(s->args.workspace);
    s->workspace = s->args.workspace_size = 0;
    s->args.workspace = clCreateBuffer(s->context, CL_MEM_READ_WRITE, need, NULL, &e);
    if (e == CL_SUCCESS)
        s->workspace = s->args.workspace_size = need;
    else
        s->args.workspace = NULL;
    return e;
}

cl_int setup_prepare(struct setup *s, clattn_plan plan)
{
    cl_int e = CL_SUCCESS;
    if (s->map_due)
        e = clattn_enqueue_block_map(plan, s->queue, &s->args, 0, NULL, NULL);
    if (s->map_due && e == CL_SUCCESS)
        e = clFinish(s->queue);
    if (e == CL_SUCCESS)
        s->map_due = 0;
    return e;
}

cl_int setup_run(struct setup *s, clattn_plan plan)
{
    cl_int e = make_workspace(s, plan);
    if (e == CL_SUCCESS)
        e = clattn_enqueue_forward(plan, s->queue, &s->args, 0, NULL, NULL);
    if (e != CL_SUCCESS)
        return e;
    return clFinish(s->queue);
}

cl_int setup_fetch(struct setup *s, enum setup_like what, cl_mem mem, double *to)
{
    const struct shape t = shape_like(s, what);
    const size_t n = bytes_of(&t);
    if (n == 0)
        return CL_SUCCESS;
    unsigned char *bytes = malloc(n);
    if (!bytes)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int e = clEnqueueReadBuffer(s->queue, mem, CL_TRUE, 0, n, bytes, 0, NULL, NULL);
    if (e == CL_SUCCESS)
        move_rows(&t, to, (size_t)t.width * sizeof *to, bytes, get_row);
    free(bytes);
    return e;
}

cl_int setup_read(struct setup *s, double *o, double *lse)
{
    const cl_int e = setup_fetch(s, SETUP_O, s->args.o.mem, o);
    return e == CL_SUCCESS && lse ? setup_fetch(s, SETUP_LSE, s->args.lse.mem, lse) : e;
}

void setup_close(struct setup *s)
{
    clattn_forward_args *a = &s->args;
    const cl_mem all[] = {
        a->q.mem,        a->k.mem,       a->v.mem,    a->o.mem,    a->lse.mem,  a->q_len.mem,     a->kv_len.mem,
        a->kv_start.mem, a->offsets.mem, a->cu_q.mem, a->cu_k.mem, a->bias.mem, a->mask.mem,      a->block_map.mem,
        a->slopes.mem,   a->sinks.mem,   a->workspace, a->k_scale.mem, a->k_zero.mem, a->v_scale.mem, a->v_zero.mem,
        a->block_table.mem,
    };
    if (s->queue) {
        (void)clFinish(s->queue); /* a call that failed half-way may still be reading */
        (void)clReleaseCommandQueue(s->queue);
    }
    setup_release(all, sizeof all / sizeof *all);
    for (size_t i = 0; i < CLATTN_AUX_MAX; i++)
        setup_release(&s->aux[i].mem, 1);
    memset(s, 0, sizeof *s);
}
