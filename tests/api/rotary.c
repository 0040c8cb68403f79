/* rotary.c - rows of Q that are rotated, in place or into another buffer
 * SPDX-License-Identifier: Apache-2.0
 *
 * As in append.c (tests/lib/appended.h), the host computes what every byte of every buffer has to be. make check has
 * each type in a width of its own; CLATTN_PART=1: each in all. */
#include "config.h"

#include "tests/lib/appended.h"
#include "tests/lib/each.h"

enum { WIDEST = 576 };
static const int order[] = { 0, 1, 2 };

struct call {
    int type;
    int64_t d;
    clattn_sizes sizes;
    struct place in_place, out_place;
    struct image in, out, kv_len;
    size_t kv_len_at;
    int same, lengths;
    struct turning turning;
    clattn_rotary_args args;
};

static void fill_in(struct call *c, uint64_t *state)
{
    const size_t size = convert_size(c->type);
    const int64_t *const n = c->in_place.n;
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t at = bytes_row(&c->in_place, order, i / n[2] / n[1], i / n[2] % n[1], i % n[2]);
        for (int64_t j = 0; j < c->d; j++) {
            const double x = bytes_normal(state);
            convert_store(c->type, &x, c->in.byte + (size_t)(at + j) * size, 1);
        }
    }
}

static void make_lengths(struct call *c, uint64_t *state)
{
    const size_t b = (size_t)c->sizes.b;
    c->lengths = bytes_pick(state, 0, 3) > 0;
    c->kv_len_at = (size_t)bytes_pick(state, 0, 3);
    c->kv_len = bytes_make("kv_len", c->lengths ? 4 * (c->kv_len_at + b + 1) : 0, state);
    for (size_t i = 0; c->lengths && i < b; i++) {
        const int64_t kind = bytes_pick(state, 0, 7);
        const int32_t n = kind == 0 ? INT32_MAX : kind == 1 ? INT32_MIN : (int32_t)bytes_pick(state, -2, 40);
        memcpy(c->kv_len.byte + 4 * (c->kv_len_at + i), &n, 4);
    }
}

static clattn_sizes pick_sizes(uint64_t *state)
{
    clattn_sizes s = { .b = bytes_pick(state, 0, 9) ? bytes_pick(state, 1, 4) : 0 };
    s.h = bytes_pick(state, 1, 3);
    s.nq = bytes_pick(state, 0, 9) ? bytes_pick(state, 1, 9) : 0;
    return s;
}

static void make_call(struct call *c, int type, int64_t d, clattn_sizes sizes, uint64_t *state, cl_context context)
{
    memset(c, 0, sizeof *c);
    c->type = type;
    c->d = d;
    c->sizes = sizes;
    c->same = (int)bytes_pick(state, 0, 1);
    const int64_t n[3] = { c->sizes.b, c->sizes.h, c->sizes.nq };
    const size_t size = convert_size(type);
    c->in_place = bytes_place(n, d, 1, order, state);
    c->out_place = c->same ? c->in_place : bytes_place(n, d, 1, order, state);
    c->in = bytes_make("in", (size_t)c->in_place.end * size, state);
    c->out = bytes_make("out", c->same ? 0 : (size_t)c->out_place.end * size, state);
    fill_in(c, state);
    make_lengths(c, state);
    c->turning = bytes_turning(d, c->sizes.b * c->sizes.nq, state);
    bytes_upload(&c->in, context, c->same ? CL_MEM_READ_WRITE : CL_MEM_READ_ONLY);
    bytes_upload(&c->out, context, CL_MEM_WRITE_ONLY);
    bytes_upload(&c->kv_len, context, CL_MEM_READ_ONLY);
    bytes_turning_upload(&c->turning, context);
    c->args = (clattn_rotary_args)CLATTN_ROTARY_ARGS_INIT;
    c->args.sizes = &c->sizes;
    c->args.in = bytes_tensor(&c->in, &c->in_place);
    c->args.out = bytes_tensor(c->same ? &c->in : &c->out, &c->out_place);
    c->args.kv_len = (clattn_array){ c->kv_len.mem, c->kv_len_at };
    c->args.rotary = bytes_rotary(&c->turning);
}

