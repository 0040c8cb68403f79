/* peer.c - the peers of clattn-bench
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/peers/peer.h"

#include <stdio.h>
#include <stdlib.h>

static const char *no_note(const struct opencl *where)
{
    (void)where;
    return NULL;
}

static uint64_t no_need(const clattn_workload *c)
{
    (void)c;
    return 0;
}

/* ---- our own plans: naive, one work-item per query row; default, the tile that is used where nothing is tuned; plain,
 * the same sizes without masks and changes of scores ---- */

struct own {
    clattn_plan plan;
    struct setup *setup;
    clattn_forward_args args;
    cl_mem workspace; /* its own: another plan needs another one */
};

static void own_close(void *self)
{
    struct own *o = self;
    if (!o)
        return;
    (void)clattn_plan_release(o->plan);
    if (o->workspace)
        (void)clReleaseMemObject(o->workspace);
    free(o);
}

static cl_int give_workspace(struct own *o)
{
    size_t need = 0;
    cl_int status = clattn_workspace_size(o->plan, &o->args, &need);
    if (!status && need)
        o->workspace = clCreateBuffer(o->setup->context, CL_MEM_READ_WRITE, need, NULL, &status);
    if (status)
        o->workspace = NULL;
    o->args.workspace = o->workspace;
    o->args.workspace_offset = 0;
    o->args.workspace_size = status ? 0 : need;
    return status;
}

/* Takes o, which holds the arguments. */
static cl_int own_open(void **self, struct own *o, clattn_handle handle, const clattn_problem *p, const char *config,
                       char *why, size_t len)
{
    clattn_plan_options options = CLATTN_PLAN_OPTIONS_INIT;
    options.config = config;
    cl_int status = clattn_plan_create(&o->plan, handle, p, &options);
    if (!status)
        status = give_workspace(o);
    if (status) {
        (void)clattn_error_detail(handle, why, len, NULL);
        own_close(o);
        return status;
    }
    *self = o;
    return CL_SUCCESS;
}

static cl_int own_run(void *self)
{
    struct own *o = self;
    cl_int status = clattn_enqueue_forward(o->plan, o->setup->queue, &o->args, 0, NULL, NULL);
    return status ? status : clFinish(o->setup->queue);
}

static struct own *own_make(struct setup *s)
{
    struct own *o = calloc(1, sizeof *o);
    if (o) {
        o->setup = s;
        o->args = s->args;
    }
    return o;
}

static cl_int naive_open(void **self, const struct opencl *where, clattn_handle handle, struct setup *s, char *why,
                         size_t len)
{
    struct own *o = own_make(s);
    (void)where;
    return o ? own_open(self, o, handle, &s->c.problem, "naive", why, len) : CL_OUT_OF_HOST_MEMORY;
}

static cl_int default_open(void **self, const struct opencl *where, clattn_handle handle, struct setup *s, char *why,
                           size_t len)
{
    char config[256];
    struct own *o = own_make(s);
    (void)where;
    if (!o)
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int status = clattn_config_at(handle, &s->c.problem, 0, config, sizeof config);
    if (!status)
        return own_open(self, o, handle, &s->c.problem, config, why, len);
    own_close(o);
    return status;
}

static cl_int plain_open(void **self, const struct opencl *where, clattn_handle handle, struct setup *s, char *why,
                         size_t len)
{
    enum {
        LAYOUT = CLATTN_SCALE | CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START | CLATTN_CU_Q | CLATTN_CU_K |
                 CLATTN_K_ZERO | CLATTN_V_ZERO
    };
    const clattn_tensor4 none = CLATTN_TENSOR4_INIT;
    const clattn_array nothing = { NULL, 0 };
    const clattn_problem *given = &s->c.problem;
    clattn_problem p = CLATTN_PROBLEM_INIT;
    struct own *o = own_make(s);
    (void)where;
    if (!o)
        return CL_OUT_OF_HOST_MEMORY;
    p.type = given->type;
    p.k_type = given->k_type;
    p.v_type = given->v_type;
    p.d = given->d;
    p.dv = given->dv;
    p.o_type = given->o_type;
    p.k_group = given->k_group;
    p.v_group = given->v_group;
    p.page = given->page;
    p.splits = given->splits;
    p.flags = given->flags & LAYOUT;
    p.scale = given->scale;
    p.sizes = given->sizes;
    o->args.bias = o->args.mask = o->args.block_map = none;
    o->args.slopes = o->args.sinks = o->args.offsets = nothing;
    o->args.slopes_stride = o->args.block_q = o->args.block_k = 0;
    o->args.aux = NULL;
    return own_open(self, o, handle, &p, NULL, why, len);
}

static const struct peer_kind peer_naive = { "naive", "one work-item per query row", naive_open, own_run, own_close,
                                             no_note, no_need, 1, 0 };
static const struct peer_kind peer_default = { "default", "the tile that is used where nothing is tuned", default_open,
                                               own_run, own_close, no_note, no_need, 1, 0 };
static const struct peer_kind peer_plain = { "plain", "the same sizes, no masks, no changes of scores", plain_open,
                                             own_run, own_close, no_note, no_need, 1, 1 };

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
                                        no_note, no_need, 0, 0 };
#endif

const struct peer_kind *const peer_kinds[] = { &peer_clblast, &peer_naive, &peer_default, &peer_plain, NULL };
