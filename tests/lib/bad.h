/* bad.h - inputs that are made bad on purpose: where sums and scores lose the most
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BAD_H
#define BAD_H

#include "tests/lib/trial.h"

/* How the elements of Q, K or V come to be; n is the row, c the column. */
enum bad_kind {
    BAD_ALL,     /* a */
    BAD_BETWEEN, /* anywhere from a to b */
    BAD_NORMAL,  /* normal, of deviation a */
    BAD_COLUMN,  /* column 0 is a, the others are near b */
    BAD_LAST,    /* the last column is a, the others are near b */
    BAD_ROW,     /* row 0 is a, the others are near b */
    BAD_LEVELS,  /* column 0 is a in even rows and b in odd ones, the others are 0 */
    BAD_RISING,  /* column 0 is a n, for n up to b, the others are 0 */
    BAD_SHARE,   /* up to a over the number of keys, from b times that on */
    BAD_TINY,    /* up to a times the smallest normal number of the type, of both signs */
    BAD_PARITY,  /* a in even rows, b in odd ones */
    BAD_ADDED,   /* column 0 is a, the others are b in even rows, -b in odd ones */
    BAD_TOP,     /* column 0 is a in row 0 and b in the others, the other columns are 0 */
    BAD_FEW,     /* column 0 is a in the first half of rows, b in every 32nd of the others, -1e4 between; the other
                    columns are 0 */
    BAD_CANCELS, /* column 0 is a, the last one -a; the others are b in the first half of rows, -b in the others */
    BAD_SECOND   /* a in the first half of rows, b in the others */
};
struct bad_shape {
    enum bad_kind kind;
    double a, b;
};

/* Where an element lies: how many keys there are, and the type that it is stored in, too. */
struct bad_place {
    int64_t row, column, width, keys;
    int type;
};
/* The i-th element of tensor `which`, the same for the same seed. */
double bad_element(const struct bad_shape *s, const struct bad_place *at, uint64_t seed, unsigned which, uint64_t i);

/* Types that can hold a kind: a bit for each of CLATTN_F32 and so on. */
#define BAD_F16 (1u << CLATTN_F16)
#define BAD_F64 (1u << CLATTN_F64)
#define BAD_NARROW (BAD_F16 | 1u << CLATTN_BF16)
#define BAD_WIDE (1u << CLATTN_F32 | 1u << CLATTN_BF16 | BAD_F64)
#define BAD_ANY (BAD_WIDE | BAD_F16)

struct bad {
    const char *name, *words; /* what its problem is called behind the sizes */
    struct bad_shape q, k, v;
    double sink;   /* of every head; -inf is none */
    int d;         /* the width that it asks for, 0 for any */
    unsigned types; /* that can hold it */
    enum demand demand; /* WHOLE, or PROMISED where roundings conspire */
};
extern const struct bad bads[]; /* ends with a name of NULL */

/* Fills a trial of such a problem, its buffers too, and demands of it what is to be. */
cl_int bad_fill(const struct bad *bad, struct trial *t, cl_command_queue queue);

/* Gives every head this sink, where there are any. */
cl_int bad_sinks(struct trial *t, double sink, cl_command_queue queue);

/* Whether a problem of this type can hold it; `words` may name more types, of which O has one. */
int bad_suits(const struct bad *bad, const char *type, const char *words);

#endif
