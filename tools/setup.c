/* setup.c - buffers and arguments of one forward call, from arrays of doubles
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "setup.h"

#include "convert.h"
#include "inputs.h"

#include <stdlib.h>
#include <string.h>

/* A tensor [b,h,n,width] on the device. */
struct shape {
    int64_t b, h, n, width;
    int type, bthd;
};

static size_t bytes_of(const struct shape *t)
{
    return (size_t)t->b * (size_t)t->h * (size_t)t->n * (size_t)t->width * convert_size(t->type);
}

/* Strides of the axes b, h and n, in elements. */
static void strides_of(const struct shape *t, int64_t stride[3])
{
    stride[0] = t->h * t->n * t->width;
    stride[1] = t->bthd ? t->width : t->n * t->width;
    stride[2] = t->bthd ? t->h * t->width : t->width;
}

/* Moves every row between doubles and the bytes of the device: to `bytes` when `store`, else from them. */
static void move_rows(const struct shape *t, double *x, unsigned char *bytes, int store)
{
    int64_t stride[3];
    const size_t width = (size_t)t->width, size = convert_size(t->type);
    if (bytes_of(t) == 0)
        return; /* the other axes may still be huge */
    strides_of(t, stride);
    for (int64_t b = 0; b < t->b; b++)
        for (int64_t h = 0; h < t->h; h++)
            for (int64_t n = 0; n < t->n; n++, x += width) {
                unsigned char *at = bytes + (size_t)(b * stride[0] + h * stride[1] + n * stride[2]) * size;
                if (store)
                    convert_store(t->type, x, at, width);
                else
                    convert_load(t->type, at, x, width);
            }
}

/* A buffer of n bytes that starts as `from`; no buffer at all for nothing. */
static cl_int upload(const struct setup *s, cl_mem *out, const void *from, size_t n)
{
    cl_int status = CL_SUCCESS;
    *out = NULL;
    if (n == 0)
        return CL_SUCCESS;
    *out = clCreateBuffer(s->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, n, (void *)(uintptr_t)from, &status);
    if (status != CL_SUCCESS)
        *out = NULL;
    return status;
}

/* x NULL: an output, filled with bytes that are a NaN in every type. */
static cl_int make_tensor(const struct setup *s, clattn_tensor *out, const struct shape *t, const double *x)
{
    const size_t n = bytes_of(t);
    unsigned char *bytes = malloc(n ? n : 1);
    if (!bytes)
        return CL_OUT_OF_HOST_MEMORY;
    if (x)
        move_rows(t, (double *)(uintptr_t)x, bytes, 1);
    else
        memset(bytes, 0xff, n);
    const cl_int status = upload(s, &out->mem, bytes, n);
    strides_of(t, out->stride);
    free(bytes);
    return status;
}

static cl_int make_ints(struct setup *s, clattn_ints *out, uint32_t flag, const int32_t *given, const int32_t *listed)
{
    const clattn_problem *p = &s->c.problem;
    if (!(p->flags & flag))
        return CL_SUCCESS;
    if (!given && p->sizes.b > CLATTN_LIST_MAX)
        return CL_INVALID_VALUE;
    return upload(s, &out->mem, given ? given : listed, (size_t)p->sizes.b * sizeof *given);
}

static struct shape shape_o(const struct setup *s)
{
    const clattn_problem *p = &s->c.problem;
    const struct shape t = { p->sizes.b, p->sizes.h, p->sizes.nq, p->dv, p->type, s->c.bthd };
    return t;
}

static struct shape shape_lse(const struct setup *s)
{
    const clattn_problem *p = &s->c.problem;
    const struct shape t = { p->sizes.b, p->sizes.h, p->sizes.nq, 1, CLATTN_F32, 0 };
    return t;
}

