/* arena.c - memory that is freed at once
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/arena.h"

#include <stdint.h>
#include <stdlib.h>

struct block {
    struct block *next;
    union {
        long double a;
        uint64_t b;
        void *c;
    } align[]; /* what follows is aligned for anything */
};

enum { BLOCK = 1 << 16, ALIGN = 16 };

void *arena_alloc(struct arena *a, size_t size)
{
    if (size > SIZE_MAX / 2)
        return NULL;
    size = (size + ALIGN - 1) / ALIGN * ALIGN;
    if (size > a->left) {
        const size_t room = size > BLOCK ? size : BLOCK;
        struct block *b = calloc(1, sizeof *b + room + ALIGN);
        if (!b)
            return NULL;
        b->next = a->blocks;
        a->blocks = b;
        a->next = (char *)b + (sizeof *b + ALIGN - 1) / ALIGN * ALIGN;
        a->left = room;
    }
    void *p = a->next;
    a->next += size;
    a->left -= size;
    return p;
}

void arena_free(struct arena *a)
{
    while (a->blocks) {
        struct block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    a->left = 0;
}
