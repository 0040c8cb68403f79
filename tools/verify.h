/* verify.h - O and LSE of a call against the float64 reference
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef VERIFY_H
#define VERIFY_H

#include "setup.h"

struct verdict {
    double error_o, bound_o;     /* infinite where NaN or inf stand in other places than in the reference */
    double error_lse, bound_lse;
    int good;                    /* both within their bounds */
};

/* `in` holds the values as stored. o and lse (NULL: not looked at) are what the device gave, [b,h,nq,dv] and [b,h,nq].
 * Returns 0, or -1 when memory ran out. */
int verify(const clattn_case *c, const struct setup_inputs *in, const double *o, const double *lse,
           struct verdict *out);

#endif
