/* mods.h - score_mods: the caller's texts checked, and wrapped into functions of a program. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODS_H
#define MODS_H

#include "base/why.h"
#include "base/text.h"

/* Checks mods and aux of a problem whose type is known. */
cl_int mods_check(const clattn_problem *p, struct why *why);

/* How OpenCL C declares what a captured buffer points to; NULL for no such type. */
const char *mods_aux_type(int type);

/* Writes cla_mods(e, s, q, k), which applies all mods in order to all lanes: it calls functions that it declares. */
void mods_write_calls(struct text *to, const clattn_problem *p);

/* Writes those functions, the caller's texts: at the end of a program, where their macros meet nothing of ours. */
void mods_write_texts(struct text *to, const clattn_problem *p);

#endif
