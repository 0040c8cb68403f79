/* guarded.c - nothing is read or written behind the end of a buffer, or before its beginning
 * SPDX-License-Identifier: Apache-2.0
 *
 * Buffers lie in memory of the test's own (CL_MEM_USE_HOST_PTR), between pages that must not be touched: their ends at
 * the page behind, or their beginnings at the page before. Where a device works on that memory itself, as PoCL does on
 * CPUs, a step beyond ends the process, and the test with it. The last line before says where.
 *
 * make check has each forward row on one engine, and gradients once; CLATTN_PART=1: all rows on all engines, and those
 * of matrix units. */
#include "config.h"

#include "tests/lib/cases.h"
#include "tests/lib/each.h"
#include "tests/lib/emulations.h"
#include "tests/lib/graded.h"
#include "tools/oracle/verify.h"

#include <sys/mman.h>
#include <unistd.h>

struct guarded {
    unsigned char *pages; /* with those that are closed */
    size_t size;
    cl_mem mem;
};
enum { GUARDED_MAX = 5 + LISTS + CLATTN_AUX_MAX + 7 + GRADED_N + GRADED_CELLS + 1 };

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

/* Of a gradient all elements count, those behind the last that is looked up as well. */
static cl_int replace_gradients(struct graded *x, struct guarded *g, unsigned *n, cl_context context, int at_end)
{
    clattn_backward_args *const a = &x->args;
    cl_mem *const tensors[GRADED_N] = { &a->dout.mem, &a->dlse.mem, &a->dq.mem, &a->dk.mem, &a->dv.mem };
    cl_mem *const cells[GRADED_DAUX] = { &a->dbias.mem, &a->dslopes.mem, &a->dsinks.mem };
    cl_int e = CL_SUCCESS;
    for (int i = 0; i < GRADED_N && !e; i++)
        e = replace(g, n, &x->image[i], tensors[i], context, at_end);
    for (int i = 0; i < GRADED_CELLS && !e; i++) {
        const int captured = i - GRADED_DAUX;
        e = replace(g, n, &x->cells[i].at.image, captured < 0 ? cells[i] : &x->daux[captured].to.mem, context, at_end);
        if (captured >= 0)
            x->daux[captured].n = x->cells[i].count;
    }
    return e;
}

/* A workspace from the page before on, or as far up to the page behind as its alignment lets it lie. */
static cl_int give_workspace(struct graded *x, clattn_plan plan, struct guarded *g, unsigned *n, cl_context context,
                             int at_end)
{
    enum { ALIGNED = 32 };
    const size_t page = page_size();
    struct image im = { .size = 0 };
    size_t need;
    cl_int e = clattn_backward_workspace_size(plan, &x->args, &need);
    if (e || !need)
        return e;
    const size_t whole = (need + page - 1) / page * page;
    e = image_alloc(&im, whole, CLATTN_U8);
    if (!e) {
        image_canaries(&im);
        e = guard(&g[(*n)++], &im, context, at_end);
    }
    if (e) {
        free(im.byte);
        return e;
    }
    x->args.workspace = g[*n - 1].mem;
    x->args.workspace_offset = at_end ? (whole - need) / ALIGNED * ALIGNED : 0;
    x->args.workspace_size = need;
    free(im.byte);
    return e;
}

/* What lies between the workspace and its pages is as it was. */
static int margins_are_kept(const struct graded *x, cl_command_queue queue)
{
    struct image im = { .mem = x->args.workspace };
    if (!im.mem || clGetMemObjectInfo(im.mem, CL_MEM_SIZE, sizeof im.size, &im.size, NULL))
        return !im.mem;
    unsigned char *const now = image_read(&im, queue);
    int same = now && !image_alloc(&im, im.size, CLATTN_U8);
    if (same)
        image_canaries(&im);
    for (size_t i = 0; i < im.size && same; i++)
        same = (i >= x->args.workspace_offset && i < x->args.workspace_offset + x->args.workspace_size) ||
               now[i] == im.byte[i];
    free(now);
    free(im.byte);
    return same;
}

static void unguard(struct guarded *g, unsigned n)
{
    for (unsigned i = 0; i < n; i++)
        if (g[i].pages)
            munmap(g[i].pages, g[i].size);
}

static void announce(const char *engine, const char *text, int at_end)
{
    diag("%s, %s, %s", engine, text, at_end ? "up to the page behind" : "from the page before on");
}

static void report(int good, const struct device *d, const char *engine, int at_end, cl_int e, const char *why,
                   const char *text)
{
    ok(good, "%s, %s, nothing beyond %s (%s %s): %s", d->name, engine, at_end ? "the ends" : "the beginnings",
       clattn_status_string(e), why, text);
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
        announce(engine, text, at_end);
        e = e ? e : trial_run(&t, plan, d->queue);
        report(!e && trial_verify(&t, d->queue, why, sizeof why), d, engine, at_end, e, why, text);
    }
    trial_free(&t);
    unguard(guarded, n);
}

