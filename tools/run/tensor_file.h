/* tensor_file.h - the files Q, K and V of clattn-run
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TENSOR_FILE_H
#define TENSOR_FILE_H

#include "tools/npy/npy.h"

/* b, h, n and width are those of the call: of varlen sequences and pages they are known only when it is known where
 * these begin. file_b and file_n are those of the file: 1 and the total of rows in varlen ones, pages and rows of a
 * page in paged ones. */
struct tensor_file {
    const char *argument, *path;
    struct npy a;
    const char *form; /* the axes of the file, a letter each of bhnw; b and h that are not there are 1 */
    int64_t b, h, n, width, file_b, file_n;
    int packed, paged, bthd; /* varlen [total,h,d]; [pages,page,h,d]; [b,n,h,d] */
};

/* The shape of [b,h,n,w] in a file of that form: `out` gets as many axes as it has letters. Returns how many. */
int tensor_file_shape(const char *form, const int64_t shape[4], int64_t out[4]);

/* The reverse: axes of `in` that the form lacks are 1. */
void tensor_file_axes(const char *form, const int64_t *in, int64_t shape[4]);

/* Whether heads stand behind rows in it. */
int tensor_file_rows_first(const char *form);

/* The form of LSE beside an O of that form: [b,h,n] or its last axes, whatever the order of axes in O. */
const char *tensor_file_form_of_lse(const char *form);

/* That of scores likewise, [b,h,n,k]. */
const char *tensor_file_form_of_scores(const char *form);

/* Reads x->path and looks at its type and axes. Returns 0, or -1 with `f` set; npy_free(&x->a) is due in both cases. */
int tensor_file_read(struct tensor_file *x, struct fault *f);

/* Whether the three can be computed with: 0, or -1 with `f` set. */
int tensor_file_fit(const struct tensor_file *q, const struct tensor_file *k, const struct tensor_file *v,
                    struct fault *f);

/* The rows of floats in [b,h,n,width] order, as doubles that the caller frees. Frees what the file held. NULL with `f`
 * set when there is no memory. */
double *tensor_file_values(struct tensor_file *x, struct fault *f);
/* The same for bytes. */
unsigned char *tensor_file_bytes(struct tensor_file *x, struct fault *f);

/* Rows of `size` bytes: [b,h,n] into [b,n,h]. With h and n exchanged it leads back. */
void tensor_file_swap(const void *from, void *to, int64_t b, int64_t h, int64_t n, size_t size);

#endif
