/* append.c - new rows of K and V written into caches: every storage type, paged and in one piece
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check has floats, numbers in groups and blocks as K and as V; CLATTN_PART=1: every pair of types.
 * append.t K V: this pair alone. */
#include "config.h"

#include "tests/lib/appended.h"
#include "tests/lib/each.h"
#include "tools/oracle/convert.h"
#include "tools/oracle/quantise.h"

#include <float.h>

static void describe(const clattn_problem *p, char *text, size_t len)
{
    snprintf(text, len, "%s to %s:%d%s d%d and %s:%d%s d%d%s%s", image_type_name(p->type),
             image_type_name(p->k_type), (int)p->k_group, p->flags & CLATTN_K_ZERO ? "z" : "", (int)p->d,
             image_type_name(p->v_type), (int)p->v_group, p->flags & CLATTN_V_ZERO ? "z" : "", (int)p->dv,
             p->page ? " paged" : "", p->flags & CLATTN_ROTARY ? " rotary" : "");
}

/* Two appends, the second behind the first. */
static int append_twice(clattn_plan plan, struct appended *c, cl_command_queue queue, int64_t *rows, char *why,
                        size_t len)
{
    cl_event first = NULL, second = NULL;
    cl_int e = clattn_enqueue_append(plan, queue, &c->args, 0, NULL, &first);
    *rows = appended_expect(c);
    if (!e)
        e = clattn_enqueue_append(plan, queue, &c->args, 1, &first, &second);
    *rows += appended_expect(c);
    if (!e)
        e = clWaitForEvents(1, &second);
    if (first)
        clReleaseEvent(first);
    if (second)
        clReleaseEvent(second);
    snprintf(why, len, "%s", clattn_status_string(e));
    return !e && appended_agrees(c, queue, why, len);
}

/* Many calls of all kinds. */
static void test_problem(const struct device *d, const clattn_problem *p, cl_command_queue other, unsigned calls)
{
    char what[160], why[512] = "";
    describe(p, what, sizeof what);
    clattn_plan plan = appended_plan(d, p);
    if (!plan) {
        skip("%s: %s", d->name, what);
        return;
    }
    int64_t rows, all = 0;
    unsigned i = 0, good = 1;
    for (; i < calls && good; i++) {
        struct appended c;
        uint64_t state = 1000 * (uint64_t)i + 17;
        appended_make(&c, p, &state, d->cl.context);
        good = (unsigned)append_twice(plan, &c, i % 2 ? d->queue : other, &rows, why, sizeof why);
        if (!good)
            clattn_error_detail(d->handle, why + strlen(why), sizeof why - strlen(why), NULL);
        all += rows;
        appended_free(&c);
    }
    if (!ok(good && all, "%s: %u calls, %lld rows: %s", d->name, i, (long long)all, what))
        diag("call %u: %s", i - 1, why);
    clattn_plan_release(plan);
}

static int picked_group(int type, unsigned i, int width)
{
    static const int groups[] = { 32, 1, 0, 16, 64 };
    const int group = groups[i % 5];
    return !quantise_is_scaled(type) ? 0 : group ? group < width ? group : width : width;
}

static int only[2]; /* K and V: all else is left out */

/* Every type but f64, those of Q first. Returns how many. */
static unsigned list_types(int types[32])
{
    unsigned n = 0;
    for (int keys_only = 0; keys_only < 2; keys_only++)
        for (int type = 0; n < 32 && (type = convert_next(type, keys_only));)
            if (type != CLATTN_F64)
                types[n++] = type;
    return n;
}

/* Pairs of storage types; make check has f16 in pages and int4 in one piece. */
static void test_pairs(const struct device *d, cl_command_queue other, unsigned calls)
{
    int types[32];
    const unsigned n = list_types(types);
    for (unsigned i = 0; i < n * n; i++) {
        const int k = types[i / n], v = types[i % n];
        const int usual = k == v && (k == CLATTN_F16 || k == CLATTN_INT4);
        clattn_problem p = CLATTN_PROBLEM_INIT;
        p.type = types[(i + i / 3) % 3];
        p.k_type = k;
        p.v_type = v;
        p.d = quantise_block(k) == 32 ? 32 * (1 + (int)i % 3) : (int)(2 + 2 * (i * 11 % 49));
        p.dv = quantise_block(v) == 32 ? 32 * (1 + (int)i / 5 % 3) : (int)(2 + 2 * (i * 17 % 41));
        p.k_group = picked_group(k, i, p.d);
        p.v_group = picked_group(v, i / 3, p.dv);
        p.page = (i + i / n) % 2 ? 4 : 0;
        p.flags = CLATTN_APPEND | (i % 5 < 3 ? CLATTN_ROTARY : 0);
        p.flags |= quantise_is_scaled(k) && i % 4 < 2 ? CLATTN_K_ZERO : 0;
        p.flags |= quantise_is_scaled(v) && i % 8 < 4 ? CLATTN_V_ZERO : 0;
        if (*only ? k == only[0] && v == only[1] : harness_turn(i, usual))
            test_problem(d, &p, other, calls);
    }
}

