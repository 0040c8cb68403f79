/* quantise.h - quantised storage of K and V on the host
 * SPDX-License-Identifier: Apache-2.0
 *
 * Written from the formulas in clattn.h, to judge what the library writes and reads. Elements are values in float64;
 * that of a stored x is fl32(fl32(x - zero) scale), as a device computes it. */
#ifndef QUANTISE_H
#define QUANTISE_H

#include <stddef.h>
#include <stdint.h>

/* Scales and zero points of one row of int8 or int4: element c has scale[c / group * scale_step], and its zero point
 * likewise. A step is 1, or 0 where all groups share one. zero NULL: no zero points. */
struct quantise_row {
    const double *scale, *zero;
    int64_t group, scale_step, zero_step;
};

int quantise_is(int type);                       /* whether its elements are codes by a scale */
int quantise_is_scaled(int type);                /* whether its scales are tensors of their own: int8 and int4 */
int64_t quantise_block(int type);                /* elements of a block; 1 for what is not quantised */
size_t quantise_bytes(int type, size_t n);       /* of n elements of any storage type, whole blocks */

/* The scale and, unless NULL, the zero point of int8 and int4 for values between `least` and `most`; floats. */
void quantise_fit(int type, double least, double most, double *scale, double *zero);

/* A row of n elements, whole blocks. Each element becomes the nearest stored one; those of GGUF's types as ggml's
 * reference quantisation makes them of floats. `row` is ignored there. */
void quantise_store(int type, const struct quantise_row *row, const double *from, unsigned char *to, size_t n);
void quantise_load(int type, const struct quantise_row *row, const unsigned char *from, double *to, size_t n);

/* n elements, whole blocks, of what nobody may use: NaN where a block has a scale, else the least element. */
void quantise_poison(int type, unsigned char *to, size_t n);

#endif
