/* trial.c - tensors, layouts and buffers of one problem
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trial.h"

#include "../tools/convert.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[LAYOUTS] = { "plain", "padded", "packed", "shared", "repeat", "offsets" };

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

size_t tensor_at(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    return x->offset + (size_t)(b * x->stride[0] + h * x->stride[1] + n * x->stride[2]);
}

double *tensor_row(const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    return x->value + ((b * x->n[1] + h) * x->n[2] + n) * x->width;
}

/* ---- Placing ---- */

/* Strides of `x` with every level `gap` elements wider than needed; `once` has a bit for each axis that is not stored.
 * Returns the elements of the whole buffer. */
static size_t place(struct tensor *x, int bthd, int padded, int once)
{
    static const int order[2][3] = { { 2, 1, 0 }, { 1, 2, 0 } };
    static const int64_t gap[3] = { 5, 3, 11 };
    int64_t step = x->width;
    int i;
    x->offset = padded ? 7 : 0;
    for (i = 0; i < 3; i++) {
        int axis = order[bthd][i];
        step += padded ? gap[i] : 0;
        x->stride[axis] = once >> axis & 1 ? 0 : step;
        step *= once >> axis & 1 ? (x->n[axis] > 0) : x->n[axis];
    }
    return x->offset + (size_t)step + (padded ? 13 : 0);
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
        x[i]->stride[0] = row * x[i]->n[2];
        x[i]->stride[1] = x[i]->width;
        x[i]->stride[2] = row;
        at += x[i]->n[1] * x[i]->width;
    }
    return (size_t)(row * t->q.n[2] * t->q.n[0]);
}

