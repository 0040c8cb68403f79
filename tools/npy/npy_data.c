/* npy_data.c - the types of .npy files, and the order of their bytes and elements
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/npy/npy.h"

#include <stdio.h>
#include <string.h>

/* ---- Types ---- */

/* By what files that are written call them. */
static const struct { char name[4]; int type; size_t size; int is_whole; } types[] = {
    { "<f4", NPY_F4, 4, 0 }, { "<f2", NPY_F2, 2, 0 }, { "<f8", NPY_F8, 8, 0 }, { "|b1", NPY_B1, 1, 0 },
    { "|i1", NPY_I1, 1, 1 }, { "|u1", NPY_U1, 1, 1 }, { "<i2", NPY_I2, 2, 1 }, { "<u2", NPY_U2, 2, 1 },
    { "<i4", NPY_I4, 4, 1 }, { "<u4", NPY_U4, 4, 1 }, { "<i8", NPY_I8, 8, 1 }, { "<u8", NPY_U8, 8, 1 },
};
enum { TYPES = sizeof types / sizeof *types };

static int find(int type)
{
    int i = 0;
    while (i < TYPES && types[i].type != type)
        i++;
    return i;
}

size_t npy_size(int type)
{
    const int i = find(type);
    return i < TYPES ? types[i].size : 0;
}

int npy_is_whole(int type)
{
    const int i = find(type);
    return i < TYPES && types[i].is_whole;
}

const char *npy_name(int type)
{
    const int i = find(type);
    return i < TYPES ? types[i].name : "?";
}

/* A single byte has no order, whatever the file calls it; more of them have one of two. */
int npy_type(const char *name, struct npy *a)
{
    if (strlen(name) != 3 || !strchr("<>|", name[0]))
        return -1;
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i].name + 1, name + 1) == 0 && (name[0] != '|' || types[i].size == 1)) {
            a->type = types[i].type;
            memcpy(a->name, name, sizeof a->name);
            return 0;
        }
    return -1;
}

void npy_shape(int ndim, const int64_t *shape, char text[NPY_SHAPE_TEXT])
{
    size_t at = 0;
    text[at++] = '[';
    for (int axis = 0; axis < ndim && axis < NPY_DIMS; axis++)
        at += (size_t)snprintf(text + at, NPY_SHAPE_TEXT - at, "%s%lld", axis ? "," : "", (long long)shape[axis]);
    text[at++] = ']'; /* 8 axes of at most 20 digits and a comma leave room */
    text[at] = '\0';
}

/* ---- Elements ---- */

#define WHOLE(type, at) { type x; memcpy(&x, at, sizeof x); return (int64_t)x; }
int64_t npy_whole(const struct npy *a, size_t i)
{
    const unsigned char *const at = (const unsigned char *)a->data + i * npy_size(a->type);
    uint64_t most;
    switch (a->type) {
    case NPY_I1: WHOLE(int8_t, at)
    case NPY_U1: WHOLE(uint8_t, at)
    case NPY_I2: WHOLE(int16_t, at)
    case NPY_U2: WHOLE(uint16_t, at)
    case NPY_I4: WHOLE(int32_t, at)
    case NPY_U4: WHOLE(uint32_t, at)
    case NPY_I8: WHOLE(int64_t, at)
    case NPY_U8:
        memcpy(&most, at, sizeof most);
        return most > INT64_MAX ? INT64_MAX : (int64_t)most;
    default: return 0;
    }
}

/* ---- Order ---- */

void npy_swap(const char *name, void *data, size_t count)
{
    const uint16_t probe = 1;
    const size_t size = (size_t)(name[2] - '0');
    const char host = *(const unsigned char *)&probe == 1 ? '<' : '>';
    if (name[0] == host || size < 2)
        return;
    for (unsigned char *at = data; count > 0; count--, at += size)
        for (size_t i = 0; i < size / 2; i++) {
            const unsigned char byte = at[i];
            at[i] = at[size - 1 - i];
            at[size - 1 - i] = byte;
        }
}

/* Goes through the elements in C order; `at` is where the one with the indices `index` lies in `from`. All are products
 * of some of the axes, which npy_read() has seen to fit. */
void npy_transpose(int ndim, const int64_t *shape, size_t size, const void *from, void *to)
{
    size_t stride[NPY_DIMS], count = 1, at = 0;
    int64_t index[NPY_DIMS] = { 0 };
    unsigned char *next = to;
    for (int axis = 0; axis < ndim; axis++) {
        stride[axis] = count * size;
        count *= (size_t)shape[axis];
    }
    for (; count > 0; count--, next += size) {
        memcpy(next, (const unsigned char *)from + at, size);
        for (int axis = ndim - 1; axis >= 0; axis--) {
            at += stride[axis];
            if (++index[axis] < shape[axis])
                break;
            at -= (size_t)shape[axis] * stride[axis];
            index[axis] = 0;
        }
    }
}
