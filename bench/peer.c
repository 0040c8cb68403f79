/* peer.c - the peers of clattn-bench
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "peer.h"

#include <stdio.h>
#include <stdlib.h>

static const char *no_note(const struct opencl *where)
{
    (void)where;
    return NULL;
}

/* ---- naive: our own last resort, one work-item per query row ---- */

struct naive {
    clattn_plan plan;
    struct setup *setup;
};

static void naive_close(void *self)
{
    struct naive *n = self;
    if (n)
        (void)clattn_plan_release(n->plan);
    free(n);
}

static cl_int naive_open(void **self, const struct opencl *where, clattn_handle handle, struct setup *s, char *why,
                         size_t len)
{
    clattn_plan_options o = CLATTN_PLAN_OPTIONS_INIT;
    struct naive *n = calloc(1, sizeof *n);
    (void)where;
    if (!n)
        return CL_OUT_OF_HOST_MEMORY;
    o.config = "naive";
    n->setup = s;
    cl_int status = clattn_plan_create(&n->plan, handle, &s->c.problem, &o);
    if (status) {
        (void)clattn_error_detail(handle, why, len, NULL);
        naive_close(n);
        return status;
    }
    *self = n;
    return CL_SUCCESS;
}

static cl_int naive_run(void *self)
{
    struct naive *n = self;
    return setup_run(n->setup, n->plan);
}

static const struct peer_kind peer_naive = { "naive", "one work-item per query row", naive_open, naive_run, naive_close,
                                             no_note };

#ifndef HAVE_CLBLAST
static cl_int absent_open(void **self, const struct opencl *where, clattn_handle handle, struct setup *s, char *why,
                          size_t len)
{
    (void)self, (void)where, (void)handle, (void)s;
    snprintf(why, len, "built without CLBlast (Debian: libclblast-dev)");
    return CLATTN_ERROR_NOT_SUPPORTED;
}
static cl_int absent_run(void *self)
{
    (void)self;
    return CLATTN_ERROR_NOT_SUPPORTED;
}
static void absent_close(void *self)
{
    (void)self;
}
const struct peer_kind peer_clblast = { "clblast", "unfused, not built in", absent_open, absent_run, absent_close,
                                        no_note };
#endif

const struct peer_kind *const peer_kinds[] = { &peer_clblast, &peer_naive, NULL };
