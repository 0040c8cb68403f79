/* block_map.c - block maps made from a mask: what is refused, waiting, and use by several calls
 * SPDX-License-Identifier: Apache-2.0
 *
 * That maps are right is checked wherever a trial has a mask and blocks. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/refuse.h"

static const char text[] = "f32 b2 h4/2 q21 k39 d8 mask:b1qk blocks:4,8 lse";

/* Fails with `want` (0: with anything), in words, without an event, and the map stays as it was. */
static void map_refused(struct fixture *f, const clattn_forward_args *a, cl_int want, const char *what)
{
    cl_event event = NULL;
    char detail[512] = "";
    cl_int e = image_write(&f->t.map.image, f->d->queue);
    if (e)
        bail("cannot write a buffer");
    e = clattn_enqueue_block_map(f->plan, f->d->queue, a, 0, NULL, &event);
    clattn_error_detail(f->d->handle, detail, sizeof detail, NULL);
    clFinish(f->d->queue);
    ok(e < 0 && (!want || e == want) && !event && *detail && image_unchanged(&f->t.map.image, f->d->queue),
       "%s is refused (%s): %s", what, clattn_status_string(e), detail);
}

#define MAP_REFUSED(want, change) WITH_CHANGED(change, map_refused(f, &a, want, #change))

static cl_mem buffer(const struct fixture *f, cl_mem_flags flags, size_t size)
{
    return each_buffer(f->d->cl.context, flags, size, NULL);
}

static void test_refusals(struct fixture *f)
{
    cl_mem fixed = buffer(f, CL_MEM_READ_ONLY, f->t.map.image.size), small = buffer(f, CL_MEM_READ_WRITE, 8);
    MAP_REFUSED(BAD, a.mask.mem = NULL);
    MAP_REFUSED(BAD, a.block_map.mem = NULL);
    MAP_REFUSED(ANY, a.block_map.mem = fixed);
    MAP_REFUSED(SMALL, a.block_map.mem = small);
    MAP_REFUSED(SMALL, a.mask.mem = small);
    MAP_REFUSED(BAD, a.block_q = 0);
    MAP_REFUSED(BAD, a.block_k = -1);
    MAP_REFUSED(BAD, a.block_q = 5); /* other counts of blocks than the map's shape */
    MAP_REFUSED(BAD, a.block_map.shape[2] = 1);
    MAP_REFUSED(BAD, a.block_map.shape[3] = 1);
    MAP_REFUSED(BAD, a.block_map.shape[0] = 1); /* the mask has an axis b */
    MAP_REFUSED(BAD, a.block_map.shape[3] = 7);
    MAP_REFUSED(BAD, a.block_map.stride[2] = 0); /* rows into each other */
    MAP_REFUSED(BAD, a.block_map.stride[3] = 0);
    MAP_REFUSED(BAD, a.block_map.stride[0] = -1);
    MAP_REFUSED(BAD, a.mask.stride[2] = -1);
    MAP_REFUSED(ANY, a.block_map.stride[0] = INT64_MAX);
    MAP_REFUSED(ANY, a.block_map.offset = SIZE_MAX);
    MAP_REFUSED(BAD, s.nq = -1);
    MAP_REFUSED(BAD, s.nq = 0; a.mask.shape[2] = 0; a.block_map.shape[2] = 1); /* a mask of no cells */
    MAP_REFUSED(BAD, a.block_q = (1 << 30) + 1; a.block_map.shape[2] = 0);
    MAP_REFUSED(BAD, a.struct_size = 0);
    ok(clattn_enqueue_block_map(NULL, f->d->queue, &f->t.args, 0, NULL, NULL) < 0, "plan NULL is refused");
    ok(clattn_enqueue_block_map(f->plan, NULL, &f->t.args, 0, NULL, NULL) < 0, "queue NULL is refused");
    ok(clattn_enqueue_block_map(f->plan, f->d->queue, NULL, 0, NULL, NULL) < 0, "args NULL is refused");
    clReleaseMemObject(fixed);
    clReleaseMemObject(small);
}

