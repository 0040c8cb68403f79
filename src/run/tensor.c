/* tensor.c - a caller's buffers: where they begin, how far they reach, whether they may be used
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/checked.h"
#include "run/call.h"
#include "run/tensor.h"

#include <string.h>

static cl_int check_buffer(cl_mem mem, const char *name, cl_context context, bool written, size_t *size,
                           struct why *why)
{
    cl_mem_object_type type;
    cl_mem_flags flags;
    cl_context owner;
    cl_int status;
    if ((status = clGetMemObjectInfo(mem, CL_MEM_CONTEXT, sizeof owner, &owner, NULL)) ||
        (status = clGetMemObjectInfo(mem, CL_MEM_TYPE, sizeof type, &type, NULL)) ||
        (status = clGetMemObjectInfo(mem, CL_MEM_FLAGS, sizeof flags, &flags, NULL)) ||
        (status = clGetMemObjectInfo(mem, CL_MEM_SIZE, sizeof *size, size, NULL)))
        return why_set(why, status, "%s.mem is no memory object: %s", name, clattn_status_string(status));
    if (owner != context)
        return why_set(why, CLATTN_ERROR_CONTEXT, "%s.mem belongs to another context", name);
    if (type != CL_MEM_OBJECT_BUFFER)
        INVALID("%s.mem is no buffer", name);
    if (written && flags & CL_MEM_READ_ONLY)
        INVALID("%s is written, but its buffer is CL_MEM_READ_ONLY", name);
    if (!written && flags & CL_MEM_WRITE_ONLY)
        INVALID("%s is read, but its buffer is CL_MEM_WRITE_ONLY", name);
    return CL_SUCCESS;
}

static int64_t block_of(const struct tensor_use *use)
{
    return use->block ? use->block : 1;
}

static cl_int check_strides(const clattn_tensor *t, const struct tensor_use *use, struct why *why)
{
    static const char axis[] = "bhn";
    const int64_t block = block_of(use);
    for (int i = 0; i < 3; i++) {
        if (t->stride[i] < 0)
            INVALID("%s.stride[%c] is %lld, must not be negative", use->name, axis[i], (long long)t->stride[i]);
        if (t->stride[i] % block)
            INVALID("%s.stride[%c] is %lld, no multiple of %d", use->name, axis[i], (long long)t->stride[i],
                    (int)block);
    }
    if (t->offset % (size_t)block)
        INVALID("%s.offset is %zu, no multiple of %d", use->name, t->offset, (int)block);
    return CL_SUCCESS;
}

/* Strides as they count: the caller's, or those of a contiguous tensor. */
static cl_int resolve_strides(const clattn_tensor *t, const struct tensor_use *use, int64_t stride[3], struct why *why)
{
    const int inner = use->rows_first ? 1 : 2, outer = 3 - inner;
    memcpy(stride, t->stride, sizeof t->stride);
    const cl_int status = check_strides(t, use, why);
    if (status || stride[0] || stride[1] || stride[2])
        return status;
    stride[inner] = use->width;
    if (!checked_mul(stride[inner], use->extent[inner], &stride[outer]) ||
        !checked_mul(stride[outer], use->extent[outer], &stride[0]))
        INVALID("%s: its size overflows", use->name);
    return CL_SUCCESS;
}

clattn_tensor tensor_as_one_entry(const clattn_tensor *t, struct tensor_use *use, int64_t rows, bool rows_first)
{
    clattn_tensor one = *t;
    use->extent[0] = use->extent[0] ? 1 : 0;
    use->extent[2] = rows;
    use->rows_first = rows_first;
    if (one.stride[1] || one.stride[2])
        one.stride[0] = 0;
    return one;
}

/* Elements from the first to behind the last one. */
static bool reach(const struct tensor_use *use, const int64_t stride[3], int64_t *span)
{
    *span = use->width;
    for (int i = 0; i < 3; i++) {
        int64_t step;
        if (!checked_mul(use->extent[i] - 1, stride[i], &step) || !checked_add(*span, step, span))
            return false;
    }
    return true;
}

/* No two elements of an output may share a place. Sufficient and enough for every real layout: from the smallest stride
 * to the largest, each steps over all that the smaller ones cover. */
static bool distinct(int axes, const int64_t *extent, const int64_t *stride, int64_t width)
{
    int64_t covered = width, step;
    bool done[4] = { false, false, false, false };
    for (int n = 0; n < axes; n++) {
        int least = -1;
        for (int i = 0; i < axes; i++)
            if (!done[i] && (least < 0 || stride[i] < stride[least]))
                least = i;
        done[least] = true;
        if (extent[least] == 1)
            continue;
        if (stride[least] < covered)
            return false;
        if (!checked_mul(extent[least] - 1, stride[least], &step) || !checked_add(covered, step, &covered))
            return false;
    }
    return true;
}

