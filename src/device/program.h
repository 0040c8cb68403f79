/* program.h - program text to built programs, from the compiler or from what it made earlier
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "cache/binary_cache.h"
#include "engine/source.h"

#include <pthread.h>

/* What was built for one device, kept until programs_clear(); the oldest are let go when they become too many: texts of
 * score_mods are without end. */
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

/* Everything that code made from `source` depends on: library, device, driver, environment, options, text. The caller's to
 * free; NULL without memory. */
char *program_key(const struct caps *caps, const struct source *source);

/* A program handed out. */
struct built {
    cl_program program;
    char *key;
    enum { BUILT_KEPT, BUILT_BRIEF, BUILT_LOADED, BUILT_COMPILED } from; /* brief: a search compiled it just now */
};

cl_int programs_init(struct programs *p, struct why *why);
void programs_clear(struct programs *p);

/* A built program for `source`: one that is kept, else from its binary (unless `compile`), else from the compiler;
 * CLATTN_ERROR_WRONG_RESULT for one that is known to compute wrong. On success
 * program_done() or program_refuse() is due: what came from a binary may not do what it should, or worse. A build log that
 * is not empty is left in why even on success (else why->text is ""). */
cl_int program_get(struct built *out, struct programs *p, const struct source *source, bool compile, struct why *why);

/* The program has run: keeps it in memory, and what was compiled also as a binary, unless `brief`: then until
 * programs_drop_brief(). Releases it. */
void program_done(struct built *b, struct programs *p, bool brief);

/* It has not: its binary is thrown away, if it had one. What was compiled and computes wrong is refused from then on, so that
 * nobody compiles and tries it again. Releases it. */
void program_refuse(struct built *b, struct programs *p, bool wrong);

void programs_drop_brief(struct programs *p);

#endif