/* Plans that have no mask, or no map. */
static void test_plans(const struct device *d)
{
    static const char *const others[] = { "f32 b2 h4/2 q21 k39 d8 lse", "f32 b2 h4/2 q21 k39 d8 mask:b1qk lse",
                                          "f32 b2 h4/2 q21 k39 d8 blocks:4,8 lse" };
    size_t i;
    for (i = 0; i < 3; i++) {
        struct fixture f;
        cl_event event = NULL;
        each_open(&f, d, others[i], PADDED);
        const cl_int e = clattn_enqueue_block_map(f.plan, d->queue, &f.t.args, 0, NULL, &event);
        ok(e < 0 && !event, "a map is refused (%s): %s", clattn_status_string(e), others[i]);
        fixture_close(&f);
    }
}

/* Only what the map needs must be given. */
static void test_alone(struct fixture *f)
{
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    clattn_sizes s = f->t.sizes;
    cl_event event = NULL;
    cl_int e;
    a.sizes = &s;
    a.mask = f->t.args.mask;
    a.block_map = f->t.args.block_map;
    a.block_q = f->t.args.block_q;
    a.block_k = f->t.args.block_k;
    e = clattn_enqueue_block_map(f->plan, f->d->queue, &a, 0, NULL, &event);
    is_int(e, CL_SUCCESS, "a map is made without the tensors: %s", text);
    is_int(e ? e : clWaitForEvents(1, &event), CL_SUCCESS, "and has an event");
    e = trial_reset(&f->t, f->d->queue);
    e = e ? e : clattn_enqueue_forward(f->plan, f->d->queue, &f->t.args, 0, NULL, NULL);
    ok(!e && each_verified(&f->t, f->d->queue), "one call uses it: %s", text);
    e = trial_reset(&f->t, f->d->queue);
    e = e ? e : clattn_enqueue_forward(f->plan, f->d->queue, &f->t.args, 0, NULL, NULL);
    ok(!e && each_verified(&f->t, f->d->queue), "so does the next: %s", text);
    if (event)
        clReleaseEvent(event);
}

/* The map waits for its list, and the call for the map, on a queue that keeps no order. */
static void test_order(struct fixture *f)
{
    const struct device *d = f->d;
    cl_event made = NULL;
    cl_int status = 0;
    const cl_command_queue queue = each_unordered(d, d->cl.context);
    if (!queue)
        return;
    const cl_event gate = each_gate(d->cl.context);
    cl_int e = trial_reset(&f->t, d->queue);
    e = e ? e : image_write(&f->t.map.image, d->queue);
    e = e ? e : clattn_enqueue_block_map(f->plan, queue, &f->t.args, 1, &gate, &made);
    e = e ? e : clattn_enqueue_forward(f->plan, queue, &f->t.args, 1, &made, NULL);
    clFlush(queue);
    if (made)
        clGetEventInfo(made, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
    ok(!e && status > CL_COMPLETE, "a map waits for its list (%s)", clattn_status_string(e));
    clSetUserEventStatus(gate, CL_COMPLETE);
    clFinish(queue);
    ok(!e && each_verified(&f->t, f->d->queue), "and the call for the map: %s", text);
    if (made)
        clReleaseEvent(made);
    clReleaseEvent(gate);
    clReleaseCommandQueue(queue);
}

/* A map of one block, which stands for all of the mask though its shape could be a broadcast one; and of blocks so
 * narrow that some begin with a row that drops all they have. */
static void test_shapes(const struct device *d)
{
    static const char *const problems[] = { "f32 b1 h1 q5 k7 d8 mask:bhqk blocks:64,64 lse",
                                            "f32 b1 h1 q9 k20 d8 mask:11qk blocks:4,1 lse" };
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        char why[512] = "";
        ok(harness_check_text(d, problems[i], NULL, PADDED, why, sizeof why) == 1, "a map: %s: %s", problems[i], why);
    }
}

