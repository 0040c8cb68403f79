/* schedule.h - who goes first
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_SCHEDULE_H
#define FRAME_SCHEDULE_H

#include <stdint.h>

/* The order in which diverged lanes of a warp, the warps of a group, and groups are executed. All of them are allowed;
 * a program that is right in one and wrong in another has a race. */
enum schedule {
    SCHEDULE_LOWEST,  /* of diverged lanes those with the lowest program counter; warps and groups in ascending order */
    SCHEDULE_HIGHEST, /* the highest; descending */
    SCHEDULE_RANDOM   /* by the seed. Lanes are also torn apart where no branch does so, as a GPU may */
};

/* The same numbers for the same seed everywhere. */
uint64_t dice_throw(uint64_t *dice);

/* The k-th group of n is (first + k * step) % n. */
struct group_order {
    uint64_t n, first, step;
};
/* That group's number, and where it lies in the grid, which has n groups. */
uint64_t group_at(const struct group_order *order, uint64_t k, const uint32_t grid[3], uint32_t group[3]);
struct group_order group_order(enum schedule schedule, uint64_t seed, uint64_t n_groups);

#endif
