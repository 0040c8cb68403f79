/* source.h - the slots of a pass to program text and build options. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SOURCE_H
#define SOURCE_H

#include "engine/pass.h"

/* The .cl files, embedded by build-aux/embed.sh; sorted by name, ends with a NULL name. */
struct fragment {
    const char *name, *text;
};
extern const struct fragment fragments[];

/* A program for the compiler: both strings are the owner's to free by source_free(). */
struct source {
    char *text, *options;
};

cl_int source_compose(struct source *out, const struct target *target, struct why *why);

/* The fragment that computes 2^x; which: CAPS_EXP2_*. */
const char *source_exp2(int which);

/* Adds a fragment, and a line that names it in build logs; NULL: none. */
void source_write_fragment(struct text *to, const char *name);

void source_free(struct source *s);

#endif