static void free_call(struct call *c)
{
    image_free(&c->in);
    image_free(&c->out);
    image_free(&c->kv_len);
    bytes_turning_free(&c->turning);
}

/* Elements behind the pairs keep their bits. */
static void expect(struct call *c)
{
    const size_t size = convert_size(c->type);
    const int64_t *const n = c->in_place.n;
    struct image *const to = c->same ? &c->in : &c->out;
    double x[WIDEST];
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const int64_t b = i / n[2] / n[1], h = i / n[2] % n[1], row = i % n[2];
        const unsigned char *const from = c->in.byte + (size_t)bytes_row(&c->in_place, order, b, h, row) * size;
        unsigned char *const into = to->byte + (size_t)bytes_row(&c->out_place, order, b, h, row) * size;
        int32_t length = 0;
        if (c->lengths)
            memcpy(&length, c->kv_len.byte + 4 * (c->kv_len_at + (size_t)b), 4);
        convert_load(c->type, from, x, (size_t)c->d);
        bytes_turn(&c->turning, b * n[2] + row, (length < 0 ? 0 : length) + row, x, c->type != CLATTN_F64);
        memmove(into, from, (size_t)c->d * size);
        convert_store(c->type, x, into, (size_t)c->turning.width);
    }
}

static int agrees(const struct call *c, cl_command_queue queue, char *why, size_t len)
{
    return image_agrees(&c->in, queue, why, len) && (c->same || image_agrees(&c->out, queue, why, len)) &&
           (!c->lengths || image_agrees(&c->kv_len, queue, why, len));
}

/* Twice, the second behind the first: in place that turns twice as far. */
static int rotate_twice(clattn_plan plan, struct call *c, cl_command_queue queue, char *why, size_t len)
{
    cl_event first = NULL, second = NULL;
    cl_int e = clattn_enqueue_rotary(plan, queue, &c->args, 0, NULL, &first);
    expect(c);
    if (!e)
        e = clattn_enqueue_rotary(plan, queue, &c->args, 1, &first, &second);
    expect(c);
    if (!e)
        e = clWaitForEvents(1, &second);
    if (first)
        clReleaseEvent(first);
    if (second)
        clReleaseEvent(second);
    snprintf(why, len, "%s", clattn_status_string(e));
    return !e && agrees(c, queue, why, len);
}

static clattn_plan make_plan(const struct device *d, int type, int width, uint32_t flags)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    p.type = type;
    p.d = width;
    p.flags = flags;
    return appended_plan(d, &p);
}

static void test_type(const struct device *d, cl_command_queue other, int type, int width, unsigned calls)
{
    const char *const name = image_type_name(type);
    char why[512] = "";
    unsigned i = 0;
    int good = 1;
    clattn_plan plan = make_plan(d, type, width, CLATTN_ROTARY);
    if (!plan) {
        skip("%s: %s", d->name, name);
        return;
    }
    for (; i < calls && good; i++) {
        struct call c;
        uint64_t state = 1000 * (uint64_t)i + 29;
        const clattn_sizes sizes = pick_sizes(&state);
        make_call(&c, type, width, sizes, &state, d->cl.context);
        good = rotate_twice(plan, &c, i % 2 ? d->queue : other, why, sizeof why);
        if (!good)
            clattn_error_detail(d->handle, why + strlen(why), sizeof why - strlen(why), NULL);
        free_call(&c);
    }
    if (!ok(good, "%s: %s d%d, %u calls", d->name, name, width, i))
        diag("call %u: %s", i - 1, why);
    clattn_plan_release(plan);
}

