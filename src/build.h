/* build.h - a configuration made runnable: from programs to kernels that have run
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BUILD_H
#define BUILD_H

#include "bed.h"
#include "launch.h"
#include "program.h"
#include "settings.h"

/* What plans are made with: the device side of a handle. */
struct maker {
    cl_context context;
    cl_device_id device;
    struct caps caps;
    struct settings settings;
    struct programs programs;
    struct store store;
    struct choices *choices;
    clattn_counters counters;                  /* atomic */
    void (*log)(void *user, const char *text); /* or NULL */
    void *log_user;
};

/* Builds the programs of a checked problem, or loads them, and sees each kernel run; what was loaded must also be right.
 * brief: as program_done(). *binary: CLATTN_BINARY_*. On success why holds the compiler's words, if any. */
cl_int build_launch(struct launch *out, struct maker *maker, const clattn_problem *p, const struct config *config,
                    bool brief, int *binary, struct why *why);

/* What the device has to be asked before a program is composed for it; build_launch() does. */
void build_settle(struct maker *maker, const clattn_problem *p, const struct config *config);

void maker_log(struct maker *maker, const char *format, ...) __attribute__((format(printf, 2, 3)));
void maker_count(uint64_t *counter);

#endif
