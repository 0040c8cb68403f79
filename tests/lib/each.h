/* each.h - a whole test program: one function, run on each device
 * SPDX-License-Identifier: Apache-2.0
 *
 * In a header like tap.h, whose counters are the program's own. */
#ifndef EACH_H
#define EACH_H

#include "tests/lib/harness.h"
#include "tests/lib/tap.h"

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

/* ---- What no test can do without: where there is none, it ends ---- */

/* A problem string that is one. */
static inline clattn_workload each_case(const char *text)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char why[256] = "";
    if (clattn_workload_parse(text, &c, why, sizeof why))
        bail("%s: %s", text, why);
    return c;
}

/* A problem with its inputs and the harness's plan, by the default configuration or by another one. fixture_close() is
 * due. */
static inline void each_open_by(struct fixture *f, const struct device *d, const char *text, const char *config,
                                enum layout layout)
{
    char why[512] = "";
    if (fixture_open_by(f, d, text, config, layout, why, sizeof why))
        bail("%s: %s", text, why);
}
static inline void each_open(struct fixture *f, const struct device *d, const char *text, enum layout layout)
{
    each_open_by(f, d, text, NULL, layout);
}

/* from: what it holds, or NULL. */
static inline cl_mem each_buffer(cl_context context, cl_mem_flags flags, size_t size, const void *from)
{
    cl_int e;
    const cl_mem mem = clCreateBuffer(context, flags | (from ? CL_MEM_COPY_HOST_PTR : 0), size,
                                      (void *)(uintptr_t)from, &e);
    if (e)
        bail("no buffer: %s", clattn_status_string(e));
    return mem;
}

/* A context of the test's own. */
static inline cl_context each_context(const struct device *d)
{
    cl_int e;
    const cl_context context = clCreateContext(NULL, 1, &d->cl.device, NULL, NULL, &e);
    if (e)
        bail("no second context: %s", clattn_status_string(e));
    return context;
}

/* A queue that keeps no order, or NULL and a skip where the device has none. */
static inline cl_command_queue each_unordered(const struct device *d, cl_context context)
{
    cl_int e;
    const cl_command_queue queue =
        clCreateCommandQueue(context, d->cl.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &e);
    if (e)
        skip("no out-of-order queue on %s: %s", d->name, clattn_status_string(e));
    return e ? NULL : queue;
}

/* Another queue than the device's own, which keeps no order if there is such a one; to be released. */
static inline cl_command_queue each_other_queue(const struct device *d)
{
    cl_int e;
    cl_command_queue queue =
        clCreateCommandQueue(d->cl.context, d->cl.device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &e);
    queue = e ? clCreateCommandQueue(d->cl.context, d->cl.device, 0, &e) : queue;
    if (e)
        bail("no queue: %s", clattn_status_string(e));
    return queue;
}

/* What a call waits for until the test sets its status. */
static inline cl_event each_gate(cl_context context)
{
    cl_int e;
    const cl_event event = clCreateUserEvent(context, &e);
    if (e)
        bail("no user event: %s", clattn_status_string(e));
    return event;
}

/* A handle of the test's own. */
static inline clattn_handle each_handle(const struct device *d, const clattn_options *options)
{
    clattn_handle h = NULL;
    const cl_int e = clattn_create(&h, d->cl.context, d->cl.device, options);
    if (e)
        bail("%s: no handle: %s", d->name, clattn_status_string(e));
    return h;
}

/* A plan that is the caller's, by a configuration (NULL: the default). */
static inline clattn_plan each_own_plan(clattn_handle h, const clattn_problem *p, const char *config)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    clattn_plan plan = NULL;
    char why[512] = "";
    o.config = config;
    const cl_int e = clattn_plan_create(&plan, h, p, &o);
    if (e) {
        harness_words(h, e, why, sizeof why);
        bail("no plan: %s", why);
    }
    return plan;
}

/* ---- What tests report ---- */

/* Whether the results are right; else a line says why not. */
static inline int each_verified(struct trial *t, cl_command_queue queue)
{
    char why[1024] = "";
    const int good = trial_verify(t, queue, why, sizeof why);
    if (!good)
        diag("%s", why);
    return good;
}

/* Reports a call that must have failed (e): with `want`, in words among which are these, and without an event. Then the
 * queue is done. */
