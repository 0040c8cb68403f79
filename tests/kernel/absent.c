/* absent.c - buffers that a call lacks: kernels get one all the same, and no index leads out of any buffer
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compilers may load ahead of a test or a loop what is used behind it alone. So for every batch entry and head a kernel
 * asks the fragments where the first key, the first and the last row of Q and an entry of each array lie, whether there
 * are any or not, with the arguments and buffers of a real call, of one that writes scores, too; of a backward call
 * each kernel that goes over rows.
 * make check has a third of the forward calls and two backward ones of engine cpu; CLATTN_PART=1: all. */
#include "config.h"

#include "src/api/handle.h"
#include "tests/lib/each.h"
#include "tests/lib/graded.h"
#include "tests/lib/scored.h"

#include <stddef.h>

/* ---- What the library hands to kernels ---- */

enum { ARGS_MAX = PARAMS + 1 };
static struct seen {
    int called;
    struct arguments first, args; /* of the first call and of the last one */
    struct params params;
    cl_mem mem[ARGS_MAX]; /* as the kernel's parameters */
} by_pass[PASSES], *seen = by_pass; /* of the pass that was called last */
static int buffers, absent;         /* of all calls; absent: NULL or no buffer */

static int seen_pass(void)
{
    return (int)(seen - by_pass);
}

void __real_params_pack(cl_ulong *to, const struct arguments *from, const struct params *params);
void __wrap_params_pack(cl_ulong *to, const struct arguments *from, const struct params *params);
void __wrap_params_pack(cl_ulong *to, const struct arguments *from, const struct params *params)
{
    const char *const pass = (const char *)params - offsetof(struct launch_pass, params);
    seen = &by_pass[((const struct launch_pass *)(const void *)pass)->target.pass];
    if (!seen->called)
        seen->first = *from;
    seen->called = 1;
    seen->args = *from;
    seen->params = *params;
    __real_params_pack(to, from, params);
}

/* The parameter that is a buffer; 0: the kernel does not take it. */
static int parameter(int buffer)
{
    for (int i = 0; i < seen->params.n_buffers; i++)
        if (seen->params.buffers[i] == buffer)
            return 1 + i;
    return 0;
}

cl_int __real_clSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *from);
cl_int __wrap_clSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *from);
cl_int __wrap_clSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *from)
{
    if (n == sizeof(cl_mem) && i < ARGS_MAX) {
        buffers++;
        absent += !from || !*(const cl_mem *)from;
        seen->mem[i] = from ? *(const cl_mem *)from : NULL;
    }
    return __real_clSetKernelArg(k, i, n, from);
}

static void forget(void)
{
    memset(by_pass, 0, sizeof by_pass);
    buffers = absent = 0;
}

/* ---- Where fragments would read ---- */

/* From the beginning of its buffer to behind what is read, in bytes: of tensors a row, which one that is absent need
 * not have; of arrays an entry. */
