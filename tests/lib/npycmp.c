/* npycmp.c - how far two .npy files are apart, for the shell tests
 * SPDX-License-Identifier: Apache-2.0
 *
 *   npycmp GOT.npy WANT.npy
 *
 * Prints the largest absolute difference of the finite values. Exit status 0; 1 when the shapes differ, or NaN and
 * infinities do not stand in the same places; 2 when a file cannot be read as floats. */
#include "config.h"

#include "tools/oracle/convert.h"
#include "tools/npy/npy.h"
#include <clattn.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Element i of a float file. */
static double value(const struct npy *a, size_t i)
{
    const int type = a->type == NPY_F4 ? CLATTN_F32 : a->type == NPY_F2 ? CLATTN_F16 : CLATTN_F64;
    double x;
    convert_load(type, (const char *)a->data + i * npy_size(a->type), &x, 1);
    return x;
}

static int read_floats(const char *path, struct npy *a)
{
    struct fault f = { 0, "" };
    if (npy_read("npycmp", path, a, &f) != 0) {
        fault_print(&f, "npycmp");
        return -1;
    }
    return a->type == NPY_F4 || a->type == NPY_F2 || a->type == NPY_F8 ? 0 : -1;
}

static int compare(const struct npy *got, const struct npy *want)
{
    double worst = 0;
    size_t strange = 0;
    if (got->ndim != want->ndim || memcmp(got->shape, want->shape, (size_t)got->ndim * sizeof *got->shape) != 0) {
        printf("the shapes differ\n");
        return 1;
    }
    for (size_t i = 0; i < got->count; i++) {
        const double x = value(got, i), y = value(want, i);
        if (isnan(x) || isinf(x) || isnan(y) || isinf(y))
            strange += isnan(y) ? !isnan(x) : x != y;
        else
            worst = fmax(worst, fabs(x - y));
    }
    if (strange > 0) {
        printf("NaN or infinity differ in %zu places\n", strange);
        return 1;
    }
    printf("%.9g\n", worst);
    return 0;
}

int main(int argc, char **argv)
{
    struct npy got, want;
    int status = 2;
    if (argc != 3) {
        fprintf(stderr, "usage: npycmp GOT.npy WANT.npy\n");
        return 2;
    }
    memset(&got, 0, sizeof got);
    memset(&want, 0, sizeof want);
    if (read_floats(argv[1], &got) == 0 && read_floats(argv[2], &want) == 0)
        status = compare(&got, &want);
    npy_free(&got);
    npy_free(&want);
    return status;
}
