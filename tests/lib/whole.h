/* whole.h - gradients of a whole problem by the reference, which clattn-run adds up entry by entry
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WHOLE_H
#define WHOLE_H

#include "tools/oracle/reference_backward.h"

/* Behind all entries: adds to all bounds what storing may do; types: of dQ, dK and dV. */
void whole_end(const struct reference *r, const struct reference_gradients *g, const int types[3]);

/* All at once, stored as float. Returns 0, or -1 without memory or when a score_mod failed. */
int whole_backward(const struct reference *r, const double *q, const double *k, const double *v,
                   const struct reference_gradients *g);

#endif