enum {
    FORWARD = 1 << PASS_FORWARD,
    SCORES = 1 << PASS_SCORES,
    DELTA = 1 << PASS_DELTA,
    KEYS = 1 << PASS_BACKWARD_KEYS,
    QUERIES = 1 << PASS_BACKWARD_QUERIES,
    OF_SINKS = 1 << PASS_SUM_DSINKS,
    ON_TILES = FORWARD | SCORES | KEYS | QUERIES,
    ON_ROWS = DELTA | OF_SINKS,
    ALL = ON_TILES | ON_ROWS
};
static const struct {
    const char *name; /* of the buffer in kernels */
    int param, passes;
    const char *at, *bytes;
    int is_array;
} places[] = {
#define OUTPUT(x) "e.at." x " + cla_written_row(&e, &a." x ", 0)"
#define ENTRY(x, array, more) "e.at." x " + (a." x "_offset + cla_entry(&e, " array ") + " more ")", "sizeof(int)", 1
    { "q", PARAM_Q, ON_TILES, "cla_q_row(&e, 0)", "CLA_D * sizeof(cla_q_elem)", 0 },
    { "q", PARAM_Q, ON_TILES, "cla_q_row(&e, 1 << 20)", "CLA_D * sizeof(cla_q_elem)", 0 },
    { "k", PARAM_K, ON_TILES, "cla_k_row(&e, 0)", "CLA_D * sizeof(cla_k_elem)", 0 },
    { "v", PARAM_V, ON_TILES, "cla_v_row(&e, 0)", "CLA_DV * sizeof(cla_v_elem)", 0 },
    { "dout", PARAM_DOUT, KEYS | QUERIES, "cla_dout_row(&e, 0)", "CLA_DV * sizeof(cla_q_elem)", 0 },
    { "dout", PARAM_DOUT, DELTA, OUTPUT("dout"), "CLA_DV * sizeof(cla_q_elem)", 0 },
    { "o", PARAM_O, DELTA, OUTPUT("o"), "CLA_DV * sizeof(cla_o_elem)", 0 },
    { "lse", PARAM_LSE, ON_ROWS | SCORES, OUTPUT("lse"), "sizeof(cla_lse_elem)", 0 },
    { "dlse", PARAM_DLSE, ON_ROWS, OUTPUT("dlse"), "sizeof(float)", 1 },
    { "workspace", PARAM_WORKSPACE, DELTA | KEYS | QUERIES, "cla_stats(&e, 0)", "2 * sizeof(cla_scalar)", 0 },
    { "workspace", PARAM_WORKSPACE, KEYS | QUERIES, "cla_stats(&e, cla_watched)", "2 * sizeof(cla_scalar)", 0 },
    { "dbias", PARAM_DBIAS, KEYS, "e.at.dbias + cla_bias_cell(&e, &a.dbias, 0)", "sizeof(cla_scalar)", 1 },
    { "slopes", PARAM_SLOPES, ON_TILES, "e.at.slopes + (a.slopes_offset + e.b * a.slopes_stride + e.h)",
      "sizeof(float)", 0 },
    { "q_len", PARAM_Q_LEN, ALL, ENTRY("q_len", "CLA_Q_LEN", "0") },
    { "kv_len", PARAM_KV_LEN, ALL, ENTRY("kv_len", "CLA_KV_LEN", "0") },
    { "kv_start", PARAM_KV_START, ALL, ENTRY("kv_start", "CLA_KV_START", "0") },
    { "offsets", PARAM_OFFSETS, ALL, ENTRY("offsets", "CLA_OFFSETS_GIVEN", "0") },
    { "cu_q", PARAM_CU_Q, ALL, ENTRY("cu_q", "CLA_CU_Q", "1") },
    { "cu_k", PARAM_CU_K, ALL, ENTRY("cu_k", "CLA_CU_K", "1") },
};
enum { PLACES = sizeof places / sizeof *places };

static int is_asked(int i)
{
    return places[i].passes >> seen_pass() & 1 && parameter(places[i].param);
}

static const char probe[] =
    "\n#line 1 \"probe\"\n"
    "__kernel void cla_probe(const cla_args a, CLA_PARAMS, __global long *to)\n"
    "{\n"
    "    cla_env e;\n"
    "    CLA_TAKE_PARAMS(e.at)\n"
    "    cla_env_init(&e, &a, get_global_id(0) / a.h, get_global_id(0) % a.h / a.packed_heads * a.packed_heads, 0);\n"
    "    cla_sequence(&e);\n"
    "    int cla_watched = 0;\n";
/* Where items share a tile they fetch L and D of its queries, past the last one too; t->first is the furthest. */
static const char fetches[] = "#line 1 \"gradient_shared.cl\"\n",
                  watch[] = "#line 1 \"watch\"\n"
                            "CLA_FN __global cla_scalar *cla_watch_stats(int *last, const cla_env *e, int q)\n"
                            "{\n"
                            "    *last = max(*last, q);\n"
                            "    return cla_stats(e, q);\n"
                            "}\n"
                            "#define cla_stats(e, q) cla_watch_stats(&t->first, e, q)\n",
                  watch_ends[] = "#undef cla_stats\n",
                  watching[] = "    cla_tile t;\n"
                               "    CLA_LOCAL(t)\n"
                               "    t.first = 0;\n"
                               "    cla_fetch_numbers(&t, &e, 1 << 20);\n"
                               "    cla_watched = t.first;\n";
enum { PLACE_MAX = 256, WATCH_MAX = sizeof watch + sizeof watch_ends + sizeof watching };

static void insert(char *at, const char *what)
{
    memmove(at + strlen(what), at, strlen(at) + 1);
    memcpy(at, what, strlen(what));
}

/* Lets the fragment say what it asks of cla_stats(): whether it is there. */
static int watch_fetches(char *text)
{
    char *const begin = strstr(text, fetches), *const end = begin ? strstr(begin + 1, "#line 1 ") : NULL;
    if (!end)
        return 0;
    insert(end, watch_ends);
    insert(begin, watch);
    return 1;
}

