/* guarded.c - nothing is read or written behind the end of a buffer, or before its beginning
 * SPDX-License-Identifier: Apache-2.0
 *
 * Buffers lie in memory of the test's own (CL_MEM_USE_HOST_PTR), between pages that must not be touched: their ends at
 * the page behind, or their beginnings at the page before. Where a device works on that memory itself, as PoCL does on
 * CPUs, a step beyond ends the process, and the test with it. The last line before says where. */
#include "config.h"

#include "tests/lib/cases.h"
#include "tests/lib/each.h"

#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    unsigned char *pages; /* with those that are closed */
    size_t size;
    cl_mem mem;
};
enum { GUARDED_MAX = 5 + LISTS + CLATTN_AUX_MAX + 7 };

static size_t page_size(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

/* The bytes of an image in pages of their own; at_end: up to the last byte of these. */
static cl_int guard(struct guarded *g, const struct image *im, cl_context context, int at_end)
{
    const size_t page = page_size(), inside = (im->size + page - 1) / page * page;
    cl_int e = CL_SUCCESS;
    g->size = inside + 2 * page;
    g->pages = mmap(NULL, g->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (g->pages == MAP_FAILED) {
        g->pages = NULL;
        return CL_OUT_OF_HOST_MEMORY;
    }
    unsigned char *const at = g->pages + page + (at_end ? inside - im->size : 0);
    memcpy(at, im->byte, im->size);
    if (mprotect(g->pages, page, PROT_NONE) || mprotect(g->pages + page + inside, page, PROT_NONE))
        return CL_OUT_OF_HOST_MEMORY;
    g->mem = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, im->size, at, &e);
    return e;
}

/* Whether the device may work in the caller's memory: one of its own would make all of this pointless. */
static int may_share_memory(const struct device *d)
{
    cl_device_type type = 0;
    return !clGetDeviceInfo(d->cl.device, CL_DEVICE_TYPE, sizeof type, &type, NULL) && type & CL_DEVICE_TYPE_CPU;
}

/* Puts what an argument names into guarded memory instead. */
static cl_int replace(struct guarded *g, unsigned *n, struct image *im, cl_mem *argument, cl_context context,
                      int at_end)
{
    if (!im->mem || !im->size)
        return CL_SUCCESS;
    const cl_int e = guard(&g[(*n)++], im, context, at_end);
    if (e)
        return e;
    clReleaseMemObject(im->mem);
    im->mem = *argument = g[*n - 1].mem; /* the image's reference from here on */
    return CL_SUCCESS;
}

static cl_int replace_all(struct trial *t, struct guarded *g, unsigned *n, cl_context context, int at_end)
{
    clattn_forward_args *const a = &t->args;
    cl_mem *const tensors[5] = { &a->q.mem, &a->k.mem, &a->v.mem, &a->o.mem, &a->lse.mem };
    cl_mem *const lists[LISTS] = { &a->q_len.mem, &a->kv_len.mem, &a->kv_start.mem, &a->offsets.mem,
                                   &a->cu_q.mem,  &a->cu_k.mem,   &a->slopes.mem,   &a->sinks.mem,
                                   &a->block_table.mem };
    struct scales *const scales[4] = { &t->k.scale, &t->k.zero, &t->v.scale, &t->v.zero };
    clattn_tensor4 *const of_scales[4] = { &a->k_scale, &a->k_zero, &a->v_scale, &a->v_zero };
    cl_int e = CL_SUCCESS;
    for (int i = 0; i < (t->c.lse ? 5 : 4) && !e; i++)
        e = replace(g, n, &t->image[i], tensors[i], context, at_end);
    for (int i = 0; i < LISTS && !e; i++)
        e = replace(g, n, &t->list[i], lists[i], context, at_end);
    for (int i = 0; i < 4 && !e; i++)
        e = replace(g, n, &scales[i]->at.image, &of_scales[i]->mem, context, at_end);
    for (size_t i = 0; i < t->x.n_aux && !e; i++)
        e = replace(g, n, &t->captured[i], &t->aux[i].mem, context, at_end);
    e = e ? e : replace(g, n, &t->bias.image, &a->bias.mem, context, at_end);
    e = e ? e : replace(g, n, &t->mask.image, &a->mask.mem, context, at_end);
    return e ? e : replace(g, n, &t->map.image, &a->block_map.mem, context, at_end);
}

static void check(const struct device *d, const char *type, const char *row, const char *engine, int at_end)
{
    char text[256], why[1024] = "";
    struct guarded guarded[GUARDED_MAX];
    struct trial t;
    clattn_plan plan = NULL;
    unsigned n = 0;
    memset(guarded, 0, sizeof guarded);
    snprintf(text, sizeof text, "%s %s", type, row);
    const clattn_workload c = each_case(text);
    cl_int e = trial_make(&t, d->cl.context, &c, PLAIN);
    e = e ? e : replace_all(&t, guarded, &n, d->cl.context, at_end);
    e = e ? e : harness_plan(d, &t.c.problem, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED) {
        skip("%s, %s: %s", d->name, engine, why);
    } else {
        diag("%s, %s, %s", engine, text, at_end ? "up to the page behind" : "from the page before on");
        e = e ? e : trial_run(&t, plan, d->queue);
        ok(!e && trial_verify(&t, d->queue, why, sizeof why), "%s, %s, nothing beyond %s (%s %s): %s", d->name, engine,
           at_end ? "the ends" : "the beginnings", clattn_status_string(e), why, text);
    }
    trial_free(&t);
    for (unsigned i = 0; i < n; i++)
        if (guarded[i].pages)
            munmap(guarded[i].pages, guarded[i].size);
}

/* Both sides of one kernel: rows, keys and columns that fill no tile, vector or chunk, or all but one element of it. */
static void test_device(const struct device *d)
{
    static const char *const rows[] = { "b1 h2/1 q5 k9 d9/6 lse",
                                        "b2 h2/1 q8 k15 d8 causal alibi bias:1h1k mask:b1qk lse",
                                        "b3 h2/1 q6 k9 d8 varlen mod:tanh_gate,relative blocks:4,8 sink lse",
                                        "b1 h2/1 q7 k15 d8 mask:11qk lse",
                                        "b2 h2/1 q3 k15 d8/6 page4 kvlen:15,6 k:int8 v:int4z lse",
                                        "b2 h2/1 q3 k15 d32/64 k:q4_0 v:q8_0 splits2 lse" };
    enum { ROWS = sizeof rows / sizeof *rows };
    char engine[128];
    if (!may_share_memory(d)) {
        skip("%s has memory of its own", d->name);
        return;
    }
    for (unsigned i = 0; i < ROWS; i++)
        for (unsigned e = 0; each_engine(d, "f32", rows[i], e, engine, sizeof engine); e++)
            if (i == 0 || harness_deals(e + i, 4))
                for (int at_end = 0; at_end < 2; at_end++)
                    check(d, "f32", rows[i], engine, at_end);
    for (int at_end = 0; at_end < 2; at_end++) {
        if (harness_deals(0, 2))
            check(d, "f16", rows[0], "cpu", at_end);
        if (harness_deals(1, 2))
            check(d, "bf16", rows[0], "simt", at_end);
        if (harness_deals(1, 2))
            check(d, "bf16", rows[0], "row", at_end);
        if (harness_deals(0, 2))
            check(d, "f16", rows[0], "mma_emu nw1,rt1,bk16,qreg1", at_end);
    }
}

int main(void)
{
    return each_device(test_device);
}
