/* faulty_client.c - a client that does what its arguments say, one after another, and prints what came of it
 * SPDX-License-Identifier: Apache-2.0
 *
 *   device=TEXT      where; "" by default
 *   list             config-0=.. and so on: the configurations there are
 *   trial=CONFIG     trial=STATUS of clattn_trial_create(), timed=STATUS of three runs, seconds= of the last
 *   gradients[=CONFIG]  gradients=STATUS of a plan for those of everything, config=, source=, binary=
 *   set=CONFIG       set=STATUS of clattn_set_config()
 *   tune=SECONDS     tune=STATUS of a quick clattn_tune(), tuned=CONFIG
 *   storm=WORD,N,S,F first of all words: what follows, from the first call of OpenCL to the last release, for I = F,
 *                    F + S, .. up to N. CLATTN_EVIL has WORD=I and round=I at its end then. bad=I: something was wrong
 *   run[=CONFIG]     plan=STATUS, config=, source=, binary=; two calls: enqueue=STATUS, verdict=right, wrong or none
 *   one              two calls of clattn_forward(), which makes a plan: the same lines but for the plan's
 *
 * log= is a line of the handle's log. Then the counters of clattn_stats(). words= is what the handle says about a
 * failure. Exit status 1: a result is wrong
 * or something was touched that must not be; 2: no device; 3: some status was not CL_SUCCESS; 0: neither. */
#include "config.h"

#include "tools/opencl.h"
#include <clattn.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One head of keys for two of queries, causal, from the bottom right. */
enum { H = 2, NQ = 37, NK = 45, D = 16, MARGIN = 64 };
enum { Q_N = H * NQ * D, K_N = NK * D, O_N = Q_N, LSE_N = H * NQ };
enum { Q, K, V, O, LSE, TENSORS };
static const int counts[TENSORS] = { Q_N, K_N, K_N, O_N, LSE_N };

/* A tensor between margins. */
struct tensor {
    cl_mem mem;
    size_t size;
    float *before, *after; /* the whole buffer */
};

struct client {
    struct opencl cl;
    cl_command_queue queue;
    clattn_handle handle;
    clattn_problem problem;
    struct tensor of[TENSORS];
    int worst; /* exit status so far */
};

static void note(struct client *b, int status)
{
    if (!b->worst || status == 1)
        b->worst = status;
}

/* Prints a status, and the handle's words for a failure. */
static cl_int tell(struct client *b, const char *key, cl_int e)
{
    char words[4096] = "";
    printf("%s=%s\n", key, clattn_status_string(e));
    if (e) {
        note(b, 3);
        clattn_error_detail(b->handle, words, sizeof words, NULL);
        for (char *s = words; *s; s++)
            if (*s == '\n')
                *s = ' ';
        printf("words=%s\n", words);
    }
    return e;
}

/* ---- Set up ---- */

static int make_tensor(struct client *b, int which, unsigned *seed)
{
    struct tensor *const t = &b->of[which];
    cl_int e = CL_OUT_OF_HOST_MEMORY;
    t->size = (size_t)(counts[which] + 2 * MARGIN) * sizeof(float);
    t->before = malloc(t->size);
    t->after = malloc(t->size);
    if (!t->before || !t->after)
        return e;
    for (int i = 0; i < counts[which] + 2 * MARGIN; i++) {
        *seed = *seed * 1664525u + 1013904223u;
        t->before[i] = which >= O ? -1234.5f : (float)(*seed >> 8) / 8388608.0f - 1.0f;
    }
    t->mem = clCreateBuffer(b->cl.context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, t->size, t->before, &e);
    return e;
}

static void print_line(void *user, const char *text)
{
    (void)user;
    printf("log=%.*s\n", (int)strcspn(text, "\n"), text);
}

static int set_up(struct client *b, const char *device)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_problem *const p = &b->problem;
    unsigned seed = 1;
    cl_int e = opencl_open(device, &b->cl);
    if (e)
        return e;
    *p = (clattn_problem)CLATTN_PROBLEM_INIT;
    p->d = D;
    p->causal = 1;
    p->sizes = (clattn_sizes){ 1, H, 1, NQ, NK, 0, 0, 0 };
    b->queue = clCreateCommandQueue(b->cl.context, b->cl.device, 0, &e);
    for (int i = 0; i < TENSORS && !e; i++)
        e = make_tensor(b, i, &seed);
    o.log = print_line;
    return e ? e : clattn_create(&b->handle, b->cl.context, b->cl.device, &o);
}

static void tear_down(struct client *b)
{
    clattn_release(b->handle);
    for (int i = 0; i < TENSORS; i++) {
        if (b->of[i].mem)
            clReleaseMemObject(b->of[i].mem);
        free(b->of[i].before);
        free(b->of[i].after);
    }
    if (b->queue)
        clReleaseCommandQueue(b->queue);
    opencl_close(&b->cl);
}

/* ---- Judging ---- */