static void add_probe(char *text)
{
    const int watched = watch_fetches(text);
    text += strlen(text);
    text += strlen(strcpy(text, probe));
    if (watched)
        text += strlen(strcpy(text, watching));
    for (int i = 0; i < PLACES; i++)
        if (is_asked(i))
            text += sprintf(text, "    to[get_global_id(0) * %d + %d] = (const __global uchar *)(%s) - (const __global "
                            "uchar *)e.at.%s + (long)(%s);\n", PLACES, i, places[i].at, places[i].name,
                            places[i].bytes);
    strcpy(text, "}\n");
}

/* What was called: a real problem and its plan. */
struct asked {
    const struct device *d;
    const struct trial *t;
    const char *config;
    clattn_plan plan;
};

/* The program of the pass that was called last with the probe behind it. */
static cl_program build(const struct asked *of)
{
    const clattn_handle handle = of->d->handle;
    const clattn_problem *const p = &of->t->c.problem;
    const char *const kernel = pass_at(seen_pass())->kernel;
    size_t n = 0;
    clattn_emit_kernel(handle, p, of->config, kernel, NULL, 0, &n);
    char *text = malloc(n + sizeof probe + WATCH_MAX + PLACES * PLACE_MAX), options[4096];
    if (!text || clattn_emit_kernel(handle, p, of->config, kernel, text, n, NULL))
        bail("no source: %s", text ? text : "");
    const char *from = strstr(text, " -"); /* `// CONFIG OPTIONS` is its first line */
    snprintf(options, sizeof options, "%.*s", from ? (int)strcspn(from, "\n") : 0, from ? from : "");
    add_probe(text);
    cl_int e;
    const char *all = text;
    cl_program program = clCreateProgramWithSource(of->d->cl.context, 1, &all, NULL, &e);
    if (e || clBuildProgram(program, 1, &of->d->cl.device, options, NULL, NULL))
        bail("the probe of %s is not built", kernel);
    free(text);
    return program;
}

/* Runs it in place of the kernel that was called last: `to` has PLACES numbers for each batch entry and head. */
static void ask(const struct asked *of, size_t heads, cl_long *to)
{
    const struct device *const d = of->d;
    const size_t bytes = heads * PLACES * sizeof *to;
    cl_program program = build(of);
    cl_uint n_args = 0;
    cl_int e;
    cl_kernel kernel = clCreateKernel(program, "cla_probe", &e);
    cl_mem out = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, bytes, NULL, &e);
    if (e || clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL))
        bail("no probe");
    cl_ulong packed[PARAMS_WORDS];
    __real_params_pack(packed, &seen->args, &seen->params);
    e = __real_clSetKernelArg(kernel, 0, seen->params.bytes, packed);
    for (cl_uint i = 1; i < n_args && !e; i++)
        e = __real_clSetKernelArg(kernel, i, sizeof(cl_mem), i + 1 < n_args ? &seen->mem[i] : &out);
    if (e || clEnqueueNDRangeKernel(d->queue, kernel, 1, NULL, &heads, NULL, 0, NULL, NULL) ||
        clEnqueueReadBuffer(d->queue, out, CL_TRUE, 0, bytes, to, 0, NULL, NULL))
        bail("the probe does not run");
    clReleaseMemObject(out);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* ---- Calls ---- */

enum { HEADS_MAX = 64 };
static const struct {
    const char *text;
    enum layout layout;
} calls[] = {
    { "f32 b3 h2/1 q5 k9 d8 lse", PADDED },   { "f64 b5 h2 q3 k7 d576/500 causal", PADDED }, /* the widest rows */
    { "f32 b3 h2 q5 k0 d9 causal", PADDED },                                                 /* no key */
    { "f64 b2 h2 q5 k0 d576", PADDED },       { "f32 b2 h4/2 q3 k9 d8 causal qlen:0,3 kvlen:9,0 kvstart:9,0", PADDED },
    { "f32 b2 h2 q5 k9 d8 causal", OFFSETS }, { "f32 b3 h2/1 q7 k9 d8 causal varlen", PLAIN },
    { "f32 b3 h2 q5 k0 d8 varlen", PADDED },  { "f32 b2 h1 q9 k0 d8 mask:11qk bias:bhqk", PADDED },
};

/* Varlen sequences of which the first and the last have no rows: nothing lies before the one, nor behind the other. */
static void empty_ends(const struct device *d, cl_mem *made, int param, int64_t total, cla_i64 *offset)
{
    int32_t cu[] = { 0, 0, (int32_t)total, (int32_t)total };
    *made = each_buffer(d->cl.context, CL_MEM_READ_ONLY, sizeof cu, cu);
    seen->mem[parameter(param)] = *made;
    *offset = 0;
}

