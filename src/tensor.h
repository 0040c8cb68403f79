/* tensor.h - a caller's buffers: where they begin, how far they reach, whether they may be used
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TENSOR_H
#define TENSOR_H

#include "problem.h"

/* How a tensor is used in a call. */
struct tensor_use {
    const char *name;
    int64_t extent[3]; /* b, heads, rows */
    int64_t width;     /* elements of a row */
    size_t bytes;      /* of an element */
    bool written;
};

/* Checks a tensor against its use and the handle's context. On success stride and offset say where it lies, and *mem is
 * its buffer, NULL when it has no elements. */
cl_int tensor_check(const clattn_tensor *t, const struct tensor_use *use, cl_context context, cl_mem *mem,
                    int64_t stride[3], int64_t *offset, struct why *why);

/* The same for n int32 values. given: whether there must be such an array, or must not. */
cl_int ints_check(const clattn_ints *t, const char *name, bool given, int64_t n, cl_context context, int64_t *offset,
                  struct why *why);

#endif
