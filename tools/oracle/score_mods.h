/* score_mods.h - the texts of examples/score_mods, which problem strings name
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SCORE_MODS_H
#define SCORE_MODS_H

#include "tools/oracle/extras.h"

struct mod_text {
    const char *name, *text; /* name: "causal.cl" */
};
extern const struct mod_text mod_texts[]; /* by name, ends with name NULL; generated */
extern const struct mod_text mod_grad_texts[]; /* their derivatives, under the same names */

/* CLATTN_MOD_* that the first line of a text asks for. */
uint32_t score_mods_flags(const char *text);

/* Adds the buffers that the first lines of a text declare, for a call of sizes `z`. Returns 0, or -1 with *why (static
 * text) set. */
int score_mods_declare(const char *text, const clattn_sizes *z, struct extras *x, const char **why);

/* Adds the texts called `names`, with commas between, to x->mods, their derivatives to x->mod_grads, and the buffers
 * that they declare, for a call of sizes `z`. Returns 0, or -1 with *why (static text) set. */
int score_mods_add(const char *names, const clattn_sizes *z, struct extras *x, const char **why);

#endif
