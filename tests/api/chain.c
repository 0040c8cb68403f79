/* chain.c - passes that follow one another in one call
 * SPDX-License-Identifier: Apache-2.0
 *
 * Making a block map and a forward pass that needs it stand for all operations of several passes. */
#include "config.h"

#include "src/api/handle.h"
#include "tests/lib/each.h"

static struct {
    int n;
    cl_uint waits[4];
    cl_event for_[4], own[4];
} launched;

cl_int __real_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *event);
cl_int __wrap_clEnqueueNDRangeKernel(cl_command_queue q, cl_kernel k, cl_uint dims, const size_t *offset,
                                     const size_t *global, const size_t *local, cl_uint n, const cl_event *list,
                                     cl_event *event)
{
    const int at = launched.n++ % 4;
    const cl_int e = __real_clEnqueueNDRangeKernel(q, k, dims, offset, global, local, n, list, event);
    launched.waits[at] = n;
    launched.for_[at] = n ? list[0] : NULL;
    launched.own[at] = event ? *event : NULL;
    return e;
}

static cl_int read_both(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    struct call map;
    memset(&map, 0, sizeof map);
    map.sizes = c->sizes;
    cl_int status = launch_block_map.read(&map, plan, in, why);
    if (!status)
        status = launch_forward.read(c, plan, in, why);
    c->args.blocks = map.args.blocks;
    memcpy(c->args.map_shape, map.args.map_shape, sizeof map.args.map_shape);
    c->args.mask_q = map.args.mask_q;
    c->args.mask_k = map.args.mask_k;
    return status;
}

static const struct operation both = { .read = read_both, .calls = PASS_CALL_BLOCK_MAP | PASS_CALL_FORWARD };

/* A map of zeros drops everything: only one that is made first gives the right result. */
static cl_int clear_map(struct fixture *f)
{
    const unsigned char zero = 0;
    const cl_int e = clEnqueueFillBuffer(f->d->queue, f->t.args.block_map.mem, &zero, 1, f->t.args.block_map.offset,
                                         (size_t)array4_count(&f->t.map), 0, NULL, NULL);
    return e ? e : clFinish(f->d->queue);
}

static void test_chain(const struct device *d, cl_command_queue queue, const char *text)
{
    struct fixture f;
    struct why words;
    char why[512] = "";
    cl_int e;
    each_open(&f, d, text, PLAIN);
    cl_event gate = each_gate(d->cl.context), done = NULL;
    const struct waits waits = { 1, &gate, &done, NULL };
    memset(&launched, 0, sizeof launched);
    if (clear_map(&f) || trial_reset(&f.t, d->queue))
        bail("no buffers");
    e = launch_run(&f.plan->plan.launch, &both, queue, &f.t.args, &waits, &words);
    ok(!e && launched.n == 2 && launched.waits[0] == 1 && launched.for_[0] == gate && launched.waits[1] == 1 &&
           launched.for_[1] && launched.for_[1] == launched.own[0] && done && done == launched.own[1],
       "the first pass waits for the caller's list, the second for the first, and has the caller's event");
    clSetUserEventStatus(gate, CL_COMPLETE);
    e = e ? e : clWaitForEvents(1, &done);
    ok(!e && trial_verify(&f.t, d->queue, why, sizeof why), "both in one call are right: %s %s", text, why);
    clReleaseEvent(gate);
    if (done)
        clReleaseEvent(done);
    fixture_close(&f);
}

/* Where there is nothing to do in the first, the second has the caller's list to itself. */
static void test_rest(const struct device *d)
{
    static const char text[] = "f32 b1 h2 q21 k0 d8 mask:11qk blocks:4,8 lse";
    const struct waits none = { 0, NULL, NULL, NULL };
    struct fixture f;
    struct why words;
    char why[512] = "";
    each_open(&f, d, text, PLAIN);
    memset(&launched, 0, sizeof launched);
    const cl_int e = launch_run(&f.plan->plan.launch, &both, d->queue, &f.t.args, &none, &words);
    ok(!e && launched.n == 1 && !launched.waits[0] && trial_verify(&f.t, d->queue, why, sizeof why),
       "a pass without work is left out: %s %s", text, why);
    fixture_close(&f);
}

static void test_device(const struct device *d)
{
    test_chain(d, d->queue, "f32 b2 h4/2 q21 k39 d8 mask:b1qk blocks:4,8 lse");
    const cl_command_queue queue = each_unordered(d, d->cl.context);
    if (queue) {
        test_chain(d, queue, "f32 b2 h2 q40 k39 d8 mask:bhqk blocks:8,4 causal lse");
        clReleaseCommandQueue(queue);
    }
    test_rest(d);
}

int main(void)
{
    return each_device(test_device);
}
