/* maker.h - what plans are made with: the device side of a handle
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MAKER_H
#define MAKER_H

#include "base/settings.h"
#include "device/program.h"
#include "engine/tile.h"

#include <clattn_tune.h>

struct config_lookup;

struct maker {
    cl_context context;
    cl_device_id device;
    struct caps caps;
    struct settings settings;
    struct programs programs;
    struct store store;
    struct config_lookup *lookup;
    clattn_counters counters;                  /* atomic */
    void (*log)(void *user, const char *text); /* or NULL */
    void *log_user;
    int (*progress)(void *user, const clattn_progress *progress); /* or NULL */
    void *progress_user;
};

/* Says what a maker works with, once its caps are known. Programs come from, and are counted in, the store and the
 * counters of `owner`: the maker itself, or one whose device it borrows. */
void maker_connect(struct maker *maker, cl_context context, cl_device_id device, struct config_lookup *lookup,
                   struct maker *owner);

void maker_log(struct maker *maker, const char *format, ...) PRINTF_LIKE(2, 3);
/* Tells a step of a plan's making; false: the caller of the library asks to stop. words: as clattn_progress.words. */
bool maker_tell(struct maker *maker, int step, const clattn_problem *p, const struct config *config,
                const char *words);
void maker_count(uint64_t *counter);

#endif
