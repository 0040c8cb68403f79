/* problem_type.h - the storage types: one table, of which all else that tells them apart is made. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef PROBLEM_TYPE_H
#define PROBLEM_TYPE_H

#include <stdbool.h>
#include <stddef.h>

/* How rows are stored: element by element, in a program by cl/storage/storage_plain.cl; in codes whose scales are
 * tensors of their own, storage_scaled.cl; in blocks that have their scales inside, storage_blocks.cl. */
enum problem_storage { PROBLEM_PLAIN, PROBLEM_SCALED, PROBLEM_BLOCKS };

/* What may be of a type. Types of K and V alone are called quantised. */
enum problem_role {
    PROBLEM_ROWS = 1,    /* Q and O, a bias */
    PROBLEM_KEYS = 2,    /* K and V */
    PROBLEM_CAPTURED = 4 /* captured buffers */
};

/* Rows are whole blocks; in plain storage a block is an element. */
struct problem_type {
    const char *name; /* "f32", of problem strings and fragments; in clattn.h in capitals behind CLATTN_ */
    enum problem_storage storage;
    unsigned roles;
    int elements, bytes; /* of a block */
    int bits;            /* of a code; plain: 0 */
    bool has_least;      /* blocks: a least element behind the scale, which codes are added to */
    /* Plain: an element's bytes. What has more digits than the type loses them. */
    void (*store)(double x, void *to);
    double (*load)(const void *from); /* not of what is only captured */
    double epsilon, least;            /* of rows: half the distance of 1 from the next number; the least normal one */
    const char *captured;             /* what a score_mod sees */
};

/* The rows, by CLATTN_F32 ..; row 0 stands for none. */
extern const struct problem_type problem_types[];

bool problem_type_may(int type, unsigned roles); /* has one of them; false where there is no such type */
int problem_type_find(const char *name);         /* of problem strings; 0 where there is none */
/* Of a type that there is: its row, and bytes of a block; of 0, too. */
static inline const struct problem_type *problem_type_at(int type) { return &problem_types[type]; }
static inline size_t problem_type_size(int type) { return (size_t)problem_types[type].bytes; }
static inline const char *problem_type_name(int type) { return problem_types[type].name; }
static inline bool problem_type_is(int type, enum problem_storage storage)
{
    return problem_types[type].storage == storage;
}
static inline bool problem_type_is_quantised(int type) { return problem_types[type].roles == PROBLEM_KEYS; }

/* The types that have one of `roles`, for words: "f32, f16, bf16 or f64", and "CLATTN_F32 .. CLATTN_F64". Both return
 * `to`. */
enum { PROBLEM_TYPE_WORDS = 256 };
const char *problem_type_names(char to[PROBLEM_TYPE_WORDS], unsigned roles);
const char *problem_type_ranges(char to[PROBLEM_TYPE_WORDS], unsigned roles);

#endif
