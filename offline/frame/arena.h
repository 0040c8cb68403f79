/* arena.h - memory that is freed at once: what a module is read into
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_ARENA_H
#define FRAME_ARENA_H

#include <stddef.h>

struct arena {
    struct block *blocks;
    size_t left; /* in the newest block */
    char *next;
};
void *arena_alloc(struct arena *a, size_t size); /* zeroed and aligned for anything; NULL: no memory */
void arena_free(struct arena *a);

#endif
