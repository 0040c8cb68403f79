/* planned.c - which engine a pretended device gets by itself, and what the log told: planned PROBLEM
 * SPDX-License-Identifier: Apache-2.0
 *
 * TAP: the plan that a handle of its own makes, with what it keeps in $CLATTN_CACHE_DIR, and whether it computes right.
 * Ahead of that a line "# log: TEXT" for each one of the log. */
#include "config.h"

#include "tests/lib/each.h"

static const char *problem;

static void tell(void *user, const char *text)
{
    (void)user;
    diag("log: %s", text);
}

static void test_device(const struct device *d)
{
    clattn_options o = CLATTN_OPTIONS_INIT;
    const clattn_workload c = each_case(problem);
    struct trial t;
    char config[128] = "", why[1024] = "";
    o.log = tell;
    clattn_handle h = each_handle(d, &o);
    clattn_plan plan = NULL;
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    e = e ? e : clattn_plan_create(&plan, h, &t.c.problem, NULL);
    e = e ? e : clattn_plan_config(plan, config, sizeof config, NULL);
    ok(!e && harness_run(d, &t, plan, why, sizeof why), "%s, %s: %s %s %s", d->name, config, problem,
       clattn_status_string(e), why);
    clattn_plan_release(plan);
    clattn_release(h);
    trial_free(&t);
}

int main(int argc, char **argv)
{
    if (argc != 2)
        return 2;
    problem = argv[1];
    return each_device(test_device);
}