/* A map with blocks all along queries and keys, of a mask that is broadcast along one of them. */
static void test_broadcast(struct fixture *f, int along_k)
{
    enum { Q = 9, K = 20, BQ = 4, BK = 2, BLOCKS_Q = 3, BLOCKS_K = 10 };
    const int n = along_k ? K : Q, block = along_k ? BK : BQ;
    const clattn_sizes sizes = { .b = 1, .h = 1, .hk = 1, .nq = Q, .nk = K };
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    unsigned char cells[K], map[BLOCKS_Q * BLOCKS_K];
    int wrong = 0;
    for (int i = 0; i < n; i++)
        cells[i] = i % 5 > 1;
    a.sizes = &sizes;
    a.mask.mem = buffer(f, CL_MEM_READ_ONLY, sizeof cells);
    a.mask.shape[0] = a.mask.shape[1] = a.mask.shape[along_k ? 2 : 3] = 1;
    a.block_map.mem = buffer(f, CL_MEM_READ_WRITE, sizeof map);
    a.block_q = BQ;
    a.block_k = BK;
    cl_int e = clEnqueueWriteBuffer(f->d->queue, a.mask.mem, CL_TRUE, 0, (size_t)n, cells, 0, NULL, NULL);
    e = e ? e : clattn_enqueue_block_map(f->plan, f->d->queue, &a, 0, NULL, NULL);
    e = e ? e : clEnqueueReadBuffer(f->d->queue, a.block_map.mem, CL_TRUE, 0, sizeof map, map, 0, NULL, NULL);
    for (int i = 0; i < BLOCKS_Q * BLOCKS_K && !e; i++) {
        const int first = (along_k ? i % BLOCKS_K : i / BLOCKS_K) * block;
        int some = 0, all = 1;
        for (int at = first; at < first + block && at < n; at++) {
            some |= cells[at];
            all &= cells[at];
        }
        wrong += map[i] != (some ? 1 + all : 0);
    }
    ok(!e && !wrong, "a whole map of a mask along %s alone: %s, %d blocks are wrong", along_k ? "keys" : "queries",
       clattn_status_string(e), wrong);
    clReleaseMemObject(a.mask.mem);
    clReleaseMemObject(a.block_map.mem);
}

/* The most blocks that axes may have, of no keys: their product is beyond any number, and nothing is done. */
static void test_most(struct fixture *f)
{
    enum { MOST = 1 << 30 };
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    clattn_sizes s = { MOST, MOST, MOST, MOST, 0, 0, 0, 0 };
    a.sizes = &s;
    a.block_q = a.block_k = 1;
    is_int(clattn_enqueue_block_map(f->plan, f->d->queue, &a, 0, NULL, NULL), CL_SUCCESS, "2^90 blocks of no keys");
}

/* A map of nothing. */
static void test_nothing(const struct device *d)
{
    static const char *const none[] = { "f32 b0 h2 q5 k7 d8 mask:bhqk blocks:4,4 lse",
                                        "f32 b2 h2 q0 k7 d8 mask:bhqk blocks:4,4 lse",
                                        "f32 b2 h2 q5 k0 d8 mask:bhqk blocks:4,4 lse" };
    size_t i;
    for (i = 0; i < 3; i++) {
        char why[512] = "";
        ok(harness_check_text(d, none[i], NULL, PADDED, why, sizeof why) == 1 &&
               harness_check_text(d, none[i], NULL, PLAIN, why, sizeof why) == 1,
           "a map of nothing (%s): %s", why, none[i]);
    }
}

/* The largest blocks there may be: one for all queries and keys. */
static void test_largest(const struct device *d)
{
    static const char largest[] = "f32 b2 h2 q37 k70 d8 causal mask:bhqk blocks:1073741824,1073741824 lse";
    char why[512] = "";
    ok(harness_check_text(d, largest, NULL, PADDED, why, sizeof why) == 1, "%s: %s", largest, why);
}

/* More blocks than a row of the grid has work-items. */
static void test_grid(const struct device *d)
{
    static const char many[] = "f32 b1 h1 q257 k257 d1 mask:11qk blocks:1,1 lse";
    char why[512] = "";
    ok(harness_check_text(d, many, "row", PADDED, why, sizeof why) == 1, "%s: %s", many, why);
}

static void test_device(const struct device *d)
{
    struct fixture f;
    each_open(&f, d, text, PADDED);
    test_refusals(&f);
    test_alone(&f);
    test_most(&f);
    test_order(&f);
    test_broadcast(&f, 0);
    test_broadcast(&f, 1);
    fixture_close(&f);
    test_plans(d);
    test_shapes(d);
    test_nothing(d);
    test_largest(d);
    test_grid(d);
}

int main(void)
{
    return each_device(test_device);
}