/* The same of gradients: all that there are, of captured buffers where an engine computes these. */
static void check_backward(const struct device *d, const char *type, const char *row, const char *engine, int at_end)
{
    const unsigned wanted = 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | 1 << GRADED_DLSE | GRADED_OTHERS |
                            (verify_narrow_p(engine) ? 0 : GRADED_CAPTURED);
    char text[256], why[1024] = "";
    struct guarded guarded[GUARDED_MAX];
    struct graded x;
    unsigned n = 0;
    memset(guarded, 0, sizeof guarded);
    snprintf(text, sizeof text, "%s %s bwd", type, row);
    const clattn_workload c = each_case(text);
    cl_int e = graded_make(&x, d->cl.context, d->queue, &c, PLAIN, wanted);
    const clattn_plan plan = e ? NULL : each_plan(d, engine, &x.t.c.problem, text);
    if (e || plan) {
        e = e ? e : replace_all(&x.t, guarded, &n, d->cl.context, at_end);
        e = e ? e : replace_gradients(&x, guarded, &n, d->cl.context, at_end);
        e = e ? e : give_workspace(&x, plan, guarded, &n, d->cl.context, at_end);
        announce(engine, text, at_end);
        e = e ? e : graded_run(&x, plan, d->queue);
        int good = !e && graded_verify(&x, d->queue, why, sizeof why);
        if (good && !(good = margins_are_kept(&x, d->queue)))
            snprintf(why, sizeof why, "it writes beside the workspace");
        report(good, d, engine, at_end, e, why, text);
    }
    if (x.args.workspace)
        clReleaseMemObject(x.args.workspace);
    graded_free(&x);
    unguard(guarded, n);
}

static const char few_items[] = "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0";

/* Both sides of one kernel: rows, keys and columns that fill no tile, vector or chunk, or all but one element of it.
 * Each with the configuration that make check has it by. */
static const struct {
    const char *text, *soon;
} rows[] = { { "b1 h2/1 q5 k9 d9/6 lse", few_items },
             { "b2 h2/1 q8 k15 d8 causal alibi bias:1h1k mask:b1qk lse", "naive" },
             { "b3 h2/1 q6 k9 d8 varlen mod:tanh_gate,relative blocks:4,8 sink lse", "cpu" },
             { "b1 h2/1 q7 k15 d8 mask:11qk lse", "row" },
             { "b2 h2/1 q3 k15 d8/6 page4 kvlen:15,6 k:int8 v:int4z lse", "row" },
             { "b2 h2/1 q3 k15 d32/64 k:q4_0 v:q8_0 splits2 lse", "naive" } };
enum { ROWS = sizeof rows / sizeof *rows };

static void test_forward(const struct device *d, int at_end)
{
    static const char *const others[][2] = { { "f16", "cpu" }, { "bf16", "simt" }, { "bf16", "row" } };
    enum { OTHERS = sizeof others / sizeof *others };
    const char *emulated;
    char engine[128];
    for (unsigned i = 0; i < ROWS; i++) {
        if (!harness_more())
            check(d, "f32", rows[i].text, rows[i].soon, at_end);
        for (unsigned e = 0; each_engine(d, "f32", rows[i].text, e, engine, sizeof engine); e++)
            if (harness_shares(e + i))
                check(d, "f32", rows[i].text, engine, at_end);
    }
    for (unsigned i = 0; i < OTHERS; i++)
        if (harness_shares(i))
            check(d, others[i][0], rows[0].text, others[i][1], at_end);
    for (unsigned i = 0; (emulated = emulation(i, "nw1,rt1,bk16,qreg1")); i++)
        if (harness_shares(OTHERS + i))
            check(d, "f16", rows[0].text, emulated, at_end);
}

/* Rows of Q, keys and columns likewise, and gradients that are added up in every way. */
static void test_gradients(const struct device *d, int at_end)
{
    static const char *const graded[] = {
        "b1 h2/1 q5 k9 d9/6 lse",
        "b2 h2/1 q8 k15 d8 causal alibi bias:1h1k mask:b1qk sink lse",
        "b3 h2/1 q6 k9 d8 varlen mod:tanh_gate,head_scale blocks:4,8 sink lse",
        "b2 h1 q21 k39 d17/33 window9,3 softcap4 bias:11q1:f16 lse",
        "b2 h2/1 q33 k17 d8 qlen:33,7 kvlen:17,9 kvstart:0,4 bias:11qk alibi lse",
        "b3 h2 q5 k40 d3/5 varlen causal alibi mod:relative_bias bias:bhq1 lse"
    };
    static const char *const types[] = { "f32", "f16", "bf16" };
    const char *emulated;
    for (unsigned i = 0; i < sizeof graded / sizeof *graded; i++) {
        if (harness_turn(i + 1, i == 2))
            check_backward(d, types[i % 3], graded[i], "cpu", at_end);
        if (harness_shares(i + 5))
            check_backward(d, types[(i + 1) % 3], graded[i], few_items, at_end);
        for (unsigned e = 0; i < 2 && (emulated = emulation(e, "nw1,rt1,bk16,qreg0")); e++)
            if (harness_shares(i + e))
                check_backward(d, "f16", graded[i], emulated, at_end);
    }
}

static void test(const struct device *d)
{
    if (!may_share_memory(d)) {
        skip("%s has memory of its own", d->name);
        return;
    }
    for (int at_end = 0; at_end < 2; at_end++)
        test_forward(d, at_end);
    /* PoCL's optimiser takes minutes for some of the others' kernels. */
    harness_unoptimised();
    for (int at_end = 0; at_end < 2; at_end++)
        test_gradients(d, at_end);
}

int main(void)
{
    return each_device(test);
}
