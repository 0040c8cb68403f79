/* structs.c - every struct of the interface with every struct_size, at the end of what may be read and before garbage
 * SPDX-License-Identifier: Apache-2.0
 *
 * What a version of the library had is taken, and what is longer with zeros behind. Every other size is refused,
 * whatever lies there, and nothing behind a struct is read or written. Of those with zeros behind, for which the call
 * does all its work, make check has the shortest two and the longest; CLATTN_PART=1: all. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/sound.h"

#include <clattn_tune.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { BEYOND = 40, ROOM = 1 << 14, JUNK = 0xa5 };

/* What the calls work on, and a page that nobody may touch behind `end`. */
static struct {
    const struct device *d;
    clattn_plan plan, map_plan, cache_plan, backward_plan, scores_plan;
    unsigned char *from, *end;
} on;

/* A call of no batch entries, which needs no buffers. */
static clattn_sizes no_sizes = { 0, 2, 2, 3, 5, 0, 0, 0 };
static clattn_forward_args args = CLATTN_FORWARD_ARGS_INIT, map_args = CLATTN_FORWARD_ARGS_INIT;

/* ---- Calls ---- */

static cl_int supports(void *p)
{
    char why[512] = "";
    const cl_int e = clattn_supports(on.d->handle, p, why, sizeof why);
    return e && !*why ? 1 : e;
}
static cl_int print_case(void *c)
{
    char text[512];
    return clattn_workload_print(c, text, sizeof text, NULL);
}
static cl_int cost_of_case(void *c)
{
    double flops, bytes;
    return clattn_workload_cost(c, &flops, &bytes);
}
static cl_int parse_case(void *c)
{
    return clattn_workload_parse("f32 b1 h1 q3 k5 d8 causal seed9", c, NULL, 0);
}
static cl_int create(void *o)
{
    clattn_handle h = NULL;
    const cl_int e = clattn_create(&h, on.d->cl.context, on.d->cl.device, o);
    clattn_release(h);
    return e;
}
static cl_int stat_with(void *o)
{
    clattn_cache_info info = { .struct_size = sizeof info };
    return clattn_cache_stat(o, &info);
}
static cl_int clear_with(void *o)
{
    return clattn_cache_clear(o);
}
static cl_int create_with_store(void *s)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.store = s;
    return create(&o);
}
static cl_int make_plan(void *o)
{
    const clattn_problem p = sound();
    clattn_plan plan = NULL;
    const cl_int e = clattn_plan_create(&plan, on.d->handle, &p, o);
    clattn_plan_release(plan);
    return e;
}
static cl_int enqueue(void *a)
{
    return clattn_enqueue_forward(on.plan, on.d->queue, a, 0, NULL, NULL);
}
static cl_int ask_workspace(void *a)
{
    size_t size;
    return clattn_workspace_size(on.plan, a, &size);
}
static cl_int enqueue_map(void *a)
{
    return clattn_enqueue_block_map(on.map_plan, on.d->queue, a, 0, NULL, NULL);
}
static cl_int write_scores(void *a)
{
    return clattn_enqueue_scores(on.scores_plan, on.d->queue, a, 0, NULL, NULL);
}
static cl_int write_scores_of(void *a)
{
    clattn_scores_args s = CLATTN_SCORES_ARGS_INIT;
    s.forward = a;
    return clattn_enqueue_scores(on.scores_plan, on.d->queue, &s, 0, NULL, NULL);
}
static cl_int append(void *a)
{
    return clattn_enqueue_append(on.cache_plan, on.d->queue, a, 0, NULL, NULL);
}
static cl_int rotate(void *a)
{
    return clattn_enqueue_rotary(on.cache_plan, on.d->queue, a, 0, NULL, NULL);
}
static cl_int go_back(void *a)
{
    return clattn_enqueue_backward(on.backward_plan, on.d->queue, a, 0, NULL, NULL);
}
static cl_int ask_backward(void *a)
{
    size_t size;
    return clattn_backward_workspace_size(on.backward_plan, a, &size);
}
static cl_int forward_in_one(void *a)
{
    clattn_problem p = sound();
    p.sizes = no_sizes;
    return clattn_forward(on.d->handle, on.d->queue, &p, a, 0, NULL, NULL);
}
static cl_int forward_of(void *p)
{
    return clattn_forward(on.d->handle, on.d->queue, p, &args, 0, NULL, NULL);
}
static cl_int backward_in_one(void *a)
{
    clattn_problem p = sound();
    p.sizes = no_sizes;
    return clattn_backward(on.d->handle, on.d->queue, &p, a, 0, NULL, NULL);
}
static int cancel(void *user, const clattn_progress *p)
{
    (void)user;
    (void)p;
    return 1;
}
static cl_int tune(void *o)
{
    const clattn_problem p = sound();
    const cl_int e = clattn_tune(on.d->handle, &p, o, NULL, 0);
    return e == CLATTN_ERROR_CANCELLED ? CL_SUCCESS : e;
}
static cl_int tune_with(void *m)
{
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    o.progress = cancel;
    o.measure = m;
    return tune(&o);
}
static cl_int ask_plan(void *i)
{
    return clattn_plan_get_info(on.plan, i);
}
static cl_int count(void *c)
{
    return clattn_stats(on.d->handle, c);
}
static cl_int stat_into(void *i)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    o.cache_dir = "";
    return clattn_cache_stat(&o, i);
}
static cl_int import(void *c)
{
    return clattn_wisdom_import(on.d->handle, "# none\n", 7, c);
}

