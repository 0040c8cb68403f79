/* status.c - names of statuses, words for failures, checked arithmetic
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "status.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#define NAME(x)                                                                                                        \
    {                                                                                                                  \
        x, #x                                                                                                          \
    }
static const struct {
    cl_int status;
    const char *name;
} names[] = {
    NAME(CL_SUCCESS),
    NAME(CL_DEVICE_NOT_FOUND),
    NAME(CL_DEVICE_NOT_AVAILABLE),
    NAME(CL_COMPILER_NOT_AVAILABLE),
    NAME(CL_MEM_OBJECT_ALLOCATION_FAILURE),
    NAME(CL_OUT_OF_RESOURCES),
    NAME(CL_OUT_OF_HOST_MEMORY),
    NAME(CL_PROFILING_INFO_NOT_AVAILABLE),
    NAME(CL_MEM_COPY_OVERLAP),
    NAME(CL_IMAGE_FORMAT_MISMATCH),
    NAME(CL_IMAGE_FORMAT_NOT_SUPPORTED),
    NAME(CL_BUILD_PROGRAM_FAILURE),
    NAME(CL_MAP_FAILURE),
    NAME(CL_MISALIGNED_SUB_BUFFER_OFFSET),
    NAME(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST),
    NAME(CL_COMPILE_PROGRAM_FAILURE),
    NAME(CL_LINKER_NOT_AVAILABLE),
    NAME(CL_LINK_PROGRAM_FAILURE),
    NAME(CL_DEVICE_PARTITION_FAILED),
    NAME(CL_KERNEL_ARG_INFO_NOT_AVAILABLE),
    NAME(CL_INVALID_VALUE),
    NAME(CL_INVALID_DEVICE_TYPE),
    NAME(CL_INVALID_PLATFORM),
    NAME(CL_INVALID_DEVICE),
    NAME(CL_INVALID_CONTEXT),
    NAME(CL_INVALID_QUEUE_PROPERTIES),
    NAME(CL_INVALID_COMMAND_QUEUE),
    NAME(CL_INVALID_HOST_PTR),
    NAME(CL_INVALID_MEM_OBJECT),
    NAME(CL_INVALID_IMAGE_FORMAT_DESCRIPTOR),
    NAME(CL_INVALID_IMAGE_SIZE),
    NAME(CL_INVALID_SAMPLER),
    NAME(CL_INVALID_BINARY),
    NAME(CL_INVALID_BUILD_OPTIONS),
    NAME(CL_INVALID_PROGRAM),
    NAME(CL_INVALID_PROGRAM_EXECUTABLE),
    NAME(CL_INVALID_KERNEL_NAME),
    NAME(CL_INVALID_KERNEL_DEFINITION),
    NAME(CL_INVALID_KERNEL),
    NAME(CL_INVALID_ARG_INDEX),
    NAME(CL_INVALID_ARG_VALUE),
    NAME(CL_INVALID_ARG_SIZE),
    NAME(CL_INVALID_KERNEL_ARGS),
    NAME(CL_INVALID_WORK_DIMENSION),
    NAME(CL_INVALID_WORK_GROUP_SIZE),
    NAME(CL_INVALID_WORK_ITEM_SIZE),
    NAME(CL_INVALID_GLOBAL_OFFSET),
    NAME(CL_INVALID_EVENT_WAIT_LIST),
    NAME(CL_INVALID_EVENT),
    NAME(CL_INVALID_OPERATION),
    NAME(CL_INVALID_GL_OBJECT),
    NAME(CL_INVALID_BUFFER_SIZE),
    NAME(CL_INVALID_MIP_LEVEL),
    NAME(CL_INVALID_GLOBAL_WORK_SIZE),
    NAME(CL_INVALID_PROPERTY),
    NAME(CL_INVALID_IMAGE_DESCRIPTOR),
    NAME(CL_INVALID_COMPILER_OPTIONS),
    NAME(CL_INVALID_LINKER_OPTIONS),
    NAME(CL_INVALID_DEVICE_PARTITION_COUNT),
    { -69, "CL_INVALID_PIPE_SIZE" },
    { -70, "CL_INVALID_DEVICE_QUEUE" },
    { -71, "CL_INVALID_SPEC_ID" },
    { -72, "CL_MAX_SIZE_RESTRICTION_EXCEEDED" },
    { -1001, "CL_PLATFORM_NOT_FOUND_KHR" },
    NAME(CLATTN_ERROR_INVALID_ARGUMENT),
    NAME(CLATTN_ERROR_UNKNOWN_FIELD),
    NAME(CLATTN_ERROR_NOT_SUPPORTED),
    NAME(CLATTN_ERROR_BUFFER_TOO_SMALL),
    NAME(CLATTN_ERROR_WORKSPACE),
    NAME(CLATTN_ERROR_BUILD),
    NAME(CLATTN_ERROR_SYNTAX),
    NAME(CLATTN_ERROR_FORKED),
    NAME(CLATTN_ERROR_CONTEXT),
    NAME(CLATTN_ERROR_CANCELLED),
    NAME(CLATTN_ERROR_WRONG_RESULT),
    NAME(CLATTN_ERROR_CRASHED),
};

const char *clattn_status_string(cl_int status)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].status == status)
            return names[i].name;
    return "unknown status";
}

cl_int why_set(struct why *why, cl_int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (vsnprintf(why->text, sizeof why->text, format, ap) < 0)
        why->text[0] = '\0';
    va_end(ap);
    return status;
}

cl_int why_cl(struct why *why, cl_int status, const char *call)
{
    return why_set(why, status, "%s: %s (%d)", call, clattn_status_string(status), (int)status);
}

void text_add(struct text *t, const char *format, ...)
{
    const size_t left = t->length < t->room ? t->room - t->length : 0;
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(left ? t->to + t->length : NULL, left, format, ap);
    va_end(ap);
    if (n > 0)
        t->length += (size_t)n;
}

void text_add_n(struct text *t, const char *bytes, size_t n)
{
    if (t->length < t->room) {
        const size_t left = t->room - t->length - 1, copied = n < left ? n : left;
        memcpy(t->to + t->length, bytes, copied);
        t->to[t->length + copied] = '\0';
    }
    t->length += n;
}

bool mul_i64(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_mul_overflow(a, b, r);
}

bool add_i64(int64_t a, int64_t b, int64_t *r)
{
    return !__builtin_add_overflow(a, b, r);
}

/* What structs were in earlier versions: their members up to `first`, the first that came later. */
#define BEFORE(type, first)                                                                                            \
    {                                                                                                                  \
        #type, offsetof(type, first), ROUND_UP(offsetof(type, first), __alignof__(type))                               \
    }
#define ROUND_UP(n, to) (((n) + (to)-1) / (to) * (to))
static const struct {
    const char *name;
    size_t members, size; /* behind the members there may be padding, which holds anything */
} older[] = {
    BEFORE(clattn_options, why),
};

size_t struct_members(const char *name, size_t given, size_t size)
{
    enum { LONGEST = 1 << 16 }; /* what lies past an honest struct_size is not ours to read */
    for (size_t i = 0; i < sizeof older / sizeof *older; i++)
        if (!strcmp(older[i].name, name) && older[i].size == given)
            return older[i].members;
    return given >= size && given <= LONGEST ? size : 0;
}

cl_int struct_read(void *to, size_t size, const void *from, const char *name, struct why *why)
{
    size_t given;
    memset(to, 0, size);
    if (!from)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "%s is NULL", name);
    memcpy(&given, from, sizeof given);
    const size_t members = struct_members(name, given, size);
    if (!members)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, STRUCT_SIZE_WORDS, name, given, name);
    memcpy(to, from, members);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)from)[i])
            return why_set(why, CLATTN_ERROR_UNKNOWN_FIELD,
                           "%s is %zu bytes long, this library knows %zu, and byte %zu is not zero", name, given, size,
                           i);
    return CL_SUCCESS;
}
