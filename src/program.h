/* program.h - program text to built programs, each built once per context
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "source.h"

#include <pthread.h>

/* What was built for one device, kept until programs_clear(); the oldest are let go when they become too many: texts of
 * score_mods are without end. */
enum { PROGRAMS_MAX = 256 };
struct programs {
    pthread_mutex_t lock;
    struct built *first;
    int count;
};

cl_int programs_init(struct programs *p, struct why *why);
void programs_clear(struct programs *p);

/* A built program for `source`, from `p` or from the compiler. *out is the caller's to release. A build log that is not
 * empty is left in why even on success (else why->text is ""). */
cl_int program_get(cl_program *out, struct programs *p, cl_context context, cl_device_id device,
                   const struct source *source, struct why *why);

#endif
