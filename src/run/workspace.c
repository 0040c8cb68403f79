/* workspace.c - how many work-groups a call's passes have, how many bytes of workspace, and what lies where in them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/workspace.h"

#include "base/checked.h"
#include "run/tensor.h"

/* ---- Work-groups ---- */

size_t workspace_groups(const struct launch_pass *pass, const struct operation *what, const struct call *c)
{
    const bool takes_part = pass->pass && pass->pass->calls & what->calls;
    return takes_part ? (size_t)pass->pass->groups(&pass->target, &c->args) : 0;
}

struct grid workspace_grid(size_t groups, size_t items)
{
    enum { GRID_WIDTH = 65536 };
    const size_t most = (GRID_WIDTH - 1) / items, high = (groups - 1) / most + 1;
    return (struct grid){ (groups - 1) / high + 1, high };
}

/* ---- Bytes ---- */

/* What all groups share comes first, and what each has begins behind it as aligned as the workspace itself. */
static bool shared_bytes(const struct launch *l, const struct operation *what, const struct call *c, int64_t *bytes)
{
    *bytes = 0;
    if (!what->call_bytes)
        return true;
    if (!what->call_bytes(l->plan.target, &c->args, bytes) ||
        !checked_add(*bytes, WORKSPACE_ALIGNMENT - 1, bytes))
        return false;
    *bytes -= *bytes % WORKSPACE_ALIGNMENT;
    return true;
}

/* What the groups of a pass have. Spare ones of the grid have some as well. */
static bool group_bytes(const struct launch_pass *pass, size_t groups, const struct call *c, int64_t *bytes)
{
    const struct grid grid = workspace_grid(groups, (size_t)pass->items);
    const int64_t of_group = pass->pass->group_bytes ? pass->pass->group_bytes(&pass->target, &c->args) : 0;
    return checked_mul((int64_t)(grid.wide * grid.high), of_group, bytes);
}

static cl_int count(size_t *size, const struct launch *l, const struct operation *what, const struct call *c,
                    struct why *why)
{
    int64_t shared, own, bytes = 0;
    size_t most = 0; /* groups of a pass */
    bool fits = true;
    *size = 0;
    for (int i = 0; i < PASSES; i++) {
        const struct launch_pass *const pass = &l->passes[i];
        const size_t groups = workspace_groups(pass, what, c);
        if (!groups)
            continue;
        fits = fits && group_bytes(pass, groups, c, &own);
        most = groups > most ? groups : most;
        bytes = fits && own > bytes ? own : bytes;
    }
    if (!most)
        return CL_SUCCESS;
    if (!fits || !shared_bytes(l, what, c, &shared) || !checked_add(bytes, shared, &bytes) ||
        (uint64_t)bytes > SIZE_MAX / 2)
        REFUSE("%zu work-groups need too much workspace", most);
    if (l->max_workspace && (uint64_t)bytes > l->max_workspace)
        REFUSE("the call needs a workspace of %lld bytes, the plan allows %zu", (long long)bytes, l->max_workspace);
    *size = (size_t)bytes;
    return CL_SUCCESS;
}

/* ---- Parts ---- */

/* The most parts of [low, high] that there is room for; low - 1: for none of them. There more parts need more. */
static int most_parts(const struct launch *l, const struct operation *what, struct call *c, int low, int high)
{
    struct why why;
    size_t size;
    int fit = low - 1, over = high + 1;
    while (over - fit > 1) {
        const int parts = fit + (over - fit) / 2;
        call_set_parts(c, parts);
        if (count(&size, l, what, c, &why))
            over = parts;
        else
            fit = parts;
    }
    return fit;
}

/* What a call needs grows with the parts, but where they become so short that none of them has totals: there it may
 * shrink to half. Pieces of either side are searched by halves, since there may be millions of parts. */
cl_int workspace_fit(size_t *size, const struct launch *l, const struct operation *what, struct call *c,
                        struct why *why)
{
    const cl_int status = count(size, l, what, c, why);
    const int high = c->args.parts - 1, turn = c->short_parts > high ? high + 1 : (int)c->short_parts;
    if (!status || !c->parts_may_be_fewer || high < 1)
        return status;
    int parts = most_parts(l, what, c, turn, high);
    if (parts < turn)
        parts = most_parts(l, what, c, 1, turn - 1);
    call_set_parts(c, parts < 1 ? 1 : parts);
    return count(size, l, what, c, why);
}

void workspace_spare(struct call *c)
{
    if (c->parts_may_be_fewer && !c->args.wanted && !c->workspace.mem) /* gradients always have some */
        call_set_parts(c, 1);
}

/* ---- Places ---- */

cl_int workspace_take(const struct launch *l, const struct operation *what, struct call *c, size_t bytes,
                      struct why *why)
{
    int64_t shared, at;
    const cl_int status =
        tensor_check_workspace(&c->workspace, bytes, l->plan.context, &c->mem[PARAM_WORKSPACE], &at, why);
    if (status)
        return status;
    shared_bytes(l, what, c, &shared);
    c->args.states_offset = at;
    c->args.workspace_offset = at + shared / (int64_t)sizeof(cl_uint);
    if (what->take_parts && c->args.parts > 1)
        what->take_parts(c, &l->problem);
    return CL_SUCCESS;
}
