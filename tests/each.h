/* each.h - a whole test program: one function, run on each device
 * SPDX-License-Identifier: Apache-2.0
 *
 * In a header like tap.h, whose counters are the program's own. */
#ifndef EACH_H
#define EACH_H

#include "harness.h"
#include "tap.h"

/* Runs `test` on each device, or skips and says why there is none. Returns main()'s status. */
static inline int each_device(void (*test)(const struct device *))
{
    const struct device *devices;
    const char *why;
    const unsigned n = harness_open(&devices, &why);
    if (!n)
        return skip_all("%s", why);
    for (unsigned i = 0; i < n; i++) {
        diag("%s", devices[i].name);
        test(&devices[i]);
    }
    harness_close();
    return done_testing();
}

/* A problem string that is one. */
static inline clattn_case each_case(const char *text)
{
    clattn_case c = CLATTN_CASE_INIT;
    char why[256] = "";
    if (clattn_case_parse(text, &c, why, sizeof why))
        bail("%s: %s", text, why);
    return c;
}

/* Runs what trial_make() made, unless that failed (e), judges it and frees it. */
static inline void each_judge(const struct device *d, struct trial *t, cl_int e, const char *what, const char *text)
{
    clattn_plan plan = NULL;
    char why[1024] = "";
    if (!e)
        e = harness_plan(d, &t->c.problem, NULL, &plan, why, sizeof why);
    if (!e)
        e = trial_run(t, plan, d->queue);
    if (!ok(!e && trial_verify(t, d->queue, why, sizeof why), "%s: %s: %s", d->name, what, text))
        diag("%s %s", clattn_status_string(e), why);
    trial_free(t);
}

#endif
