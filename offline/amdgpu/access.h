/* access.h - what instructions of memory share
 * SPDX-License-Identifier: Apache-2.0
 *
 * Sources: 0 the lanes' addresses, 1 the scalar one, 2 and 3 data. */
#ifndef AMDGPU_ACCESS_H
#define AMDGPU_ACCESS_H

#include "reader.h"

enum { SOURCE_ADDRESS, SOURCE_BASE, SOURCE_DATA, SOURCE_DATA2, N_MEMORY_SOURCES };

/* access.c */
void access_read_vector(struct reader *r, const struct form *f, struct statement *s, struct op *o);
void access_offset(struct reader *r, const struct statement *s, const char *key, int32_t *to);
void access_addresses(struct wave *w, const struct op *o, uint64_t mask, struct access *a);
void access_check_data(struct wave *w, const struct op *o, int source, uint64_t mask);
void access_fill(struct wave *w, const struct op *o, const struct operand *to, unsigned first, uint64_t mask,
                 const struct access *a);
void access_spill(struct wave *w, const struct op *o, int source, const struct access *a);

static inline size_t access_size(const struct op *o)
{
    return (size_t)o->width * o->count;
}

#endif
