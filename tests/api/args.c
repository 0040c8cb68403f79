/* args.c - the arguments of a forward call: what is refused, what is at the edge and works
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/refuse.h"

#include <stddef.h>
#include <stdint.h>

static const char text[] = "f32 b2 h4/2 q5 k7 d8 causal lse";
static const char text_lists[] = "f32 b2 h4/2 q5 k7 d8 causal qlen:5,3 kvlen:7,2 kvstart:1,0 lse";

static void test_pointers(struct fixture *f)
{
    const clattn_forward_args *args = &f->t.args;
    cl_event event = NULL;
    size_t size;
    ok(clattn_enqueue_forward(NULL, f->d->queue, args, 0, NULL, &event) < 0 && !event, "plan NULL is refused");
    ok(clattn_enqueue_forward(f->plan, NULL, args, 0, NULL, &event) < 0 && !event, "queue NULL is refused");
    ok(clattn_enqueue_forward(f->plan, f->d->queue, NULL, 0, NULL, &event) < 0 && !event, "args NULL is refused");
    ok(clattn_workspace_size(NULL, args, &size) < 0, "workspace_size: plan NULL is refused");
    ok(clattn_workspace_size(f->plan, NULL, &size) < 0, "workspace_size: args NULL is refused");
    ok(clattn_workspace_size(f->plan, args, NULL) < 0, "workspace_size: size NULL is refused");
    REFUSED(BAD, a.q.mem = NULL);
    REFUSED(BAD, a.k.mem = NULL);
    REFUSED(BAD, a.v.mem = NULL);
    REFUSED(BAD, a.o.mem = NULL);
    REFUSED(BAD, a.struct_size = 0);
    REFUSED(ANY, a.struct_size = SIZE_MAX);
    REFUSED(ANY, a.struct_size = offsetof(clattn_forward_args, v)); /* an older header cannot have lacked V */
}

static void test_tails(struct fixture *f)
{
    struct {
        clattn_forward_args a;
        char more[24];
    } l;
    cl_int e;
    memset(&l, 0, sizeof l);
    l.a = f->t.args;
    l.a.struct_size = sizeof l;
    e = clattn_enqueue_forward(f->plan, f->d->queue, &l.a, 0, NULL, NULL);
    is_int(e, CL_SUCCESS, "args with a tail of zeros are fine");
    clFinish(f->d->queue);
    l.more[20] = 1;
    refused(f, &l.a, CLATTN_ERROR_UNKNOWN_FIELD, "a tail that is not zero");
}

static void test_sizes(struct fixture *f)
{
    REFUSED(BAD, s.b = -1);
    REFUSED(BAD, s.h = 0);
    REFUSED(BAD, s.h = -4);
    REFUSED(BAD, s.hk = 3);
    REFUSED(BAD, s.nq = -1);
    REFUSED(BAD, s.nk = -7);
    REFUSED(BAD, s.nq = ((int64_t)1 << 30) + 1);
    REFUSED(BAD, s.nk = INT64_MAX);
    REFUSED(ANY, s.b = INT64_MAX);
    REFUSED(ANY, s.h = s.hk = INT64_MAX);
    REFUSED(ANY, s.nq = 60);
    REFUSED(SMALL, s.nk = 100);
    REFUSED(ANY, s.b = 3);
    REFUSED(ANY, s.b = 1 << 30; s.h = 1 << 30; s.nq = 1 << 30);
    REFUSED(ANY, s.b = 1 << 30; s.nk = 1 << 30; memset(a.k.stride, 0, sizeof a.k.stride));
}

/* A plan made without sizes: a call must bring them. */
static void test_no_sizes(const struct fixture *with)
{
    struct fixture f = *with;
    clattn_problem p = f.t.c.problem;
    clattn_forward_args a = f.t.args;
    char why[512] = "";
    memset(&p.sizes, 0, sizeof p.sizes);
    f.plan = each_own_plan(f.d->handle, &p, NULL);
    a.sizes = NULL;
    refused(&f, &a, BAD, "a call without sizes to a plan without");
    a.sizes = &f.t.sizes;
    ok(!trial_reset(&f.t, f.d->queue) && !clattn_enqueue_forward(f.plan, f.d->queue, &a, 0, NULL, NULL) &&
           trial_verify(&f.t, f.d->queue, why, sizeof why),
       "with sizes it is right (%s): %s", why, f.text);
    clattn_plan_release(f.plan);
}

