/* problem.c - what is asked for: checked problems. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/problem.h"

#include "base/caller_struct.h"
#include "problem/feature.h"
#include "problem/members.h"
#include "problem/mod_grads.h"

#include <float.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

int32_t problem_groups(int32_t width, int32_t group)
{
    return (width + group - 1) / group;
}

/* With a scale for each group, and zero points if it has them. */
static double row_bytes(int32_t width, int type, int32_t group, bool has_zero)
{
    const struct problem_type *const t = problem_type_at(type);
    const double bytes = (double)width / t->elements * t->bytes;
    return t->storage == PROBLEM_SCALED ? bytes + 4.0 * problem_groups(width, group) * (has_zero ? 2 : 1) : bytes;
}

double problem_k_row_bytes(const clattn_problem *p)
{
    return row_bytes(p->d, p->k_type, p->k_group, p->flags & CLATTN_K_ZERO);
}

double problem_v_row_bytes(const clattn_problem *p)
{
    return row_bytes(p->dv, p->v_type, p->v_group, p->flags & CLATTN_V_ZERO);
}

int problem_lse_type(const clattn_problem *p)
{
    return p->flags & CLATTN_LSE_F64 ? CLATTN_F64 : CLATTN_F32;
}

bool problem_is_varlen(const clattn_problem *p)
{
    return p->flags & (CLATTN_CU_Q | CLATTN_CU_K);
}

bool problem_has_lists(const clattn_problem *p)
{
    return problem_is_varlen(p) || p->flags & (CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START);
}

bool problem_has_holes(const clattn_problem *p)
{
    return feature_any(p, FEATURE_HAS_HOLES);
}

bool problem_changes_scores(const clattn_problem *p)
{
    const double log2e = 1.4426950408889634;
    return !(p->scale > 1e-30 && p->scale * log2e <= 1) || feature_any(p, FEATURE_CHANGES_SCORES);
}

/* All there are; and the members of members.h, which are those of clattn_problem, each where it is there. */
#define FLAG(flag, ...) | flag
enum { FLAGS = 0 PROBLEM_FLAGS(FLAG) };

#define MEMBER(member, type, ...) type member;
struct members {
    size_t struct_size;
    PROBLEM_MEMBERS(MEMBER, MEMBER)
};
#define IS_THERE(member, ...) + (offsetof(struct members, member) != offsetof(clattn_problem, member))
typedef char members_h_has_all_members[sizeof(struct members) == sizeof(clattn_problem)
                                       && !(0 PROBLEM_MEMBERS(IS_THERE, IS_THERE)) ? 1 : -1];

cl_int problem_check_sizes(clattn_sizes *s, struct why *why)
{
    const struct {
        const char *name;
        int64_t value, low;
    } rules[] = {
        { "b", s->b, 0 },
        { "h", s->h, 1 },
        { "hk", s->hk, 0 },
        { "nq", s->nq, 0 },
        { "nk", s->nk, 0 },
        { "total_q", s->total_q, 0 },
        { "total_k", s->total_k, 0 },
    };
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++)
        if (rules[i].value < rules[i].low || rules[i].value > ROWS_MAX)
            INVALID("%s is %lld, outside %lld to %d", rules[i].name, (long long)rules[i].value, (long long)rules[i].low,
                    ROWS_MAX);
    if (!s->hk)
        s->hk = s->h;
    if (s->h % s->hk)
        INVALID("h %lld is not a multiple of hk %lld", (long long)s->h, (long long)s->hk);
    return CL_SUCCESS;
}

static cl_int check_type(const char *name, int type, enum problem_role role, struct why *why)
{
    char types[PROBLEM_TYPE_WORDS];
    if (!problem_type_may(type, role))
        INVALID("%s %d is none of %s", name, type, problem_type_ranges(types, role));
    return CL_SUCCESS;
}

