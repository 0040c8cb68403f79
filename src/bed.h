/* bed.h - a sample on a device: buffers of the library's own to run a plan on, and a look at what it did to them
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BED_H
#define BED_H

#include "launch.h"
#include "sample.h"

struct bed {
    struct sample sample;
    cl_command_queue queue;            /* in order, profiling */
    clattn_forward_args args;          /* its workspace is as large as any call needed so far */
    cl_mem mem[SAMPLES], o, lse;
    unsigned char digest[SAMPLES][32]; /* of what was put in; zero: not looked after */
    size_t o_bytes, lse_bytes;         /* without the guards around them */
    int64_t copies, at;                /* of K and V, and the next to use: so that no cache holds them */
    bool guarded;
    unsigned char *seen, *seen_lse;    /* O and LSE with their guards, as a look saw them */
    double *values;                    /* of the sample, where they are few */
};

/* guarded: everything that is not to be written is looked at afterwards. copies: of K and V, at least 1. bed_close() is due in
 * both cases. */
cl_int bed_open(struct bed *b, cl_context context, cl_device_id device, const struct sample *sample, bool guarded,
                int64_t copies, struct why *why);
void bed_close(struct bed *b);

/* One call on all of it or, rows > 0, on the first rows of each sequence; waits for its end. *seconds by the host's clock,
 * *device by the device's, 0 where it has none. */
cl_int bed_run(struct bed *b, struct launch *l, int64_t rows, double *seconds, double *device, struct why *why);

/* One call on all of it, from poison, and a look: rows of O and LSE, every `step`-th of all, against the sample's answer, the
 * guards around them, and, where guarded, the inputs; twice: a second call gives the same bits. What a caller's text makes
 * of scores nobody here knows: then rows need only have been written. CLATTN_ERROR_WRONG_RESULT. */
cl_int bed_judge(struct bed *b, struct launch *l, int64_t step, bool twice, struct why *why);

/* The same of a sample that is needed once, guarded where `twice`. */
cl_int bed_try(cl_context context, cl_device_id device, const struct sample *sample, struct launch *l, int64_t step,
               bool twice, struct why *why);

/* The block map that is made of the sample's mask, against the answer. */
cl_int bed_try_map(cl_context context, cl_device_id device, const struct sample *sample, struct launch *l,
                   struct why *why);

double bed_now(void); /* seconds, of a clock that only goes forward */

#endif
