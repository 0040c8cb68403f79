/* slots.h - what fills the slots of each pass's program, for pass.c. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SLOTS_H
#define SLOTS_H

#include "engine/pass.h"

extern const struct slot slots_forward[], slots_merge[], slots_block_map[], slots_append[], slots_advance[],
    slots_rotary[], slots_delta[], slots_backward_keys[], slots_backward_queries[], slots_sum_dq[],
    slots_sum_dbias[], slots_sum_dslopes[], slots_sum_dsinks[], slots_sum_daux[], slots_exp2_test[];

#endif
