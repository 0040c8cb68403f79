/* plans.c - plans, kept by what they are built for: building one takes a second
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/harness.h"
#include "tests/lib/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct kept {
    struct kept *next;
    clattn_handle handle;
    clattn_problem problem; /* without sizes: they are no part of the class */
    char *mods;             /* its score_mods and captured buffers in words */
    char config[128];
    clattn_plan plan;
};
static struct kept *plans;

void harness_forget(void)
{
    while (plans) {
        struct kept *next = plans->next;
        clattn_plan_release(plans->plan);
        free(plans->mods);
        free(plans);
        plans = next;
    }
}

/* Score_mods and captured buffers in words; the pointers of a problem end with the trial it belongs to. */
static size_t write_mods(const clattn_problem *p, char *to, size_t room)
{
    size_t n = 0;
    int32_t i;
    for (i = 0; i < p->n_mods; i++) {
        const clattn_score_mod *m = &p->mods[i];
        n += (size_t)snprintf(n < room ? to + n : NULL, n < room ? room - n : 0, "%u %s %s\n%s\n", (unsigned)m->flags,
                              m->name ? m->name : "", m->text,
                              p->mod_grads && p->mod_grads[i] ? p->mod_grads[i] : "none");
    }
    for (i = 0; i < p->n_aux; i++)
        n += (size_t)snprintf(n < room ? to + n : NULL, n < room ? room - n : 0, "%d %s\n", (int)p->aux[i].type,
                              p->aux[i].name);
    return n;
}

static char *mods_of(const clattn_problem *p)
{
    const size_t n = write_mods(p, NULL, 0) + 1;
    char *text = calloc(n, 1);
    if (text)
        write_mods(p, text, n);
    return text;
}

static struct kept *find(const struct device *d, const clattn_problem *problem, const char *mods, const char *config)
{
    struct kept *p = plans;
    while (p && (p->handle != d->handle || memcmp(&p->problem, problem, sizeof *problem) || strcmp(p->mods, mods) ||
                 strcmp(p->config, config)))
        p = p->next;
    return p;
}

/* The problem without what every call may bring its own of. A copy of all bytes: it is compared with memcmp. */
static void class_of(const clattn_problem *from, clattn_problem *to)
{
    memcpy(to, from, sizeof *to);
    memset(&to->sizes, 0, sizeof to->sizes);
    to->mods = NULL;
    to->mod_grads = NULL;
    to->aux = NULL;
}

static cl_int build(const struct device *d, const clattn_problem *problem, const char *config, struct kept *p,
                    const char **passed_over)
{
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    char real[sizeof p->config];
    options.config = *config ? harness_real(d, problem->type, config, real, sizeof real) : NULL;
    p->handle = d->handle;
    class_of(problem, &p->problem);
    snprintf(p->config, sizeof p->config, "%s", config);
    (void)harness_passed_over();
    cl_int e = clattn_plan_create(&p->plan, d->handle, problem, &options);
    if (e == CLATTN_ERROR_NOT_SUPPORTED && options.config == real) { /* a tile that these units refuse */
        diag("%s is refused, and %s takes its place", real, config);
        options.config = config;
        e = clattn_plan_create(&p->plan, d->handle, problem, &options);
    }
    *passed_over = e ? "" : harness_passed_over();
    if (!**passed_over)
        return e;
    clattn_plan_release(p->plan);
    return CLATTN_ERROR_WRONG_RESULT;
}

/* Takes `mods`. */
static cl_int keep(const struct device *d, const clattn_problem *problem, char *mods, const char *config, char *why,
                   size_t len)
{
    struct kept *p = calloc(1, sizeof *p);
    const char *passed_over = "";
    cl_int e = p ? build(d, problem, config, p, &passed_over) : CL_OUT_OF_HOST_MEMORY;
    if (e) {
        if (*passed_over)
            snprintf(why, len, "%s: %s", clattn_status_string(e), passed_over);
        else
            harness_words(d->handle, e, why, len);
        free(p);
        free(mods);
        return e;
    }
    p->mods = mods;
    p->next = plans;
    plans = p;
    return CL_SUCCESS;
}

cl_int harness_plan(const struct device *d, const clattn_problem *problem, const char *config, clattn_plan *plan,
                    char *why, size_t len)
{
    clattn_problem class;
    char *mods = mods_of(problem);
    struct kept *p;
    cl_int e;
    if (!mods)
        return CL_OUT_OF_HOST_MEMORY;
    class_of(problem, &class);
    config = config ? config : "";
    p = find(d, &class, mods, config);
    if (p) {
        free(mods);
    } else {
        e = keep(d, problem, mods, config, why, len);
        if (e)
            return e;
        p = plans;
    }
    *plan = p->plan;
    return CL_SUCCESS;
}

int harness_config(const struct device *d, const char *problem, size_t index, char *config, size_t len)
{
    clattn_workload c;
    struct extras x;
    const char *why;
    int found;
    memset(&c, 0, sizeof c);
    memset(&x, 0, sizeof x);
    c.struct_size = sizeof c;
    if (clattn_workload_parse(problem, &c, NULL, 0))
        return 0;
    harness_test_units(d);
    found = !extras_mods(&c, &x, &why) && !clattn_config_at(d->handle, &c.problem, index, config, len);
    extras_free(&x);
    return found;
}
