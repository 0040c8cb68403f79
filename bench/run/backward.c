/* backward.c - what clattn-bench runs for a problem with gradients
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/backward.h"

#include "tools/oracle/inputs.h"

#include <stdlib.h>

/* O and LSE of the problem's inputs. */
static cl_int run_forward(clattn_handle handle, struct setup *s)
{
    clattn_problem p = s->c.problem;
    clattn_plan plan = NULL;
    p.flags &= ~(uint32_t)CLATTN_BACKWARD;
    cl_int e = clattn_plan_create(&plan, handle, &p, NULL);
    if (e == CL_SUCCESS)
        e = setup_prepare(s, plan);
    if (e == CL_SUCCESS)
        e = setup_run(s, plan);
    (void)clattn_plan_release(plan);
    return e;
}

cl_int backward_open(struct backward *b, clattn_handle handle, clattn_plan plan, struct setup *s)
{
    struct counts n;
    uint64_t stream = inputs_stream(s->c.seed, 77);
    cl_int e;
    if (inputs_count(&s->c, &n))
        return CL_INVALID_VALUE;
    const int64_t *const bias = s->args.bias.shape;
    const size_t cells = (size_t)bias[0] * (size_t)bias[1] * (size_t)bias[2] * (size_t)bias[3];
    const size_t slopes = (size_t)s->sizes.b * (size_t)s->sizes.h;
    double *const dout = b->values = calloc(n.o + n.q + n.k + n.v + cells + 2 * slopes + 1, sizeof *b->values);
    if (!dout)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i < n.o; i++)
        dout[i] = inputs_normal(&stream);
    inputs_round(s->c.problem.type, dout, n.o); /* as it is stored, so that who judges gradients knows it */
    b->g.at.dout = dout;
    b->g.at.dq = dout + n.o;
    b->g.at.dk = b->g.at.dq + n.q;
    b->g.at.dv = b->g.at.dk + n.k;
    double *const rest = b->g.at.dv + n.v;
    b->g.at.dbias = s->args.bias.mem ? rest : NULL;
    b->g.at.dslopes = s->args.slopes.mem ? rest + cells : NULL;
    b->g.at.dsinks = s->args.sinks.mem ? rest + cells + slopes : NULL;
    if ((e = clattn_plan_retain(plan)) != CL_SUCCESS)
        return e;
    b->g.plan = plan;
    if ((e = run_forward(handle, s)) != CL_SUCCESS || (e = gradients_open(&b->g, s)) != CL_SUCCESS)
        return e;
    return gradients_run(&b->g, s);
}

void backward_close(struct backward *b)
{
    gradients_close(&b->g);
    free(b->values);
    b->values = NULL;
}
