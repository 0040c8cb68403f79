/* program.h - program text to built programs, from the compiler or from what it made earlier
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "cache/binary_cache.h"
#include "engine/source.h"

#include <pthread.h>

/* What was built for one device, kept until programs_clear(). The oldest programs are released when there are too many,
 * because an application may make any number of score_mods. */
enum { PROGRAMS_MAX = 256 };
struct programs {
    pthread_mutex_t lock;
    struct kept *first;
    int count;
    cl_context context; /* borrowed, as all below */
    cl_device_id device;
    const struct caps *caps;
    struct store *store;
    clattn_counters *counters; /* atomic */
};

/* Returns a text of everything that a program made from `source` depends on: library, device, driver, environment,
 * options and text. The caller frees it; NULL without memory. */
char *program_key(const struct caps *caps, const struct source *source);

/* A program handed out. */
struct built {
    cl_program program;
    char *key;
    enum { BUILT_KEPT, BUILT_BRIEF, BUILT_LOADED, BUILT_COMPILED } from; /* brief: a search has just compiled it */
};

cl_int programs_init(struct programs *p, struct why *why);
void programs_clear(struct programs *p);

/* Gets a built program for `source`: one that is kept, else from its binary (unless `compile`), else from the compiler.
 * CLATTN_ERROR_WRONG_RESULT: it is known to compute wrong results. After success program_done() or program_refuse()
 * must be called, because a program from a binary may compute something else or crash. A build log that is not empty is
 * left in `why` even after success (else why->text is ""). */
cl_int program_get(struct built *out, struct programs *p, const struct source *source, bool compile, struct why *why);

/* The program has run: keeps it in memory, and if it was compiled also as a binary. With `brief` it is kept in memory
 * until programs_drop_brief() only. Releases it. */
void program_done(struct built *b, struct programs *p, bool brief);

/* The program has failed: removes its binary, if it had one. A program that was compiled and computes wrong results is
 * refused from then on, so that it is not compiled and tried again. Releases it. */
void program_refuse(struct built *b, struct programs *p, bool wrong);

void programs_drop_brief(struct programs *p);

#endif
