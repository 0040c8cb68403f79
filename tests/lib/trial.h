/* trial.h - one problem made concrete: seeded inputs, poisoned buffers, the verdict
 * SPDX-License-Identifier: Apache-2.0
 *
 * Everything that a kernel must not use is NaN or inf, everything that it must not write is a canary. */
#ifndef TRIAL_H
#define TRIAL_H

#include "tools/oracle/extras.h"
#include "tools/system/opencl.h"
#include "tools/oracle/reference.h"
#include "tests/lib/image.h"
#include <clattn.h>

/* Where tensors lie. A layout that a problem does not allow becomes PADDED. */
enum layout {
    PLAIN,   /* default strides, no gap (bthd: explicit strides) */
    PADDED,  /* odd offset, every stride larger than it must be */
    PACKED,  /* Q, K and V side by side in one buffer; needs nq = nk and one storage type */
    SHARED,  /* K and V without a batch axis: batch stride 0 */
    REPEAT,  /* V without a head axis; K without head axis and with one row for all */
    OFFSETS, /* PADDED, and a problem with a diagonal takes it from a buffer of offsets */
    UNEVEN,  /* varlen sequences of no rows, of one, of all; rows behind the last one */
    ALIGNED, /* PADDED, but every row begins at a multiple of 8 elements */
    SHARED_K, /* K without a batch axis beside a V that has it; not varlen, not on pages */
    SHARED_V, /* V without, K with it */
    LAYOUTS
};
const char *layout_name(enum layout l);
enum layout layout_find(const char *name); /* LAYOUTS when there is none */

/* What goes with scores: axes b, h, q and k. And with rows of K or V: b or pages, h, rows and groups. */
struct array4 {
    struct image image;
    int64_t shape[4], stride[4];
    size_t offset;
};

/* Scales or zero points of a K or V. value: [shape]; NULL where there are none. */
struct scales {
    struct array4 at;
    double *value;
};

/* Pages of K and V. */
struct paging {
    int64_t page, slots, n; /* rows of a page; 0: no pages. Slots of a sequence in the table; pages that there are */
    int32_t *table;         /* [b,slots] */
};

/* One tensor inside an image. value: [b,h,n,width] without gaps, rounded to the storage type; n is the longest sequence
 * where they are packed. */
struct tensor {
    struct image *image;
    int type;
    int64_t n[3], width;
    const int32_t *cu; /* packed: row 0 of b is row cu[b]; NULL: padded */
    int64_t total;     /* rows of all sequences, with cu */
    const struct paging *paging; /* NULL: no pages. Else stride[0] leads from page to page, stride[2] within one */
    size_t offset;
    int64_t stride[3];
    double *value;
    int64_t group;     /* of int8 and int4: elements that share a scale */
    uint64_t drawn;    /* quantised: any codes and scales by this seed; 0: those that random values become */
    double scale_size; /* of scales, with drawn */
    struct scales scale, zero;
};

enum list { Q_LEN, KV_LEN, KV_START, DIAGONALS, CU_Q, CU_K, SLOPES, SINKS, BLOCK_TABLE, LISTS };

/* What is asked of a result: a share of struct reference. Inputs that are not made to be bad ask more of a kernel than
 * the promise does: what right ones show is well below. */
enum demand {
    USUAL,   /* a quarter of what is usual: random inputs */
    WHOLE,   /* all of it: inputs that are made bad on purpose */
    PROMISED /* what doc/semantics promises: inputs for which roundings conspire */
};
double trial_share(enum demand demand);

/* How a call has K and V in caches, where that is not left to the seed. */
struct caching {
    int32_t page;  /* rows of a page, where there are pages; 0: the problem's */
    int shared;    /* sequences share the pages of the first */
    int bad;       /* a third of the entries in use are no page; 0: none */
    int subnormal; /* scales are so small, in their type, that they have lost digits */
    int once;      /* a bit for each axis of scales that is 1: b or page, hk, row, group */
};

