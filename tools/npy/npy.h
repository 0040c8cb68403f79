/* npy.h - reading .npy files that may be hostile
 * SPDX-License-Identifier: Apache-2.0
 *
 * Format versions 1.0, 2.0 and 3.0, plain types in either byte order, C or Fortran order. Anything else, and a file
 * that is not exactly as long as its header says, is an error. Memory is only taken for data that the file really has.
 */
#ifndef NPY_H
#define NPY_H

#include <stddef.h>
#include <stdint.h>

#include "tools/system/fault.h"

enum {
    NPY_F4 = 1, NPY_F2, NPY_F8, NPY_B1, NPY_I1, NPY_U1, NPY_I2, NPY_U2, NPY_I4, NPY_U4, NPY_I8, NPY_U8
};
enum { NPY_DIMS = 8, NPY_SHAPE_TEXT = 192 };

struct npy {
    const char *argument, *path; /* as npy_read() got them */
    int type;     /* NPY_F4.. */
    char name[4]; /* what the file calls it, e.g. ">f4" */
    int fortran;  /* the file has the first axis innermost */
    int ndim;
    int64_t shape[NPY_DIMS];
    char axes[NPY_SHAPE_TEXT]; /* the shape in words, "[2,3,4]" */
    size_t count; /* elements; the product of all axes, those of size 0 left out, times 64 fits size_t and int64_t */
    void *data;   /* from malloc, in C order and host byte order; never NULL after a success */
};

/* Reads `path`, which the command line gave as `argument`; both must outlive the array. Returns 0, or -1 with `f` set
 * and nothing to free. */
int npy_read(const char *argument, const char *path, struct npy *out, struct fault *f);
void npy_free(struct npy *a);

/* Say what is wrong with an array, behind its argument and path; they return -1. npy_misfit(): its shape does not fit
 * that of another one, and why, or what would. */
int npy_fault(const struct npy *a, struct fault *f, const char *format, ...) PRINTF_LIKE(3, 4);
int npy_misfit(const struct npy *a, const struct npy *other, const char *why, struct fault *f);
int npy_no_memory(const struct npy *a, struct fault *f);

size_t npy_size(int type);      /* bytes of an element */
const char *npy_name(int type); /* what a file that is written calls it: "<f4" */

/* Reads a name such as ">f4", of which `a` gets type and name. Returns 0, or -1 when there is no such type. */
int npy_type(const char *name, struct npy *a);

/* Whether a type is one of whole numbers, and element i of one, clamped to int64_t. */
int npy_is_whole(int type);
int64_t npy_whole(const struct npy *a, size_t i);

void npy_shape(int ndim, const int64_t *shape, char text[NPY_SHAPE_TEXT]);

/* Reads the header text of n bytes into type, name, fortran, ndim and shape. Returns NULL, or what is wrong. */
const char *npy_header(const char *text, size_t n, struct npy *a);

/* Swaps the bytes of `count` elements where the host's order is not that of `name`, e.g. ">f4". */
void npy_swap(const char *name, void *data, size_t count);

/* Copies elements of `size` bytes from Fortran order to C order. */
void npy_transpose(int ndim, const int64_t *shape, size_t size, const void *from, void *to);

#endif
