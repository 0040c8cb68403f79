/* source.h - slots to program text: one fragment per slot, numbers as build options. Knows no device API.
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

/* Composes the program of a pass, PASS_*, for a target. */
cl_int source_compose(struct source *out, int pass, const struct target *target, struct why *why);

/* What pass.c's table says of programs: their slots and options. */
extern const struct slot source_forward[], source_block_map[], source_exp2_test[];
void source_forward_options(struct text *to, const struct target *target);
void source_exp2_options(struct text *to, const struct target *target);

/* The fragment that computes 2^x; which: CAPS_EXP2_*. */
const char *source_exp2(int which);

void source_free(struct source *s);

#endif