/* No product overflows that reach() did not meet, but those of axes with one entry: these never step. */
static cla_rows_at place_of(int64_t offset, const int64_t stride[3], const struct tensor_use *use)
{
    const int64_t block = block_of(use), bytes = block > 1 ? (int64_t)use->bytes : 1;
    int64_t step[3];
    for (int i = 0; i < 3; i++)
        step[i] = use->extent[i] == 1 ? 0 : stride[i] / block * bytes;
    if (block == 1)
        memcpy(step, stride, sizeof step);
    return (cla_rows_at){ .offset = offset / block * bytes, .b = step[0], .h = step[1], .row = step[2] };
}

cl_int tensor_check(const clattn_tensor *t, const struct tensor_use *use, cl_context context, cl_mem *mem,
                    cla_rows_at *at, struct why *why)
{
    return tensor_check_behind(t, 0, use, context, mem, at, why);
}

/* Its offset is not put into a copy of `t`, where a size_t of 32 bits would cut it off. */
cl_int tensor_check_behind(const clattn_tensor *t, int64_t behind, const struct tensor_use *use, cl_context context,
                           cl_mem *mem, cla_rows_at *at, struct why *why)
{
    size_t size;
    int64_t stride[3], offset, span, end, bytes;
    cl_int status;
    *mem = NULL;
    if ((status = resolve_strides(t, use, stride, why)))
        return status;
    *at = (cla_rows_at){ .row = 0 };
    if (!use->extent[0] || !use->extent[1] || !use->extent[2])
        return CL_SUCCESS; /* strides of 0: all its rows are row 0 of what stands for it */
    if (!t->mem)
        INVALID("%s.mem is NULL, but it has %lld x %lld x %lld rows", use->name, (long long)use->extent[0],
                (long long)use->extent[1], (long long)use->extent[2]);
    if ((status = check_buffer(t->mem, use->name, context, use->written, &size, why)))
        return status;
    if (!checked_signed(t->offset, &offset) || !checked_add(offset, behind, &offset) || !reach(use, stride, &span) ||
        !checked_add(span, offset, &end) || !checked_mul(end / block_of(use), (int64_t)use->bytes, &bytes))
        INVALID("%s: offset, sizes and strides overflow", use->name);
    if ((uint64_t)bytes > size)
        return why_set(why, CLATTN_ERROR_BUFFER_TOO_SMALL, "%s reaches to byte %lld of a buffer of %zu", use->name,
                       (long long)bytes, size);
    if (use->written && !distinct(3, use->extent, stride, use->width))
        INVALID("%s: its strides make elements overlap", use->name);
    *mem = t->mem;
    *at = place_of(offset, stride, use);
    return CL_SUCCESS;
}

cl_int tensor_check_array(const clattn_array *t, const struct array_use *use, cl_context context, cl_mem *mem,
                          int64_t *offset, struct why *why)
{
    size_t size;
    int64_t from, end, bytes;
    *mem = NULL;
    *offset = 0;
    if (!use->given && t->mem)
        INVALID("%s is given, but the problem does not say so", use->name);
    if (!use->given || !use->count)
        return CL_SUCCESS;
    if (!t->mem)
        INVALID("%s.mem is NULL, but the problem says it is given", use->name);
    cl_int status = check_buffer(t->mem, use->name, context, use->written, &size, why);
    if (status)
        return status;
    if (!checked_signed(t->offset, &from) || !checked_add(from, use->count, &end) ||
        !checked_mul(end, (int64_t)use->bytes, &bytes))
        INVALID("%s: its offset overflows", use->name);
    if ((uint64_t)bytes > size)
        return why_set(why, CLATTN_ERROR_BUFFER_TOO_SMALL, "%s reaches to byte %lld of a buffer of %zu", use->name,
                       (long long)bytes, size);
    *mem = t->mem;
    *offset = from;
    return CL_SUCCESS;
}

cl_int tensor_check_workspace(const struct workspace *space, size_t need, cl_context context, cl_mem *mem,
                              int64_t *offset, struct why *why)
{
    size_t size;
    if (!space->mem || space->size < need)
        return why_set(why, CLATTN_ERROR_WORKSPACE, "the call needs a workspace of %zu bytes, %zu are given", need,
                       space->mem ? space->size : 0);
    const cl_int status = check_buffer(space->mem, "workspace", context, true, &size, why);
    if (status)
        return status;
    if (space->offset % WORKSPACE_ALIGNMENT)
        INVALID("workspace_offset is %zu, no multiple of %d", space->offset, WORKSPACE_ALIGNMENT);
    if (space->offset > size || size - space->offset < need)
        return why_set(why, CLATTN_ERROR_BUFFER_TOO_SMALL,
                       "the workspace's buffer has %zu bytes, the call needs %zu from %zu on", size, need,
                       space->offset);
    *mem = space->mem;
    *offset = (int64_t)(space->offset / sizeof(cl_uint));
    return CL_SUCCESS;
}