static cl_int open_none(void *user, const char *config)
{
    (void)user;
    (void)config;
    return CL_OUT_OF_RESOURCES;
}
static cl_int run_none(void *user, const char *config, double *seconds)
{
    *seconds = 1;
    return open_none(user, config);
}
static int get_none(void *user, const char *name, void *bytes, size_t room, size_t *size)
{
    (void)user;
    (void)name;
    (void)bytes;
    (void)room;
    (void)size;
    return 1;
}

/* ---- Structs ---- */

static clattn_problem problem;
static clattn_workload a_case = CLATTN_WORKLOAD_INIT;
static clattn_options options = CLATTN_OPTIONS_INIT;
static clattn_store store = { sizeof store, get_none, NULL, NULL };
static clattn_plan_options plan_options = CLATTN_PLAN_OPTIONS_INIT;
static clattn_append_args append_args = CLATTN_APPEND_ARGS_INIT;
static clattn_rotary_args rotary_args = CLATTN_ROTARY_ARGS_INIT;
static clattn_scores_args scores_args = CLATTN_SCORES_ARGS_INIT;
static clattn_backward_args backward_args = CLATTN_BACKWARD_ARGS_INIT;
static clattn_tune_options tune_options = CLATTN_TUNE_OPTIONS_INIT;
static clattn_measure measure = { sizeof measure, open_none, run_none, NULL, NULL };
static clattn_plan_info plan_info;
static clattn_counters counters;
static clattn_cache_info cache_info;
static clattn_import_count import_count;

/* Sizes of version 0.1. */
enum {
    PROBLEM_0_1 = offsetof(clattn_problem, o_type),
    CASE_0_1 = offsetof(clattn_workload, problem) + PROBLEM_0_1,
    ARGS_0_1 = offsetof(clattn_forward_args, k_scale)
};

