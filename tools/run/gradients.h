/* gradients.h - a backward call behind the forward one of a setup
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef GRADIENTS_H
#define GRADIENTS_H

#include <clattn.h>

#include "tools/run/setup.h"

/* Arrays, which lie as those of setup_inputs do. NULL: not given, or not wanted. */
struct gradient_arrays {
    double *dout, *dlse; /* only read */
    double *dq, *dk, *dv;
    double *dbias, *dslopes, *dsinks, *daux[CLATTN_AUX_MAX]; /* as extras.h has what they are the gradients of */
};

struct gradients {
    struct gradient_arrays at;
    clattn_aux_gradient captured[CLATTN_AUX_MAX];
    clattn_plan plan;
    clattn_backward_args args;
};

/* Makes the buffers of a call whose forward call is that of `s`. Returns CL_SUCCESS or what failed; gradients_close()
 * is due in both cases. */
cl_int gradients_open(struct gradients *g, const struct setup *s);
/* One backward call, from enqueue to clFinish. */
cl_int gradients_run(struct gradients *g, struct setup *s);
cl_int gradients_read(struct gradients *g, struct setup *s);
/* Frees the plan, too. */
void gradients_close(struct gradients *g);

#endif
