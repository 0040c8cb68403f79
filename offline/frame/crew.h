/* crew.h - the threads of the host that share the groups of a launch
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_CREW_H
#define FRAME_CREW_H

#include <stdint.h>

/* What a machine's workers are: make() returns the number-th one, NULL where there is no memory for it; work() executes
 * groups until none is left; drop() takes NULL. */
struct crew {
    void *(*make)(void *launch, uint64_t number);
    void (*work)(void *worker);
    void (*drop)(void *worker);
};

/* At most as many workers as are asked for and as there are groups, as far as threads can be had; the caller's is one
 * of them. False: there is no memory for a single one. */
int crew_run(const struct crew *crew, void *launch, uint64_t asked, uint64_t n_groups);

#endif
