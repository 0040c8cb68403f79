/* npy.h - reading .npy files that may be hostile
 * SPDX-License-Identifier: Apache-2.0
 *
 * Format versions 1.0, 2.0 and 3.0, little-endian plain types, C order. Anything else, and a file that is not exactly
 * as long as its header says, is an error. Memory is only taken for data that the file really has. */
#ifndef NPY_H
#define NPY_H

#include <stddef.h>
#include <stdint.h>

#include "fault.h"

enum { NPY_F4 = 1, NPY_F2, NPY_F8, NPY_I1, NPY_U1, NPY_B1, NPY_I4 };
enum { NPY_DIMS = 8 };

struct npy {
    int type; /* NPY_F4.. */
    int ndim;
    int64_t shape[NPY_DIMS];
    size_t count; /* elements; the product of all axes, those of size 0 left out, times 64 fits size_t and int64_t */
    void *data;   /* from malloc, in host byte order; never NULL after a success */
};

/* Reads `path`, which the command line gave as `argument`. Returns 0, or -1 with `f` set and nothing to free. */
int npy_read(const char *argument, const char *path, struct npy *out, struct fault *f);
void npy_free(struct npy *a);

size_t npy_size(int type);       /* bytes of an element */
const char *npy_name(int type);  /* "<f4" */
int npy_type(const char *name);  /* 0 when there is no such type */

enum { NPY_SHAPE_TEXT = 192 };
/* "[2,3,4]" */
void npy_shape(int ndim, const int64_t *shape, char text[NPY_SHAPE_TEXT]);

/* Reads the header text of n bytes into type, ndim and shape. Returns NULL, or what is wrong. */
const char *npy_header(const char *text, size_t n, struct npy *a);

/* Swaps the bytes of `count` elements where the host is big-endian. */
void npy_swap(int type, void *data, size_t count);

#endif
