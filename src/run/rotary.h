/* rotary.h - rotary embedding: what a call says of it, and the arguments of rotating Q
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ROTARY_H
#define ROTARY_H

#include "run/call.h"

/* Checks a rotation of [b,heads,nq] rows of `width` elements, and fills in its arguments; a width of 0 is none. */
cl_int rotary_check(struct call *c, const struct call_plan *plan, const clattn_rotary *r, const clattn_sizes *s,
                    int32_t width, struct why *why);

/* Reads clattn_rotary_args into *c, which begins as zeros. */
cl_int rotary_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

#endif
