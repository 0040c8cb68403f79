/* nv-at.h - a device that is asked something: building, running, timing, and telling what came of it
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NV_AT_H
#define NV_AT_H

#include "tools/system/opencl.h"

#include <stdint.h>

enum { LOG = 1 << 16, ROUNDS = 11 };

/* The device, and what is being asked of it. Nothing is released: the process ends, and some drivers die of it. */
struct at {
    struct opencl where;
    cl_command_queue queue;
    cl_program program;
    cl_kernel kernel;
    cl_mem io;
    uint32_t *words; /* what goes to io and comes from it */
    size_t n;
    int nvidia;
    char letter, log[LOG]; /* of the last build */
};

/* Prints "LETTER: text"; -1, for who is to return it. */
int at_say(const struct at *a, const char *format, ...) PRINTF_LIKE(2, 3);
void at_info(const struct at *a, cl_device_info what, char *to, size_t len);
int at_lists(const struct at *a, const char *extension);

/* On failure these print what went wrong, after `what`, and return -1. A kernel is called "probe". at_run() runs it
 * from words to words. */
int at_build(struct at *a, const char *what, const char *text, const char *options);
int at_set_words(struct at *a, const char *what, size_t n);
int at_run(struct at *a, const char *what, size_t items, size_t local);

/* Times of one kernel, in ms: by the host's clock from enqueueing to the end, by its event, and how long it waited. */
struct times {
    double host, event, waited;
};
cl_int at_time_once(struct at *a, size_t items, size_t local, struct times *t);
/* Times a kernel that repeats its work io[0] times: doubles that number until a run is long enough to be timed, leaves
 * it in *times, and returns the medians of some rounds. */
cl_int at_time_loop(struct at *a, size_t items, size_t local, cl_uint *times, struct times *t);

#endif
