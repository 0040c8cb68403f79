/* launch_workspace.c - how many bytes of workspace a call needs, and what lies where in them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/launch_workspace.h"

#include "base/checked.h"
#include "run/merge.h"
#include "run/tensor.h"

#include <string.h>

/* What all groups share comes first, and what each has begins behind it as aligned as the workspace itself. */
static bool shared_bytes(const struct target *target, const struct pass *pass, const struct call *c, int64_t *bytes)
{
    *bytes = 0;
    if (!pass->call_bytes)
        return true;
    if (!pass->call_bytes(target, &c->args, bytes) || !checked_add(*bytes, WORKSPACE_ALIGNMENT - 1, bytes))
        return false;
    *bytes -= *bytes % WORKSPACE_ALIGNMENT;
    return true;
}

/* Spare groups of the grid have some as well. */
static cl_int pass_workspace(size_t *size, const struct launch *l, const struct launch_pass *pass, const struct call *c,
                             struct why *why)
{
    const struct target target = launch_pass_target(l, pass);
    const size_t groups = launch_pass_groups(l, pass, c);
    const int64_t of_group = groups && pass->pass->group_bytes ? pass->pass->group_bytes(&target, &c->args) : 0;
    int64_t shared, bytes;
    *size = 0;
    if (!groups)
        return CL_SUCCESS;
    const struct grid grid = launch_pass_grid(groups, (size_t)pass->items);
    if (!shared_bytes(&target, pass->pass, c, &shared) ||
        !checked_mul((int64_t)(grid.wide * grid.high), of_group, &bytes) || !checked_add(bytes, shared, &bytes) ||
        (uint64_t)bytes > SIZE_MAX / 2)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "%zu work-groups need too much workspace", groups);
    if (l->max_workspace && (uint64_t)bytes > l->max_workspace)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "the call needs a workspace of %lld bytes, the plan allows %zu",
                       (long long)bytes, l->max_workspace);
    *size = (size_t)bytes;
    return CL_SUCCESS;
}

static cl_int count_workspace(size_t *size, const struct launch *l, const struct operation *what, const struct call *c,
                              struct why *why)
{
    cl_int status = CL_SUCCESS;
    *size = 0;
    for (int i = 0; i < what->n && !status; i++) {
        size_t bytes;
        if (!(status = pass_workspace(&bytes, l, &l->passes[what->passes[i]], c, why)) && bytes > *size)
            *size = bytes;
    }
    return status;
}

/* The most parts of [low, high] that there is room for; low - 1: for none of them. There more parts need more. */
static int most_parts(const struct launch *l, const struct operation *what, struct call *c, int low, int high)
{
    struct why why;
    size_t size;
    int fit = low - 1, over = high + 1;
    while (over - fit > 1) {
        const int parts = fit + (over - fit) / 2;
        call_set_parts(c, parts);
        if (count_workspace(&size, l, what, c, &why))
            over = parts;
        else
            fit = parts;
    }
    return fit;
}

/* What a call needs grows with the parts, but where they become so short that none of them has totals: there it may
 * shrink to half. Pieces of either side are searched by halves, since there may be millions of parts. */
cl_int launch_workspace_settle(size_t *size, const struct launch *l, const struct operation *what, struct call *c,
                               struct why *why)
{
    const cl_int status = count_workspace(size, l, what, c, why);
    const int high = c->args.parts - 1, turn = c->short_parts > high ? high + 1 : (int)c->short_parts;
    if (!status || !c->parts_may_be_fewer || high < 1)
        return status;
    int parts = most_parts(l, what, c, turn, high);
    if (parts < turn)
        parts = most_parts(l, what, c, 1, turn - 1);
    call_set_parts(c, parts < 1 ? 1 : parts);
    return count_workspace(size, l, what, c, why);
}

cl_int launch_workspace_take(const struct launch *l, const struct operation *what, struct call *c, size_t bytes,
                             struct why *why)
{
    const struct launch_pass *const first = &l->passes[what->passes[0]];
    const struct target target = launch_pass_target(l, first);
    int64_t shared, at;
    const cl_int status =
        tensor_check_workspace(&c->workspace, bytes, l->context, &c->mem[PARAM_WORKSPACE], &at, why);
    if (status)
        return status;
    shared_bytes(&target, first->pass, c, &shared);
    c->args.states_offset = at;
    c->args.workspace_offset = at + shared / (int64_t)sizeof(cl_uint);
    if (what == &launch_forward && c->args.parts > 1)
        merge_take_states(c, &l->problem);
    return CL_SUCCESS;
}

void launch_workspace_spare(struct call *c)
{
    if (c->parts_may_be_fewer && !c->args.wanted && !c->workspace.mem) /* gradients always have some */
        call_set_parts(c, 1);
}

cl_int launch_workspace(const struct launch *l, const struct operation *what, const void *args, size_t *size,
                        struct why *why)
{
    const struct call_plan plan = launch_call_plan(l, what);
    struct call c;
    cl_int status;
    memset(&c, 0, sizeof c);
    if (!size)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "size is NULL");
    if ((status = launch_check(l, what, why)) || (status = what->read_sizes(&c, &plan, args, why)))
        return status;
    return launch_workspace_settle(size, l, what, &c, why);
}
