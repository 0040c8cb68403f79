/* program.h - program text to built programs, from the compiler or from what it made earlier
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROGRAM_H
#define PROGRAM_H

#include "cache/binary_cache.h"
#include "device/programs.h"
#include "engine/source.h"

/* Returns a text of everything that a program made from `source` depends on: library, device, driver, environment,
 * options and text. The caller frees it; NULL without memory. */
char *program_key(const struct caps *caps, const struct source *source);

/* A program handed out. It stays where it is: others wait for its flight. */
struct built {
    cl_program program; /* NULL: it is to be compiled */
    char *key;
    enum { BUILT_KEPT, BUILT_BRIEF, BUILT_LOADED, BUILT_COMPILED } from; /* brief: a search has just compiled it */
    struct flight flight;
    bool leads;         /* it has that flight */
    bool good, to_save; /* once it is judged */
};

/* A program is had in two steps, for all programs of a plan the first, then for all the second, because the first may
 * call the application's store (see programs_begin()). `anew`: neither kept nor loaded.
 *
 * program_look_up(): one that is kept, else from its binary, else none, which is no failure. program_compile(): where
 * there was none, from the compiler, or from a thread that was at it. CLATTN_ERROR_WRONG_RESULT: it is known to compute
 * wrong results. A build log that is not empty is left in `why` even after success (else why->text is ""). After a
 * failure of the first there is nothing to release. */
cl_int program_look_up(struct built *out, struct programs *p, const struct source *source, bool anew, struct why *why);
cl_int program_compile(struct built *b, struct programs *p, const struct source *source, bool anew, struct why *why);

/* What became of it. Good: it has run. Brief: likewise, but it is kept until programs_drop_brief() only. Bad: it did
 * not run, or there is none. Wrong: it computes wrong results, and is refused from then on where it was compiled, so
 * that it is not compiled and tried again. */
enum program_verdict { PROGRAM_GOOD, PROGRAM_BRIEF, PROGRAM_BAD, PROGRAM_WRONG };

/* Given back in two steps as well. program_judge(): keeps it in memory or not, and whoever waits for it goes on.
 * program_release(): keeps or removes its binary, and releases it. */
void program_judge(struct built *b, struct programs *p, enum program_verdict verdict);
void program_release(struct built *b, struct programs *p);

#endif