/* More pairs than a row of the grid has work-items. */
static void test_grid(const struct device *d)
{
    static const clattn_sizes sizes = { .b = 2, .h = 2, .nq = 17000 };
    char why[512] = "";
    uint64_t state = 1;
    struct call c;
    clattn_plan plan = make_plan(d, CLATTN_F32, 24, CLATTN_ROTARY);
    make_call(&c, CLATTN_F32, 24, sizes, &state, d->cl.context);
    ok(rotate_twice(plan, &c, d->queue, why, sizeof why), "%s: many rows: %s", d->name, why);
    free_call(&c);
    clattn_plan_release(plan);
}

/* ---- Refusals ---- */

enum { BAD = CLATTN_ERROR_INVALID_ARGUMENT, SMALL = CLATTN_ERROR_BUFFER_TOO_SMALL };

static void refused(const struct device *d, clattn_plan plan, struct call *c, const clattn_rotary_args *a, cl_int want,
                    const char *words, const char *what)
{
    cl_event event = NULL;
    char why[512] = "";
    const cl_int e = clattn_enqueue_rotary(plan, d->queue, a, 0, NULL, &event);
    each_refused(d, e, event, want, words, what);
    if (!agrees(c, d->queue, why, sizeof why))
        ok(0, "and nothing was written: %s", why);
}