/* ---- Special rows ---- */

/* f64 stays f64, to the bit, and is rotated in double. */
static void test_f64(const struct device *d, cl_command_queue other, unsigned calls)
{
    for (int paged = 0; paged < 2; paged++) {
        if (!harness_turn((unsigned)paged, paged || harness_flag("CLATTN_QUICK")))
            continue;
        clattn_problem p = CLATTN_PROBLEM_INIT;
        p.type = p.k_type = p.v_type = CLATTN_F64;
        p.d = 10;
        p.dv = 37;
        p.page = 3 * paged;
        p.flags = CLATTN_APPEND | (paged ? CLATTN_ROTARY : 0);
        test_problem(d, &p, other, calls);
    }
}

/* A cache of one row, by default strides: its bytes, and its scale where it has one. With zero points or without.
 * given: the scale, twice, and the zero point, twice; NULL: they are computed. */
static int append_row_by(const struct device *d, int type, int has_zero, const float *x, int width,
                         const float *given_factors, unsigned char *bytes, size_t size, float *scale)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_append_args a = CLATTN_APPEND_ARGS_INIT;
    const clattn_sizes one = { .b = 1, .hk = 1, .nq = 1, .nk = 1 };
    const cl_int none = 0;
    p.k_type = p.v_type = type;
    p.d = width;
    p.flags = CLATTN_APPEND | (has_zero ? CLATTN_K_ZERO | CLATTN_V_ZERO : 0);
    clattn_plan plan = appended_plan(d, &p);
    const cl_mem rows = each_buffer(d->cl.context, CL_MEM_READ_WRITE, (size_t)width * 4, x);
    const cl_mem k = each_buffer(d->cl.context, CL_MEM_READ_WRITE, size, NULL);
    const cl_mem v = each_buffer(d->cl.context, CL_MEM_READ_WRITE, size, NULL);
    const cl_mem len = each_buffer(d->cl.context, CL_MEM_READ_WRITE, 4, &none);
    const cl_mem scales = each_buffer(d->cl.context, CL_MEM_READ_WRITE, 16, given_factors);
    a.sizes = &one;
    a.new_k.mem = a.new_v.mem = rows;
    a.k.mem = k;
    a.v.mem = v;
    a.kv_len.mem = len;
    if (quantise_is_scaled(type)) {
        a.k_scale.mem = a.v_scale.mem = scales;
        a.v_scale.offset = 1;
    }
    if (has_zero) {
        a.k_zero.mem = a.v_zero.mem = scales;
        a.k_zero.offset = 2;
        a.v_zero.offset = 3;
    }
    if (given_factors)
        a.k_scale.shape[2] = a.v_scale.shape[2] = a.k_zero.shape[2] = a.v_zero.shape[2] = 1;
    cl_int status = clattn_enqueue_append(plan, d->queue, &a, 0, NULL, NULL);
    if (!status)
        status = clEnqueueReadBuffer(d->queue, k, CL_TRUE, 0, size, bytes, 0, NULL, NULL);
    if (!status)
        status = clEnqueueReadBuffer(d->queue, scales, CL_TRUE, 0, 4, scale, 0, NULL, NULL);
    clReleaseMemObject(rows);
    clReleaseMemObject(k);
    clReleaseMemObject(v);
    clReleaseMemObject(len);
    clReleaseMemObject(scales);
    clattn_plan_release(plan);
    return !status;
}

static int append_row(const struct device *d, int type, const float *x, int width, unsigned char *bytes, size_t size,
                      float *scale)
{
    return append_row_by(d, type, 0, x, width, NULL, bytes, size, scale);
}

static int append_given(const struct device *d, int type, const float *x, int width, float scale, float zero,
                        unsigned char *bytes, size_t size)
{
    const float factors[4] = { scale, scale, zero, zero };
    float same;
    return append_row_by(d, type, 1, x, width, factors, bytes, size, &same);
}

