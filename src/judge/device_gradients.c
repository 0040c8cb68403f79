/* device_gradients.c - what a backward call of a sample has beside the sample's inputs
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/device_gradients.h"

#include "base/checked.h"
#include "device/device.h"

#include <stdlib.h>
#include <string.h>

/* ---- LSE ---- */

/* The answer's own, of all rows of a small sample, and of those rows of a large one that are looked at. */
static void fill_lse(const struct sample *s, float *lse, double *room)
{
    const clattn_sizes *const z = &s->p.sizes;
    const int64_t step = s->ragged ? 1 : device_sample_step(s);
    for (int64_t i = 0; i < z->b * z->h * z->nq; i++) {
        const int64_t b = i / z->nq / z->h, h = i / z->nq % z->h, q = i % z->nq, at = sample_lse(s, b, h, q);
        if (at >= 0)
            lse[at] = (float)(i % step ? sample_gradient_lse(s, b, h, q) : sample_answer_lse(s, b, h, q, room));
    }
}

static cl_int make_lse(struct device_sample *b, cl_context context, struct why *why)
{
    const struct sample *const s = &b->sample;
    const size_t size = problem_type_size(problem_lse_type(&s->p)), n = b->lse_bytes / size;
    double *const room = malloc(SAMPLE_SCRATCH * ((size_t)s->p.sizes.nk + 1) * sizeof *room);
    cl_int status = CL_SUCCESS;
    unsigned char *const stored = malloc(b->lse_bytes + 1);
    b->gradients.lse = calloc(n + 1, sizeof *b->gradients.lse);
    if (!room || !stored || !b->gradients.lse) {
        free(room);
        free(stored);
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory");
    }
    fill_lse(s, b->gradients.lse, room);
    free(room);
    for (size_t i = 0; i < n; i++)
        sample_store(problem_lse_type(&s->p), (double)b->gradients.lse[i], stored + i * size);
    if (n)
        b->gradients.lse_mem =
            clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, b->lse_bytes, stored, &status);
    free(stored);
    return status ? why_cl(why, status, "clCreateBuffer") : CL_SUCCESS;
}

/* ---- Captured buffers ---- */

/* Texts are left out, but a compiler may load ahead of the test for that: every buffer is one of many zeros. */
static cl_int make_aux(struct device_sample *b, cl_context context, struct why *why)
{
    enum { BYTES = 1 << 16 };
    cl_mem mem;
    cl_int status;
    if (!b->sample.p.n_aux)
        return CL_SUCCESS;
    mem = clCreateBuffer(context, CL_MEM_READ_WRITE, BYTES, NULL, &status);
    if (!mem || status)
        return why_cl(why, status ? status : CL_OUT_OF_RESOURCES, "clCreateBuffer");
    for (int i = 0; i < b->sample.p.n_aux; i++)
        b->gradients.aux[i].mem = mem;
    return device_sample_fill(b, mem, 0, 0, BYTES, why);
}

/* ---- Gradients ---- */

/* Those of Q, K and V alone in a large sample, which is for timing. */
static bool is_wanted(const struct sample *s, int which)
{
    return (s->ragged || which <= SAMPLE_DV) && sample_gradient_shape(s, which).rows;
}

static cl_int make_room(struct device_sample *b, cl_context context, int which, struct why *why)
{
    const clattn_problem *const p = &b->sample.p;
    const struct sample_gradient_shape x = sample_gradient_shape(&b->sample, which);
    const bool varlen = p->flags & (which == SAMPLE_DQ ? CLATTN_CU_Q : CLATTN_CU_K) && which <= SAMPLE_DV;
    int64_t rows = which == SAMPLE_DQ ? p->sizes.total_q : p->sizes.total_k, bytes;
    if (!is_wanted(&b->sample, which))
        return CL_SUCCESS;
    if ((!varlen && !checked_mul(x.rows, x.entries, &rows)) || !checked_mul(rows, x.heads, &rows) ||
        !checked_mul(rows, x.width, &bytes) || !checked_mul(bytes, (int64_t)problem_type_size(x.type), &bytes) ||
        (uint64_t)bytes > SIZE_MAX / 2)
        return why_set(why, CL_OUT_OF_RESOURCES, "the sample is too large");
    b->gradients.bytes[which] = (size_t)bytes;
    return device_sample_output(b, context, &b->gradients.mem[which], (size_t)bytes, why);
}

int64_t device_gradients_row(const struct sample *s, int which, int64_t b, int64_t h, int64_t n)
{
    const struct sample_gradient_shape x = sample_gradient_shape(s, which);
    const struct sample_entry e = sample_entry_of(s, b);
    if (which == SAMPLE_DQ)
        return sample_row(s, b, h, n);
    if (which <= SAMPLE_DV && n >= e.nk)
        return -1;
    return which <= SAMPLE_DV && s->p.flags & CLATTN_CU_K ? (e.k_first + n) * x.heads + h
                                                          : (b * x.heads + h) * x.rows + n;
}

/* As the tensor that it is the gradient of. */
static clattn_tensor like(const clattn_tensor *t, cl_mem mem, size_t offset)
{
    clattn_tensor x = *t;
    x.mem = mem;
    x.offset = offset;
    return x;
}

