/* log.c - the log callback: silent while nothing is worth a word, and no kernel makes a compiler warn
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check builds each engine for one row or two; CLATTN_PART=1: for all. */
#include "config.h"

#include "tests/lib/each.h"

struct lines {
    int count;
    char first[600];
};

static void listen(void *user, const char *line)
{
    struct lines *l = user;
    /* Intel's compiler always has something to say; a warning says so. */
    if (!strstr(line, "warning") && !strstr(line, "cannot use"))
        return;
    if (!l->count++)
        snprintf(l->first, sizeof l->first, "%s", line);
}

/* Rows with every fragment in them: masks, lengths, storage types, and the smallest widths, where warnings hide. */
static const char *const rows[] = { "f32 b1 h1 q17 k3 d8",
                                    "f32 b1 h1 q17 k3 d1",
                                    "f32 b1 h1 q17 k3 d5/3 causal",
                                    "f16 b1 h1 q17 k3 d8 kvlen:3",
                                    "bf16 b1 h1 q17 k3 d8 causal qlen:3 kvstart:1",
                                    "f64 b1 h1 q17 k3 d8 causal",
                                    "f32 b1 h1 q17 k3 d8 k:f16 v:bf16",
                                    "f32 b1 h1 q17 k3 d8 alibi bias:11q1 sink causal bwd",
                                    "f16 b1 h2/1 q17 k3 d5/3 window3,1 softcap4 mask:b1qk bias:11qk bwd",
                                    "f64 b1 h1 q17 k3 d8 alibi bwd" };

static void build(clattn_handle h, const struct device *d, struct lines *l, const char *row, const char *config)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan p = NULL;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char why[256] = "";
    cl_int e;
    if (clattn_workload_parse(row, &c, why, sizeof why))
        bail("%s: %s", row, why);
    o.config = config;
    memset(l, 0, sizeof *l);
    e = clattn_plan_create(&p, h, &c.problem, &o);
    if (!ok(!e && !l->count, "%s, %s builds without a word: %s", d->name, config, row)) {
        clattn_error_detail(h, why, sizeof why, NULL);
        diag("%s: %s\n%s", clattn_status_string(e), why, l->first);
    }
    clattn_plan_release(p);
}

/* The first configuration of each engine; every eighth one now. */
static void build_engines(clattn_handle h, const struct device *d, struct lines *l, const char *row, unsigned n)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char config[128], engine[128] = "";
    size_t i;
    if (clattn_workload_parse(row, &c, NULL, 0))
        bail("cannot be read: %s", row);
    for (i = 0; !clattn_config_at(h, &c.problem, i, config, sizeof config); i++) {
        const size_t word = strcspn(config, " ");
        if (!strncmp(config, engine, word) && !engine[word])
            continue;
        snprintf(engine, sizeof engine, "%.*s", (int)word, config);
        if (harness_deals(n++, 8))
            build(h, d, l, row, config);
    }
    if (!i && harness_may_refuse(d, &c.problem, NULL))
        skip("no configuration here for %s", row);
    else
        ok(i != 0, "there are configurations for %s", row);
}

/* A failure speaks through the status and its words, with or without a callback. */
static void fail(clattn_handle h)
{
    clattn_problem bad = CLATTN_PROBLEM_INIT;
    clattn_plan p = NULL;
    char why[64] = "";
    ok(clattn_plan_create(&p, h, &bad, NULL) < 0 && clattn_error_detail(h, why, sizeof why, NULL) == CL_SUCCESS && *why,
       "a failure has words: %s", why);
}

static void test_device(const struct device *d)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_handle h = NULL;
    struct lines l;
    unsigned j;
    o.log = listen;
    o.log_user = &l;
    memset(&l, 0, sizeof l);
    is_int(clattn_create(&h, d->cl.context, d->cl.device, &o), CL_SUCCESS, "a handle with a log");
    ok(!l.count, "is made without a word: %s", l.first);
    for (j = 0; j < sizeof rows / sizeof *rows; j++)
        build_engines(h, d, &l, rows[j], j);
    fail(h);
    clattn_release(h);
}

int main(void)
{
    return each_device(test_device);
}