/* Of numbers in groups and of GGUF's blocks one: make check has it. */
static int is_soon(int type)
{
    return type == CLATTN_INT8 || type == CLATTN_Q4_0;
}

/* NaN and inf must not turn into numbers: the scale of their group is NaN. Other groups do not mind. */
static void test_not_finite(const struct device *d)
{
    static const float bad[] = { NAN, INFINITY, -INFINITY };
    static const int types[] = { CLATTN_INT8, CLATTN_INT4, CLATTN_Q8_0, CLATTN_Q4_0,
                                 CLATTN_Q4_1, CLATTN_Q5_0, CLATTN_Q5_1 };
    for (size_t t = 0; t < sizeof types / sizeof *types; t++)
        for (size_t i = 0; i < 3 && harness_turn(7 + (unsigned)t, is_soon(types[t])); i++) {
            const int type = types[t], block = (int)quantise_bytes(type, 32), scaled = quantise_is_scaled(type);
            unsigned char bytes[68];
            float x[64], scale = 1;
            double first = 0, second = 0;
            for (int j = 0; j < 64; j++)
                x[j] = (float)(j % 9 - 4);
            x[17] = bad[i];
            const int done = append_row(d, type, x, scaled ? 32 : 64, bytes, (size_t)(scaled ? 32 : 2 * block), &scale);
            if (!scaled) {
                convert_load(CLATTN_F16, bytes, &first, 1);
                convert_load(CLATTN_F16, bytes + block, &second, 1);
            }
            ok(done && isnan(scaled ? (double)scale : first) && (scaled || isfinite(second)),
               "%s: %f in a group of %s leaves no number there", d->name, (double)bad[i], image_type_name(type));
        }
}

/* Elements without a scale: what is no number stays none, and what is too large or small becomes what the type has. */
static void test_elements(const struct device *d, int type)
{
    enum { WIDTH = 16 };
    static const float x[WIDTH] = { 0, -0.0f, NAN, 1, INFINITY, -INFINITY, 3, 1e6f, -1e6f, 5, 1e-6f, -3e-4f, 0.01f };
    double given[WIDTH], want[WIDTH], got[WIDTH], stored[WIDTH];
    float no_scale;
    int good = append_row(d, type, x, WIDTH, (unsigned char *)stored, WIDTH * convert_size(type), &no_scale);
    convert_load(type, stored, got, WIDTH);
    for (int i = 0; i < WIDTH; i++)
        given[i] = (double)x[i];
    convert_store(type, given, stored, WIDTH);
    convert_load(type, stored, want, WIDTH);
    for (int i = 0; i < WIDTH; i++)
        good = good && (isnan(want[i]) ? isnan(got[i]) : got[i] == want[i] && !signbit(got[i]) == !signbit(want[i]));
    ok(good && isnan(got[2]), "%s: NaN, infinity and what is large or small in %s", d->name, image_type_name(type));
}