static void test_strides(struct fixture *f)
{
    REFUSED(BAD, a.q.stride[0] = -1);
    REFUSED(BAD, a.k.stride[1] = -1);
    REFUSED(BAD, a.v.stride[2] = INT64_MIN);
    REFUSED(BAD, a.o.stride[2] = -8);
    REFUSED(ANY, a.q.stride[0] = INT64_MAX);
    REFUSED(ANY, a.k.stride[2] = INT64_MAX / 4);
    REFUSED(ANY, a.o.stride[1] = INT64_MAX);
    REFUSED(ANY, a.v.stride[0] = INT64_MAX; a.v.stride[1] = INT64_MAX; a.v.stride[2] = INT64_MAX);
    REFUSED(ANY, a.q.offset = SIZE_MAX);
    REFUSED(BAD, a.q.offset = SIZE_MAX - 8); /* -9, to those who forget the sign */
    REFUSED(BAD, a.o.offset = SIZE_MAX - 1);
    REFUSED(ANY, a.k.offset = SIZE_MAX / 4);
    REFUSED(ANY, a.lse.offset = SIZE_MAX / 4 + 2);
    REFUSED(BAD, a.o.stride[2] = 7); /* rows of O into each other */
    REFUSED(BAD, a.o.stride[2] = 0);
    REFUSED(BAD, a.o.stride[1] = 0);
    REFUSED(BAD, a.o.stride[0] = 0);
    REFUSED(BAD, a.o.stride[0] = 1);
    REFUSED(BAD, a.o.stride[1] = a.o.stride[2]);
    REFUSED(BAD, a.lse.stride[2] = 0);
    REFUSED(BAD, a.lse.stride[1] = a.lse.stride[2]);
}

static void test_lists(const struct device *d)
{
    struct fixture fixture, *f = &fixture;
    const cl_mem small = each_buffer(d->cl.context, CL_MEM_READ_WRITE, 16, NULL);
    each_open(f, d, text_lists, PADDED);
    REFUSED(BAD, a.q_len.mem = NULL);
    REFUSED(BAD, a.kv_len.mem = NULL);
    REFUSED(BAD, a.kv_start.mem = NULL);
    REFUSED(SMALL, a.q_len.offset = 4);
    REFUSED(SMALL, a.kv_len.mem = small; a.kv_len.offset = 3);
    REFUSED(ANY, a.kv_start.offset = SIZE_MAX);
    REFUSED(BAD, a.q_len.offset = SIZE_MAX - 1);
    REFUSED(ANY, a.kv_start.offset = SIZE_MAX / 4);
    fixture_close(f);
    each_open(f, d, text, PADDED);
    REFUSED(BAD, a.q_len.mem = small);
    REFUSED(BAD, a.kv_len.mem = small);
    REFUSED(BAD, a.kv_start.mem = small);
    fixture_close(f);
    each_open(f, d, text, OFFSETS);
    REFUSED(BAD, a.offsets.mem = NULL);
    REFUSED(SMALL, a.offsets.offset = 4);
    fixture_close(f);
    clReleaseMemObject(small);
}

static void test_workspace(struct fixture *f)
{
    size_t size = 77;
    clattn_forward_args args = f->t.args;
    is_int(clattn_workspace_size(f->plan, &args, &size), CL_SUCCESS, "the workspace can be asked");
    ok(size <= UINT32_MAX / 2, "and is %zu bytes", size);
    if (size) {
        REFUSED(CLATTN_ERROR_WORKSPACE, a.workspace = NULL);
        return;
    }
    char why[512] = "";
    clattn_sizes s = { 1 << 15, 1 << 15, 0, 1, 1, 0, 0, 0 };
    args.sizes = &s;
    is_int(clattn_workspace_size(f->plan, &args, &size), CL_SUCCESS, "2^30 heads of a row are work-groups enough");
    s.nq = 1 << 12; /* 2^31 groups or more, where a tile has up to 2048 rows */
    is_int(clattn_workspace_size(f->plan, &args, &size), CLATTN_ERROR_NOT_SUPPORTED,
           "2^30 heads of 2^12 rows too many");
    clattn_error_detail(f->d->handle, why, sizeof why, NULL);
    ok(strstr(why, "too many work-groups") != NULL, "and it says so: %s", why);
    args = f->t.args;
    args.workspace_offset = 64; /* of no workspace */
    is_int(clattn_enqueue_forward(f->plan, f->d->queue, &args, 0, NULL, NULL), CL_SUCCESS,
           "none is needed, none is taken");
    clFinish(f->d->queue);
}

static void test_device(const struct device *d)
{
    struct fixture f;
    each_open(&f, d, text, PADDED);
    test_pointers(&f);
    test_tails(&f);
    test_sizes(&f);
    test_no_sizes(&f);
    test_strides(&f);
    test_workspace(&f);
    fixture_close(&f);
    test_lists(d);
}

int main(void)
{
    return each_device(test_device);
}