struct trial {
    clattn_workload c;
    const struct caching *caching; /* NULL: by the seed */
    enum demand demand;
    int narrow_p; /* the engine of the last trial_run() stores P in 16 bits */
    struct extras x;
    const char *why; /* words for a failure of trial_make(), or NULL */
    enum layout layout;
    clattn_sizes sizes;
    int64_t d, dv;
    struct tensor q, k, v, o, lse;
    struct paging paging;
    struct image image[5], list[LISTS], captured[CLATTN_AUX_MAX], workspace;
    struct array4 bias, mask, map;
    int64_t slopes_stride;
    int32_t q_rows[CLATTN_LIST_MAX], k_rows[CLATTN_LIST_MAX]; /* that exist: all, or those of the sequence */
    int32_t q_len[CLATTN_LIST_MAX], kv_len[CLATTN_LIST_MAX], kv_start[CLATTN_LIST_MAX]; /* clamped, for every b */
    int32_t offsets[CLATTN_LIST_MAX];
    unsigned char *seen, *sees; /* [b,hk,nk]: some query keeps this key; [b,h,nq]: this query keeps some key */
    clattn_array aux[CLATTN_AUX_MAX];
    clattn_forward_args args;
};

/* Builds inputs and buffers. Returns CL_SUCCESS or what failed; trial_free() is due in both cases. */
cl_int trial_make(struct trial *t, cl_context context, const clattn_workload *c, enum layout layout);
/* The same with caches that are so, and where they are quantised of any codes. */
cl_int trial_make_caches(struct trial *t, cl_context context, const clattn_workload *c, enum layout layout,
                         const struct caching *caching);
/* Enqueues with t->args, the block map first where it is made from the mask, and waits. Gives the call the workspace
 * that it asks for, to the byte. */
cl_int trial_run(struct trial *t, clattn_plan plan, cl_command_queue queue);
/* Reads everything back. 1 when O and LSE are within bound, nothing else was written and unseen rows are exactly 0 and
 * -inf; else 0 and `why`. O and LSE are then in t->o.value and t->lse.value. */
int trial_verify(struct trial *t, cl_command_queue queue, char *why, size_t len);
/* Only the reading. 1, or 0 and `why` when a byte outside O and LSE changed, or it begins so. */
#define TRIAL_UNREADABLE "cannot read"
int trial_fetch(struct trial *t, cl_command_queue queue, char *why, size_t len);
/* O and LSE as float64 says, and how far off they may be by t->demand. [b,h,nq,dv] and [b,h,nq]. */
struct truth {
    double *o, *lse, *o_bound, *lse_bound;
};
/* Returns 0, or -1; truth_free() is due in both cases. `r` as trial_problem() has it, or NULL; seen as reference.h. */
int trial_truth(const struct trial *t, const struct reference *r, struct truth *out, unsigned char *seen);
void truth_free(struct truth *x);
/* What trial_fetch() read against the truth: the largest part that an error is of its bound, infinite where NaN and inf
 * stand elsewhere and where a row that keeps no key is not 0; `why` has words when it is above 1. */
double trial_part(const struct trial *t, const struct truth *x, char *why, size_t len);
/* The same against the reference, which is asked for it; infinite without one. */
double trial_own_part(const struct trial *t, char *why, size_t len);
/* Whether it is at most 1. */
int trial_agrees(const struct trial *t, const struct truth *x, char *why, size_t len);
/* The problem as the reference takes it. Varlen sequences lie padded in value: to float64 they are short ones. */
struct reference trial_problem(const struct trial *t);
/* Whether every element of O and LSE is what trial_reset() leaves, NaN; after trial_fetch(). */
int trial_is_blank(const struct trial *t);
/* Poisons O and LSE again. */
cl_int trial_reset(struct trial *t, cl_command_queue queue);
/* Writes t->x.value of Q, K or V into its image and buffer, after a test changed it; the scales of K and V, too. */
cl_int trial_upload(struct trial *t, cl_command_queue queue, struct tensor *x);
/* The same of Q, K and V. */
cl_int trial_upload_inputs(struct trial *t, cl_command_queue queue);
void trial_free(struct trial *t);

/* A workspace of so many bytes, with canaries before and behind it: so many bytes each. */
enum { WORKSPACE_MARGIN = 64 };
cl_int workspace_make(struct image *im, cl_command_queue queue, size_t need);
int workspace_is_kept(const struct image *im, cl_command_queue queue); /* nothing around it was written */

