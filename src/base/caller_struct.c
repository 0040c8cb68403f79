/* caller_struct.c - structs of the caller's, which may be of an older or a newer version of the interface
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/caller_struct.h"

#include <clattn_tune.h>
#include <stddef.h>
#include <string.h>

/* Structs as earlier versions had them: all members before `first`, which is the first that was added later. */
#define BEFORE(type, first)                                                                                            \
    {                                                                                                                  \
        #type, offsetof(type, first), ROUND_UP(offsetof(type, first), __alignof__(type))                               \
    }
/* A problem is its last member. */
#define OLD_WORKLOAD (offsetof(clattn_workload, problem) + offsetof(clattn_problem, o_type))
#define ROUND_UP(n, to) (((n) + (to)-1) / (to) * (to))
static const struct {
    const char *name;
    size_t members, size; /* padding may follow the members, with any contents */
} older[] = {
    BEFORE(clattn_options, why),
    BEFORE(clattn_problem, o_type),
    BEFORE(clattn_forward_args, k_scale),
    BEFORE(clattn_tune_options, keep),
    { "clattn_workload", OLD_WORKLOAD, OLD_WORKLOAD },
};

size_t caller_struct_members(const char *name, size_t given, size_t size)
{
    enum { LONGEST = 1 << 16 }; /* a longer struct_size is implausible, and reading there may fault */
    for (size_t i = 0; i < sizeof older / sizeof *older; i++)
        if (!strcmp(older[i].name, name) && older[i].size == given)
            return older[i].members;
    return given >= size && given <= LONGEST ? size : 0;
}

cl_int caller_struct_read(void *to, size_t size, const void *from, const char *name, struct why *why)
{
    size_t given;
    memset(to, 0, size);
    if (!from)
        INVALID("%s is NULL", name);
    memcpy(&given, from, sizeof given);
    const size_t members = caller_struct_members(name, given, size);
    if (!members)
        INVALID(STRUCT_SIZE_WORDS, name, given, name);
    memcpy(to, from, members);
    for (size_t i = size; i < given; i++)
        if (((const unsigned char *)from)[i])
            return why_set(why, CLATTN_ERROR_UNKNOWN_FIELD,
                           "%s is %zu bytes long, this library knows %zu, and byte %zu is not zero", name, given, size,
                           i);
    return CL_SUCCESS;
}
