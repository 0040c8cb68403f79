/* gradients.c - a backward call behind the forward one of a setup
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/gradients.h"

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
    to[0] = (struct output){ g->at.dq, &g->args.dq, SETUP_Q };
    to[1] = (struct output){ g->at.dk, &g->args.dk, SETUP_K };
    to[2] = (struct output){ g->at.dv, &g->args.dv, SETUP_V };
}

/* What is written in float, or in f64 dbias in double: how many, and where the call has its buffer. */
struct cells {
    double *values;
    cl_mem *mem;
    size_t n;
    int type;
};
enum { OTHERS = 3, CELLS = OTHERS + CLATTN_AUX_MAX };

static void cells_of(struct gradients *g, const struct setup *s, struct cells to[CELLS])
{
    const clattn_tensor4 *const bias = &s->args.bias;
    const clattn_sizes *const z = &s->sizes;
    const int64_t *const shape = bias->shape;
    const int wide = s->c.problem.type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32;
    const size_t slopes = (size_t)(s->args.slopes_stride ? z->b : 1) * (size_t)z->h;
    to[0] = (struct cells){ g->at.dbias, &g->args.dbias.mem,
                            (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2] * (size_t)shape[3], wide };
    to[1] = (struct cells){ g->at.dslopes, &g->args.dslopes.mem, slopes, CLATTN_F32 };
    to[2] = (struct cells){ g->at.dsinks, &g->args.dsinks.mem, (size_t)z->h, CLATTN_F32 };
    for (int i = 0; i < CLATTN_AUX_MAX; i++)
        to[OTHERS + i] =
            (struct cells){ g->at.daux[i], &g->captured[i].to.mem, g->at.daux[i] ? (size_t)g->captured[i].n : 0, wide };
}

static cl_int make_cells(struct gradients *g, const struct setup *s)
{
    struct cells cells[CELLS];
    cl_int e = CL_SUCCESS;
    cells_of(g, s, cells);
    for (int i = 0; i < CELLS && e == CL_SUCCESS; i++)
        if (cells[i].values && cells[i].n)
            e = setup_numbers(s->context, cells[i].mem, cells[i].type, NULL, cells[i].n);
    memcpy(g->args.dbias.shape, s->args.bias.shape, sizeof g->args.dbias.shape);
    return e;
}

static cl_int read_cells(struct gradients *g, struct setup *s)
{
    struct cells cells[CELLS];
    cl_int e = CL_SUCCESS;
    cells_of(g, s, cells);
    for (int i = 0; i < CELLS && e == CL_SUCCESS; i++)
        if (*cells[i].mem)
            e = setup_numbers_back(s->queue, *cells[i].mem, cells[i].type, cells[i].values, cells[i].n);
    return e;
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
    g->args.daux = s->c.problem.n_aux ? g->captured : NULL;
    g->args.forward = &s->args;
    cl_int e = setup_tensor(s, SETUP_DOUT, g->at.dout, &g->args.dout);
    if (e == CL_SUCCESS && g->at.dlse)
        e = setup_tensor(s, SETUP_LSE, g->at.dlse, &g->args.dlse);
    for (int i = 0; i < OUTPUTS && e == CL_SUCCESS; i++)
        if (outputs[i].values)
            e = setup_tensor(s, outputs[i].like, NULL, outputs[i].tensor);
    if (e == CL_SUCCESS)
        e = make_cells(g, s);
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
    return e == CL_SUCCESS ? read_cells(g, s) : e;
}

void gradients_close(struct gradients *g)
{
    const clattn_backward_args *const a = &g->args;
    const cl_mem all[] = { a->dout.mem, a->dlse.mem, a->dq.mem, a->dk.mem, a->dv.mem, a->dbias.mem, a->dslopes.mem,
                           a->dsinks.mem, a->workspace };
    setup_release(all, sizeof all / sizeof *all);
    for (int i = 0; i < CLATTN_AUX_MAX; i++)
        setup_release(&g->captured[i].to.mem, 1);
    (void)clattn_plan_release(g->plan);
    memset(g, 0, sizeof *g);
}