/* older: the size that the struct had in an earlier version; 0: none. written: the call fills it. */
static const struct row {
    const char *name;
    cl_int (*call)(void *);
    const void *good;
    size_t size, older;
    int written;
} rows[] = {
    { "problem: supports", supports, &problem, sizeof problem, PROBLEM_0_1, 0 },
    { "case: print", print_case, &a_case, sizeof a_case, CASE_0_1, 0 },
    { "case: cost", cost_of_case, &a_case, sizeof a_case, CASE_0_1, 0 },
    { "case: parse", parse_case, &a_case, sizeof a_case, CASE_0_1, 1 },
    { "options: create", create, &options, sizeof options, offsetof(clattn_options, why), 0 },
    { "options: cache_stat", stat_with, &options, sizeof options, offsetof(clattn_options, why), 0 },
    { "options: cache_clear", clear_with, &options, sizeof options, offsetof(clattn_options, why), 0 },
    { "store: create", create_with_store, &store, sizeof store, 0, 0 },
    { "plan_options: plan_create", make_plan, &plan_options, sizeof plan_options, 0, 0 },
    { "forward_args: enqueue_forward", enqueue, &args, sizeof args, ARGS_0_1, 0 },
    { "forward_args: workspace_size", ask_workspace, &args, sizeof args, ARGS_0_1, 0 },
    { "forward_args: enqueue_block_map", enqueue_map, &map_args, sizeof map_args, ARGS_0_1, 0 },
    { "append_args: enqueue_append", append, &append_args, sizeof append_args, 0, 0 },
    { "rotary_args: enqueue_rotary", rotate, &rotary_args, sizeof rotary_args, 0, 0 },
    { "scores_args: enqueue_scores", write_scores, &scores_args, sizeof scores_args, 0, 0 },
    { "forward_args: enqueue_scores", write_scores_of, &args, sizeof args, ARGS_0_1, 0 },
    { "backward_args: enqueue_backward", go_back, &backward_args, sizeof backward_args, 0, 0 },
    { "backward_args: backward_workspace_size", ask_backward, &backward_args, sizeof backward_args, 0, 0 },
    { "problem: forward", forward_of, &problem, sizeof problem, PROBLEM_0_1, 0 },
    { "forward_args: forward", forward_in_one, &args, sizeof args, ARGS_0_1, 0 },
    { "backward_args: backward", backward_in_one, &backward_args, sizeof backward_args, 0, 0 },
    { "tune_options: tune", tune, &tune_options, sizeof tune_options, offsetof(clattn_tune_options, keep), 0 },
    { "measure: tune", tune_with, &measure, sizeof measure, 0, 0 },
    { "plan_info: plan_get_info", ask_plan, &plan_info, sizeof plan_info, 0, 1 },
    { "counters: stats", count, &counters, sizeof counters, 0, 1 },
    { "cache_info: cache_stat", stat_into, &cache_info, sizeof cache_info, 0, 1 },
    { "import_count: import", import, &import_count, sizeof import_count, 0, 1 },
};
enum { ROWS = sizeof rows / sizeof *rows };

/* The struct with size n and `behind` in every byte that it does not have. Where `at_end`, its last byte is the last
 * one that can be read; but for less than 8, as far as the struct's own alignment leaves room for. */
static unsigned char *place(const struct row *r, size_t n, int behind, int at_end)
{
    const size_t room = at_end ? n < sizeof n ? sizeof n : (n + 7) / 8 * 8 : 2 * r->size + BEYOND;
    unsigned char *const at = on.end - room;
    memset(on.from, JUNK, ROOM);
    memset(at, behind, room);
    memcpy(at, r->good, n < r->size ? n : r->size);
    memcpy(at, &n, sizeof n);
    return at;
}

/* Whether a call wrote nothing but, where it may, the struct. */
static int is_kept(const struct row *r, size_t n, int behind, const unsigned char *at, cl_int e)
{
    const size_t mine = e || !r->written ? 0 : r->size;
    int kept = !memcmp(at, &n, sizeof n);
    for (const unsigned char *p = on.from; p < on.end; p++) {
        const size_t i = (size_t)(p - at);
        const int was = p < at || (i >= n && i >= r->size) ? p < at ? JUNK : behind : -1;
        if (p >= at && i < sizeof n)
            continue;
        if (was >= 0 && *p != was)
            kept = 0;
        if (p >= at && i < r->size && i < n && i >= mine && *p != ((const unsigned char *)r->good)[i])
            kept = 0;
        if (p >= at && i >= n && i < r->size && *p != behind) /* what a shorter struct does not have */
            kept = 0;
    }
    return kept;
}

static cl_int wanted(const struct row *r, size_t n, int behind)
{
    if (n < r->size)
        return n && n == r->older ? CL_SUCCESS : CLATTN_ERROR_INVALID_ARGUMENT;
    return n == r->size || !behind || r->written ? CL_SUCCESS : CLATTN_ERROR_UNKNOWN_FIELD;
}

