/* absent.c - buffers that a call lacks: kernels get one all the same, and no index leads out of any buffer
 * SPDX-License-Identifier: Apache-2.0
 *
 * Compilers may load ahead of a test or a loop what is used behind it alone. So for every batch entry and head a kernel
 * asks the fragments where the first key, the first and the last row of Q and an entry of each array lie, whether there
 * are any or not, with the arguments and buffers of a real call. */
#include "config.h"

#include "src/api/handle.h"
#include "tests/lib/each.h"

/* ---- What the library hands to kernels ---- */

enum { ARGS_MAX = PARAMS + 1 };
static struct {
    struct arguments args;
    struct target target;
    cl_mem mem[ARGS_MAX]; /* as the kernel's parameters */
    int calls, absent;    /* of buffers: NULL or no buffer */
} seen;

size_t __real_params_pack(void *to, const struct arguments *from, const struct target *target);
size_t __wrap_params_pack(void *to, const struct arguments *from, const struct target *target);
size_t __wrap_params_pack(void *to, const struct arguments *from, const struct target *target)
{
    seen.args = *from;
    seen.target = *target;
    return __real_params_pack(to, from, target);
}

/* The parameter that is a buffer; 0: the kernel does not take it. */
static int parameter(int buffer)
{
    int list[PARAMS];
    const int n = params_buffers(list, &seen.target);
    for (int i = 0; i < n; i++)
        if (list[i] == buffer)
            return 1 + i;
    return 0;
}

cl_int __real_clSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *from);
cl_int __wrap_clSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *from);
cl_int __wrap_clSetKernelArg(cl_kernel k, cl_uint i, size_t n, const void *from)
{
    if (n == sizeof(cl_mem) && i < ARGS_MAX) {
        seen.calls++;
        seen.absent += !from || !*(const cl_mem *)from;
        seen.mem[i] = from ? *(const cl_mem *)from : NULL;
    }
    return __real_clSetKernelArg(k, i, n, from);
}

/* ---- Where fragments would read ---- */

/* From the beginning of its buffer to behind what is read, in bytes: the tensors' rows, then the arrays' entries. */
enum { Q_FIRST, Q_LAST, K_FIRST, V_FIRST, OF_Q_LEN, OF_KV_LEN, OF_KV_START, OF_OFFSETS, OF_CU_Q, OF_CU_K, PLACES };
static const struct {
    const char *name;
    int param;
    const char *entry; /* of an array: which, and how many entries behind the batch entry's own are read */
} places[PLACES] = { { "q", PARAM_Q, "" },
                     { "the last q", PARAM_Q, "" },
                     { "k", PARAM_K, "" },
                     { "v", PARAM_V, "" },
                     { "q_len", PARAM_Q_LEN, "CLA_Q_LEN, 0" },
                     { "kv_len", PARAM_KV_LEN, "CLA_KV_LEN, 0" },
                     { "kv_start", PARAM_KV_START, "CLA_KV_START, 0" },
                     { "offsets", PARAM_OFFSETS, "CLA_OFFSETS_GIVEN, 0" },
                     { "cu_q", PARAM_CU_Q, "CLA_CU_Q, 1" },
                     { "cu_k", PARAM_CU_K, "CLA_CU_K, 1" } };

static const char probe[] =
    "\n#line 1 \"probe\"\n"
    "#define PLACE(i, base, p, bytes) \\\n"
    "    to[i] = (const __global uchar *)(p) - (const __global uchar *)(base) + (long)(bytes);\n"
    "#define ENTRY(i, name, what, more) \\\n"
    "    PLACE(i, e.at.name, e.at.name + (a.name##_offset + cla_entry(&e, what) + more), sizeof(int))\n"
    "__kernel void cla_probe(const cla_args a, CLA_PARAMS, __global long *to)\n"
    "{\n"
    "    cla_env e;\n"
    "    CLA_TAKE_PARAMS(e.at)\n"
    "    cla_env_init(&e, &a, get_global_id(0) / a.h, get_global_id(0) % a.h / a.packed_heads * a.packed_heads, 0);\n"
    "    cla_sequence(&e);\n"
    "    to += get_global_id(0) * 10;\n"
    "    PLACE(0, e.at.q, cla_q_row(&e, 0), CLA_D * sizeof(cla_q_elem))\n"
    "    PLACE(1, e.at.q, cla_q_row(&e, 1 << 20), CLA_D * sizeof(cla_q_elem))\n"
    "    PLACE(2, e.at.k, cla_k_row(&e, 0), CLA_D * sizeof(cla_k_elem))\n"
    "    PLACE(3, e.at.v, cla_v_row(&e, 0), CLA_DV * sizeof(cla_v_elem))\n";
enum { ENTRY_MAX = 64 };
static void add_entries(char *text)
{
    for (int i = OF_Q_LEN; i < PLACES; i++)
        if (parameter(places[i].param))
            sprintf(text + strlen(text), "    ENTRY(%d, %s, %s)\n", i, places[i].name, places[i].entry);
    strcat(text, "}\n");
}