static cl_int check_types(clattn_problem *p, struct why *why)
{
    cl_int status;
    if (!p->type)
        p->type = CLATTN_F32;
    if (!p->k_type)
        p->k_type = p->type;
    if (!p->v_type)
        p->v_type = p->type;
    if (!p->o_type)
        p->o_type = p->type;
    if ((status = check_type("type", p->type, PROBLEM_ROWS, why)) ||
        (status = check_type("o_type", p->o_type, PROBLEM_ROWS, why)) ||
        (status = check_type("k_type", p->k_type, PROBLEM_KEYS, why)) ||
        (status = check_type("v_type", p->v_type, PROBLEM_KEYS, why)))
        return status;
    if ((p->type == CLATTN_F64) != (p->o_type == CLATTN_F64))
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "f64 goes with f64 only, not Q in %s with O in %s",
                       problem_type_name(p->type), problem_type_name(p->o_type));
    if ((p->type == CLATTN_F64) != (p->k_type == CLATTN_F64) || (p->type == CLATTN_F64) != (p->v_type == CLATTN_F64))
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "f64 goes with f64 only, not with Q %s, K %s, V %s",
                       problem_type_name(p->type), problem_type_name(p->k_type), problem_type_name(p->v_type));
    return CL_SUCCESS;
}

static cl_int check_width(const char *name, int32_t d, struct why *why)
{
    if (d < 1)
        INVALID("%s is %d, must be at least 1", name, (int)d);
    if (d > D_MAX)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "%s is %d, at most %d is supported", name, (int)d, D_MAX);
    return CL_SUCCESS;
}

/* What a quantised K or V asks of its width and its groups; *group becomes what it is by default. */
static cl_int check_quantised(const char *name, int type, int32_t width, int32_t *group, bool has_zero, struct why *why)
{
    const struct problem_type *const t = problem_type_at(type);
    const bool scaled = t->storage == PROBLEM_SCALED;
    if (width % t->elements)
        INVALID("%s in %s has rows of %d elements, no multiple of %d", name, t->name, (int)width, t->elements);
    if (!scaled && *group)
        INVALID("%s_group is %d, but %s has no scales of its own", name, (int)*group, t->name);
    if (!scaled && has_zero)
        INVALID("%s has zero points, but %s takes none", name, t->name);
    if (*group < 0 || (*group > 1 && *group % 16 && *group != width))
        INVALID("%s_group is %d, neither 0, 1, nor a multiple of 16", name, (int)*group);
    if (scaled && (!*group || *group > width))
        *group = width;
    return CL_SUCCESS;
}

static cl_int check_caches(clattn_problem *p, struct why *why)
{
    cl_int status;
    if ((status = check_quantised("k", p->k_type, p->d, &p->k_group, p->flags & CLATTN_K_ZERO, why)) ||
        (status = check_quantised("v", p->v_type, p->dv, &p->v_group, p->flags & CLATTN_V_ZERO, why)))
        return status;
    if (p->page < 0 || p->page > ROWS_MAX)
        INVALID("page is %d, outside 0 to %d", (int)p->page, ROWS_MAX);
    if (p->page && p->flags & CLATTN_CU_K)
        INVALID("paged K and V cannot be varlen: each sequence has its pages");
    if (p->splits < 0 || p->splits > SPLITS_MAX)
        INVALID("splits is %d, outside 0 to %d", (int)p->splits, SPLITS_MAX);
    return CL_SUCCESS;
}

/* A plan may be made without sizes: they only help to choose. Any that are given must make sense. */
static cl_int check_hint(clattn_sizes *s, struct why *why)
{
    if (s->h || s->hk)
        return problem_check_sizes(s, why);
    clattn_sizes one = *s;
    one.h = 1;
    return problem_check_sizes(&one, why);
}

