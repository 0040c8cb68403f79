/* gradients.c - a backward call behind the forward one of a setup
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "gradients.h"

#include <string.h>

/* What a call writes, and what that lies like. */
struct output {
    double *values;
    clattn_tensor *tensor;
    enum setup_like like;
};
enum { OUTPUTS = 3 };

static void outputs_of(struct gradients *g, struct output to[OUTPUTS])
{
    to[0] = (struct output){ g->dq, &g->args.dq, SETUP_Q };
    to[1] = (struct output){ g->dk, &g->args.dk, SETUP_K };
    to[2] = (struct output){ g->dv, &g->args.dv, SETUP_V };
}

static cl_int make_workspace(struct gradients *g, const struct setup *s)
{
    size_t need = 0;
    cl_int e = clattn_backward_workspace_size(g->plan, &g->args, &need);
    if (e != CL_SUCCESS || need == 0)
        return e;
    g->args.workspace = clCreateBuffer(s->context, CL_MEM_READ_WRITE, need, NULL, &e);
    if (e != CL_SUCCESS)
        g->args.workspace = NULL;
    g->args.workspace_size = need;
    return e;
}

cl_int gradients_open(struct gradients *g, const struct setup *s)
{
    struct output outputs[OUTPUTS];
    outputs_of(g, outputs);
    g->args.struct_size = sizeof g->args;
    g->args.forward = &s->args;
    cl_int e = setup_tensor(s, SETUP_O, g->dout, &g->args.dout);
    if (e == CL_SUCCESS && g->dlse)
        e = setup_tensor(s, SETUP_LSE, g->dlse, &g->args.dlse);
    for (int i = 0; i < OUTPUTS && e == CL_SUCCESS; i++)
        if (outputs[i].values)
            e = setup_tensor(s, outputs[i].like, NULL, outputs[i].tensor);
    return e == CL_SUCCESS ? make_workspace(g, s) : e;
}

cl_int gradients_run(struct gradients *g, struct setup *s)
{
    const cl_int e = clattn_enqueue_backward(g->plan, s->queue, &g->args, 0, NULL, NULL);
    return e == CL_SUCCESS ? clFinish(s->queue) : e;
}

cl_int gradients_read(struct gradients *g, struct setup *s)
{
    struct output outputs[OUTPUTS];
    cl_int e = CL_SUCCESS;
    outputs_of(g, outputs);
    for (int i = 0; i < OUTPUTS && e == CL_SUCCESS; i++)
        if (outputs[i].values)
            e = setup_fetch(s, outputs[i].like, outputs[i].tensor->mem, outputs[i].values);
    return e;
}

void gradients_close(struct gradients *g)
{
    const clattn_backward_args *const a = &g->args;
    const cl_mem all[] = { a->dout.mem, a->dlse.mem, a->dq.mem, a->dk.mem, a->dv.mem, a->workspace };
    for (size_t i = 0; i < sizeof all / sizeof *all; i++)
        if (all[i])
            (void)clReleaseMemObject(all[i]);
    (void)clattn_plan_release(g->plan);
    memset(g, 0, sizeof *g);
}