/* Of what stands for an array the first entry is read, of varlen sequences also the second, and nothing else. */
static int is_outside(const struct asked *of, size_t i, cl_long end)
{
    const int place = (int)(i % PLACES), head = (int)(i / PLACES), heads = (int)of->t->sizes.h;
    const cl_mem mem = seen->mem[parameter(places[place].param)];
    size_t size = 0;
    if (!is_asked(place))
        return 0;
    clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (mem == of->plan->plan.launch.absent && places[place].is_array)
        size = 2 * sizeof(cl_int);
    if (end > 0 && (cl_ulong)end <= size)
        return 0;
    diag("batch entry %d, head %d: %s ends at byte %lld of %zu", head / heads, head % heads, places[place].at,
         (long long)end, size);
    return 1;
}

/* Where everything lies, of the pass that was called last. */
static void test_places(const struct asked *of, const char *text)
{
    const size_t heads = (size_t)(of->t->sizes.b * of->t->sizes.h);
    cl_long at[HEADS_MAX * PLACES];
    cl_mem cu[2] = { NULL, NULL };
    int out = 0;
    if (heads > HEADS_MAX)
        bail("too many heads");
    if (of->t->sizes.b == 3 && of->t->c.problem.flags & CLATTN_CU_Q) {
        empty_ends(of->d, &cu[0], PARAM_CU_Q, of->t->sizes.total_q, &seen->args.cu_q_offset);
        empty_ends(of->d, &cu[1], PARAM_CU_K, of->t->sizes.total_k, &seen->args.cu_k_offset);
    }
    ask(of, heads, at);
    for (size_t i = 0; i < heads * PLACES; i++)
        out += is_outside(of, i, at[i]);
    ok(!out, "every first row and entry of %s lies in its buffer: %s", pass_at(seen_pass())->kernel, text);
    for (int i = 0; i < 2; i++)
        if (cu[i])
            clReleaseMemObject(cu[i]);
}

static int is_a_point(const cla_scores_at *at)
{
    return !at->offset && !at->b && !at->h && !at->q && !at->k;
}

static void test_call(const struct device *d, const char *text, enum layout layout)
{
    struct fixture f;
    char why[512] = "";
    const cl_int status = fixture_open_by(&f, d, text, "naive", layout, why, sizeof why);
    if (status == CLATTN_ERROR_NOT_SUPPORTED) {
        skip("%s: %s", text, why);
        return;
    }
    if (status)
        bail("%s: %s", text, why);
    forget();
    if (!ok(!trial_run(&f.t, f.plan, d->queue) && trial_verify(&f.t, d->queue, why, sizeof why), "%s: %s", d->name,
            text))
        diag("%s", why);
    const struct asked of = { d, &f.t, "naive", f.plan };
    ok(buffers && !absent, "none of %d buffers is NULL: %s", buffers, text);
    if (!absent)
        test_places(&of, text);
    if (!f.t.sizes.nk)
        ok(is_a_point(&seen->args.bias) && is_a_point(&seen->args.mask), "what is read at (q, k) has no strides: %s",
           text);
    fixture_close(&f);
}

/* What stands for absent buffers is not written: gives it bytes, or says whether they are there. */
static int mark_absent(const struct device *d, clattn_plan plan, int check)
{
    enum { MARK = 0x5a };
    const cl_mem mem = plan->plan.launch.absent;
    size_t size;
    unsigned char *bytes = NULL;
    int same = 1;
    if (clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL) || !(bytes = malloc(size)))
        bail("no memory");
    memset(bytes, MARK, size);
    if (check ? clEnqueueReadBuffer(d->queue, mem, CL_TRUE, 0, size, bytes, 0, NULL, NULL)
              : clEnqueueWriteBuffer(d->queue, mem, CL_TRUE, 0, size, bytes, 0, NULL, NULL))
        bail("what stands for absent buffers cannot be copied");
    for (size_t i = 0; i < size; i++)
        same = same && bytes[i] == MARK;
    free(bytes);
    return same;
}

