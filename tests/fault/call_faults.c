/* call_faults.c - every allocation and OpenCL call of gradients, appends, merges, scores and one-call functions fails
 * SPDX-License-Identifier: Apache-2.0
 *
 * As in faults.c the N-th call fails, alone or with all behind it, for N = 1, 2, ... until there is no N-th call.
 * Whatever fails: an error in words or a right result, nothing leaks, and no output changes unless a kernel was
 * enqueued before. Then the same call succeeds on the same handle, and is right. Where kernels are built there are
 * a thousand calls and more: make check fails a few, a share of CLATTN_PART some of them, and CLATTN_PART=1 all. Of
 * failures that last make check has one in three everywhere. */
#include "config.h"

#include "tests/fault/call_kinds.h"
#include "tests/lib/each.h"
#include "tests/lib/wrap.h"

#include <stdlib.h>

static void must(cl_int e, const struct call_subject *x, const char *what)
{
    if (e)
        bail("%s: %s: %s", x->text, what, clattn_status_string(e));
}

/* ---- How ---- */

enum way {
    BY_PLAN,  /* of a handle that stays */
    ONCE,     /* by a one-call function; the handle that stays has the plan */
    ONCE_NEW, /* the same on a handle that has built nothing yet */
    CREATE    /* a plan is made on such a handle, and used */
};
static const char *const names_of_ways[] = { "by a plan", "in one call", "in a first call", "a plan is made" };

static const struct row {
    enum way way;
    const struct call_kind *kind;
    const char *text;
    unsigned dealt; /* make check has one in so many of the calls; 0: all */
} rows[] = {
    { BY_PLAN, &call_forward, "f32 b1 h2/1 q5 k300 d8 splits3 mod:pair_bias,tanh_gate lse", 0 },
    { BY_PLAN, &call_forward, "f32 b1 h2 q9 k20 d8 mask:bhqk blocks:4,4 lse", 0 },
    { BY_PLAN, &call_backward, "f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink mod:tanh_gate lse bwd", 0 },
    { BY_PLAN, &call_append, "f32 b2 h2 q3 k9 d32/20 k:q8_0 v:int8:16z page4", 0 },
    { BY_PLAN, &call_merge, "f32 b2 h2 q3 k5 d8/12 lse", 0 },
    { BY_PLAN, &call_scores, "f32 b2 h4/2 q5 k20 d8 causal bias:11qk", 0 },
    { ONCE, &call_forward, "f32 b1 h2/1 q5 k300 d8 splits3 mod:pair_bias,tanh_gate lse", 0 },
    { ONCE, &call_backward, "f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink mod:tanh_gate lse bwd", 0 },
    { ONCE_NEW, &call_forward, "f32 b1 h2/1 q5 k300 d8 splits3 mod:pair_bias,tanh_gate lse", 19 },
    { ONCE_NEW, &call_backward, "f32 b2 h4/2 q9 k40 d8/6 causal bias:11q1 alibi sink mod:tanh_gate lse bwd", 403 },
    { CREATE, &call_append, "f32 b2 h2 q3 k9 d32/20 k:q8_0 v:int8:16z page4", 61 },
    { CREATE, &call_scores, "f32 b2 h4/2 q5 k20 d8 causal bias:11qk", 61 },
};

/* What a way needs. */
struct setting {
    const struct row *row;
    struct call_subject x;
    clattn_handle handle; /* that stays, or a new one */
    clattn_plan plan;
};

static int is_new(const struct setting *p)
{
    return p->row->way >= ONCE_NEW;
}

static clattn_handle open_handle(const struct device *d)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.cache_dir = "";
    return each_handle(d, &o);
}

static void open_setting(struct setting *p, const struct device *d, const struct row *row)
{
    memset(p, 0, sizeof *p);
    p->row = row;
    p->x.d = d;
    p->x.kind = row->kind;
    p->x.text = row->text;
    p->x.c = each_case(row->text);
    must(row->kind->make(&p->x), &p->x, "it cannot be made");
    if (is_new(p))
        return;
    p->handle = open_handle(d);
    if (row->way == ONCE)
        must(row->kind->once(&p->x, p->handle, NULL), &p->x, "no call");
    else
        must(clattn_plan_create(&p->plan, p->handle, p->x.problem, NULL), &p->x, "no plan");
    if (p->plan && row->kind->size)
        must(row->kind->size(&p->x, p->plan), &p->x, "no run");
    clFinish(d->queue);
}

static void close_setting(struct setting *p)
{
    p->x.kind->free(&p->x);
    clattn_plan_release(p->plan);
    clattn_release(p->handle);
}

static cl_int call(struct setting *p, cl_event *event)
{
    clattn_plan plan = NULL;
    *event = NULL;
    if (p->row->way == ONCE || p->row->way == ONCE_NEW)
        return p->x.kind->once(&p->x, p->handle, event);
    if (p->row->way == BY_PLAN)
        return p->x.kind->plan(&p->x, p->plan, event);
    cl_int e = clattn_plan_create(&plan, p->handle, p->x.problem, NULL);
    e = e ? e : p->x.kind->plan(&p->x, plan, event);
    clattn_plan_release(plan);
    return e;
}

/* ---- One of its calls fails ---- */

/* Whether a kernel of the call was enqueued before its n-th call failed: those of a plan's own sample are waited for.
 */
