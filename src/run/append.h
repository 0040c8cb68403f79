/* append.h - the arguments of writing new rows into caches
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef APPEND_H
#define APPEND_H

#include "run/call.h"

/* Reads clattn_append_args into *c, which begins as zeros. */
cl_int append_read(struct call *c, const struct call_plan *plan, const void *in, struct why *why);

#endif