static cl_int make_tensors(struct setup *s, const struct setup_inputs *in)
{
    const clattn_problem *p = &s->c.problem;
    const clattn_sizes *z = &p->sizes;
    const int64_t kv_b = in->shared ? 1 : z->b;
    const struct shape q = { z->b, z->h, z->nq, p->d, p->type, s->c.bthd };
    const struct shape k = { kv_b, z->hk, z->nk, p->d, p->k_type, s->c.bthd };
    const struct shape v = { kv_b, z->hk, z->nk, p->dv, p->v_type, s->c.bthd };
    const struct shape o = shape_o(s), lse = shape_lse(s);
    cl_int e = make_tensor(s, &s->args.q, &q, in->q);
    if (e == CL_SUCCESS)
        e = make_tensor(s, &s->args.k, &k, in->k);
    if (e == CL_SUCCESS)
        e = make_tensor(s, &s->args.v, &v, in->v);
    if (e == CL_SUCCESS)
        e = make_tensor(s, &s->args.o, &o, NULL);
    if (e == CL_SUCCESS && in->lse)
        e = make_tensor(s, &s->args.lse, &lse, NULL);
    if (in->shared && z->b != 1)
        s->args.k.stride[0] = s->args.v.stride[0] = 0;
    return e;
}

cl_int setup_open(struct setup *s, const struct opencl *where, const clattn_case *c, const struct setup_inputs *in)
{
    cl_int e;
    memset(s, 0, sizeof *s);
    s->c = *c;
    s->c.problem = inputs_defaults(&c->problem);
    s->context = where->context;
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
        e = make_ints(s, &s->args.q_len, CLATTN_Q_LEN, in->q_len, c->q_len);
    if (e == CL_SUCCESS)
        e = make_ints(s, &s->args.kv_len, CLATTN_KV_LEN, in->kv_len, c->kv_len);
    if (e == CL_SUCCESS)
        e = make_ints(s, &s->args.kv_start, CLATTN_KV_START, in->kv_start, c->kv_start);
    if (e == CL_SUCCESS && in->offsets)
        e = upload(s, &s->args.offsets.mem, in->offsets, (size_t)s->sizes.b * sizeof *in->offsets);
    return e;
}

/* Gives the call the workspace it asks for, once. */
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

cl_int setup_run(struct setup *s, clattn_plan plan)
{
    cl_int e = make_workspace(s, plan);
    if (e == CL_SUCCESS)
        e = clattn_enqueue_forward(plan, s->queue, &s->args, 0, NULL, NULL);
    if (e != CL_SUCCESS)
        return e;
    return clFinish(s->queue);
}

static cl_int read_tensor(struct setup *s, cl_mem mem, const struct shape *t, double *to)
{
    const size_t n = bytes_of(t);
    if (n == 0)
        return CL_SUCCESS;
    unsigned char *bytes = malloc(n);
    if (!bytes)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int e = clEnqueueReadBuffer(s->queue, mem, CL_TRUE, 0, n, bytes, 0, NULL, NULL);
    if (e == CL_SUCCESS)
        move_rows(t, to, bytes, 0);
    free(bytes);
    return e;
}

cl_int setup_read(struct setup *s, double *o, double *lse)
{
    const struct shape to = shape_o(s), tl = shape_lse(s);
    const cl_int e = read_tensor(s, s->args.o.mem, &to, o);
    if (e != CL_SUCCESS || !lse)
        return e;
    return read_tensor(s, s->args.lse.mem, &tl, lse);
}

static void drop(cl_mem mem)
{
    if (mem)
        (void)clReleaseMemObject(mem);
}

void setup_close(struct setup *s)
{
    if (s->queue) {
        (void)clFinish(s->queue); /* a call that failed half-way may still be reading */
        (void)clReleaseCommandQueue(s->queue);
    }
    drop(s->args.q.mem);
    drop(s->args.k.mem);
    drop(s->args.v.mem);
    drop(s->args.o.mem);
    drop(s->args.lse.mem);
    drop(s->args.q_len.mem);
    drop(s->args.kv_len.mem);
    drop(s->args.kv_start.mem);
    drop(s->args.offsets.mem);
    drop(s->args.workspace);
    memset(s, 0, sizeof *s);
}
