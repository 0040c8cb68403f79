/* slots.h - what fills the slots of each pass's program, for pass.c. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SLOTS_H
#define SLOTS_H

#include "engine/pass.h"

extern const struct slot slots_forward[], slots_merge[], slots_block_map[], slots_append[], slots_advance[],
    slots_rotary[], slots_exp2_test[];

/* Build options: the numbers of a program. */
void slots_forward_options(struct text *to, const struct target *target);
void slots_merge_options(struct text *to, const struct target *target);
void slots_append_options(struct text *to, const struct target *target);
void slots_exp2_options(struct text *to, const struct target *target);

/* How the work-groups of pass merge cover rows (cl/merge.cl), and how many of them cover the columns of one. */
struct merge_shape {
    int items, column_items, vectors, width, chunks;
};
struct merge_shape slots_merge_shape(const struct target *target);

/* Elements of a row of K or V that a work-item of pass append writes, by its storage type and its groups: whole groups
 * and whole bytes. */
int slots_part(int type, int32_t group);

#endif
