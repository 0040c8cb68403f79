/* mod_grads.h - derivatives of score_mods: the caller's texts checked, and wrapped into functions of a program.
 * Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MOD_GRADS_H
#define MOD_GRADS_H

#include "base/why.h"
#include "base/text.h"

/* Checks the derivatives of a problem whose mods are checked and which asks for gradients. */
cl_int mod_grads_check(const clattn_problem *p, struct why *why);

/* Writes cla_mods_grad(e, s, ds, q, k), which leads ds back through all mods, the last one first; s is the score before
 * the first. It calls functions that it declares, and those of the mods. */
void mod_grads_write_calls(struct text *to, const clattn_problem *p);

/* Writes those functions, the caller's texts, if the problem asks for gradients. look_ups: they tell cla_look_up(), or
 * cla_look_ups() of vectors, what they look up of marked buffers. */
void mod_grads_write_texts(struct text *to, const clattn_problem *p, bool look_ups);

/* ---- Textless calls (mods.h) ---- */

/* What a text looks up in marked buffer j then: this element, if it is one of MOD_GRADS_N; and how many texts may name
 * that buffer. Each of them adds 2 ds. */
enum { MOD_GRADS_N = 61 };
int64_t mod_grads_cell(int j, int64_t b, int64_t h, int64_t q, int64_t k);
int mod_grads_look_ups(const clattn_problem *p, int j);

#endif
