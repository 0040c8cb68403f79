/* verify.h - O, LSE and gradients of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_H
#define VERIFY_H

#include "tools/oracle/reference.h"
#include "tools/run/setup.h"

/* How far off an element is, and how far off it may be: of the one where the first is the largest part of the second.
 * The error is infinite where NaN or inf stand in other places than in the reference. */
struct farthest {
    double error, bound;
};

/* What a backward call was given and what it gave, in arrays as those of struct gradients. NULL: not given; not looked
 * at. */
enum { VERIFY_DQ, VERIFY_DK, VERIFY_DV, VERIFY_DBIAS, VERIFY_DSLOPES, VERIFY_DSINKS, VERIFY_GRADIENTS };
extern const char *const verify_gradient_names[VERIFY_GRADIENTS]; /* "dq" */
struct verify_gradients {
    const double *dout, *dlse, *got[VERIFY_GRADIENTS];
};

/* Scores by their stages, CLATTN_SCORES_*. */
enum { VERIFY_SCORES = CLATTN_SCORES_WEIGHTS + 1 };
extern const char *const verify_score_names[VERIFY_SCORES]; /* "products" */

struct verdict {
    struct farthest o, lse, gradients[VERIFY_GRADIENTS], scores[VERIFY_SCORES]; /* zero where there is none */
    int good;                                                                   /* all within their bounds */
};

/* Looks at one element: keeps it when it is the farther one. */
void farthest_consider(struct farthest *worst, double got, double want, double bound);

/* The error as a part of its bound: infinite where that is 0 and the error is not. */
double farthest_part(const struct farthest *f);

/* `in` holds the values as stored. narrow_p, mod and user: as in struct reference, mod where in->x has score_mods. o
 * and lse (NULL: not looked at) are what the device gave, [b,h,nq,dv] and [b,h,nq]; packed [h,total,dv] and [h,total].
 * gradients (NULL: none) come of that O and LSE, so that their bounds have room for what these may be off. Returns 0,
 * or -1 when memory ran out or mod failed. */
int verify(const clattn_workload *c, const struct setup_inputs *in, int narrow_p, reference_mod mod, void *user,
           const double *o, const double *lse, const struct verify_gradients *gradients, struct verdict *out);

/* Looks at scores as well: got[stage], [b,h,nq,nk] or packed [h,total_q,nk], NULL where they are not. Behind verify(),
 * with what that was given; weights may be off as LSE may. Returns 0, or -1 likewise. */
int verify_scores(const clattn_workload *c, const struct setup_inputs *in, int narrow_p, reference_mod mod, void *user,
                  const double *const got[VERIFY_SCORES], struct verdict *out);

/* Whether all are within their bounds. */
int verify_is_good(const struct verdict *v);

/* Whether an engine, "ENGINE" or "ENGINE TILE", stores P in 16 bits: those that are made of matrix units. */
int verify_narrow_p(const char *config);

/* The extras without lists and score_mods, as the reference takes them: the pointers are those of `x`. */
void verify_take_extras(struct reference *r, const struct extras *x);

#endif