/* The program of a plan with the probe behind it. */
static cl_program build(const struct device *d, const clattn_problem *p)
{
    size_t n = 0;
    clattn_emit_source(d->handle, p, "naive", NULL, 0, &n);
    char *text = malloc(n + sizeof probe + PLACES * ENTRY_MAX), options[4096];
    if (!text || clattn_emit_source(d->handle, p, "naive", text, n, NULL))
        bail("no source");
    const char *from = strstr(text, " -"); /* `// CONFIG OPTIONS` is its first line */
    snprintf(options, sizeof options, "%.*s", from ? (int)strcspn(from, "\n") : 0, from ? from : "");
    strcat(text, probe);
    add_entries(text);
    cl_int e;
    const char *all = text;
    cl_program program = clCreateProgramWithSource(d->cl.context, 1, &all, NULL, &e);
    if (e || clBuildProgram(program, 1, &d->cl.device, options, NULL, NULL))
        bail("the probe is not built");
    free(text);
    return program;
}

/* Runs it in place of the kernel that was called last: `to` has PLACES numbers for each batch entry and head. */
static void ask(const struct device *d, const clattn_problem *p, size_t heads, cl_long *to)
{
    const size_t bytes = heads * PLACES * sizeof *to;
    cl_program program = build(d, p);
    cl_uint n_args = 0;
    cl_int e;
    cl_kernel kernel = clCreateKernel(program, "cla_probe", &e);
    cl_mem out = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, bytes, NULL, &e);
    if (e || clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof n_args, &n_args, NULL))
        bail("no probe");
    cl_ulong packed[PARAMS_WORDS];
    const size_t told = __real_params_pack(packed, &seen.args, &seen.target);
    e = __real_clSetKernelArg(kernel, 0, told, packed);
    for (cl_uint i = 1; i < n_args && !e; i++)
        e = __real_clSetKernelArg(kernel, i, sizeof(cl_mem), i + 1 < n_args ? &seen.mem[i] : &out);
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
    cl_int e;
    *made = clCreateBuffer(d->cl.context, CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, sizeof cu, cu, &e);
    if (e)
        bail("no buffer");
    seen.mem[parameter(param)] = *made;
    *offset = 0;
}

/* Of what stands for an array the first entry is read, of varlen sequences also the second, and nothing else. */
static int is_outside(const struct fixture *f, size_t i, cl_long end)
{
    const int place = (int)(i % PLACES), head = (int)(i / PLACES), heads = (int)f->t.sizes.h;
    const cl_mem mem = seen.mem[parameter(places[place].param)], absent = f->plan->plan.launch.absent;
    size_t size = 0;
    if (!parameter(places[place].param))
        return 0;
    clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof size, &size, NULL);
    if (mem == absent && place >= OF_Q_LEN)
        size = 2 * sizeof(cl_int);
    if (end > 0 && (cl_ulong)end <= size)
        return 0;
    diag("batch entry %d, head %d: %s ends at byte %lld of %zu", head / heads, head % heads, places[place].name,
         (long long)end, size);
    return 1;
}

/* Where everything lies, of a call that was just made. */
static void test_places(const struct fixture *f, const char *text)
{
    const size_t heads = (size_t)(f->t.sizes.b * f->t.sizes.h);
    cl_long at[HEADS_MAX * PLACES];
    cl_mem cu[2] = { NULL, NULL };
    int out = 0;
    if (heads > HEADS_MAX)
        bail("too many heads");
    if (f->t.sizes.b == 3 && f->t.c.problem.flags & CLATTN_CU_Q) {
        empty_ends(f->d, &cu[0], PARAM_CU_Q, f->t.sizes.total_q, &seen.args.cu_q_offset);
        empty_ends(f->d, &cu[1], PARAM_CU_K, f->t.sizes.total_k, &seen.args.cu_k_offset);
    }
    ask(f->d, &f->t.c.problem, heads, at);
    for (size_t i = 0; i < heads * PLACES; i++)
        out += is_outside(f, i, at[i]);
    ok(!out, "every first row and entry lies in its buffer: %s", text);
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
    memset(&seen, 0, sizeof seen);
    if (!ok(!trial_run(&f.t, f.plan, d->queue) && trial_verify(&f.t, d->queue, why, sizeof why), "%s: %s", d->name,
            text))
        diag("%s", why);
    ok(seen.calls && !seen.absent, "none of %d buffers is NULL: %s", seen.calls, text);
    if (!seen.absent)
        test_places(&f, text);
    if (!f.t.sizes.nk)
        ok(is_a_point(&seen.args.bias) && is_a_point(&seen.args.mask), "what is read at (q, k) has no strides: %s",
           text);
    fixture_close(&f);
}

static void test_device(const struct device *d)
{
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        test_call(d, calls[i].text, calls[i].layout);
}

int main(void)
{
    return each_device(test_device);
}
