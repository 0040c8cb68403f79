/* wrap_memory.h - blocks of memory, counted and refused: a part of wrap.c and of wrap_io.c
 * SPDX-License-Identifier: Apache-2.0
 *
 * COUNTS is the struct that counts in `memory` while it is `armed`; fails() says whether a call of that name does. */

void *__real_malloc(size_t size);
void *__real_calloc(size_t n, size_t size);
void *__real_realloc(void *old, size_t size);
void __real_free(void *old);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t n, size_t size);
void *__wrap_realloc(void *old, size_t size);
void __wrap_free(void *old);

static void *allocated(void *p)
{
    COUNTS.memory += COUNTS.armed && p;
    return p;
}

void *__wrap_malloc(size_t size)
{
    return fails("malloc") ? NULL : allocated(__real_malloc(size));
}

void *__wrap_calloc(size_t n, size_t size)
{
    return fails("calloc") ? NULL : allocated(__real_calloc(n, size));
}

void *__wrap_realloc(void *old, size_t size)
{
    if (fails("realloc"))
        return NULL;
    void *const p = __real_realloc(old, size);
    return old ? p : allocated(p);
}

void __wrap_free(void *old)
{
    COUNTS.memory -= COUNTS.armed && old;
    __real_free(old);
}