/* Known bytes: what the reference quantisation of ggml makes of a ramp, and of zeros. */
static void test_known(const struct device *d)
{
    float x[64] = { 0 }, zero[64] = { 0 }, scale;
    unsigned char bytes[68], want[34];
    for (int i = 0; i < 32; i++)
        x[i] = (float)(i - 16) * 0.75f; /* and zeros: two blocks, as in the test of what is not finite */
    ok(append_row(d, CLATTN_Q4_0, x, 64, bytes, 36, &scale) && bytes[0] == 0x00 && bytes[1] == 0x3e &&
           bytes[2] == 0x80 && bytes[3] == 0x91 && bytes[17] == 0xf8,
       "%s: q4_0 of a ramp from -12 by 0.75", d->name);
    ok(append_row(d, CLATTN_Q4_0, zero, 64, bytes, 36, &scale) && bytes[0] == 0 && bytes[1] == 0x80 && bytes[2] == 0x88,
       "%s: q4_0 of zeros has the scale -0", d->name);
    memset(want, 0, sizeof want);
    ok(append_row(d, CLATTN_Q8_0, zero, 64, bytes, 68, &scale) && !memcmp(bytes, want, 34), "%s: q8_0 of zeros",
       d->name);
    zero[5] = -1e-38f; /* its scale has no reciprocal */
    ok(append_row(d, CLATTN_Q8_0, zero, 64, bytes, 68, &scale) && !memcmp(bytes, want, 34),
       "%s: q8_0 of numbers next to 0 is that of zeros", d->name);
    for (int i = 0; i < 32; i++)
        x[i] = (float)(i - 16) * 0.75f; /* in q5_0 a code for each step; in q4_1 every second one */
    ok(append_row(d, CLATTN_Q5_0, x, 64, bytes, 44, &scale) && bytes[0] == 0x00 && bytes[1] == 0x3a && !bytes[2] &&
           !bytes[3] && bytes[4] == 0xff && bytes[5] == 0xff && bytes[6] == 0x00 && bytes[7] == 0x11 &&
           bytes[21] == 0xff,
       "%s: q5_0 of a ramp from -12 by 0.75", d->name);
    ok(append_row(d, CLATTN_Q5_1, x, 64, bytes, 48, &scale) && bytes[0] == 0x00 && bytes[1] == 0x3a &&
           bytes[2] == 0x00 && bytes[3] == 0xca && !bytes[4] && !bytes[5] && bytes[6] == 0xff && bytes[7] == 0xff &&
           bytes[8] == 0x00 && bytes[9] == 0x11 && bytes[23] == 0xff,
       "%s: q5_1 of it", d->name);
    ok(append_row(d, CLATTN_Q4_1, x, 64, bytes, 40, &scale) && bytes[0] == 0x33 && bytes[1] == 0x3e &&
           bytes[2] == 0x00 && bytes[3] == 0xca && bytes[4] == 0x80 && bytes[5] == 0x80 && bytes[14] == 0xd5 &&
           bytes[19] == 0xf7,
       "%s: and q4_1", d->name);
    memset(want, 0x88, 18);
    ok(append_row(d, CLATTN_Q4_0, zero, 64, bytes, 36, &scale) && !memcmp(bytes + 2, want, 16),
       "%s: and q4_0", d->name);
    for (int i = 0; i < 32; i++)
        x[i] = i ? (float)i - 0.5f : 127;
    ok(append_row(d, CLATTN_Q8_0, x, 64, bytes, 68, &scale) && bytes[0] == 0x00 && bytes[1] == 0x3c &&
           bytes[2] == 127 && bytes[3] == 1 && bytes[4] == 2 && bytes[33] == 31,
       "%s: q8_0 takes halves away from zero", d->name);
    ok(append_row(d, CLATTN_INT8, x, 32, bytes, 32, &scale) && bytes[0] == 127 && bytes[1] == 0 && bytes[2] == 2 &&
           bytes[3] == 2 && scale == 1,
       "%s: int8 takes halves to even", d->name);
}

/* A scale that would be below 2^-126, and one that would be above all numbers. */
static void test_ends(const struct device *d)
{
    static const unsigned char zeros[32];
    unsigned char bytes[32];
    float x[32], scale = 1;
    for (int i = 0; i < 32; i++)
        x[i] = (float)(i - 16) * 0x1p-128f; /* denormals among them */
    ok(append_row(d, CLATTN_INT8, x, 32, bytes, 32, &scale) && scale == 0 && !memcmp(bytes, zeros, 32),
       "%s: int8 of numbers so small that their scale is 0", d->name);
    x[0] = -127 * 0x1p-126f;
    ok(append_row(d, CLATTN_INT8, x, 32, bytes, 32, &scale) && scale == 0x1p-126f && bytes[0] == 129,
       "%s: and of the least whose scale is not", d->name);
    for (int i = 0; i < 32; i++)
        x[i] = i % 2 ? 3e38f : -3e38f;
    ok(append_row_by(d, CLATTN_INT8, 1, x, 32, NULL, bytes, 32, &scale) && isinf(scale),
       "%s: int8 of a range that no number holds has an infinite scale", d->name);
}

/* What given scales make of a row, and zero points: all that a float can be. A scale that is no number, or that is not
 * a normal one, is none: every element is the zero point. */