static inline void each_refused(const struct device *d, cl_int e, cl_event event, cl_int want, const char *words,
                                const char *what)
{
    char detail[512] = "";
    clattn_error_detail(d->handle, detail, sizeof detail, NULL);
    clFinish(d->queue);
    ok(e == want && !event && *detail && strstr(detail, words), "%s is refused (%s): %s", what,
       clattn_status_string(e), detail);
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

/* One TAP line: what harness_check_text() said of a problem. */
static inline void each_report(const struct device *d, int verdict, const char *problem, const char *config,
                               enum layout layout, const char *why)
{
    if (verdict < 0)
        skip("%s: %s", problem, why);
    else if (!ok(verdict, "%s, %s, %s: %s", d->name, config ? config : "default", layout_name(layout), problem))
        diag("%s\nagain: tests/kernel/forward.t '%s' '%s' %s", why, problem, config ? config : "",
             layout_name(layout));
}

/* The same of a row of cases.h. The seed is part of the string, so the string alone reproduces the inputs. */
static inline void each_row(const struct device *d, const char *type, const char *row, unsigned seed,
                            const char *config, enum layout layout)
{
    char problem[512], why[1024];
    snprintf(problem, sizeof problem, "%s %s seed%u", type, row, seed);
    const int verdict = harness_check_text(d, problem, config, layout, why, sizeof why);
    each_report(d, verdict, problem, config, layout, why);
}

/* For a row that has no configuration: a device may lack its type. */
static inline void each_lacking(const struct device *d, const char *type, const char *row)
{
    char problem[512];
    snprintf(problem, sizeof problem, "%s %s", type, row);
    if (harness_may_refuse_text(d, problem, NULL))
        skip("%s: no configuration here", problem);
    else
        ok(0, "%s: there is a configuration for %s", d->name, problem);
}

/* The index-th configuration for such a row; 0 when there is none. */
static inline int each_config(const struct device *d, const char *type, const char *row, size_t index, char *config,
                              size_t len)
{
    char problem[512];
    snprintf(problem, sizeof problem, "%s %s", type, row);
    return harness_config(d, problem, index, config, len);
}

/* The name of the index-th engine that the library lists for such a row; 0 behind the last. Engines for tests alone are
 * not among them. */
static inline int each_engine(const struct device *d, const char *type, const char *row, size_t index, char *name,
                              size_t len)
{
    char before[128] = "";
    for (size_t i = 0; each_config(d, type, row, i, name, len); i++) {
        name[strcspn(name, " ")] = 0;
        if (strcmp(name, before) && !index--)
            return 1;
        snprintf(before, sizeof before, "%s", name);
    }
    return 0;
}

/* A plan that the harness keeps; NULL where the engine does not take the problem. */
static inline clattn_plan each_plan(const struct device *d, const char *engine, const clattn_problem *p,
                                    const char *text)
{
    char why[512] = "";
    clattn_plan plan = NULL;
    const cl_int e = harness_plan(d, p, engine, &plan, why, sizeof why);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && harness_may_refuse(d, p, engine))
        skip("%s, %s: %s", engine, text, why);
    else if (e)
        bail("%s, %s: %s", engine, text, why);
    return plan;
}

/* Makes a problem small: two sequences of a few rows. */
static inline void each_shorten(clattn_workload *c)
{
    clattn_sizes *const s = &c->problem.sizes;
    s->b = s->b > 2 ? 2 : s->b;
    s->nq = s->nq > 2 ? 2 : s->nq;
    s->nk = s->nk > 19 ? 19 : s->nk;
    s->total_q = s->total_k = 0;
    for (int64_t i = 0; i < s->b && c->problem.flags & CLATTN_CU_Q; i++) { /* as extras_fill() divides them */
        s->total_q += (s->nq * (i + 1) + s->b - 1) / s->b;
        s->total_k += (s->nk * (i + 1) + s->b - 1) / s->b;
    }
}

/* Whether the first word of `text` is among those of `list`. */
static inline int each_is_among(const char *list, const char *text)
{
    const size_t length = strcspn(text, " ");
    for (list += strspn(list, " "); *list; list += strspn(list, " ")) {
        const size_t n = strcspn(list, " ");
        if (n == length && !strncmp(list, text, n))
            return 1;
        list += n;
    }
    return 0;
}

/* Whether CLATTN_TEST_ENGINES names the engine that `config` begins with, or none. */
static inline int each_is_chosen(const char *config)
{
    const char *const list = getenv("CLATTN_TEST_ENGINES");
    return !list || !*list || each_is_among(list, config);
}

/* f64 takes no partner of another type. */
static inline int each_is_sensible(const char *type, const char *row)
{
    return strcmp(type, "f64") || (!strstr(row, " k:") && !strstr(row, " v:") && !strstr(row, " o:"));
}

#endif
