/* workspace.h - how many work-groups a call's passes have, how many bytes of workspace, and what lies where in them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef WORKSPACE_H
#define WORKSPACE_H

#include "run/launch.h"

/* Work-groups of a pass; 0: nothing to do, the call does not go through it, or the plan lacks it. */
size_t workspace_groups(const struct launch_pass *pass, const struct operation *what, const struct call *c);

/* The grid is a rectangle of at least `groups`. It never gets GRID_WIDTH wide, nor has an offset: PoCL compiles a
 * kernel once more for each of these, at its first use, and calls never compile. */
struct grid {
    size_t wide, high; /* in groups */
};
struct grid workspace_grid(size_t groups, size_t items);

/* Programs of the first release bring no workspace where there was no need for one: their calls get one part. */
void workspace_spare(struct call *c);

/* The bytes that a call needs. Where the plan has no room for as many parts as would be fastest, they become fewer. */
cl_int workspace_fit(size_t *size, const struct launch *l, const struct operation *what, struct call *c,
                        struct why *why);

/* Takes the caller's buffer: tells kernels where in it the states of parts are, and what each group has. */
cl_int workspace_take(const struct launch *l, const struct operation *what, struct call *c, size_t bytes,
                      struct why *why);

#endif
