/* build.h - a configuration made runnable: from programs to kernels that have run
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BUILD_H
#define BUILD_H

#include "judge/device_sample.h"
#include "run/launch.h"
#include "run/maker.h"

/* Builds the programs of a checked problem, or loads them, and sees each kernel run; what was loaded must also be
 * right. brief: as program_done(). *binary: CLATTN_BINARY_*. On success why holds the compiler's words, if any. */
cl_int build_launch(struct launch *out, struct maker *maker, const clattn_problem *p, const struct config *config,
                    bool brief, int *binary, struct why *why);

/* What the device has to be asked before a program is composed for it; build_launch() does. */
void build_probe(struct maker *maker, const clattn_problem *p, const struct config *config);

#endif