static void test_given(const struct device *d, int type)
{
    static const float sizes[] = { 0, 0x1p-149f, 1e-45f, 1e-40f, 0x1p-128f, 2.9e-39f, 3e-39f, 1e-38f, 0x1.fffffcp-127f,
                                   0x1p-126f, 1.2e-38f, 1e-30f, 1, 3, 1e30f, 0x1p126f, INFINITY, NAN };
    enum { SIZES = sizeof sizes / sizeof *sizes, WIDTH = 32 };
    const int most = type == CLATTN_INT8 ? 127 : 7;
    for (int n = 0; n < 4 * SIZES; n++) {
        const float scale = n & 1 ? -sizes[n / 4] : sizes[n / 4], zero = n & 2 ? 2.5f : 0;
        unsigned char bytes[WIDTH], want[WIDTH];
        float x[WIDTH];
        const int counts = isfinite(scale) && fabsf(scale) >= FLT_MIN;
        for (int i = 0; i < WIDTH; i++) {
            x[i] = i % 4 == 0 ? 0 : (float)(i - 16) * (counts ? fabsf(scale) / 4 : 1e-38f);
            if (i > 28)
                x[i] = i == 29 ? INFINITY : i == 30 ? -INFINITY : NAN;
            const volatile float factor = counts ? 1 / scale : 0, product = counts ? x[i] * factor : 0;
            const float q = rintf(product + zero);
            const int code = isnan(q) || q > (float)most ? most : q < (float)(-most - 1) ? -most - 1 : (int)q;
            want[i] = (unsigned char)code;
        }
        if (type == CLATTN_INT4)
            for (int i = 0; i < WIDTH / 2; i++)
                want[i] = (unsigned char)((want[2 * i] & 15) | want[2 * i + 1] << 4);
        const size_t size = type == CLATTN_INT4 ? WIDTH / 2 : WIDTH;
        ok(append_given(d, type, x, WIDTH, scale, zero, bytes, size) && !memcmp(bytes, want, size),
           "%s: %s by the given scale %g and zero point %g", d->name, image_type_name(type), (double)scale,
           (double)zero);
    }
}

/* New rows of one element each, numbered, for empty caches of as many. */
struct numbered {
    struct image rows, k, v, kv_len;
    clattn_append_args args;
};

/* n rows, and room for some bytes more behind them; lengths: bytes of kv_len. */
static struct numbered numbered_make(const struct device *d, int32_t n, size_t more, size_t lengths)
{
    const size_t size = 4 * (size_t)n + more;
    uint64_t state = 1;
    struct numbered x = { .rows = bytes_make("new_k", size, &state),
                          .k = bytes_make("k", size, &state),
                          .v = bytes_make("v", size, &state),
                          .kv_len = bytes_make("kv_len", lengths, &state),
                          .args = CLATTN_APPEND_ARGS_INIT };
    memset(x.kv_len.byte, 0, lengths);
    for (int32_t i = 0; i < n; i++) {
        const double number = i;
        convert_store(CLATTN_F32, &number, x.rows.byte + 4 * (size_t)i, 1);
    }
    bytes_upload(&x.rows, d->cl.context, CL_MEM_READ_ONLY);
    bytes_upload(&x.k, d->cl.context, CL_MEM_READ_WRITE);
    bytes_upload(&x.v, d->cl.context, CL_MEM_READ_WRITE);
    bytes_upload(&x.kv_len, d->cl.context, CL_MEM_READ_WRITE);
    x.args.new_k.mem = x.args.new_v.mem = x.rows.mem;
    x.args.k.mem = x.k.mem;
    x.args.v.mem = x.v.mem;
    x.args.kv_len.mem = x.kv_len.mem;
    return x;
}

static void numbered_free(struct numbered *x)
{
    image_free(&x->rows);
    image_free(&x->k);
    image_free(&x->v);
    image_free(&x->kv_len);
}

/* Whether the first n rows are what the caches got, and kv_len is what x wants. */
static int numbered_agree(struct numbered *x, int32_t n, cl_command_queue queue, char *why, size_t len)
{
    memcpy(x->k.byte, x->rows.byte, 4 * (size_t)n);
    memcpy(x->v.byte, x->rows.byte, 4 * (size_t)n);
    return image_agrees(&x->k, queue, why, len) && image_agrees(&x->v, queue, why, len) &&
           image_agrees(&x->kv_len, queue, why, len);
}

/* More sequences than a row of the grid has work-groups, of the kernel that writes as of the one that counts. Every
 * buffer has room for one more, which the groups that round up the grid must leave alone. */