/* The same of a call that writes scores: V is never there, LSE with weights only. */
static void test_scores_call(const struct device *d, const char *text, enum layout layout)
{
    static const int stages[] = { CLATTN_SCORES_PRODUCTS, CLATTN_SCORES_WEIGHTS };
    const clattn_workload c = each_case(text);
    struct scored s;
    char why[512] = "";
    if (!c.problem.sizes.nk || harness_may_refuse(d, &c.problem, NULL))
        return;
    if (scored_make(&s, d->cl.context, &c, layout))
        bail("%s", text);
    const struct asked of = { d, &s.t, "naive", each_plan(d, "naive", &s.t.c.problem, text) };
    if (!scored_forward(&s, of.plan, d->queue, why, sizeof why) || scored_show(&s, d->queue))
        bail("%s: %s", text, why);
    for (size_t i = 0; i < sizeof stages / sizeof *stages; i++) {
        forget();
        mark_absent(d, of.plan, 0);
        ok(scored_run(&s, stages[i], of.plan, d->queue, why, sizeof why) && mark_absent(d, of.plan, 1),
           "%s of %s, and what stands for absent buffers is not written: %s", scored_stages[stages[i]], text, why);
        ok(buffers && !absent, "none of %d buffers is NULL: %s", buffers, text);
        if (!absent && by_pass[PASS_SCORES].called)
            test_places(&of, text);
    }
    scored_free(&s);
}

/* Of what a backward call may lack: dLSE, and each gradient. */
enum { GRADIENTS = 1 << GRADED_DQ | 1 << GRADED_DK | 1 << GRADED_DV | GRADED_OTHERS, DLSE = 1 << GRADED_DLSE };
#define FEW_ITEMS "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0"
static const struct {
    const char *text, *config;
    enum layout layout;
    unsigned wanted;
} backward_calls[] = {
    { "f32 b3 h2/1 q7 k9 d8 causal varlen alibi bias:11qk sink bwd", "cpu", PLAIN, GRADIENTS | DLSE },
    { "f32 b3 h2/1 q7 k9 d8 causal varlen alibi bias:11qk sink bwd", "cpu", PLAIN, 1 << GRADED_DV },
    { "f32 b2 h4/2 q3 k9 d8 causal qlen:0,3 kvlen:9,0 kvstart:9,0 bias:b1q1 bwd", "cpu", PADDED, GRADIENTS },
    { "f32 b2 h2 q5 k0 d9 alibi bias:1h1k sink bwd", "cpu", PADDED, GRADIENTS }, /* no key */
    { "f32 b3 h2 q5 k0 d8 varlen sink bwd", "cpu", PADDED, GRADIENTS | DLSE },
    { "f64 b2 h2 q0 k9 d8 causal bias:1h1k sink bwd", "cpu", PADDED, GRADIENTS }, /* no query */
    { "f32 b2 h2 q0 k9 d8 alibi sink bwd", "cpu", PADDED, GRADIENTS },
    { "f32 b3 h2 q7 k9 d8 varlen bias:1h1k sink bwd", FEW_ITEMS, PADDED, 1 << GRADED_DQ },
    { "f32 b3 h2 q7 k9 d8 varlen bias:1h1k sink bwd", FEW_ITEMS, PADDED, 1 << GRADED_DV | DLSE },
    { "f32 b3 h2 q7 k9 d8 varlen bias:1h1k sink bwd", FEW_ITEMS, PADDED, 1 << GRADED_DK },
    { "f32 b3 h2 q7 k9 d8 varlen bias:1h1k sink bwd", "cpu", PADDED, 1 << GRADED_DK },
    { "f16 b3 h2 q7 k9 d8 varlen bias:1h1k sink bwd", "mma_emu nw1,rt1,bk16,qreg0", PADDED, 1 << GRADED_DQ },
    { "f16 b3 h2 q7 k9 d8 varlen bias:1h1k sink bwd", "mma_emu nw1,rt1,bk16,qreg0", PADDED, 1 << GRADED_DK },
    { "f16 b3 h2 q7 k9 d8 varlen bias:1h1k sink bwd", "mma_emu nw1,rt1,bk16,qreg0", PADDED, 1 << GRADED_DV },
    { "bf16 b2 h2 q0 k9 d8 causal sink bwd", "mma_emu nw1,rt1,bk16,qreg1", PADDED, GRADIENTS },
    { "bf16 b2 h2 q0 k9 d8 alibi sink bwd", "mma_emu nw1,rt1,bk16,qreg1", PADDED, GRADIENTS },
};

/* What passes are told of a call: which gradients are asked for, of those that have elements, and whether dLSE is
 * there. */
