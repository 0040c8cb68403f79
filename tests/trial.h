/* trial.h - one problem made concrete: seeded inputs, poisoned buffers, the verdict
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything that a kernel must not use is NaN or inf, everything that it must not write is a canary. */
#ifndef TRIAL_H
#define TRIAL_H

#include "../tools/opencl.h"
#include <clattn.h>

/* Where tensors lie. A layout that a problem does not allow becomes PADDED. */
enum layout {
    PLAIN,   /* default strides, no gap (bthd: explicit strides) */
    PADDED,  /* odd offset, every stride larger than it must be */
    PACKED,  /* Q, K and V side by side in one buffer; needs nq = nk and one storage type */
    SHARED,  /* K and V without a batch axis: batch stride 0 */
    REPEAT,  /* V without a head axis; K without head axis and with one row for all */
    OFFSETS, /* PADDED, and a causal problem takes its diagonals from a buffer of offsets */
    LAYOUTS
};
const char *layout_name(enum layout l);
enum layout layout_find(const char *name); /* LAYOUTS when there is none */

/* A buffer and its image on the host. */
struct image {
    unsigned char *byte;
    size_t size;
    cl_mem mem;
};

/* One tensor inside an image. value: [b,h,n,width] without gaps, rounded to the storage type. */
struct tensor {
    struct image *image;
    int type;
    int64_t n[3], width;
    size_t offset;
    int64_t stride[3];
    double *value;
};

struct trial {
    clattn_case c;
    enum layout layout;
    clattn_sizes sizes;
    int64_t d, dv;
    struct tensor q, k, v, o, lse;
    struct image image[5], ints[4];
    int32_t q_len[CLATTN_LIST_MAX], kv_len[CLATTN_LIST_MAX], kv_start[CLATTN_LIST_MAX]; /* clamped, for every b */
    int32_t offsets[CLATTN_LIST_MAX];
    clattn_forward_args args;
};

/* Builds inputs and buffers. Returns CL_SUCCESS or what failed; trial_free() is due in both cases. */
cl_int trial_make(struct trial *t, cl_context context, const clattn_case *c, enum layout layout);
/* Enqueues with t->args and waits. */
cl_int trial_run(struct trial *t, clattn_plan plan, cl_command_queue queue);
/* Reads everything back. 1 when O and LSE are within bound, nothing else was written and unseen rows are exactly 0 and
 * -inf; else 0 and `why`. O and LSE are then in t->o.value and t->lse.value. */
int trial_verify(struct trial *t, cl_command_queue queue, char *why, size_t len);
/* Only the reading. 1, or 0 and `why` when a byte outside O and LSE changed. */
int trial_fetch(struct trial *t, cl_command_queue queue, char *why, size_t len);
/* O and LSE as float64 says, into o [b,h,nq,dv] and lse [b,h,nq]; *conditioning as reference.h. */
int trial_reference(const struct trial *t, double *o, double *lse, double *conditioning);
/* The largest |v| among the keys within the lengths. */
double trial_largest(const struct trial *t);
/* Poisons O and LSE again. */
cl_int trial_reset(struct trial *t, cl_command_queue queue);
/* Writes t->x.value of Q, K or V into its image and buffer, after a test changed it. */
cl_int trial_upload(struct trial *t, cl_command_queue queue, struct tensor *x);
void trial_free(struct trial *t);

/* Counter-based random numbers: the same on every machine. */
uint64_t trial_hash(uint64_t seed, uint64_t a, uint64_t b);
double trial_normal(uint64_t seed, uint64_t a, uint64_t b);

int64_t tensor_count(const struct tensor *x);                                /* elements of value */
double *tensor_row(const struct tensor *x, int64_t b, int64_t h, int64_t n); /* the row in value */
size_t tensor_at(const struct tensor *x, int64_t b, int64_t h, int64_t n);   /* element of the row in the image */

/* Parts of trial_make(), in inputs.c. */
void trial_fill_lengths(struct trial *t);
void trial_fill_inputs(struct trial *t);
void trial_store_inputs(struct trial *t);
void trial_store_outputs(struct trial *t);
/* Stores rows [first, last) of every (b,h) into the image; the limits are those of batch entry b, NULL: none. */
void tensor_store(const struct tensor *x, const int32_t *first, const int32_t *last);

#endif
