/* verify.h - O and LSE of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_H
#define VERIFY_H

#include "reference.h"
#include "setup.h"

struct verdict {
    double error_o, bound_o;     /* infinite where NaN or inf stand in other places than in the reference */
    double error_lse, bound_lse;
    int good;                    /* both within their bounds */
};

/* `in` holds the values as stored. mod and user: as in struct reference, where in->x has score_mods. o and lse (NULL:
 * not looked at) are what the device gave, [b,h,nq,dv] and [b,h,nq]; packed [h,total,dv] and [h,total]. Returns 0, or
 * -1 when memory ran out or mod failed. */
int verify(const clattn_case *c, const struct setup_inputs *in, reference_mod mod, void *user, const double *o,
           const double *lse, struct verdict *out);

/* The extras without lists and score_mods, as the reference takes them: the pointers are those of `x`. */
void verify_take_extras(struct reference *r, const struct extras *x);

#endif