static double score(const float *q, const float *k)
{
    double s = 0;
    for (int i = 0; i < D; i++)
        s += (double)q[i] * k[i];
    return s / sqrt(D);
}

/* One row in float64; whether O and LSE are near it. */
static int row_is_right(const struct client *b, int h, int row)
{
    const float *const q = b->of[Q].before + MARGIN + (h * NQ + row) * D, *const k = b->of[K].before + MARGIN;
    const float *const v = b->of[V].before + MARGIN, *const o = b->of[O].after + MARGIN + (h * NQ + row) * D;
    double sum = 0, want[D] = { 0 }, lse, error = 0;
    for (int key = 0; key <= row + NK - NQ; key++) {
        const double p = exp(score(q, k + key * D));
        sum += p;
        for (int i = 0; i < D; i++)
            want[i] += p * v[key * D + i];
    }
    lse = log(sum);
    for (int i = 0; i < D; i++)
        if (!(fabs(want[i] / sum - o[i]) <= error))
            error = fabs(want[i] / sum - o[i]);
    return error < 1e-5 && fabs(lse - b->of[LSE].after[MARGIN + h * NQ + row]) < 1e-5;
}

static int is_untouched(const struct tensor *t, int from, int n)
{
    return !memcmp(t->before + from, t->after + from, (size_t)n * sizeof(float));
}

/* Inputs as they were and margins too; with `nothing` outputs as well. */
static int nothing_is_touched(const struct client *b, int nothing)
{
    int good = 1;
    for (int i = 0; i < TENSORS; i++) {
        const struct tensor *const t = &b->of[i];
        good = good && is_untouched(t, 0, MARGIN) && is_untouched(t, MARGIN + counts[i], MARGIN);
        if (i < O || nothing)
            good = good && is_untouched(t, MARGIN, counts[i]);
    }
    return good;
}

static cl_int fetch(struct client *b)
{
    cl_int e = clFinish(b->queue);
    for (int i = 0; i < TENSORS && !e; i++)
        e = clEnqueueReadBuffer(b->queue, b->of[i].mem, CL_TRUE, 0, b->of[i].size, b->of[i].after, 0, NULL, NULL);
    return e;
}

static void judge(struct client *b, cl_int enqueued)
{
    int good = 1;
    if (fetch(b)) { /* a driver that fails here has nothing to judge */
        note(b, 3);
        printf("verdict=none\n");
        return;
    }
    for (int h = 0; h < H && !enqueued; h++)
        for (int row = 0; row < NQ; row++)
            good = good && row_is_right(b, h, row);
    const int tidy = nothing_is_touched(b, enqueued != CL_SUCCESS);
    printf("verdict=%s\ntouched=%s\n", enqueued ? "none" : good ? "right" : "wrong", tidy ? "no" : "yes");
    if (!good || !tidy)
        note(b, 1);
}

/* ---- What can be done ---- */

static clattn_forward_args arguments(const struct client *b)
{
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    clattn_tensor *const to[] = { &a.q, &a.k, &a.v, &a.o, &a.lse };
    for (int i = 0; i < TENSORS; i++) {
        to[i]->mem = b->of[i].mem;
        to[i]->offset = MARGIN;
    }
    return a;
}

/* Outputs as they were at first. */
static cl_int reset(struct client *b)
{
    cl_int e = CL_SUCCESS;
    for (int i = O; i <= LSE && !e; i++)
        e = clEnqueueWriteBuffer(b->queue, b->of[i].mem, CL_TRUE, 0, b->of[i].size, b->of[i].before, 0, NULL, NULL);
    return e;
}

static void describe(clattn_plan plan)
{
    clattn_plan_info info = CLATTN_PLAN_INFO_INIT;
    char config[128] = "";
    clattn_plan_config(plan, config, sizeof config, NULL);
    clattn_plan_get_info(plan, &info);
    printf("config=%s\nsource=%d\nbinary=%d\n", config, (int)info.origin, (int)info.binary);
}

/* Two calls, of the plan or, where that is NULL, of the handle's own. */
static void call_twice(struct client *b, clattn_plan plan)
{
    const clattn_forward_args a = arguments(b);
    for (int i = 0; i < 2; i++) {
        cl_event event = NULL, *const wanted = i ? &event : NULL;
        if (reset(b)) {
            note(b, 3);
            continue;
        }
        const cl_int e = plan ? clattn_enqueue_forward(plan, b->queue, &a, 0, NULL, wanted)
                              : clattn_forward(b->handle, b->queue, &b->problem, &a, 0, NULL, wanted);
        judge(b, tell(b, "enqueue", e));
        if (event)
            clReleaseEvent(event);
    }
}

static void do_run(struct client *b, const char *config)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    o.config = *config ? config : NULL;
    if (tell(b, "plan", clattn_plan_create(&plan, b->handle, &b->problem, &o)))
        return;
    describe(plan);
    call_twice(b, plan);
    clattn_plan_release(plan);
}

