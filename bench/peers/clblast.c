/* clblast.c - unfused attention: S = scale Q K^T by CLBlast, softmax by a kernel of ours, O = P V by CLBlast
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a program does that has a BLAS and no attention. f32, contiguous [b,h,n,d]; the query heads of one key head lie
 * one after the other, so that each is one GEMM. CLBlast runs with whatever parameters it has for the device. */
#include "config.h"

#ifdef HAVE_CLBLAST

#include "bench/figures/work.h"
#include "bench/peers/peer.h"

#include <clblast_c.h>
#include <stdio.h>
#include <stdlib.h>

/* A group of `L` items per row, V floats at a time; rows are a multiple of nothing. Row r of a (b, h) sees the first
 * min(nk, r + offset + 1) keys. */
static const char softmax_source[] =
    "#define CAT_(a, b) a##b\n"
    "#define CAT(a, b) CAT_(a, b)\n"
    "float over_group(float x, __local float *w, int is_max) {\n"
    "    const int i = get_local_id(0);\n"
    "    w[i] = x;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int n = L / 2; n > 0; n /= 2) {\n"
    "        if (i < n) w[i] = is_max ? fmax(w[i], w[i + n]) : w[i] + w[i + n];\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    x = w[0];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    return x;\n"
    "}\n"
    "__kernel __attribute__((reqd_work_group_size(L, 1, 1)))\n"
    "void softmax_rows(__global float *S, int nq, int nk, int causal, int offset) {\n"
    "    __local float w[L];\n"
    "    const int i = get_local_id(0), q = get_group_id(0) % nq;\n"
    "    const int n = causal ? clamp(q + offset + 1, 0, nk) : nk, whole = n / 8 * 8;\n"
    "    __global float *s = S + get_group_id(0) * nk;\n"
    "    float8 top8 = -INFINITY, sum8 = 0;\n"
    "    float top = -INFINITY, sum = 0;\n"
    "    for (int k = 8 * i; k < whole; k += 8 * L) top8 = fmax(top8, vload8(0, s + k));\n"
    "    for (int k = whole + i; k < n; k += L) top = fmax(top, s[k]);\n"
    "    const float4 t4 = fmax(top8.lo, top8.hi);\n"
    "    top = over_group(fmax(top, fmax(fmax(t4.x, t4.y), fmax(t4.z, t4.w))), w, 1);\n"
    "    for (int k = 8 * i; k < whole; k += 8 * L) {\n"
    "        const float8 p = native_exp(vload8(0, s + k) - top);\n"
    "        sum8 += p;\n"
    "        vstore8(p, 0, s + k);\n"
    "    }\n"
    "    for (int k = whole + i; k < n; k += L) { s[k] = native_exp(s[k] - top); sum += s[k]; }\n"
    "    const float4 s4 = sum8.lo + sum8.hi;\n"
    "    sum = over_group(sum + s4.x + s4.y + s4.z + s4.w, w, 0);\n"
    "    const float inv = n > 0 ? 1 / sum : 0;\n"
    "    barrier(CLK_GLOBAL_MEM_FENCE);\n"
    "    for (int k = 8 * i; k < whole; k += 8 * L) vstore8(vload8(0, s + k) * inv, 0, s + k);\n"
    "    for (int k = whole + i; k < nk; k += L) s[k] = k < n ? s[k] * inv : 0;\n"
    "}\n";

struct unfused {
    struct setup *setup;
    cl_mem scores;
    cl_program program;
    cl_kernel softmax;
    size_t items; /* per group of the softmax kernel */
};

static void unfused_close(void *self)
{
    struct unfused *u = self;
    if (!u)
        return;
    if (u->softmax)
        (void)clReleaseKernel(u->softmax);
    if (u->program)
        (void)clReleaseProgram(u->program);
    if (u->scores)
        (void)clReleaseMemObject(u->scores);
    free(u);
}

/* What the method cannot do is said, not computed. */
static const char *cannot(const clattn_workload *c)
{
    const clattn_problem *p = &c->problem;
    if (p->type != CLATTN_F32 || p->k_type != CLATTN_F32 || p->v_type != CLATTN_F32 || p->o_type != CLATTN_F32)
        return "only f32";
    if (p->page)
        return "no pages";
    if (c->bthd)
        return "only the layout [b,h,n,d]";
    if (p->softcap || p->dropout_p || p->bias_type || p->n_mods || p->flags & (CLATTN_ALIBI | CLATTN_SINKS))
        return "no softcap, dropout, bias, ALiBi, sinks or score_mods";
    if (p->flags & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START | CLATTN_CU_Q | CLATTN_CU_K))
        return "no lengths and no varlen sequences";
    if (p->flags & ~(uint32_t)CLATTN_SCALE) /* whatever else there is, now and later */
        return "no masks but causal";
    if (!p->sizes.b || !p->sizes.nq || !p->sizes.nk)
        return "no empty problems";
    return NULL;
}

