/* floats.c - the files of clattn-run that hold floats, whatever they are of
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/floats.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/inputs.h"

#include <stdlib.h>

int floats_storage(int npy_type)
{
    return npy_type == NPY_F4 ? CLATTN_F32 : npy_type == NPY_F2 ? CLATTN_F16 : npy_type == NPY_F8 ? CLATTN_F64 : 0;
}

int floats_read(const char *argument, const char *path, struct npy *a, struct fault *f)
{
    if (npy_read(argument, path, a, f) != 0)
        return -1;
    if (floats_storage(a->type) != 0)
        return 0;
    npy_free(a);
    return npy_fault(a, f, "its type is %s, want f4, f2 or f8", a->name);
}

double *floats_values(const struct npy *a, int type, struct fault *f)
{
    double *const x = malloc((a->count ? a->count : 1) * sizeof *x);
    if (!x) {
        npy_no_memory(a, f);
        return NULL;
    }
    convert_load(floats_storage(a->type), a->data, x, a->count);
    if (type != CLATTN_F64)
        inputs_round(type, x, a->count);
    return x;
}
