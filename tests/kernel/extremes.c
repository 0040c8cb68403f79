/* extremes.c - numbers at the ends of their types: lengths, diagonals, places beyond 2^31 elements
 * SPDX-License-Identifier: Apache-2.0
 *
 * CLATTN_FULL=1 also allocates a buffer of 4.3 GB. */
#include "config.h"

#include "tests/lib/each.h"

/* Lengths outside [0, nq] and [0, nk] count as the nearest that is inside. */
static void test_lengths(const struct device *d)
{
    static const char text[] = "f32 b4 h2 q9 k20 d16 causal qlen:9,9,9,9 kvlen:20,20,20,20 kvstart:0,0,0,0 lse";
    static const int32_t q_len[4] = { 100, -1, 9, INT32_MAX }, kv_len[4] = { 21, 20, INT32_MIN, INT32_MAX },
                         kv_start[4] = { -5, 0, 0, INT32_MIN };
    clattn_workload c = each_case(text);
    struct trial t;
    cl_int e;
    memcpy(c.q_len, q_len, sizeof q_len);
    memcpy(c.kv_len, kv_len, sizeof kv_len);
    memcpy(c.kv_start, kv_start, sizeof kv_start);
    e = trial_make(&t, d->cl.context, &c, PADDED);
    each_judge(d, &t, e, "lengths are clamped", text);
}

/* Other keys are kept than trial_make() thought: they must be there. */
static cl_int see_again(const struct device *d, struct trial *t)
{
    const cl_int e = trial_find_kept(t);
    return e ? e : trial_upload_inputs(t, d->queue);
}

/* Diagonals so far away that adding a row to them would overflow. */
static void test_offsets(const struct device *d)
{
    static const char text[] = "f32 b6 h2 q9 k20 d16 causal lse";
    static const int32_t offsets[6] = { INT32_MAX, INT32_MIN, INT32_MAX - 8, INT32_MIN + 8, 1 << 30, -(1 << 30) };
    const clattn_workload c = each_case(text);
    struct trial t;
    cl_int e = trial_make(&t, d->cl.context, &c, OFFSETS);
    memcpy(t.offsets, offsets, sizeof offsets);
    e = e ? e : see_again(d, &t);
    if (!e) {
        memcpy(t.list[DIAGONALS].byte + t.args.offsets.offset * sizeof *offsets, offsets, sizeof offsets);
        e = image_write(&t.list[DIAGONALS], d->queue);
    }
    each_judge(d, &t, e, "far diagonals from a buffer", text);
}

static void test_offset(const struct device *d, const char *text)
{
    const clattn_workload c = each_case(text);
    struct trial t;
    const cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    each_judge(d, &t, e, "a far diagonal", text);
}

/* ---- Places beyond 2^31 elements ---- */

enum { FAR_WIDTH = 8, FAR_ROWS = 9 };
static const char far_text[] = "f16 b1 h1 q5 k9 d8 lse";
static const size_t far_stride = (size_t)1 << 28; /* nine rows of it: beyond 2^31 */

/* K with rows so far apart that an index needs 64 bits. */
static cl_int spread_keys(const struct device *d, struct trial *t, cl_mem far)
{
    const size_t size = 2;
    cl_int e = CL_SUCCESS;
    int64_t n;
    for (n = 0; n < FAR_ROWS && !e; n++)
        e = clEnqueueWriteBuffer(d->queue, far, CL_TRUE, (size_t)n * far_stride * size, FAR_WIDTH * size,
                                 t->image[1].byte + tensor_at(&t->k, 0, 0, n) * size, 0, NULL, NULL);
    t->args.k.mem = far;
    t->args.k.offset = 0;
    t->args.k.stride[2] = (int64_t)far_stride;
    return e;
}

static void test_far_rows(const struct device *d, cl_mem far)
{
    const clattn_workload c = each_case(far_text);
    struct trial t;
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    e = e ? e : spread_keys(d, &t, far);
    each_judge(d, &t, e, "key rows 2^28 elements apart", far_text);
}

/* O behind the first 2^31 elements; brought back to where the verdict looks. */
static void test_far_output(const struct device *d, cl_mem far)
{
    const clattn_workload c = each_case(far_text);
    struct trial t;
    clattn_plan plan = NULL;
    char why[1024] = "";
    const size_t at = ((size_t)1 << 31) * 2;
    cl_int e = trial_make(&t, d->cl.context, &c, PLAIN);
    const size_t size = t.image[3].size;
    e = e ? e : harness_plan(d, &c.problem, NULL, &plan, why, sizeof why);
    t.args.o.mem = far;
    t.args.o.offset = (size_t)1 << 31;
    e = e ? e : trial_run(&t, plan, d->queue);
    e = e ? e : clEnqueueCopyBuffer(d->queue, far, t.image[3].mem, at, 0, size, 0, NULL, NULL);
    e = e ? e : clFinish(d->queue);
    if (!ok(!e && trial_verify(&t, d->queue, why, sizeof why), "%s: O from element 2^31 on: %s", d->name, far_text))
        diag("%s %s", clattn_status_string(e), why);
    trial_free(&t);
}

static void test_far(const struct device *d)
{
    const size_t size = ((FAR_ROWS - 1) * far_stride + 64) * 2;
    cl_ulong most = 0;
    cl_mem far;
    cl_int e;
    clGetDeviceInfo(d->cl.device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL);
    if (!harness_flag("CLATTN_FULL") || most < size) {
        skip("places beyond 2^31 elements: %s", most < size ? "no such buffer here" : "only with CLATTN_FULL");
        return;
    }
    far = clCreateBuffer(d->cl.context, CL_MEM_READ_WRITE, size, NULL, &e);
    if (e) {
        skip("places beyond 2^31 elements: no memory");
        return;
    }
    test_far_rows(d, far);
    test_far_output(d, far);
    clReleaseMemObject(far);
}

static void test_device(const struct device *d)
{
    test_lengths(d);
    test_offsets(d);
    test_offset(d, "f32 b1 h2 q9 k20 d16 causal off9223372036854775807 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 causal off-9223372036854775807 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 causal off4294967296 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 causal off-4294967296 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 window3,2 off9223372036854775807 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 window3,2 off-4294967296 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 window1073741824,1073741824 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 window1073741824,0 off1073741824 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 window0,1073741824 off-1073741824 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 causal window-1,1073741824 off-5 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 alibi off1000000000 lse");
    test_offset(d, "f32 b1 h2 q9 k20 d16 alibi off-1000000000 lse");
    test_far(d);
}

int main(void)
{
    return each_device(test_device);
}