#define REFUSED(want, words, change)                                                                                   \
    do {                                                                                                               \
        clattn_rotary_args a = c.args;                                                                                 \
        clattn_sizes s = c.sizes;                                                                                      \
        a.sizes = &s;                                                                                                  \
        change;                                                                                                        \
        refused(d, plan, &c, &a, want, words, #change);                                                                \
    } while (0)

/* The first call that has rows, another buffer for the output, lengths and positions. */
static void find_call(struct call *c, const struct device *d)
{
    for (uint64_t i = 0;; i++) {
        uint64_t state = 77 + 1000 * i;
        const clattn_sizes sizes = pick_sizes(&state);
        make_call(c, CLATTN_F32, 24, sizes, &state, d->cl.context);
        if (c->sizes.b > 1 && c->sizes.h > 1 && c->sizes.nq > 1 && !c->same && c->lengths && c->turning.given &&
            c->in_place.stride[0])
            return;
        free_call(c);
    }
}

static void test_refusals(const struct device *d)
{
    clattn_plan plan = make_plan(d, CLATTN_F32, 24, CLATTN_ROTARY), without = make_plan(d, CLATTN_F32, 24, 0);
    struct call c;
    find_call(&c, d);
    const cl_mem fixed = each_buffer(d->cl.context, CL_MEM_READ_ONLY, c.out.size, NULL);
    const cl_mem small = each_buffer(d->cl.context, CL_MEM_READ_WRITE, 4, NULL);
    const cl_mem both = each_buffer(d->cl.context, CL_MEM_READ_WRITE, c.out.size, NULL);
    refused(d, without, &c, &c.args, BAD, "the problem lacks CLATTN_ROTARY", "a plan without rotation");
    REFUSED(BAD, "rotary.width is 0", a.rotary.width = 0);
    REFUSED(BAD, "rotary.width is 3", a.rotary.width = 3);
    REFUSED(BAD, "rotary.width is -2", a.rotary.width = -2);
    REFUSED(BAD, "rotary.width is 26", a.rotary.width = 26);
    REFUSED(BAD, "rotary.positions is 0", a.rotary.positions = 0);
    REFUSED(BAD, "rotary.positions is", a.rotary.positions = INT64_MAX);
    REFUSED(BAD, "rotary.interleaved is 2", a.rotary.interleaved = 2);
    REFUSED(BAD, "rotary.cos.mem is NULL", a.rotary.cos.mem = NULL);
    REFUSED(BAD, "rotary.sin.mem is NULL", a.rotary.sin.mem = NULL);
    REFUSED(SMALL, "rotary.cos reaches", a.rotary.cos.mem = small; a.rotary.width = 24; a.rotary.cos.offset = 0);
    REFUSED(SMALL, "rotary.cos reaches", a.rotary.positions = 1 << 30);
    REFUSED(SMALL, "rotary.sin reaches", a.rotary.sin.mem = small);
    REFUSED(SMALL, "rotary.given reaches", a.rotary.given.offset += 1);
    REFUSED(BAD, "in.mem is NULL", a.in.mem = NULL);
    REFUSED(BAD, "out.mem is NULL", a.out.mem = NULL);
    REFUSED(BAD, "CL_MEM_READ_ONLY", a.out.mem = fixed);
    REFUSED(SMALL, "out reaches", a.out.mem = small);
    REFUSED(SMALL, "in reaches", a.in.offset = 1 << 20);
    REFUSED(BAD, "must not be negative", a.in.stride[1] = -1);
    REFUSED(BAD, "overlap", a.out.stride[0] = a.out.stride[1] = a.out.stride[2] = 24);
    REFUSED(BAD, "has other strides", a.in = a.out; a.in.mem = a.out.mem = both; a.in.stride[0] = 0);
    REFUSED(SMALL, "kv_len reaches", a.kv_len.offset += 2);
    REFUSED(BAD, "nq is -1", s.nq = -1);
    REFUSED(BAD, "struct_size", a.struct_size = 8);
    REFUSED(BAD, "overflow", a.in.stride[0] = INT64_MAX);
    clReleaseMemObject(fixed);
    clReleaseMemObject(small);
    clReleaseMemObject(both);
    free_call(&c);
    clattn_plan_release(plan);
    clattn_plan_release(without);
}

/* From the same place with other strides: along an axis of one entry they do not matter. */
static void test_strides(const struct device *d)
{
    static const char *const axes[] = { "b", "h", "nq" };
    for (int axis = 0; axis < 3; axis++)
        for (int64_t n = 1; n <= 2; n++) {
            const int64_t size[3] = { axis == 0 ? n : 1, axis == 1 ? n : 1, axis == 2 ? n : 1 };
            const clattn_sizes sizes = { .b = size[0], .h = size[1], .nq = size[2] };
            uint64_t state = 5;
            char why[512] = "";
            cl_event event = NULL;
            struct call c;
            clattn_plan plan = make_plan(d, CLATTN_F32, 24, CLATTN_ROTARY);
            make_call(&c, CLATTN_F32, 24, sizes, &state, d->cl.context);
            static const float rows[128];
            const cl_mem mem = each_buffer(d->cl.context, CL_MEM_READ_WRITE, sizeof rows, rows);
            c.args.in = (clattn_tensor){ mem, 0, { 24, 24, 24 } };
            c.args.out = c.args.in;
            c.args.out.stride[axis] = 48;
            const cl_int e = clattn_enqueue_rotary(plan, d->queue, &c.args, 0, NULL, &event);
            clattn_error_detail(d->handle, why, sizeof why, NULL);
            ok(n == 1 ? !e : e == BAD && strstr(why, "has other strides"),
               "%s: in place, %s %d with another stride: %s", d->name, axes[axis], (int)n, clattn_status_string(e));
            clFinish(d->queue);
            if (event)
                clReleaseEvent(event);
            clReleaseMemObject(mem);
            free_call(&c);
            clattn_plan_release(plan);
        }
}

static void test_device(const struct device *d)
{
    static const int types[] = { CLATTN_F32, CLATTN_F16, CLATTN_BF16, CLATTN_F64 }, widths[] = { 24, 2, 3, 64, 576 };
    const int quick = harness_flag("CLATTN_QUICK");
    const cl_command_queue other = each_other_queue(d);
    for (int i = 0; i < 4; i++)
        for (int w = 0; w < 5; w++)
            if (quick ? w == i : harness_turn((unsigned)(5 * i + w), w == i))
                test_type(d, other, types[i], widths[w], quick ? 6 : 40);
    if (harness_turn(0, 1)) {
        test_grid(d);
        test_refusals(d);
        test_strides(d);
    }
    clReleaseCommandQueue(other);
}

int main(void)
{
    return each_device(test_device);
}
