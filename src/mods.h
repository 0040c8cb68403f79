/* mods.h - score_mods: the caller's texts checked, and wrapped into functions of a program. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MODS_H
#define MODS_H

#include "status.h"

/* Checks mods and aux of a problem whose type is known. */
cl_int mods_check(const clattn_problem *p, struct why *why);

/* How OpenCL C declares what a captured buffer points to; NULL for no such type. */
const char *mods_aux_type(int type);

/* Writes a function for each mod, and cla_mods(e, s, q, k), which applies them in order to all lanes. */
void mods_write(struct text *to, const clattn_problem *p);

#endif