static bool divides(int64_t n, int64_t extent)
{
    return n == 1 || n == extent || (n > 0 && n < extent && extent % n == 0);
}

cl_int tensor4_check_shape(const clattn_tensor4 *t, const struct tensor4_use *use, struct why *why)
{
    const char *const axis = use->axes ? use->axes : "bhqk";
    for (int i = 0; i < 4; i++) {
        const bool repeats = use->repeats && i < 2;
        if (t->shape[i] && !(repeats ? divides(t->shape[i], use->extent[i])
                                     : t->shape[i] == 1 || t->shape[i] == use->extent[i]))
            INVALID("%s.shape[%c] is %lld, must be %lld%s", use->name, axis[i], (long long)t->shape[i],
                    (long long)use->extent[i],
                    use->extent[i] == 1 ? "" : repeats ? ", or a number that divides it" : ", or 1 to broadcast");
        if (t->stride[i] < 0)
            INVALID("%s.stride[%c] is %lld, must not be negative", use->name, axis[i], (long long)t->stride[i]);
    }
    return CL_SUCCESS;
}

/* Shape and strides as they count: the caller's, or the call's size; contiguous, or the caller's. */
static cl_int resolve4(const clattn_tensor4 *t, const struct tensor4_use *use, int64_t shape[4], int64_t stride[4],
                       struct why *why)
{
    static const int order[2][4] = { { 3, 2, 1, 0 }, { 3, 1, 2, 0 } };
    const cl_int status = tensor4_check_shape(t, use, why);
    const bool contiguous = !t->stride[0] && !t->stride[1] && !t->stride[2] && !t->stride[3];
    int64_t step = 1;
    if (status)
        return status;
    for (int n = 0; n < 4; n++) {
        const int i = order[use->rows_first][n];
        shape[i] = t->shape[i] ? t->shape[i] : use->extent[i];
        stride[i] = shape[i] == 1 ? 0 : contiguous ? step : t->stride[i];
        if (contiguous && !checked_mul(step, shape[i], &step))
            INVALID("%s: its size overflows", use->name);
    }
    return CL_SUCCESS;
}

cl_int tensor4_check(const clattn_tensor4 *t, const struct tensor4_use *use, cl_context context, struct tensor4 *out,
                     struct why *why)
{
    size_t size;
    int64_t end = 0, bytes, step;
    cl_int status;
    memset(out, 0, sizeof *out);
    if (!use->given && t->mem)
        INVALID("%s is given, but the problem does not say so", use->name);
    if (!use->given)
        return CL_SUCCESS;
    if ((status = resolve4(t, use, out->shape, out->stride, why)))
        return status;
    if (use->unread || !out->shape[0] || !out->shape[1] || !out->shape[2] || !out->shape[3]) {
        memset(out->stride, 0, sizeof out->stride);
        return CL_SUCCESS;
    }
    if (!t->mem)
        INVALID("%s.mem is NULL, but the problem says it is given", use->name);
    if ((status = check_buffer(t->mem, use->name, context, use->written, &size, why)))
        return status;
    bool fits = checked_signed(t->offset, &out->offset) && checked_add(out->offset, 1, &end);
    for (int i = 0; i < 4; i++)
        fits = fits && checked_mul(out->shape[i] - 1, out->stride[i], &step) && checked_add(end, step, &end);
    if (!fits || !checked_mul(end, (int64_t)use->bytes, &bytes))
        INVALID("%s: offset, shape and strides overflow", use->name);
    if ((uint64_t)bytes > size)
        return why_set(why, CLATTN_ERROR_BUFFER_TOO_SMALL, "%s reaches to byte %lld of a buffer of %zu", use->name,
                       (long long)bytes, size);
    if (use->written && !distinct(4, out->shape, out->stride, 1))
        INVALID("%s: its strides make elements overlap", use->name);
    out->mem = t->mem;
    return CL_SUCCESS;
}

cla_scores_at tensor4_place(const struct tensor4 *t)
{
    return (cla_scores_at){ .offset = t->offset,
                            .b = t->stride[0],
                            .h = t->stride[1],
                            .q = t->stride[2],
                            .k = t->stride[3],
                            .entries = t->shape[0] ? (cla_i32)t->shape[0] : 1, /* they are divided by */
                            .heads = t->shape[1] ? (cla_i32)t->shape[1] : 1 };
}
