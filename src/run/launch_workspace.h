/* launch_workspace.h - the workspace of a call, for launch.c
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef LAUNCH_WORKSPACE_H
#define LAUNCH_WORKSPACE_H

#include "run/launch.h"

/* Programs of the first release bring no workspace where there was no need for one: their calls get one part. */
void launch_workspace_spare(struct call *c);

/* The bytes that a call needs. Where the plan has no room for as many parts as would be fastest, they become fewer. */
cl_int launch_workspace_settle(size_t *size, const struct launch *l, const struct operation *what, struct call *c,
                               struct why *why);

/* Takes the caller's buffer: tells kernels where in it the states of parts are, and what each group has. */
cl_int launch_workspace_take(const struct launch *l, const struct operation *what, struct call *c, size_t bytes,
                             struct why *why);

#endif