/* Counter-based random numbers: the same on every machine. */
uint64_t trial_hash(uint64_t seed, uint64_t a, uint64_t b);
double trial_normal(uint64_t seed, uint64_t a, uint64_t b);

int64_t tensor_count(const struct tensor *x);                                /* elements of value */
double *tensor_row(const struct tensor *x, int64_t b, int64_t h, int64_t n); /* the row in value */
/* The element of the image that the row begins with; NOWHERE where the block table leads to no page: a row of zeros. */
#define NOWHERE SIZE_MAX
size_t tensor_at(const struct tensor *x, int64_t b, int64_t h, int64_t n);
/* As an argument; strides are left to the library unless they are `given`. */
void tensor_argument(const struct tensor *x, int given, clattn_tensor *out);
/* Reads the rows that a call writes, the first rows[b] of each sequence, into value and image. 1 when nothing else in
 * the buffer differs from the image. */
int tensor_fetch(struct tensor *x, const int32_t *rows, cl_command_queue queue);

/* Gives a tensor strides with the gaps of a layout, and says how many elements its buffer has. without_b: axis b steps
 * by 0. */
size_t trial_place(struct tensor *x, int bthd, enum layout l, int without_b);

/* A copy of value, to be freed. */
double *tensor_copy(const struct tensor *x);

int64_t array4_count(const struct array4 *x);
/* Places cells of `shape` with gaps as the layout says, and makes room for them. */
cl_int trial_array4(struct array4 *x, const int64_t shape[4], int type, enum layout l);
/* As an argument, where axes of a call have `full` elements. */
void array4_argument(const struct trial *t, const struct array4 *x, const int64_t full[4], clattn_tensor4 *out);
/* `count` elements of `type` behind `head` of poison, with the end of the buffer right behind them. */
cl_int trial_make_list(struct image *im, cl_context context, int type, const void *from, size_t count, size_t head,
                       clattn_array *out);
size_t array4_at(const struct array4 *x, int64_t i, int64_t index[4]); /* element of the i-th cell, and its indices */

/* Parts of trial_make(). */
/* keys.c: K and V that are quantised or lie in pages. */
void keys_shape(struct trial *t);                         /* how many pages, and groups: before tensors are placed */
cl_int keys_fill_table(struct trial *t);
/* Gives a quantised K or V its scales, and rounds its values; rows of no page become 0. */
cl_int keys_round(struct trial *t, struct tensor *x);
void keys_store_row(const struct tensor *x, int64_t b, int64_t h, int64_t n);
cl_int keys_give(struct trial *t, cl_context context);    /* scales, zero points and the table, and their arguments */
cl_int keys_write(const struct trial *t, struct tensor *x, cl_command_queue queue); /* scales, when they changed */
int keys_unchanged(const struct trial *t, cl_command_queue queue);
void keys_free_all(struct trial *t);
enum { NOT_MADE = 9 }; /* in a block map: for the device to overwrite */
cl_int trial_fill_extras(struct trial *t); /* inputs.c: bias, mask and the like, and the lengths of sequences */
void trial_fill_lengths(struct trial *t);
cl_int trial_fill_inputs(struct trial *t);
void trial_store_inputs(struct trial *t);
void trial_store_outputs(struct trial *t);
/* kept.c: what lengths and masks say of an element, all but a bias of -inf and a score_mod. */
void trial_keep_row(const struct trial *t, int64_t b, int64_t h, int64_t q, unsigned char *keep); /* [nk] */
cl_int trial_find_kept(struct trial *t); /* fills seen and sees */
/* 1 where bias is added to something: its cells that are not asked for are poison. [bias.shape], to be freed. */
unsigned char *trial_bias_used(const struct trial *t);
cl_int trial_give(struct trial *t, cl_context context); /* given.c: buffers of the extras, and their arguments */
void trial_take_back(struct trial *t);                  /* frees them */
/* Row n of this tensor must be in its buffer: of Q, K and V those that are read, of O and LSE those that exist. */
int trial_stores(const struct trial *t, const struct tensor *x, int64_t b, int64_t h, int64_t n);
void trial_store(const struct trial *t, const struct tensor *x);

#endif
