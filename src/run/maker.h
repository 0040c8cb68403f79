/* maker.h - what plans are made with: the device side of a handle
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MAKER_H
#define MAKER_H

#include "base/settings.h"
#include "device/program.h"

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
};

/* Says what a maker works with, once its caps are known. Programs come from, and are counted in, the store and the
 * counters of `owner`: the maker itself, or one whose device it borrows. */
void maker_connect(struct maker *maker, cl_context context, cl_device_id device, struct config_lookup *lookup,
                   struct maker *owner);

void maker_log(struct maker *maker, const char *format, ...) PRINTF_LIKE(2, 3);
void maker_count(uint64_t *counter);

#endif