static void do_one(struct client *b, const char *unused)
{
    (void)unused;
    call_twice(b, NULL);
}

/* The library computes gradients by itself, on a sample, before it hands out a plan. */
static void do_gradients(struct client *b, const char *config)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_problem p = b->problem;
    clattn_plan plan = NULL;
    o.config = *config ? config : NULL;
    p.flags |= CLATTN_BACKWARD | CLATTN_ALIBI | CLATTN_SINKS | CLATTN_Q_LEN;
    p.bias_type = CLATTN_F32;
    if (tell(b, "gradients", clattn_plan_create(&plan, b->handle, &p, &o)))
        return;
    describe(plan);
    clattn_plan_release(plan);
}

static void do_trial(struct client *b, const char *config)
{
    clattn_trial trial = NULL;
    double seconds = -1;
    cl_int e = CL_SUCCESS;
    if (tell(b, "trial", clattn_trial_create(&trial, b->handle, &b->problem, config)))
        return;
    for (int i = 0; i < 3 && !e; i++)
        e = clattn_trial_run(trial, &seconds);
    tell(b, "timed", e);
    printf("seconds=%g\n", seconds);
    clattn_trial_release(trial);
}

static void do_tune(struct client *b, const char *seconds)
{
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    char config[128] = "";
    o.effort = CLATTN_TUNE_QUICK;
    o.seconds = atof(seconds);
    tell(b, "tune", clattn_tune(b->handle, &b->problem, &o, config, sizeof config));
    printf("tuned=%s\n", config);
}

static void do_set(struct client *b, const char *config)
{
    tell(b, "set", clattn_set_config(b->handle, &b->problem, config));
}

static void do_list(struct client *b, const char *unused)
{
    char config[128];
    (void)unused;
    for (size_t i = 0; !clattn_config_at(b->handle, &b->problem, i, config, sizeof config); i++)
        printf("config-%zu=%s\n", i, config);
}

static void print_counters(const struct client *b)
{
    clattn_counters c = CLATTN_COUNTERS_INIT;
    if (clattn_stats(b->handle, &c))
        return;
#define COUNTER(name) printf(#name "=%llu\n", (unsigned long long)c.name);
    COUNTER(compiles)
    COUNTER(binary_hits)
    COUNTER(binary_misses)
    COUNTER(binary_rejects)
    COUNTER(binary_saves)
    COUNTER(record_hits)
    COUNTER(record_misses)
    COUNTER(record_rejects)
    COUNTER(record_saves)
    COUNTER(searches)
    COUNTER(trials)
    COUNTER(trials_refused)
    COUNTER(store_faults)
}

static const struct {
    const char *word;
    void (*run)(struct client *b, const char *value);
} words[] = { { "run", do_run },   { "one", do_one }, { "trial", do_trial }, { "gradients", do_gradients },
              { "tune", do_tune }, { "set", do_set }, { "list", do_list } };

static void obey(struct client *b, const char *argument)
{
    const size_t n = strcspn(argument, "=");
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strlen(words[i].word) == n && !strncmp(argument, words[i].word, n))
            words[i].run(b, argument + n + (argument[n] == '='));
}

/* What the arguments from `first` on say, from set-up to release. */
static int play(const char *device, int first, int argc, char **argv)
{
    struct client b;
    memset(&b, 0, sizeof b);
    const cl_int e = set_up(&b, device);
    if (e) {
        printf("setup=%s\n", clattn_status_string(e));
        b.worst = e == CL_DEVICE_NOT_FOUND ? 2 : 3;
    }
    for (int i = first; i < argc && !e; i++)
        obey(&b, argv[i]);
    if (!e)
        print_counters(&b);
    tear_down(&b);
    return b.worst;
}

static int storm(const char *what, const char *device, int first, int argc, char **argv)
{
    const char *const said = getenv("CLATTN_EVIL"), *const comma = strchr(what, ',');
    char *const before = strdup(said ? said : ""), words[4096];
    int bad = 0;
    long most, step, from;
    if (!comma || !before || sscanf(comma + 1, "%ld,%ld,%ld", &most, &step, &from) != 3 || step < 1)
        return 3;
    for (long n = from; n <= most; n += step) {
        snprintf(words, sizeof words, "%s,round=%ld,%.*s=%ld", before, n, (int)(comma - what), what, n);
        setenv("CLATTN_EVIL", words, 1);
        if (play(device, first, argc, argv) == 1) {
            printf("bad=%ld\n", n);
            bad = 1;
        }
    }
    setenv("CLATTN_EVIL", before, 1);
    free(before);
    return bad;
}

int main(int argc, char **argv)
{
    int first = 1;
    const char *const device = first < argc && !strncmp(argv[first], "device=", 7) ? argv[first++] + 7 : NULL;
    if (first < argc && !strncmp(argv[first], "storm=", 6))
        return storm(argv[first] + 6, device, first + 1, argc, argv);
    return play(device, first, argc, argv);
}
