/* differences.h - how the loss of a problem changes with its inputs: differences of the library's own forward pass
 * SPDX-License-Identifier: Apache-2.0
 *
 * The loss is sum(dO O) + sum(dLSE LSE), in f64. It is a sum over rows of Q, and so are its differences, kept apart:
 * the LSE that a backward call reads is rounded to float, and all that a row adds to gradients is off by one factor for
 * that, e^(LSE - what is stored). A float LSE is also too coarse to take differences of. It is found by another forward
 * call, in which values are 1 and a sink is added: O = e^LSE / (e^LSE + e^sink) is a double. */
#ifndef DIFFERENCES_H
#define DIFFERENCES_H

#include "tests/lib/graded.h"
#include "tests/lib/harness.h"

/* What the loss is differentiated by: element i lies at where[i] of its image, NOWHERE where no call reads it. */
struct differences_leaf {
    const char *name;
    struct image *image;
    int type;
    int64_t n;
    size_t *where;
    double *value, *got, *want; /* of the inputs; of gradients: a backward call's, and the reference's */
    double step;                /* by which an element of a direction that is 1 moves */
};

/* The sum of what each row adds, and of its size; the sum as a backward call has it, with LSE as it is stored; what
 * rounding in the loss makes of itself in a difference. */
struct differences_sum {
    double exact, size, stored, noise;
};

enum { DIFFERENCES_LEAVES = 6 + CLATTN_AUX_MAX };
struct differences {
    const struct device *d;
    struct graded g;
    struct differences_leaf leaf[DIFFERENCES_LEAVES];
    int n;
    clattn_plan forward, twin; /* the harness's; twin: what LSE is found by, NULL without dLSE */
    struct image ones, sinks;  /* the twin's values and sinks */
    clattn_array twin_sinks;
    int64_t rows;
    double loss_size;                     /* of all that it is added up from */
    double *loss, *slope, *factor, *sink; /* [rows], but for sink: [h] of the twin */
};

/* `c` is in f64 and has CLATTN_BACKWARD; wanted: as graded_make(). Returns CL_SUCCESS or what failed, with words in
 * `why`; differences_free() is due in both cases. */
cl_int differences_make(struct differences *x, const struct device *d, const clattn_workload *c, enum layout layout,
                        unsigned wanted, char *why, size_t len);
/* A forward call, and a backward one with what it wrote: fills got of all leaves. 1, or 0 with words. */
int differences_run(struct differences *x, clattn_plan backward, char *why, size_t len);
/* By how much the loss changes where a leaf moves along a direction, which has a number for each place in its image.
 * Behind differences_run(). Returns CL_SUCCESS or what failed. */
typedef double (*differences_direction)(const void *user, size_t where);
cl_int differences_along(struct differences *x, int leaf, differences_direction along, const void *user,
                         struct differences_sum *sum);
void differences_free(struct differences *x);

#endif
