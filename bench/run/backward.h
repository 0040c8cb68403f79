/* backward.h - what clattn-bench runs for a problem with gradients
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BACKWARD_H
#define BACKWARD_H

#include "tools/run/gradients.h"

/* A backward call on made-up dO, as it is stored, behind a forward one. `values` has dO and all gradients. */
struct backward {
    struct gradients g;
    double *values;
};

/* `plan` is one for gradients, and `s` has LSE. Runs the forward pass, by a plan of its own, so that O and LSE are
 * right. Returns CL_SUCCESS or what failed; backward_close() is due in both cases. */
cl_int backward_open(struct backward *b, clattn_handle handle, clattn_plan plan, struct setup *s);
void backward_close(struct backward *b);

#endif
