/* wholes.c - the files of clattn-run that hold whole numbers, whatever they are of
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/wholes.h"

#include <stdlib.h>

int wholes_narrow(struct npy *a, struct fault *f)
{
    int32_t *const to = malloc((a->count ? a->count : 1) * sizeof *to); /* npy_read() has seen that this fits */
    int status = to ? 0 : npy_no_memory(a, f);
    for (size_t i = 0; i < a->count && status == 0; i++) {
        const int64_t x = npy_whole(a, i);
        if (x < INT32_MIN || x > INT32_MAX)
            status = npy_fault(a, f, "the value at [%zu], of type %s, is outside -2147483648 to 2147483647", i,
                               a->name);
        else
            to[i] = (int32_t)x;
    }
    free(a->data);
    a->data = to;
    a->type = NPY_I4;
    if (status != 0)
        npy_free(a);
    return status;
}

int wholes_read(const char *argument, const char *path, struct npy *a, struct fault *f)
{
    if (npy_read(argument, path, a, f) != 0)
        return -1;
    if (npy_is_whole(a->type))
        return wholes_narrow(a, f);
    npy_free(a);
    return npy_fault(a, f, "its type is %s, want i1 to i8 or u1 to u8", a->name);
}