static int had_begun(long n)
{
    long i = n < WRAP_NAMES ? n - 1 : WRAP_NAMES - 1;
    while (i > 0 && strcmp(wrap.name[i - 1], "clEnqueueNDRangeKernel") && strcmp(wrap.name[i - 1], "clFinish"))
        i--;
    return i > 0 && !strcmp(wrap.name[i - 1], "clEnqueueNDRangeKernel");
}

/* What a call of this status has left; on the test's side nothing is counted. */
static int is_as_it_should_be(struct setting *p, cl_int e, int begun, char *why, size_t len)
{
    struct call_subject *const x = &p->x;
    clFinish(x->d->queue);
    if (!e)
        return x->kind->is_right(x, why, len);
    return begun ? x->kind->is_kept(x, why, len) : x->kind->is_blank(x, why, len);
}

/* Words of a failure stay in the handle until the next one: here is one before. */
static void leave_words(clattn_handle h)
{
    const clattn_problem none = CLATTN_PROBLEM_INIT;
    if (!clattn_supports(h, &none, NULL, 0))
        bail("a problem of nothing is supported");
}

/* Once more, without a failure. */
static int works(struct setting *p, char *why, size_t len)
{
    cl_event event = NULL;
    wrap_disarm();
    must(p->x.kind->reset(&p->x), &p->x, "no reset");
    wrap_arm(0, 0);
    const cl_int e = call(p, &event);
    if (event)
        clReleaseEvent(event);
    wrap_disarm();
    clFinish(p->x.d->queue);
    if (e)
        harness_words(p->handle, e, why, len);
    return !e && p->x.kind->is_right(&p->x, why, len);
}

/* Runs what is tried with its n-th call failing. 1: as it should be; 0: not, and it is reported; -1: there was no n-th
 * call. *calls: how many there were. */
static int try_nth(struct setting *p, long n, int sticky, long *calls)
{
    char why[1024] = "", words[512] = "", last[sizeof wrap.last];
    cl_event event = NULL;
    must(p->x.kind->reset(&p->x), &p->x, "no reset");
    if (!is_new(p))
        leave_words(p->handle);
    wrap.memory = wrap.objects = 0;
    wrap_arm(0, 0);
    if (is_new(p))
        p->handle = open_handle(p->x.d);
    wrap_arm(n, sticky);
    const cl_int e = call(p, &event);
    const long failed = wrap.failed;
    const int has_event = event != NULL, begun = n <= wrap.calls && had_begun(n);
    *calls = wrap.calls;
    memcpy(last, wrap.last, sizeof last);
    wrap.fail_at = 0;
    if (event)
        clReleaseEvent(event);
    clattn_error_detail(p->handle, words, sizeof words, NULL);
    wrap_disarm();
    const int good = is_as_it_should_be(p, e, begun, why, sizeof why) && !has_event == !!e && (!e || *words);
    const int again = good && works(p, why, sizeof why);
    wrap_arm(0, 0);
    if (is_new(p)) {
        clattn_release(p->handle);
        p->handle = NULL;
    }
    wrap_disarm();
    if (!failed)
        return good && again ? -1 : 0;
    if (good && again && wrap.memory <= 0 && wrap.memory >= (is_new(p) ? 0 : -1) && !wrap.objects)
        return 1;
    diag("%s: %s, call %ld, fails%s: status %s in the words '%s', %ld blocks and %ld objects left%s%s %s",
         names_of_ways[p->row->way], last, n, sticky ? " and all behind it" : "", clattn_status_string(e), words,
         wrap.memory, wrap.objects, good ? "" : ", outputs or event are wrong", again ? "" : ", no call works after it",
         why);
    return 0;
}

/* Not a share of many: CLATTN_FULL, or CLATTN_PART=1. */
static int has_all(void)
{
    return harness_shares(0) && harness_shares(1);
}

/* The n-th call's turn. Where building takes long it is every fifth one's in make check and in a share; of failures
 * that last every third's of these. */
static int is_due(const struct row *r, long n, int sticky)
{
    const long step = (sticky ? 3 : 1) * (r->dealt && !has_all() ? 5 : 1);
    if (!r->dealt)
        return harness_more() || !sticky || n % 3 == 1;
    return n % step == step / 2 && harness_deals((unsigned)(n / step), r->dealt);
}

static void test_row(struct setting *p, int sticky)
{
    long bad = 0, tries = 0, calls = 0, now;
    if (try_nth(p, 1000000, sticky, &calls) >= 0)
        bail("%s: nothing fails, and it is wrong", p->row->text);
    for (long n = 1; n <= calls; n++) {
        if (!is_due(p->row, n, sticky))
            continue;
        const int verdict = try_nth(p, n, sticky, &now);
        tries += verdict >= 0;
        bad += !verdict;
    }
    if (!tries)
        skip("none of %ld calls is due here: %s", calls, p->row->text);
    else
        ok(!bad, "%s, of %ld calls one fails%s, %ld times, %ld badly: %s", names_of_ways[p->row->way], calls,
           sticky ? " and all behind it" : "", tries, bad, p->row->text);
}

static void test_device(const struct device *d)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct setting p;
        open_setting(&p, d, &rows[i]);
        test_row(&p, 0);
        test_row(&p, 1);
        close_setting(&p);
    }
}

int main(void)
{
    return each_device(test_device);
}
