/* encoded.h - caches of every storage type, encoded on the host
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef ENCODED_H
#define ENCODED_H

#include "tests/lib/bytes.h"

enum { ENCODED_WIDEST = 576 };

/* Scales, or zero points: axes first, hk, row, group. */
struct factors {
    struct image bytes;
    int64_t n[4], shape[4], stride[4], offset;
    int by_default;
    int said; /* its shape is given as numbers, not as 0 */
};

struct encoded {
    const char *name;
    int type, group, has_zero, computed;
    int64_t width;
    const int *order; /* of axes first, hk and row where strides are 0 */
    struct place place;
    struct image bytes;
    struct factors scale, zero;
};

/* n: entries of the axes first (b, or a page), hk and row. Scales are computed or given. */
struct encoded encoded_make(const char *name, int type, int64_t width, int group, int has_zero, const int64_t n[3],
                            int paged, uint64_t *state);
void encoded_upload(struct encoded *c, cl_context context);
int encoded_agrees(const struct encoded *c, cl_command_queue queue, char *why, size_t len);
void encoded_free(struct encoded *c);

clattn_tensor4 encoded_factors(const struct factors *s);

/* Writes one row into what is expected, at axes first, hk and row. */
void encoded_row(struct encoded *c, const double *x, const int64_t at[3]);

#endif