static void test_row(const struct row *r)
{
    long tries = 0, bad = 0;
    char first[160] = "";
    for (size_t n = 0; n <= r->size + BEYOND; n++)
        for (int how = 0; how < 3; how++) {
            const int behind = how ? JUNK : 0, at_end = how < 2;
            if (!how && n > r->size + 2 && n < r->size + BEYOND && !harness_more())
                continue;
            unsigned char *const at = place(r, n, behind, at_end);
            /* behind what is longer lies its own tail: zeros, or not */
            const cl_int e = r->call(at), want = wanted(r, n, behind);
            tries++;
            if (e == want && is_kept(r, n, behind, at, e))
                continue;
            if (!bad++)
                snprintf(first, sizeof first, "size %zu of %zu, %s%s: %s, expected %s%s", n, r->size,
                         behind ? "garbage" : "zeros", at_end ? " at the end of memory" : "", clattn_status_string(e),
                         clattn_status_string(want), e == want ? ", and something was written" : "");
        }
    ok(!bad, "%s with each size: %ld of %ld wrong", r->name, bad, tries);
    if (bad)
        diag("%s", first);
    for (int i = 0; i < 2; i++) {
        size_t n = i ? SIZE_MAX : (size_t)1 << 20;
        unsigned char *const at = place(r, r->size, 0, 1);
        memcpy(at, &n, sizeof n);
        is_int(r->call(at), CLATTN_ERROR_INVALID_ARGUMENT, "%s: nor is %zu one", r->name, n);
    }
}

/* ---- Setting up ---- */

static void open_memory(void)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    on.from = mmap(NULL, ROOM + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    on.end = on.from + ROOM;
    if (on.from == MAP_FAILED || mprotect(on.end, page, PROT_NONE))
        bail("no memory");
}

static void fill_structs(void)
{
    problem = sound();
    a_case.problem = sound();
    a_case.problem.sizes = no_sizes;
    a_case.problem.sizes.b = 1;
    options.cache_dir = "";
    options.tune = CLATTN_TUNE_OFF;
    args.sizes = map_args.sizes = append_args.sizes = rotary_args.sizes = &no_sizes;
    backward_args.forward = &args;
    scores_args.forward = &args;
    rotary_args.rotary.positions = 1;
    rotary_args.rotary.width = 2;
    map_args.block_q = map_args.block_k = 2;
    tune_options.progress = cancel;
    tune_options.measure = &measure; /* else there would be inputs to make first */
    tune_options.effort = CLATTN_TUNE_QUICK;
    plan_info.struct_size = sizeof plan_info;
}

static clattn_plan open_plan(const struct device *d, uint32_t flags)
{
    clattn_problem p = sound();
    clattn_plan plan = NULL;
    p.flags |= flags;
    if (clattn_plan_create(&plan, d->handle, &p, NULL))
        bail("no plan");
    return plan;
}

static void test_device(const struct device *d)
{
    on.d = d;
    on.plan = open_plan(d, 0);
    on.map_plan = open_plan(d, CLATTN_MASK | CLATTN_BLOCK_MAP);
    on.cache_plan = open_plan(d, CLATTN_APPEND | CLATTN_ROTARY);
    on.backward_plan = open_plan(d, CLATTN_BACKWARD);
    on.scores_plan = open_plan(d, CLATTN_SCORES);
    cl_int e;
    cl_mem table = clCreateBuffer(d->cl.context, CL_MEM_READ_ONLY, sizeof(cl_float), NULL, &e);
    rotary_args.rotary.cos.mem = rotary_args.rotary.sin.mem = table;
    for (int i = 0; i < ROWS; i++)
        test_row(&rows[i]);
    clattn_plan_release(on.plan);
    clattn_plan_release(on.map_plan);
    clattn_plan_release(on.cache_plan);
    clattn_plan_release(on.backward_plan);
    clattn_plan_release(on.scores_plan);
    clReleaseMemObject(table);
}

int main(void)
{
    open_memory();
    fill_structs();
    return each_device(test_device);
}