static void test_grid(const struct device *d)
{
    enum { SEQUENCES = 70001 }; /* odd, so that the grid of the second is rounded up, too */
    static const clattn_sizes sizes = { .b = SEQUENCES, .hk = 1, .nq = 1, .nk = 1 };
    char why[512] = "";
    clattn_problem p = CLATTN_PROBLEM_INIT;
    struct numbered x = numbered_make(d, SEQUENCES, 4, 4 * (size_t)(SEQUENCES + 1));
    p.d = 1;
    p.flags = CLATTN_APPEND;
    x.args.sizes = &sizes;
    clattn_plan plan = appended_plan(d, &p);
    const cl_int e = clattn_enqueue_append(plan, d->queue, &x.args, 0, NULL, NULL);
    for (int32_t i = 0, one = 1; i < SEQUENCES; i++)
        memcpy(x.kv_len.byte + 4 * (size_t)i, &one, 4);
    ok(!e && numbered_agree(&x, SEQUENCES, d->queue, why, sizeof why), "%s: a row for each of %d sequences: %s %s",
       d->name, SEQUENCES, clattn_status_string(e), why);
    numbered_free(&x);
    clattn_plan_release(plan);
}

/* More pages than a work-group has items, which share the search for the first entry that is no page. */
static void test_far_page(const struct device *d)
{
    enum { ROWS = 300, FIRST = 200, LAST = 290 };
    static const clattn_sizes sizes = { .b = 1, .hk = 1, .nq = ROWS, .nk = ROWS };
    uint64_t state = 2;
    char why[512] = "";
    int32_t table[ROWS], counts[2] = { FIRST, ROWS - FIRST };
    clattn_problem p = CLATTN_PROBLEM_INIT;
    struct numbered x = numbered_make(d, ROWS, 0, 4);
    struct image pages = bytes_make("block_table", sizeof table, &state), dropped = bytes_make("dropped", 4, &state);
    for (int32_t i = 0; i < ROWS; i++)
        table[i] = i == FIRST ? ROWS : i == LAST ? -1 : i;
    memcpy(pages.byte, table, sizeof table);
    bytes_upload(&pages, d->cl.context, CL_MEM_READ_ONLY);
    bytes_upload(&dropped, d->cl.context, CL_MEM_READ_WRITE);
    p.d = p.page = x.args.page = 1;
    p.flags = CLATTN_APPEND;
    x.args.sizes = &sizes;
    x.args.pages = x.args.block_table_stride = ROWS;
    x.args.block_table.mem = pages.mem;
    x.args.dropped.mem = dropped.mem;
    clattn_plan plan = appended_plan(d, &p);
    const cl_int e = clattn_enqueue_append(plan, d->queue, &x.args, 0, NULL, NULL);
    memcpy(x.kv_len.byte, &counts[0], 4);
    memcpy(dropped.byte, &counts[1], 4);
    ok(!e && numbered_agree(&x, FIRST, d->queue, why, sizeof why) &&
           image_agrees(&dropped, d->queue, why, sizeof why),
       "%s: entry %d of a table is the first that is no page: %s %s", d->name, FIRST, clattn_status_string(e), why);
    numbered_free(&x);
    image_free(&pages);
    image_free(&dropped);
    clattn_plan_release(plan);
}

static void test_others(const struct device *d, cl_command_queue other)
{
    const int quick = harness_flag("CLATTN_QUICK");
    test_f64(d, other, quick ? 4 : 20);
    test_not_finite(d);
    if (harness_turn(2, 1)) {
        test_known(d);
        test_ends(d);
    }
    if (harness_turn(3, 1))
        test_given(d, CLATTN_INT8);
    if (harness_turn(4, quick))
        test_given(d, CLATTN_INT4);
    if (harness_turn(5, 1))
        test_far_page(d);
    if (!quick && harness_turn(6, 1))
        test_grid(d);
}

static void test_device(const struct device *d)
{
    const cl_command_queue other = each_other_queue(d);
    int types[32];
    const unsigned n = list_types(types);
    test_pairs(d, other, harness_flag("CLATTN_QUICK") ? 4 : 20);
    for (unsigned i = 0; i < n; i++)
        if (convert_size(types[i]) && (*only ? types[i] == only[0] : harness_turn(11 + i, types[i] == CLATTN_F16)))
            test_elements(d, types[i]);
    if (!*only)
        test_others(d, other);
    clReleaseCommandQueue(other);
}

int main(int argc, char **argv)
{
    if (argc == 2)
        bail("usage: append.t [K_TYPE V_TYPE]");
    for (int i = 0; i < 2 && argc > 2; i++)
        if (!(only[i] = convert_find(argv[i + 1], 0)) && !(only[i] = convert_find(argv[i + 1], 1)))
            bail("%s is no storage type", argv[i + 1]);
    return each_device(test_device);
}