static size_t behind_guard(const struct sample *s, int which)
{
    return DEVICE_SAMPLE_GUARD / problem_type_size(sample_gradient_shape(s, which).type);
}

static void fill_args(struct device_sample *b)
{
    const struct sample *const s = &b->sample;
    const cl_mem *const mem = b->gradients.mem;
    clattn_backward_args *const a = &b->gradients.args;
    clattn_tensor *const to[] = { &a->dq, &a->dk, &a->dv };
    const clattn_tensor *const of[] = { &b->args.q, &b->args.k, &b->args.v };
    a->struct_size = sizeof *a;
    a->forward = &b->args;
    b->args.o = like(&b->args.o, b->mem[SAMPLE_O], 0);
    b->args.lse = like(&b->args.lse, b->gradients.lse_mem, 0);
    a->dout = like(&b->args.o, b->mem[SAMPLE_DOUT], 0);
    a->dlse = like(&b->args.lse, b->mem[SAMPLE_DLSE], 0);
    for (int i = SAMPLE_DQ; i <= SAMPLE_DV; i++)
        *to[i] = like(of[i], mem[i], behind_guard(s, i));
    a->dbias = b->args.bias;
    a->dbias.mem = mem[SAMPLE_DBIAS];
    a->dbias.offset = behind_guard(s, SAMPLE_DBIAS);
    a->dslopes = (clattn_array){ mem[SAMPLE_DSLOPES], behind_guard(s, SAMPLE_DSLOPES) };
    a->dsinks = (clattn_array){ mem[SAMPLE_DSINKS], behind_guard(s, SAMPLE_DSINKS) };
    b->args.aux = s->p.n_aux ? b->gradients.aux : NULL;
    a->daux = s->p.n_aux ? b->gradients.daux : NULL;
    for (int i = 0; i < s->p.n_aux; i++)
        b->gradients.daux[i] = (clattn_aux_gradient){
            { mem[SAMPLE_DAUX + i], behind_guard(s, SAMPLE_DAUX + i) }, sample_gradient_shape(s, SAMPLE_DAUX + i).width
        };
}

/* Without memory for them, elements are computed where they are needed. */
static void compute(struct device_sample *b)
{
    const clattn_sizes *const z = &b->sample.p.sizes;
    b->sample.keys = calloc((size_t)(z->b * z->h * z->nq) + 1, 1);
    const size_t n = sample_gradient_elements(&b->sample);
    if (n && b->gradients.lse && (b->gradients.elements = malloc(n * sizeof *b->gradients.elements)))
        sample_gradient_compute(&b->sample, b->gradients.lse, b->gradients.elements);
}

cl_int device_gradients_open(struct device_sample *b, cl_context context, struct why *why)
{
    cl_int status = make_lse(b, context, why);
    if (!status)
        status = make_aux(b, context, why);
    for (int i = 0; i < SAMPLE_GRADIENTS && !status; i++)
        status = make_room(b, context, i, why);
    if (status || (status = device_gradients_poison(b, why)))
        return status;
    fill_args(b);
    compute(b);
    return CL_SUCCESS;
}

cl_int device_gradients_poison(struct device_sample *b, struct why *why)
{
    cl_int status = CL_SUCCESS;
    for (int i = 0; i < SAMPLE_GRADIENTS && !status; i++)
        if (b->gradients.mem[i])
            status = device_sample_fill(b, b->gradients.mem[i], DEVICE_SAMPLE_POISON, DEVICE_SAMPLE_GUARD,
                                        b->gradients.bytes[i], why);
    const clattn_backward_args *const a = &b->gradients.args;
    return status || !a->workspace
               ? status
               : device_sample_fill(b, a->workspace, DEVICE_SAMPLE_POISON, 0, a->workspace_size, why);
}

cl_int device_gradients_args(struct device_sample *b, const struct launch *l, struct why *why)
{
    clattn_backward_args *const a = &b->gradients.args;
    size_t need;
    cl_int status;
    if ((status = launch_workspace(l, &launch_backward, a, &need, why)) || need <= a->workspace_size)
        return status;
    if (a->workspace)
        clReleaseMemObject(a->workspace);
    a->workspace_size = 0;
    a->workspace = clCreateBuffer(l->plan.context, CL_MEM_READ_WRITE, need, NULL, &status);
    if (!a->workspace || status) {
        a->workspace = NULL;
        return device_no_buffer(why, status ? status : CL_OUT_OF_RESOURCES, l->device, "a workspace", need);
    }
    a->workspace_size = need;
    return device_sample_fill(b, a->workspace, DEVICE_SAMPLE_POISON, 0, need, why);
}

void device_gradients_close(struct device_sample *b)
{
    for (int i = 0; i < SAMPLE_GRADIENTS; i++)
        if (b->gradients.mem[i])
            clReleaseMemObject(b->gradients.mem[i]);
    if (b->gradients.aux[0].mem) /* which is all of them */
        clReleaseMemObject(b->gradients.aux[0].mem);
    if (b->gradients.lse_mem)
        clReleaseMemObject(b->gradients.lse_mem);
    if (b->gradients.args.workspace)
        clReleaseMemObject(b->gradients.args.workspace);
    free(b->gradients.lse);
    free(b->gradients.elements);
    free(b->sample.keys);
    b->sample.keys = NULL;
    memset(&b->gradients, 0, sizeof b->gradients);
}
