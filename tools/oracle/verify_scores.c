/* verify_scores.c - scores and weights of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/inputs.h"
#include "tools/oracle/reference_scores.h"
#include "tools/oracle/verify.h"
#include "tools/oracle/verify_entry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const verify_score_names[VERIFY_SCORES] = { "products", "changed", "masked", "weights" };

/* What one entry should have, with the pitch of arrays of all: weights need O's columns for nothing but the room that
 * the reference wants. */
struct wanted {
    double *o, *lse, *o_bound, *lse_bound, *scores, *bound;
};

static void free_wanted(struct wanted *w)
{
    free(w->o);
    free(w->lse);
    free(w->o_bound);
    free(w->lse_bound);
    free(w->scores);
    free(w->bound);
}

static double *numbers(size_t n)
{
    return n <= SIZE_MAX / sizeof(double) - 1 ? malloc((n + 1) * sizeof(double)) : NULL;
}

static int make_wanted(struct wanted *w, size_t rows, size_t dv, size_t keys)
{
    memset(w, 0, sizeof *w);
    if (keys && rows > SIZE_MAX / sizeof(double) / keys - 1)
        return -1;
    w->o = numbers(rows * dv);
    w->lse = numbers(rows);
    w->o_bound = numbers(rows * dv);
    w->lse_bound = numbers(rows);
    w->scores = numbers(rows * keys);
    w->bound = numbers(rows * keys);
    return w->o && w->lse && w->o_bound && w->lse_bound && w->scores && w->bound ? 0 : -1;
}

static void look_at(const struct reference *r, int64_t keys, const double *got, const struct wanted *w,
                    struct farthest *worst)
{
    for (int64_t h = 0; h < r->h; h++)
        for (int64_t i = h * r->q_pitch * keys; i < (h * r->q_pitch + r->nq) * keys; i++) {
            const int fits = isinf(got[i]) && reference_scores_agree(r->type, got[i], w->scores[i], w->bound[i]);
            farthest_consider(worst, fits ? w->scores[i] : got[i], w->scores[i], w->bound[i]);
        }
}

static int check_entry(const struct verify_entry *e, int64_t keys, const double *const got[VERIFY_SCORES],
                       struct wanted *w, struct verdict *out)
{
    const struct reference *const r = &e->r;
    if (got[CLATTN_SCORES_WEIGHTS] &&
        reference_forward(r, e->q, e->k, e->v, w->o, w->lse, w->o_bound, w->lse_bound, NULL) != 0)
        return -1;
    for (int stage = 0; stage < VERIFY_SCORES; stage++) {
        if (!got[stage])
            continue;
        if (reference_scores(r, stage, keys, e->q, e->k, w->lse, w->lse_bound, w->scores, w->bound) != 0)
            return -1;
        look_at(r, keys, got[stage] + e->q_row * keys, w, &out->scores[stage]);
    }
    return 0;
}

int verify_scores(const clattn_workload *c, const struct setup_inputs *in, int narrow_p, reference_mod mod, void *user,
                  const double *const got[VERIFY_SCORES], struct verdict *out)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const clattn_sizes *const z = &p.sizes;
    const size_t rows = (size_t)z->h * (size_t)(p.flags & CLATTN_CU_Q ? z->total_q : z->nq);
    struct verify_entry e;
    struct wanted w;
    int status = make_wanted(&w, rows, (size_t)p.dv, (size_t)z->nk);
    verify_entry_start(&e, &p, in, narrow_p, mod, user);
    for (int64_t b = 0; b < z->b && rows > 0 && !status; b++) {
        verify_entry_enter(&e, c, &p, in, b);
        status = check_entry(&e, z->nk, got, &w, out);
    }
    free_wanted(&w);
    out->good = verify_is_good(out);
    return status;
}
