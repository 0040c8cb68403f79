/* fake_measure.c - a clattn_measure that measures nothing: made-up times, and a look at how it is called
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/fake_measure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct pretend_config *pretend_find(const struct pretend *p, const char *config)
{
    for (int i = 0; i < p->n; i++)
        if (!strcmp(p->seen[i].name, config))
            return &p->seen[i];
    return NULL;
}

static struct pretend_config *find_or_add(struct pretend *p, const char *config)
{
    struct pretend_config *c = pretend_find(p, config);
    if (c)
        return c;
    c = realloc(p->seen, (size_t)(p->n + 1) * sizeof *c);
    if (!c)
        abort();
    p->seen = c;
    c += p->n++;
    memset(c, 0, sizeof *c);
    snprintf(c->name, sizeof c->name, "%s", config);
    return c;
}

static void blame(struct pretend *p, const char *config, const char *what)
{
    if (!p->wrong++)
        snprintf(p->why, sizeof p->why, "%.100s: %s", config, what);
}

static int is_odd(const struct pretend *p, const char *config)
{
    return p->odd && (!strcmp(p->odd, "*") || !strcmp(p->odd, config));
}

double pretend_seconds(const struct pretend *p, const char *config)
{
    unsigned x = p->seed * 2654435761u + 1;
    if (is_odd(p, config) && (p->odd_time || p->odd_seconds > 0))
        return p->odd_seconds;
    if (p->favourite && !strcmp(p->favourite, config))
        return 0.5e-3;
    for (; *config; config++) {
        x = (x ^ (unsigned char)*config) * 0x01000193u;
        x ^= x >> 15;
    }
    return 1e-3 + 1e-3 * (x >> 8) / (1 << 24);
}

static cl_int on_open(void *user, const char *config)
{
    struct pretend *p = user;
    struct pretend_config *c = find_or_add(p, config);
    const cl_int status = is_odd(p, config) ? p->open_status : CL_SUCCESS;
    if (c->opens > c->closes)
        blame(p, config, "opened twice");
    c->opens++;
    c->refused += status != CL_SUCCESS;
    c->is_open = !status;
    return status;
}

static cl_int on_run(void *user, const char *config, double *seconds)
{
    struct pretend *p = user;
    struct pretend_config *c = find_or_add(p, config);
    if (!c->is_open)
        blame(p, config, "run, and not open");
    c->runs++;
    *seconds = pretend_seconds(p, config);
    return is_odd(p, config) ? p->run_status : CL_SUCCESS;
}

static void on_close(void *user, const char *config)
{
    struct pretend *p = user;
    struct pretend_config *c = find_or_add(p, config);
    c->closes++;
    c->is_open = 0;
    if (c->closes != c->opens)
        blame(p, config, "closed, and not open");
}

clattn_measure pretend_measure(struct pretend *p)
{
    return (clattn_measure){ sizeof(clattn_measure), on_open, on_run, on_close, p };
}

int pretend_is_over(struct pretend *p)
{
    for (int i = 0; i < p->n; i++)
        if (p->seen[i].opens != p->seen[i].closes)
            blame(p, p->seen[i].name, "not closed");
    return !p->wrong;
}

void pretend_forget(struct pretend *p)
{
    free(p->seen);
    p->seen = NULL;
    p->n = p->wrong = 0;
    p->why[0] = '\0';
}

cl_int pretend_tune(clattn_handle h, const clattn_problem *problem, int effort, const char *favourite)
{
    struct pretend p = { .favourite = favourite };
    const clattn_measure measure = pretend_measure(&p);
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    o.effort = effort;
    o.measure = &measure;
    const cl_int status = clattn_tune(h, problem, &o, NULL, 0);
    pretend_forget(&p);
    return status;
}
