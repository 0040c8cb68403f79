/* verify_gradients.c - gradients of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0
 *
 * Entries are computed one by one, as O is, and added up in whole gradients, since they may share keys, a bias, slopes
 * and sinks. */
#include "config.h"

#include "tools/oracle/verify_gradients.h"

#include "tools/oracle/inputs.h"
#include "tools/oracle/reference_backward.h"
#include "tools/oracle/verify_taint.h"

#include <stdlib.h>
#include <string.h>

const char *const verify_gradient_names[VERIFY_GRADIENTS] = { "dq", "dk", "dv", "dbias", "dslopes", "dsinks" };

int expected_make(struct expected *x, const struct verify_gradients *given, const clattn_workload *c,
                  const struct extras *extras)
{
    struct counts n;
    memset(x, 0, sizeof *x);
    x->given = given;
    x->entries = c->problem.sizes.b;
    if (inputs_count(c, &n) != 0)
        return -1;
    x->n[VERIFY_DQ] = (int64_t)n.q;
    x->n[VERIFY_DK] = (int64_t)n.k;
    x->n[VERIFY_DV] = (int64_t)n.v;
    if (given->got[VERIFY_DBIAS]) {
        x->n[VERIFY_DBIAS] = 1;
        for (int axis = 0; axis < 4; axis++)
            x->n[VERIFY_DBIAS] *= extras->bias_shape[axis];
    }
    if (given->got[VERIFY_DSLOPES])
        x->n[VERIFY_DSLOPES] = extras->slopes_b * c->problem.sizes.h;
    if (given->got[VERIFY_DSINKS])
        x->n[VERIFY_DSINKS] = c->problem.sizes.h;
    for (int i = 0; i < VERIFY_GRADIENTS; i++) {
        if (i > VERIFY_DV && !given->got[i])
            continue;
        x->want[i] = calloc((size_t)x->n[i] + 1, sizeof **x->want);
        x->bound[i] = calloc((size_t)x->n[i] + 1, sizeof **x->bound);
        x->taint[i] = calloc((size_t)x->n[i] + 1, 1);
        if (!x->want[i] || !x->bound[i] || !x->taint[i])
            return -1;
    }
    return 0;
}

void expected_free(struct expected *x)
{
    for (int i = 0; i < VERIFY_GRADIENTS; i++) {
        free(x->want[i]);
        free(x->bound[i]);
        free(x->taint[i]);
    }
    memset(x, 0, sizeof *x);
}

int expected_add(struct expected *x, const struct reference *r, const double *const from[5], int64_t q, int64_t k,
                 const double *o_bound, const double *lse_bound)
{
    const struct reference_gradients to = {
        .dout = x->given->dout + q * r->dv,
        .dlse = x->given->dlse ? x->given->dlse + q : NULL,
        .o_bound = o_bound,
        .lse_bound = lse_bound,
        .entries = x->entries,
        .dq = x->want[VERIFY_DQ] + q * r->d,
        .dk = x->want[VERIFY_DK] + k * r->d,
        .dv = x->want[VERIFY_DV] + k * r->dv,
        .dbias = x->want[VERIFY_DBIAS],
        .dslopes = x->want[VERIFY_DSLOPES],
        .dsinks = x->want[VERIFY_DSINKS],
        .dq_bound = x->bound[VERIFY_DQ] + q * r->d,
        .dk_bound = x->bound[VERIFY_DK] + k * r->d,
        .dv_bound = x->bound[VERIFY_DV] + k * r->dv,
        .dbias_bound = x->bound[VERIFY_DBIAS],
        .dslopes_bound = x->bound[VERIFY_DSLOPES],
        .dsinks_bound = x->bound[VERIFY_DSINKS],
    };
    const struct taint taint = {
        .r = r,
        .q = from[0],
        .k = from[1],
        .v = from[2],
        .o = from[3],
        .lse = from[4],
        .dout = to.dout,
        .dlse = to.dlse,
        .dq = x->taint[VERIFY_DQ] + q * r->d,
        .dk = x->taint[VERIFY_DK] + k * r->d,
        .dv = x->taint[VERIFY_DV] + k * r->dv,
        .dbias = x->taint[VERIFY_DBIAS],
        .dslopes = x->taint[VERIFY_DSLOPES],
        .dsinks = x->taint[VERIFY_DSINKS],
    };
    return taint_mark(&taint) == 0 ? reference_backward_add(r, from[0], from[1], from[2], &to) : -1;
}

void expected_store(struct expected *x, const clattn_problem *p)
{
    const int types[VERIFY_GRADIENTS] = { p->type, p->k_type, p->v_type,
                                          p->type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32, CLATTN_F32, CLATTN_F32 };
    for (int i = 0; i < VERIFY_GRADIENTS; i++)
        reference_backward_store(types[i], x->want[i], x->bound[i], x->n[i]);
}

static void look(const struct expected *x, int i, int64_t from, int64_t to, struct farthest *worst)
{
    for (int64_t at = from; at < to && x->given->got[i]; at++) {
        const double got = x->given->got[i][at], want = x->want[i][at];
        if (!(x->taint[i][at] & TAINT_ALL) && !(taint_strange(got) && (taint_strange(want) || x->taint[i][at])))
            farthest_consider(worst, got, want, x->bound[i][at]);
    }
}

void expected_look_at_rows(const struct expected *x, const struct reference *r, int64_t q, int64_t k,
                           struct farthest worst[VERIFY_GRADIENTS])
{
    const struct {
        int64_t first, heads, pitch, rows, width;
    } all[] = { { q, r->h, r->q_pitch, r->nq, r->d },
                { k, r->hk, r->k_pitch, r->nk, r->d },
                { k, r->hk, r->k_pitch, r->nk, r->dv } };
    for (int i = VERIFY_DQ; i <= VERIFY_DV; i++)
        for (int64_t h = 0; h < all[i].heads; h++) {
            const int64_t row = all[i].first + h * all[i].pitch;
            look(x, i, row * all[i].width, (row + all[i].rows) * all[i].width, &worst[i]);
        }
}

void expected_look_at_others(const struct expected *x, struct farthest worst[VERIFY_GRADIENTS])
{
    for (int i = VERIFY_DBIAS; i < VERIFY_GRADIENTS; i++)
        look(x, i, 0, x->n[i], &worst[i]);
}