static int is_told(const struct graded *g, unsigned wanted)
{
    const clattn_sizes *const s = &g->t.sizes;
    const int queries = s->b && s->nq, keys = s->b && s->nk;
    int want = queries && wanted >> GRADED_DQ & 1 ? CLA_DQ_WANTED : 0;
    want |= keys && wanted >> GRADED_DK & 1 ? CLA_DK_WANTED : 0;
    want |= keys && wanted >> GRADED_DV & 1 ? CLA_DV_WANTED : 0;
    want |= g->cells[GRADED_DBIAS].count ? CLA_DBIAS_WANTED : 0;
    want |= g->cells[GRADED_DSLOPES].count ? CLA_DSLOPES_WANTED : 0;
    want |= g->cells[GRADED_DSINKS].count ? CLA_DSINKS_WANTED : 0;
    const int given = queries && wanted & DLSE, got = seen->args.wanted;
    const int told = want == got && given == !!(seen->args.given & CLA_DLSE_GIVEN);
    if (!told)
        diag("wanted 0x%x, told 0x%x; dLSE: %d, given 0x%x", want, got, given, seen->args.given);
    return told;
}

/* A plan runs each of its kernels on nothing before anything else: on no heads, and without dividing by 0. */
static int idles(void)
{
    int good = 1;
    for (int pass = 0; pass < PASSES; pass++) {
        const struct arguments *const a = &by_pass[pass].first;
        const cla_i32 *const n = a->bias_shape;
        if (by_pass[pass].called && pass_at(pass)->calls & PASS_CALL_BACKWARD &&
            (a->heads || a->wanted || !a->h || !a->nq || !a->heads_per_kv || !a->parts || !a->unit_b || !a->unit_hk ||
             !n[0] || !n[1] || !n[2] || !n[3])) {
            diag("%s is not idle", pass_at(pass)->kernel);
            good = 0;
        }
    }
    return good;
}

static void test_backward_call(const struct device *d, size_t i)
{
    const char *const text = backward_calls[i].text, *const config = backward_calls[i].config;
    const clattn_workload c = each_case(text);
    struct graded g;
    char why[512] = "";
    if (harness_may_refuse(d, &c.problem, NULL)) {
        skip("%s lacks f64: %s", d->name, text);
        return;
    }
    forget();
    cl_int e = graded_make(&g, d->cl.context, d->queue, &c, backward_calls[i].layout, backward_calls[i].wanted);
    struct asked of = { d, &g.t, config, e ? NULL : each_plan(d, config, &g.t.c.problem, text) };
    if (e || !of.plan)
        bail("%s: %s", text, clattn_status_string(e));
    ok(idles(), "kernels are idle first: %s", text);
    forget();
    mark_absent(d, of.plan, 0);
    e = graded_run(&g, of.plan, d->queue);
    ok(mark_absent(d, of.plan, 1), "what stands for absent buffers is not written: %s", text);
    ok(!e && graded_verify(&g, d->queue, why, sizeof why), "%s: %s (%s %s)", d->name, text,
       clattn_status_string(e), why);
    ok(buffers && !absent, "none of %d buffers is NULL: %s", buffers, text);
    ok(is_told(&g, backward_calls[i].wanted), "passes are told what the call has: %s", text);
    for (int pass = 0; pass < PASSES && !absent; pass++)
        if (by_pass[pass].called && ALL >> pass & 1) {
            seen = &by_pass[pass];
            test_places(&of, text);
        }
    graded_free(&g);
}

/* Varlen sequences, with all gradients and one. Simulators have those of all engines. */
static int is_due(size_t i)
{
    static const size_t soon[] = { 0, 1 }, of_engines[] = { 2, 4, 5, 6, 7, 10, 12 };
    int due = 0;
    for (size_t n = 0; n < sizeof soon / sizeof *soon; n++)
        due |= i == soon[n];
    for (size_t n = 0; n < sizeof of_engines / sizeof *of_engines && harness_flag("CLATTN_QUICK"); n++)
        due |= i == of_engines[n];
    return harness_turn((unsigned)i, due);
}

static void test_device(const struct device *d)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (harness_turn((unsigned)i, i % 3 == 0 || harness_flag("CLATTN_QUICK")))
            test_call(d, calls[i].text, calls[i].layout);
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (harness_turn((unsigned)i, i == 6))
            test_scores_call(d, calls[i].text, calls[i].layout);
    for (size_t i = 0; i < sizeof backward_calls / sizeof *backward_calls; i++)
        if (is_due(i))
            test_backward_call(d, i);
}

int main(void)
{
    return each_device(test_device);
}
