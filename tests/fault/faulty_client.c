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

#include "tests/lib/trial.h"
#include "tools/system/opencl.h"
#include <clattn_tune.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char called[] = "f32 b1 h2/1 q37 k45 d16 causal lse";

struct client {
    struct opencl cl;
    cl_command_queue queue;
    clattn_handle handle;
    clattn_problem problem;
    struct trial t;
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

static void print_line(void *user, const char *text)
{
    (void)user;
    printf("log=%.*s\n", (int)strcspn(text, "\n"), text);
}

static int set_up(struct client *b, const char *device)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    cl_int e = clattn_workload_parse(called, &c, NULL, 0);
    if (e || (e = opencl_open(device, &b->cl)))
        return e;
    b->problem = c.problem;
    b->queue = clCreateCommandQueue(b->cl.context, b->cl.device, 0, &e);
    e = e ? e : trial_make(&b->t, b->cl.context, &c, PADDED);
    o.log = print_line;
    return e ? e : clattn_create(&b->handle, b->cl.context, b->cl.device, &o);
}

static void tear_down(struct client *b)
{
    clattn_release(b->handle);
    trial_free(&b->t);
    if (b->queue)
        clReleaseCommandQueue(b->queue);
    opencl_close(&b->cl);
}

/* ---- Judging ---- */

/* Inputs and what lies around outputs are as they were; where the call failed outputs are, too. */
static void judge(struct client *b, cl_int enqueued)
{
    char why[512] = TRIAL_UNREADABLE;
    const int fetched = !clFinish(b->queue) && trial_fetch(&b->t, b->queue, why, sizeof why);
    if (!fetched && !strncmp(why, TRIAL_UNREADABLE, strlen(TRIAL_UNREADABLE))) {
        note(b, 3); /* a driver that fails here has nothing to judge */
        printf("verdict=none\n");
        return;
    }
    const int good = enqueued || trial_own_part(&b->t, why, sizeof why) <= 1;
    const int tidy = fetched && (!enqueued || trial_is_blank(&b->t));
    printf("verdict=%s\ntouched=%s\n", enqueued ? "none" : good ? "right" : "wrong", tidy ? "no" : "yes");
    if (!good || !tidy)
        note(b, 1);
}

/* ---- What can be done ---- */

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
    const clattn_forward_args a = b->t.args;
    for (int i = 0; i < 2; i++) {
        cl_event event = NULL, *const wanted = i ? &event : NULL;
        if (trial_reset(&b->t, b->queue)) {
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
