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
    unsigned char *seen, *seen_lse;    /* O and LSE with their guards, as bed_check() saw them */
};

/* guarded: everything that is not to be written is looked at afterwards. copies: of K and V, at least 1. bed_close() is due in
 * both cases. */
cl_int bed_open(struct bed *b, cl_context context, cl_device_id device, const struct sample *sample, bool guarded,
                int64_t copies, struct why *why);
void bed_close(struct bed *b);

/* One call on all of it or, rows > 0, on the first rows of each sequence; waits for its end. *seconds by the host's clock,
 * *device by the device's, 0 where it has none. */
cl_int bed_run(struct bed *b, struct launch *l, int64_t rows, double *seconds, double *device, struct why *why);

/* Puts the poison back into O and LSE. */
cl_int bed_poison(struct bed *b, struct why *why);

/* After a run: rows of O and LSE, every `step`-th of all, against the sample's answer, the guards, and, where guarded, the
 * inputs. CLATTN_ERROR_WRONG_RESULT. */
cl_int bed_check(struct bed *b, int64_t step, struct why *why);

/* Once more from poison: the same bits as bed_check() saw. */
cl_int bed_repeat(struct bed *b, struct launch *l, struct why *why);

double bed_now(void); /* seconds, of a clock that only goes forward */

#endif
