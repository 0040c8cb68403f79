/* tensor.h - a caller's buffers: where they begin, how far they reach, whether they may be used
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TENSOR_H
#define TENSOR_H

#include "cl/passes/args.h"
#include "problem/problem.h"

/* How a tensor is used in a call. */
struct tensor_use {
    const char *name;
    int64_t extent[3]; /* b or pages, heads, rows */
    int64_t width;     /* elements of a row */
    size_t bytes;      /* of an element, or of a block of them */
    bool written;
    bool rows_first;   /* contiguous is [extent 0,rows,heads,width], not [extent 0,heads,rows,width] */
    int block;         /* elements of a block; 0: an element is one */
};

/* The use and strides of a varlen tensor: one entry, whose rows are those of all sequences. */
clattn_tensor tensor_as_one_entry(const clattn_tensor *t, struct tensor_use *use, int64_t rows, bool rows_first);

/* Checks a tensor against its use and the handle's context. On success *at says where it lies, in elements or, where
 * blocks have more than one, in bytes, and *mem is its buffer, NULL when it has no elements. */
cl_int tensor_check(const clattn_tensor *t, const struct tensor_use *use, cl_context context, cl_mem *mem,
                    cla_rows_at *at, struct why *why);
/* The same of one that begins `behind` elements, at least 0, behind where `t` says. */
cl_int tensor_check_behind(const clattn_tensor *t, int64_t behind, const struct tensor_use *use, cl_context context,
                           cl_mem *mem, cla_rows_at *at, struct why *why);

/* How an array is used: given or not as the problem says, `count` elements of `bytes`. */
struct array_use {
    const char *name;
    bool given;
    int64_t count;
    size_t bytes;
    bool written;
};
cl_int tensor_check_array(const clattn_array *t, const struct array_use *use, cl_context context, cl_mem *mem,
                          int64_t *offset, struct why *why);

/* The caller's workspace, of which a call needs `need` bytes, not 0; *offset in words of 4 bytes. It begins at a
 * multiple of the longest vector that kernels keep there. */
enum { WORKSPACE_ALIGNMENT = 32 };
struct workspace;
cl_int tensor_check_workspace(const struct workspace *space, size_t need, cl_context context, cl_mem *mem,
                              int64_t *offset, struct why *why);

/* What goes with scores: sizes of the axes b, h, q and k where it is not broadcast. */
struct tensor4_use {
    const char *name;
    bool given;
    int64_t extent[4];
    size_t bytes;
    bool written;
    const char *axes; /* their letters; NULL: bhqk */
    bool rows_first;  /* contiguous is [b,q,h,k] */
    bool unread;      /* the call reads none of its elements, whatever its shape is: mem may be NULL */
    bool repeats;     /* axes b and h may have any number that divides those of the call */
};
struct tensor4 {
    cl_mem mem;                          /* NULL: no elements */
    int64_t shape[4], stride[4], offset; /* stride 0 where broadcast */
};
/* Its shape and strides alone, which need no buffer. */
cl_int tensor4_check_shape(const clattn_tensor4 *t, const struct tensor4_use *use, struct why *why);
cl_int tensor4_check(const clattn_tensor4 *t, const struct tensor4_use *use, cl_context context, struct tensor4 *out,
                     struct why *why);
cla_scores_at tensor4_place(const struct tensor4 *t);

#endif
