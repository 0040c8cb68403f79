/* scores.c - the arguments of writing scores or weights, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/caller_struct.h"
#include "run/readers.h"

/* What kernels know stages by. */
typedef char constants_agree[CLA_SCORES_PRODUCTS == CLATTN_SCORES_PRODUCTS &&
                                     CLA_SCORES_CHANGED == CLATTN_SCORES_CHANGED &&
                                     CLA_SCORES_MASKED == CLATTN_SCORES_MASKED &&
                                     CLA_SCORES_WEIGHTS == CLATTN_SCORES_WEIGHTS
                                 ? 1
                                 : -1];

static cl_int read_args(clattn_scores_args *a, clattn_forward_args *forward, const void *in, struct why *why)
{
    const cl_int status = caller_struct_read(a, sizeof *a, in, "clattn_scores_args", why);
    if (status)
        return status;
    if (!a->forward)
        INVALID("forward is NULL");
    if (a->stage < CLATTN_SCORES_PRODUCTS || a->stage > CLATTN_SCORES_WEIGHTS)
        INVALID("stage %d is none of CLATTN_SCORES_*", (int)a->stage);
    if (a->reserved)
        INVALID("reserved is %d, must be 0", (int)a->reserved);
    return caller_struct_read(forward, sizeof *forward, a->forward, "clattn_forward_args", why);
}

/* Every element is one of its own: an axis of 1 is that of the call. */
static cl_int check_scores(struct call *c, const struct call_plan *plan, const clattn_scores_args *a,
                           const clattn_sizes *s, struct why *why)
{
    static const char axis[] = "bhqk";
    const bool varlen = plan->p->flags & CLATTN_CU_Q;
    const struct tensor4_use use = {
        "scores", true, { varlen && s->b ? 1 : s->b, s->h, varlen ? s->total_q : s->nq, s->nk },
        problem_type_size(plan->p->o_type), true, NULL, false, false, false
    };
    struct tensor4 t;
    bool some = true;
    for (int i = 0; i < 4; i++) {
        if (a->scores.shape[i] && a->scores.shape[i] != use.extent[i])
            INVALID("scores.shape[%c] is %lld, must be %lld", axis[i], (long long)a->scores.shape[i],
                    (long long)use.extent[i]);
        some = some && use.extent[i];
    }
    if (some && !a->scores.mem)
        INVALID("scores.mem is NULL");
    const cl_int status = tensor4_check(&a->scores, &use, plan->context, &t, why);
    if (status)
        return status;
    c->mem[PARAM_SCORES] = t.mem;
    c->args.scores = tensor4_place(&t); /* one entry never steps */
    return CL_SUCCESS;
}

cl_int scores_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    clattn_scores_args a;
    clattn_forward_args forward;
    clattn_sizes s;
    cl_int status;
    if (!(plan->p->flags & CLATTN_SCORES))
        INVALID("the problem lacks CLATTN_SCORES");
    if ((status = read_args(&a, &forward, in, why)))
        return status;
    const enum call_use use = a.stage == CLATTN_SCORES_WEIGHTS ? CALL_READS_LSE : CALL_NEEDS_NEITHER;
    if ((status = call_read_inputs(c, plan, &forward, use, &s, why)) ||
        (status = check_scores(c, plan, &a, &s, why)) || (status = call_set_groups(c, plan, &s, why)))
        return status;
    /* Only engines of tests need one. */
    c->workspace = (struct workspace){ forward.workspace, forward.workspace_offset, forward.workspace_size };
    c->args.stage = a.stage;
    c->args.heads_inner = a.stage >= CLATTN_SCORES_MASKED && call_heads_share(c, plan->p);
    if (!c->mem[PARAM_SCORES])
        c->args.groups = 0; /* without elements there is nothing to do */
    return CL_SUCCESS;
}