static cl_int check_scale(clattn_problem *p, struct why *why)
{
    if (!isfinite(p->scale))
        INVALID("scale is not finite");
    if (p->scale == 0 && !(p->flags & CLATTN_SCALE))
        p->scale = 1 / sqrt(p->d);
    /* A subnormal one has lost digits already, or is 0 to devices that flush it. */
    const double least = p->type == CLATTN_F64 ? DBL_MIN : (double)FLT_MIN;
    if (p->scale != 0 && fabs(p->scale) < least)
        INVALID("scale %g is subnormal: 0 or at least %g in size", p->scale, least);
    /* Arithmetic in float folds log2(e) into the scale: both must fit. */
    if (p->type != CLATTN_F64 && fabs(p->scale) > 1e38)
        INVALID("scale %g is beyond what float holds", p->scale);
    return CL_SUCCESS;
}

static cl_int check_features(clattn_problem *p, struct why *why)
{
    FEATURE_EACH(f) {
        const cl_int status = f->check ? f->check(p, why) : CL_SUCCESS;
        if (status)
            return status;
    }
    if (p->align < CLATTN_ALIGN_BOTTOM_RIGHT || p->align > CLATTN_ALIGN_OFFSETS)
        INVALID("align %d is none of CLATTN_ALIGN_*", (int)p->align);
    if (p->flags & ~(uint32_t)FLAGS)
        INVALID("flags 0x%x has unknown bits", (unsigned)p->flags);
    if (p->flags & CLATTN_LSE_F64 && p->type != CLATTN_F64)
        INVALID("CLATTN_LSE_F64 goes with f64 only, not with %s", problem_type_name(p->type));
    if (p->flags & CLATTN_REPEAT && !p->bias_type && !(p->flags & CLATTN_MASK))
        INVALID("CLATTN_REPEAT is of a bias or a mask, and there is neither");
    if (!feature_any(p, FEATURE_KNOWS_DIAGONAL))
        p->align = CLATTN_ALIGN_BOTTOM_RIGHT; /* without a diagonal nothing asks where it lies */
    return CL_SUCCESS;
}

/* What has no gradients. */
static cl_int check_backward(const clattn_problem *p, struct why *why)
{
    if (!(p->flags & CLATTN_BACKWARD))
        return CL_SUCCESS;
    if (p->flags & (CLATTN_APPEND | CLATTN_ROTARY))
        INVALID("CLATTN_BACKWARD goes with neither CLATTN_APPEND nor CLATTN_ROTARY");
    if (p->flags & CLATTN_SCORES)
        INVALID("CLATTN_SCORES is of forward calls, and does not go with CLATTN_BACKWARD");
    if (p->flags & CLATTN_BATCH_INVARIANT)
        INVALID("CLATTN_BATCH_INVARIANT is of forward calls, and does not go with CLATTN_BACKWARD");
    if (p->splits)
        INVALID("splits is %d, but backward calls, not their problem, say how many stripes they have", (int)p->splits);
    if (problem_type_is_quantised(p->k_type) || problem_type_is_quantised(p->v_type))
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "quantised K and V have no gradients");
    if (p->page)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "gradients of paged K and V are not supported");
    return mod_grads_check(p, why);
}

cl_int problem_read(clattn_problem *p, const clattn_problem *in, struct why *why)
{
    cl_int status = caller_struct_read(p, sizeof *p, in, "clattn_problem", why);
    if (status)
        return status;
    p->struct_size = sizeof *p;
    if (!p->dv)
        p->dv = p->d;
    if (p->reserved)
        INVALID("reserved is %d, must be 0", (int)p->reserved);
    if (!(p->flags & CLATTN_BACKWARD))
        p->aux_grads = 0;
    if ((status = check_types(p, why)) || (status = check_width("d", p->d, why)) ||
        (status = check_width("dv", p->dv, why)) || (status = check_caches(p, why)) ||
        (status = check_hint(&p->sizes, why)) || (status = check_scale(p, why)))
        return status;
    return (status = check_features(p, why)) ? status : check_backward(p, why);
}

cl_int problem_check(const clattn_problem *p, struct why *why)
{
    clattn_problem checked;
    const cl_int status = problem_read(&checked, p, why);
    return status ? status : problem_check_sizes(&checked.sizes, why);
}
