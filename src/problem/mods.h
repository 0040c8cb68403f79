/* mods.h - score_mods: the caller's texts checked, and wrapped into functions of a program. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODS_H
#define MODS_H

#include "base/why.h"
#include "base/text.h"

enum { MODS_TEXT_MAX = 1 << 20 }; /* bytes of a text */

/* Checks mods and aux of a problem whose type is known. */
cl_int mods_check(const clattn_problem *p, struct why *why);

/* Writes cla_mods(e, s, q, k), which applies all mods in order to all lanes: it calls functions that it declares. */
void mods_write_calls(struct text *to, const clattn_problem *p);

/* Writes those functions, the caller's texts: at the end of a program, where their macros meet nothing of ours. */
void mods_write_texts(struct text *to, const clattn_problem *p);

/* Where a problem of gradients has captured buffers, which nobody but the caller can fill, its programs also serve
 * calls with the mods off: those leave all texts out, as if no mod changed a score. The bit of the argument `wanted`
 * that says so: cl/passes/args.h has the others. */
enum { MODS_OFF = 1 << 16 };
bool mods_may_be_off(const clattn_problem *p);

/* ---- For mod_grads.c, which writes derivatives alike ---- */

bool mods_is_vector(const clattn_score_mod *m);

/* The function of text i, without a body; and a call of it for all lanes, which assigns s. back: of its derivative,
 * which has ds and s, and assigns ds. */
void mods_write_head(struct text *to, const clattn_problem *p, int i, bool back);
void mods_write_call(struct text *to, const clattn_problem *p, int i, bool back);

/* Elements past the last query and key are computed too and dropped afterwards: lets a text read at [q] and [k]. Texts
 * for vectors never index. */
void mods_write_bounds(struct text *to, const clattn_problem *p);

/* A text inside a function: what goes before the function, and the text with the caller's own file name and lines in
 * front of the compiler, `of` before that name. An empty line ends it, should its last one end in a backslash. */
void mods_write_before(struct text *to, const char *text);
void mods_write_inside(struct text *to, const char *of, const char *name, const char *text);

#endif