static cl_int image_alloc(struct image *im, size_t elements, int type)
{
    im->size = elements * convert_size(type);
    im->byte = malloc(im->size + 1);
    return im->byte ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* Settles which layouts this problem allows. */
static enum layout settle(const struct trial *t, enum layout l)
{
    int one = t->q.type == t->k.type && t->q.type == t->v.type;
    if (l == PACKED && !(one && t->sizes.nq == t->sizes.nk))
        return PADDED;
    if (l == OFFSETS && !t->c.problem.causal)
        return PADDED;
    return l;
}

static cl_int lay_out(struct trial *t)
{
    struct tensor *x[5] = { &t->q, &t->k, &t->v, &t->o, &t->lse };
    int padded = t->layout != PLAIN, i;
    cl_int e = CL_SUCCESS;
    for (i = 0; i < 5 && !e; i++) {
        int once = t->layout == SHARED ? 1 : t->layout == REPEAT ? (i == 1 ? 6 : 2) : 0;
        size_t n;
        if (t->layout == PACKED && i < 3) {
            n = i ? 0 : place_packed(t);
        } else {
            x[i]->image = &t->image[i];
            n = place(x[i], t->c.bthd && i < 4, padded, i == 1 || i == 2 ? once : 0);
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

static cl_int value_alloc(struct tensor *x)
{
    size_t n = (size_t)tensor_count(x);
    x->value = calloc(n + 1, sizeof *x->value);
    return x->value ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
}

/* ---- Buffers ---- */

static cl_int image_buffer(struct image *im, cl_context context, cl_mem_flags flags)
{
    cl_int e = CL_SUCCESS;
    if (im->size)
        im->mem = clCreateBuffer(context, flags | CL_MEM_COPY_HOST_PTR, im->size, im->byte, &e);
    return e;
}

/* A list behind three elements of nonsense. */
static cl_int ints_buffer(struct image *im, cl_context context, const int32_t *list, int64_t b, clattn_ints *out)
{
    size_t head = 3, i;
    int32_t *all;
    cl_int e = image_alloc(im, head + (size_t)b, CLATTN_F32);
    if (e)
        return e;
    all = (int32_t *)(void *)im->byte;
    for (i = 0; i < head; i++)
        all[i] = INT32_MIN;
    memcpy(all + head, list, (size_t)b * sizeof *list);
    e = image_buffer(im, context, CL_MEM_READ_ONLY);
    out->mem = im->mem;
    out->offset = head;
    return e;
}

static cl_int make_ints(struct trial *t, cl_context context)
{
    uint32_t flags = t->c.problem.flags;
    int64_t b = t->sizes.b;
    cl_int e = CL_SUCCESS;
    if (flags & CLATTN_Q_LEN)
        e = ints_buffer(&t->ints[0], context, t->c.q_len, b, &t->args.q_len);
    if (!e && flags & CLATTN_KV_LEN)
        e = ints_buffer(&t->ints[1], context, t->c.kv_len, b, &t->args.kv_len);
    if (!e && flags & CLATTN_KV_START)
        e = ints_buffer(&t->ints[2], context, t->c.kv_start, b, &t->args.kv_start);
    if (!e && t->layout == OFFSETS)
        e = ints_buffer(&t->ints[3], context, t->offsets, b, &t->args.offsets);
    return e;
}

static cl_int make_buffers(struct trial *t, cl_context context)
{
    cl_int e = CL_SUCCESS;
    int i;
    for (i = 0; i < 5 && !e; i++)
        e = image_buffer(&t->image[i], context, i < 3 ? CL_MEM_READ_ONLY : CL_MEM_READ_WRITE);
    return e ? e : make_ints(t, context);
}

static void argument(const struct trial *t, const struct tensor *x, clattn_tensor *out)
{
    out->mem = x->image->mem;
    out->offset = x->offset;
    if (t->layout != PLAIN || (t->c.bthd && x != &t->lse))
        memcpy(out->stride, x->stride, sizeof out->stride);
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

cl_int trial_make(struct trial *t, cl_context context, const clattn_case *c, enum layout layout)
{
    const clattn_problem *p = &c->problem;
    const clattn_sizes *s = &t->sizes;
    int k_type, v_type, type = p->type ? p->type : CLATTN_F32;
    cl_int e;
    memset(t, 0, sizeof *t);
    t->c = *c;
    t->sizes = p->sizes;
    t->sizes.hk = t->sizes.hk ? t->sizes.hk : t->sizes.h;
    t->d = p->d;
    t->dv = p->dv ? p->dv : p->d;
    k_type = p->k_type ? p->k_type : type;
    v_type = p->v_type ? p->v_type : type;
    shape(&t->q, type, s->b, s->h, s->nq, t->d);
    shape(&t->k, k_type, s->b, s->hk, s->nk, t->d);
    shape(&t->v, v_type, s->b, s->hk, s->nk, t->dv);
    shape(&t->o, type, s->b, s->h, s->nq, t->dv);
    shape(&t->lse, CLATTN_F32, s->b, s->h, s->nq, 1);
    t->layout = settle(t, layout);
    if (t->layout == OFFSETS)
        t->c.problem.align = CLATTN_ALIGN_OFFSETS;
    if ((e = lay_out(t)) || (e = value_alloc(&t->q)) || (e = value_alloc(&t->k)) || (e = value_alloc(&t->v)) ||
        (e = value_alloc(&t->o)) || (e = value_alloc(&t->lse)))
        return e;
    trial_fill_lengths(t);
    trial_fill_inputs(t);
    trial_store_inputs(t);
    trial_store_outputs(t);
    e = make_buffers(t, context);
    make_args(t);
    return e;
}

cl_int trial_run(struct trial *t, clattn_plan plan, cl_command_queue queue)
{
    cl_int e = clattn_enqueue_forward(plan, queue, &t->args, 0, NULL, NULL);
    return e ? e : clFinish(queue);
}

cl_int trial_reset(struct trial *t, cl_command_queue queue)
{
    int i;
    cl_int e = CL_SUCCESS;
    trial_store_outputs(t);
    for (i = 3; i < 5 && !e; i++)
        if (t->image[i].size)
            e = clEnqueueWriteBuffer(queue, t->image[i].mem, CL_TRUE, 0, t->image[i].size, t->image[i].byte, 0, NULL,
                                     NULL);
    return e;
}

cl_int trial_upload(struct trial *t, cl_command_queue queue, struct tensor *x)
{
    int query = x == &t->q;
    tensor_store(x, query ? NULL : t->kv_start, query ? t->q_len : t->kv_len);
    if (!x->image->size)
        return CL_SUCCESS;
    return clEnqueueWriteBuffer(queue, x->image->mem, CL_TRUE, 0, x->image->size, x->image->byte, 0, NULL, NULL);
}

static void image_free(struct image *im)
{
    if (im->mem)
        clReleaseMemObject(im->mem);
    free(im->byte);
}

void trial_free(struct trial *t)
{
    int i;
    for (i = 0; i < 5; i++)
        image_free(&t->image[i]);
    for (i = 0; i < 4; i++)
        image_free(&t->ints[i]);
    free(t->q.value);
    free(t->k.value);
    free(t->v.value);
    free(t->o.value);
    free(t->lse.value);
    memset(t, 0, sizeof *t);
}
