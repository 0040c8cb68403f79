/* tensor_file.c - the files Q, K and V of clattn-run
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/tensor_file.h"

#include "tools/run/floats.h"

#include <clattn.h>

#include <stdlib.h>
#include <string.h>

void tensor_file_swap(const void *from, void *to, int64_t b, int64_t h, int64_t n, size_t size)
{
    const unsigned char *row = from;
    for (int64_t at = 0; at < b * h; at++)
        for (int64_t i = 0; i < n; i++, row += size)
            memcpy((unsigned char *)to + (size_t)(((at / h) * n + i) * h + at % h) * size, row, size);
}

/* ---- Axes ---- */

static const char letters[] = "bhnw";

int tensor_file_shape(const char *form, const int64_t shape[4], int64_t out[4])
{
    int n = 0;
    for (; form[n]; n++)
        out[n] = shape[strchr(letters, form[n]) - letters];
    return n;
}

void tensor_file_axes(const char *form, const int64_t *in, int64_t shape[4])
{
    for (int axis = 0; axis < 4; axis++) {
        const char *const at = strchr(form, letters[axis]);
        shape[axis] = at ? in[at - form] : 1;
    }
}

int tensor_file_rows_first(const char *form)
{
    return strstr(form, "nh") != NULL;
}

const char *tensor_file_form_of_lse(const char *form)
{
    return &"bhn"[4 - strlen(form)];
}

const char *tensor_file_form_of_scores(const char *form)
{
    return &"bhnw"[4 - strlen(form)];
}

/* The forms that a file may have: with all axes, or without those that can be left out where they are 1. */
static const struct forms {
    const char *words;
    const char *form[4];
} bhtd = { "[b,h,n,d], [h,n,d] or [n,d]", { "bhnw", "hnw", "nw", NULL } },
  bthd = { "[b,n,h,d], [n,h,d] or [n,d]", { "bnhw", "nhw", "nw", NULL } },
  packed = { "[total,h,d] or [total,d]", { "nhw", "nw", NULL } },
  paged = { "[pages,page,h,d] or [pages,page,d]", { "bnhw", "bnw", NULL } };

static int take_axes(struct tensor_file *x, struct fault *f)
{
    const struct forms *const forms = x->packed ? &packed : x->paged ? &paged : x->bthd ? &bthd : &bhtd;
    int64_t axes[4];
    int i = 0;
    while (forms->form[i] && (int)strlen(forms->form[i]) != x->a.ndim)
        i++;
    if (!forms->form[i])
        return npy_fault(&x->a, f, "its shape is %s, want %s", x->a.axes, forms->words);
    x->form = forms->form[i];
    tensor_file_axes(x->form, x->a.shape, axes);
    x->b = x->file_b = axes[0];
    x->h = axes[1];
    x->n = x->file_n = axes[2];
    x->width = axes[3];
    return 0;
}

/* ---- Reading ---- */

int tensor_file_read(struct tensor_file *x, struct fault *f)
{
    if (npy_read(x->argument, x->path, &x->a, f) != 0)
        return -1;
    const int may_be_bytes = x->argument[0] == 'K' || x->argument[0] == 'V';
    if (floats_storage(x->a.type) == 0 && !(may_be_bytes && x->a.type == NPY_I1))
        return npy_fault(&x->a, f, "its type is %s, want f4, f2%s or f8", x->a.name, may_be_bytes ? ", i1" : "");
    if (take_axes(x, f) != 0)
        return -1;
    if (x->width < 1 || x->width > INT32_MAX || x->h < 1)
        return npy_fault(&x->a, f, "its shape %s has a width or a number of heads of 0, or too large a one",
                         x->a.axes);
    if (x->paged && (x->n < 1 || x->n > INT32_MAX))
        return npy_fault(&x->a, f, "its shape %s has pages of %lld rows", x->a.axes, (long long)x->n);
    return 0;
}

int tensor_file_fit(const struct tensor_file *q, const struct tensor_file *k, const struct tensor_file *v,
                    struct fault *f)
{
    if (k->b != q->b && k->b != 1 && !k->paged)
        return npy_misfit(&k->a, &q->a, "the batch axes differ", f);
    if (q->h % k->h != 0)
        return npy_misfit(&k->a, &q->a, "the query heads are no multiple of the key heads", f);
    if (k->width != q->width)
        return npy_misfit(&k->a, &q->a, "the widths differ", f);
    if (v->b != k->b)
        return npy_misfit(&v->a, &k->a, k->paged ? "the numbers of pages differ" : "the batch axes differ", f);
    if (v->h != k->h)
        return npy_misfit(&v->a, &k->a, "the numbers of heads differ", f);
    if (v->n != k->n)
        return npy_misfit(&v->a, &k->a, "the numbers of rows differ", f);
    return 0;
}

/* Puts rows of `size` bytes, of which `rows` is freed or returned, in [b,h,n] order. */
static void *in_order(const struct tensor_file *x, void *rows, size_t size)
{
    if (!rows || !tensor_file_rows_first(x->form) || x->a.count == 0)
        return rows;
    void *swapped = malloc((size_t)x->file_b * (size_t)x->file_n * (size_t)x->h * size);
    if (swapped)
        tensor_file_swap(rows, swapped, x->file_b, x->file_n, x->h, size);
    free(rows);
    return swapped;
}

double *tensor_file_values(struct tensor_file *x, struct fault *f)
{
    double *values = floats_values(&x->a, CLATTN_F64, f);
    npy_free(&x->a);
    values = in_order(x, values, (size_t)x->width * sizeof *values);
    if (!values)
        npy_no_memory(&x->a, f);
    return values;
}

unsigned char *tensor_file_bytes(struct tensor_file *x, struct fault *f)
{
    unsigned char *bytes = x->a.data;
    x->a.data = NULL;
    bytes = in_order(x, bytes, (size_t)x->width);
    if (!bytes)
        npy_no_memory(&x->a, f);
    return bytes;
}
