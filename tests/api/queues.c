/* queues.c - the queue of a call: of another device of the same context, where only one device may be at hand
 * SPDX-License-Identifier: Apache-2.0
 *
 * ld's --wrap puts this file between the library and clGetCommandQueueInfo(). */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/refuse.h"

static const char text[] = "f32 b2 h4/2 q21 k39 d8 mask:b1qk blocks:4,8 lse";

/* What CL_QUEUE_DEVICE says while it is not NULL: the address of something that is no device. */
static cl_device_id other_device;

cl_int __real_clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info w, size_t n, void *to, size_t *got);
cl_int __wrap_clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info w, size_t n, void *to, size_t *got);
cl_int __wrap_clGetCommandQueueInfo(cl_command_queue q, cl_command_queue_info w, size_t n, void *to, size_t *got)
{
    const cl_int e = __real_clGetCommandQueueInfo(q, w, n, to, got);
    if (!e && w == CL_QUEUE_DEVICE && to && other_device)
        memcpy(to, &other_device, sizeof other_device);
    return e;
}

static void test_device(const struct device *d)
{
    struct fixture fixture, *const f = &fixture;
    char why[512] = "";
    cl_event event = NULL;
    each_open(f, d, text, PADDED);
    other_device = (cl_device_id)(void *)&other_device;
    REFUSED(CLATTN_ERROR_CONTEXT, (void)a);
    clattn_error_detail(d->handle, why, sizeof why, NULL);
    ok(strstr(why, "another device") != NULL, "and says so: %s", why);
    is_int(clattn_enqueue_block_map(f->plan, d->queue, &f->t.args, 0, NULL, &event), CLATTN_ERROR_CONTEXT,
           "so is a block map");
    other_device = NULL;
    ok(!event && !trial_reset(&f->t, d->queue) && !trial_run(&f->t, f->plan, d->queue) &&
           trial_verify(&f->t, d->queue, why, sizeof why),
       "on a queue of its own device the same call is right: %s", text);
    fixture_close(f);
}

int main(void)
{
    return each_device(test_device);
}
