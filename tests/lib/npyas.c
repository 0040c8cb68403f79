/* npyas.c - rewrites a .npy file as another type, in another order, for the shell tests
 * SPDX-License-Identifier: Apache-2.0
 *
 *   npyas IN.npy OUT.npy TYPE C|F [AXIS...]
 *
 * IN holds <f4, <f2, <f8 or whole numbers, OUT the same ones as TYPE, e.g. ">f8" or "<i8", in C or Fortran order, with
 * the axes given where there are some. */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tools/npy/npy.h"
#include <clattn.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int storage(int type)
{
    return type == NPY_F4 ? CLATTN_F32 : type == NPY_F2 ? CLATTN_F16 : CLATTN_F64;
}

/* The bits of element i as type `to`, in the lowest bytes. */
static uint64_t bits_of(const struct npy *a, size_t i, const char *to)
{
    struct npy as;
    double x;
    unsigned char stored[8] = { 0 };
    uint64_t bits = 0;
    if (npy_is_whole(a->type))
        return (uint64_t)npy_whole(a, i);
    if (npy_type(to, &as) != 0)
        return 0;
    convert_load(storage(a->type), (const char *)a->data + i * npy_size(a->type), &x, 1);
    convert_store(storage(as.type), &x, stored, 1);
    npy_swap(npy_name(as.type), stored, 1); /* little-endian */
    for (size_t k = 0; k < npy_size(as.type); k++)
        bits |= (uint64_t)stored[k] << 8 * k;
    return bits;
}

/* Where element i of C order stands in Fortran order. */
static size_t place(const struct npy *a, size_t i)
{
    size_t at = 0, stride = a->count;
    for (int axis = a->ndim - 1; axis >= 0; axis--) {
        stride /= (size_t)a->shape[axis];
        at += i % (size_t)a->shape[axis] * stride;
        i /= (size_t)a->shape[axis];
    }
    return at;
}

static int write_as(const char *path, const struct npy *a, const char *type, int fortran)
{
    const size_t size = (size_t)(type[2] - '0');
    unsigned char *const bytes = malloc(a->count * size + 1);
    FILE *const to = fopen(path, "wb");
    char axes[NPY_SHAPE_TEXT], header[512];
    if (!bytes || !to)
        return -1;
    npy_shape(a->ndim, a->shape, axes);
    axes[strlen(axes) - 1] = '\0';
    const int n = snprintf(header, sizeof header, "{'descr': '%s', 'fortran_order': %s, 'shape': (%s,), }\n", type,
                           fortran ? "True" : "False", axes + 1);
    for (size_t i = 0; i < a->count; i++)
        for (size_t k = 0; k < size; k++)
            bytes[(fortran ? place(a, i) : i) * size + (type[0] == '>' ? size - 1 - k : k)] =
                (unsigned char)(bits_of(a, i, type) >> 8 * k);
    int status = fprintf(to, "\x93NUMPY\x01%c%c%c%s", 0, n & 0xff, n >> 8, header) < 0 ||
                 fwrite(bytes, size, a->count, to) != a->count;
    free(bytes);
    return fclose(to) != 0 || status ? -1 : 0;
}

int main(int argc, char **argv)
{
    struct fault f = { 0, "" };
    struct npy a;
    if (argc < 5 || strlen(argv[3]) != 3 || npy_read("npyas", argv[1], &a, &f) != 0) {
        fault_print(&f, "npyas");
        return 2;
    }
    a.ndim = argc > 5 ? argc - 5 : a.ndim;
    for (int i = 5; i < argc; i++)
        a.shape[i - 5] = atoll(argv[i]);
    const int status = write_as(argv[2], &a, argv[3], argv[4][0] == 'F');
    npy_free(&a);
    return status != 0;
}
