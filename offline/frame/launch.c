/* launch.c - what a kernel is launched with: does it fit?
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/launch.h"

#include "offline/frame/why.h"

const char *launch_arg_fault(const struct launch_arg *a, enum param_kind kind, size_t size,
                             const struct launch_buffer *buffers, size_t n_buffers, size_t most_shared)
{
    const int pointer = a->kind == ARG_BUFFER || a->kind == ARG_NULL;
    if (kind == PARAM_SHARED ? a->kind != ARG_SHARED : kind == PARAM_GLOBAL ? !pointer :
        a->kind != ARG_VALUE && !(pointer && size == 8))
        return "is of another kind";
    if (a->kind == ARG_VALUE && (a->size != size || !a->value))
        return "has another size";
    if (a->kind == ARG_BUFFER && (a->buffer >= n_buffers || a->offset > buffers[a->buffer].size))
        return "is no buffer of the launch, or begins behind its end";
    if (a->kind == ARG_SHARED && a->size > most_shared)
        return "is too large";
    return NULL;
}

int launch_check_grid(const uint32_t grid[3], char *why, size_t why_size)
{
    uint64_t groups = 1;
    for (int i = 0; i < 3 && groups; i++)
        groups = groups > UINT32_MAX ? groups : groups * grid[i];
    if (groups <= UINT32_MAX)
        return 1;
    say_why(why, why_size, "the grid has more than 2^32 - 1 groups");
    return 0;
}

int launch_check_buffers(const struct launch_buffer *buffers, size_t n, unsigned shift, char *why, size_t why_size)
{
    if (n > LAUNCH_BUFFERS_MAX) {
        say_why(why, why_size, "more than %d buffers", LAUNCH_BUFFERS_MAX);
        return 0;
    }
    for (size_t i = 0; i < n; i++)
        if ((buffers[i].size && !buffers[i].data) || (uint64_t)buffers[i].size >> shift) {
            say_why(why, why_size, "buffer %zu has no data, or too much", i);
            return 0;
        }
    return 1;
}

int launch_uses(const struct launch_arg *args, size_t n, size_t buffer)
{
    for (size_t i = 0; i < n; i++)
        if (args[i].kind == ARG_BUFFER && args[i].buffer == buffer)
            return 1;
    return 0;
}
