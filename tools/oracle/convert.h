/* convert.h - storage types on the host: what there are, and what numbers become in them
 * SPDX-License-Identifier: Apache-2.0
 *
 * One table, of tools' own: the library's must be as good. */
#ifndef CONVERT_H
#define CONVERT_H

#include <stddef.h>
#include <stdint.h>

struct convert_type {
    const char *name;  /* of problem strings */
    int keys_only;     /* of K and V alone, not of Q and O */
    int64_t elements;  /* of a block */
    size_t bytes;
    /* n elements, each a block: rounded to nearest even, inf and NaN kept where there are such; exact. NULL: elements
     * are codes from least to most that a scale multiplies, a tensor of its own (scaled) or in their block; see
     * quantise.h. */
    void (*store)(const double *from, void *to, size_t n);
    void (*load)(const void *from, double *to, size_t n);
    double epsilon, tiny; /* of types of O: half the distance of 1 from the next number; the least normal one */
    int scaled, least, most;
};

/* The row of a type of clattn.h that Q, K, V or O may have; NULL for others. */
const struct convert_type *convert_type(int type);

/* Of those of K and V alone (keys_only), or of the others: the next type behind one, the first behind 0, 0 behind the
 * last; the type of a name, 0 for none; all names, "f32, f16 or bf16" with ", " between them and " or " before the
 * last. */
int convert_next(int type, int keys_only);
int convert_find(const char *name, int keys_only);
enum { CONVERT_NAMES = 128 };
const char *convert_names(char to[CONVERT_NAMES], int keys_only, const char *between, const char *before_last);

/* Of types whose blocks are elements. */
size_t convert_size(int type); /* bytes of an element; 0 for others */
void convert_store(int type, const double *from, void *to, size_t n);
void convert_load(int type, const void *from, double *to, size_t n);

#endif