static cl_int build_softmax(struct unfused *u, const struct opencl *where)
{
    const char *text = softmax_source;
    char options[64];
    cl_device_type type;
    cl_int status = clGetDeviceInfo(where->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    if (status)
        return status;
    u->items = type & CL_DEVICE_TYPE_CPU ? 1 : 64;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DL=%zu", u->items);
    u->program = clCreateProgramWithSource(where->context, 1, &text, NULL, &status);
    if (!status)
        status = clBuildProgram(u->program, 1, &where->device, options, NULL, NULL);
    if (!status)
        u->softmax = clCreateKernel(u->program, "softmax_rows", &status);
    return status;
}

static cl_int unfused_open(void **self, const struct opencl *where, clattn_handle handle, struct setup *s, char *why,
                           size_t len)
{
    const char *reason = cannot(&s->c);
    cl_int status;
    (void)handle;
    if (reason) {
        snprintf(why, len, "%s", reason);
        return CLATTN_ERROR_NOT_SUPPORTED;
    }
    struct unfused *u = calloc(1, sizeof *u);
    if (!u)
        return CL_OUT_OF_HOST_MEMORY;
    u->setup = s;
    const uint64_t bytes = work_scores(&s->c);
    if (bytes > SIZE_MAX)
        status = CL_INVALID_BUFFER_SIZE;
    else
        u->scores = clCreateBuffer(where->context, CL_MEM_READ_WRITE, (size_t)bytes, NULL, &status);
    if (!status)
        status = build_softmax(u, where);
    if (status) {
        snprintf(why, len, "%s", clattn_status_string(status));
        unfused_close(u);
        return status;
    }
    *self = u;
    return CL_SUCCESS;
}

static cl_int enqueue_softmax(struct unfused *u)
{
    const clattn_problem *p = &u->setup->c.problem;
    const clattn_sizes *z = &p->sizes;
    const cl_int nq = (cl_int)z->nq, nk = (cl_int)z->nk, causal = p->causal;
    const cl_int offset = p->align == CLATTN_ALIGN_BOTTOM_RIGHT ? nk - nq
                          : p->align == CLATTN_ALIGN_OFFSET     ? (cl_int)z->offset
                                                                : 0;
    const size_t global = (size_t)(z->b * z->h * z->nq) * u->items;
    cl_int status = clSetKernelArg(u->softmax, 0, sizeof u->scores, &u->scores);
    if (!status)
        status = clSetKernelArg(u->softmax, 1, sizeof nq, &nq);
    if (!status)
        status = clSetKernelArg(u->softmax, 2, sizeof nk, &nk);
    if (!status)
        status = clSetKernelArg(u->softmax, 3, sizeof causal, &causal);
    if (!status)
        status = clSetKernelArg(u->softmax, 4, sizeof offset, &offset);
    if (!status)
        status = clEnqueueNDRangeKernel(u->setup->queue, u->softmax, 1, NULL, &global, &u->items, 0, NULL, NULL);
    return status;
}

static cl_int unfused_run(void *self)
{
    struct unfused *u = self;
    const clattn_problem *p = &u->setup->c.problem;
    const clattn_sizes *z = &p->sizes;
    const clattn_forward_args *a = &u->setup->args;
    const size_t m = (size_t)(z->nq * (z->h / z->hk)), nk = (size_t)z->nk, d = (size_t)p->d, dv = (size_t)p->dv;
    const size_t heads = (size_t)(z->b * z->hk);
    cl_int status =
        (cl_int)CLBlastSgemmStridedBatched(CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeYes, m, nk, d,
                                           (float)p->scale, a->q.mem, a->q.offset, d, m * d, a->k.mem, a->k.offset, d,
                                           nk * d, 0, u->scores, 0, nk, m * nk, heads, &u->setup->queue, NULL);
    if (!status)
        status = enqueue_softmax(u);
    if (!status)
        status = (cl_int)CLBlastSgemmStridedBatched(
            CLBlastLayoutRowMajor, CLBlastTransposeNo, CLBlastTransposeNo, m, dv, nk, 1, u->scores, 0, nk, m * nk,
            a->v.mem, a->v.offset, dv, nk * dv, 0, a->o.mem, a->o.offset, dv, m * dv, heads, &u->setup->queue, NULL);
    return status ? status : clFinish(u->setup->queue);
}

/* CLBlast has parameters that were tuned for some devices, nearly all of them GPUs; nobody tunes it here, and for the
 * rest it falls back to common ones. */
static const char *unfused_note(const struct opencl *where)
{
    cl_device_type type = 0;
    (void)clGetDeviceInfo(where->device, CL_DEVICE_TYPE, sizeof type, &type, NULL);
    return type & CL_DEVICE_TYPE_CPU ? "unfused, untuned parameters" : "unfused, parameters as CLBlast has them";
}

const struct peer_kind peer_clblast = { "clblast",   "unfused: CLBlast GEMM, softmax kernel, CLBlast GEMM",
                                        unfused_open, unfused_run, unfused_close, unfused_note, work_scores, 0, 0 };

#endif
