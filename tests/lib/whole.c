/* whole.c - gradients of a whole problem by the reference, which clattn-run adds up entry by entry
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/whole.h"

void whole_end(const struct reference *r, const struct reference_gradients *g, const int types[3])
{
    const int64_t q_pitch = r->q_pitch ? r->q_pitch : r->nq, k_pitch = r->k_pitch ? r->k_pitch : r->nk;
    reference_backward_store(types[0], g->dq, g->dq_bound, r->b * r->h * q_pitch * r->d);
    reference_backward_store(types[1], g->dk, g->dk_bound, r->b * r->hk * k_pitch * r->d);
    reference_backward_store(types[2], g->dv, g->dv_bound, r->b * r->hk * k_pitch * r->dv);
    if (g->dbias)
        reference_backward_store(r->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32, g->dbias, g->dbias_bound,
                                 r->bias_shape[0] * r->bias_shape[1] * r->bias_shape[2] * r->bias_shape[3]);
    if (g->dslopes)
        reference_backward_store(CLATTN_F32, g->dslopes, g->dslopes_bound, r->slopes_b * r->h);
    if (g->dsinks)
        reference_backward_store(CLATTN_F32, g->dsinks, g->dsinks_bound, r->h);
}

int whole_backward(const struct reference *r, const double *q, const double *k, const double *v,
                   const struct reference_gradients *g)
{
    static const int types[3] = { CLATTN_F32, CLATTN_F32, CLATTN_F32 };
    if (reference_backward_add(r, q, k, v, g) != 0)
        return -1;
    whole_end(r, g, types);
    return 0;
}
