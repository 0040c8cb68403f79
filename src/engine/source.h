/* source.h - slots to program text: one fragment per slot, numbers as build options. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SOURCE_H
#define SOURCE_H

#include "engine/tile.h"

/* The .cl files, embedded by build-aux/embed.sh; sorted by name, ends with a NULL name. */
struct fragment {
    const char *name, *text;
};
extern const struct fragment fragments[];

/* A program for the compiler: both strings are the owner's to free by source_free(). */
struct source {
    char *text, *options;
};

cl_int source_compose(struct source *out, const clattn_problem *p, const struct caps *caps, const struct config *config,
                      struct why *why);

/* The program that makes block maps. */
cl_int source_compose_map(struct source *out, const struct caps *caps, struct why *why);

/* The program that computes 2^x for exp2.c, and its fragment; which: CAPS_EXP2_*. */
cl_int source_compose_exp2(struct source *out, const struct caps *caps, int which, struct why *why);
const char *source_exp2(int which);

void source_free(struct source *s);

#endif
