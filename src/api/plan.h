/* plan.h - a problem made runnable: configuration, program, kernels
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PLAN_H
#define PLAN_H

#include "tune/tune.h"

struct plan {
    struct config config;
    struct launch launch;
    int origin, binary; /* CLATTN_ORIGIN_*, CLATTN_BINARY_* */
};

/* Checks a caller's problem against the device and chooses what `text` (NULL: nothing) asks for. Whether a plan can be
 * made, as far as can be known without compiling. */
cl_int plan_choose(struct config *out, clattn_problem *checked, const struct caps *caps, const clattn_problem *problem,
                   const char *text, struct why *why);

/* The same without a configuration, and the problem's class. */
cl_int plan_class(clattn_problem *checked, struct class *class, const struct caps *caps, const clattn_problem *problem,
                  struct why *why);

cl_int plan_init(struct plan *plan, struct maker *maker, const clattn_problem *problem, const char *config,
                 struct why *why);
void plan_clear(struct plan *plan);

#endif
