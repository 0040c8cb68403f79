/* call.c - a caller's arguments, checked, as kernels take them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "run/call.h"

#include "base/caller_struct.h"
#include "base/checked.h"
#include "base/text.h"
#include "engine/split.h"
#include "problem/dropout.h"
#include "problem/feature.h"
#include "run/caches.h"
#include "run/readers.h"
#include "run/tensor.h"

#include <string.h>

/* What kernels know flags and alignments by. */
typedef char constants_agree[CLA_Q_LEN == CLATTN_Q_LEN && CLA_KV_LEN == CLATTN_KV_LEN &&
                                     CLA_KV_START == CLATTN_KV_START && CLA_CU_Q == CLATTN_CU_Q &&
                                     CLA_CU_K == CLATTN_CU_K && CLA_BOTTOM_RIGHT == CLATTN_ALIGN_BOTTOM_RIGHT &&
                                     CLA_TOP_LEFT == CLATTN_ALIGN_TOP_LEFT && CLA_OFFSETS == CLATTN_ALIGN_OFFSETS
                                 ? 1
                                 : -1];

/* What all checks of one call share. */
struct reader {
    const clattn_problem *p;
    const clattn_forward_args *a;
    enum call_use use;
    clattn_sizes s;
    cl_context context;
    struct why *why;
};

cl_int call_sizes(clattn_sizes *s, const struct call *c, const clattn_sizes *given, struct why *why)
{
    *s = *(given ? given : c->sizes);
    return problem_check_sizes(s, why);
}

/* ---- Q, K, V, O and LSE ---- */

static cl_int check_tensors(struct call *c, const struct reader *r)
{
    const clattn_problem *p = r->p;
    const clattn_forward_args *a = r->a;
    const clattn_sizes *s = &r->s;
    struct arguments *to = &c->args;
    const size_t q_bytes = problem_type_size(p->type), o_bytes = problem_type_size(p->o_type);
    const size_t lse_bytes = problem_type_size(problem_lse_type(p));
    const bool varlen = p->flags & CLATTN_CU_Q, written = r->use == CALL_WRITES;
    const bool has_o = written || r->use == CALL_READS, has_lse = r->use != CALL_NEEDS_NEITHER;
    const struct {
        int param;
        bool wanted;
        const clattn_tensor *tensor;
        struct tensor_use use;
        cla_rows_at *at;
    } rows[] = {
        { PARAM_Q, true, &a->q, { "q", { s->b, s->h, s->nq }, p->d, q_bytes, false, false, 0 }, &to->q },
        { PARAM_O, has_o, &a->o, { "o", { s->b, s->h, s->nq }, p->dv, o_bytes, written, false, 0 }, &to->o },
        { PARAM_LSE, has_lse && (a->lse.mem || !written), &a->lse,
          { "lse", { s->b, s->h, s->nq }, 1, lse_bytes, written, false, 0 }, &to->lse },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int param = rows[i].param;
        if (!rows[i].wanted)
            continue;
        struct tensor_use use = rows[i].use;
        clattn_tensor t = *rows[i].tensor;
        if (varlen)
            t = tensor_as_one_entry(&t, &use, s->total_q, param != PARAM_LSE);
        cl_int status = tensor_check(&t, &use, r->context, &c->mem[param], rows[i].at, r->why);
        if (status)
            return status;
        if (varlen)
            rows[i].at->b = 0;
    }
    const struct caches caches = CACHES_OF(a);
    return caches_check(&caches, &(struct caches_use){ p, s, r->context, false, !has_o }, to, c->mem, r->why);
}

/* ---- Lists and what goes with scores ---- */

cl_int call_check_arrays(struct call *c, const struct call_array *arrays, size_t n, cl_context context, struct why *why)
{
    cl_int status = CL_SUCCESS;
    for (size_t i = 0; i < n && !status; i++)
        status = tensor_check_array(arrays[i].array, &arrays[i].use, context, &c->mem[arrays[i].param],
                                    arrays[i].offset, why);
    return status;
}

static cl_int check_arrays(struct call *c, const struct reader *r)
{
    const clattn_problem *p = r->p;
    const clattn_forward_args *a = r->a;
    const uint32_t flags = p->flags;
    const bool offsets = p->align == CLATTN_ALIGN_OFFSETS;
    struct arguments *to = &c->args;
    const bool sloped = flags & PROBLEM_SLOPES;
    const int64_t b = r->s.b, h = r->s.h, cu = b ? b + 1 : 0;
    int64_t slopes = h;
    if (a->slopes_stride < 0 || (a->slopes_stride && !sloped))
        return why_set(r->why, CLATTN_ERROR_INVALID_ARGUMENT, "slopes_stride is %lld%s", (long long)a->slopes_stride,
                       a->slopes_stride < 0 ? ", must not be negative" : ", but the problem has no slopes");
    if (b > 1 && (!checked_mul(b - 1, a->slopes_stride, &slopes) || !checked_add(slopes, h, &slopes)))
        return why_set(r->why, CLATTN_ERROR_INVALID_ARGUMENT, "slopes: its stride overflows");
    const struct call_array rows[] = {
        { PARAM_Q_LEN, &a->q_len, { "q_len", flags & CLATTN_Q_LEN, b, 4, false }, &to->q_len_offset },
        { PARAM_KV_LEN, &a->kv_len, { "kv_len", flags & CLATTN_KV_LEN, b, 4, false }, &to->kv_len_offset },
        { PARAM_KV_START, &a->kv_start, { "kv_start", flags & CLATTN_KV_START, b, 4, false }, &to->kv_start_offset },
        { PARAM_OFFSETS, &a->offsets, { "offsets", offsets, b, 4, false }, &to->offsets_offset },
        { PARAM_CU_Q, &a->cu_q, { "cu_q", flags & CLATTN_CU_Q, cu, 4, false }, &to->cu_q_offset },
        { PARAM_CU_K, &a->cu_k, { "cu_k", flags & CLATTN_CU_K, cu, 4, false }, &to->cu_k_offset },
        { PARAM_SLOPES, &a->slopes, { "slopes", sloped, b ? slopes : 0, 4, false }, &to->slopes_offset },
        { PARAM_SINKS, &a->sinks, { "sinks", flags & CLATTN_SINKS, h, 4, false }, &to->sinks_offset },
    };
    to->slopes_stride = a->slopes_stride;
    return call_check_arrays(c, rows, sizeof rows / sizeof *rows, r->context, r->why);
}

static cl_int check_aux(struct call *c, const struct reader *r)
{
    if (!r->p->n_aux != !r->a->aux)
        return why_set(r->why, CLATTN_ERROR_INVALID_ARGUMENT, "the problem has %d captured buffers, but aux is %s",
                       (int)r->p->n_aux, r->a->aux ? "given" : "NULL");
    for (int i = 0; i < r->p->n_aux; i++) {
        char name[16];
        struct text to = { name, sizeof name, 0 };
        text_add(&to, "aux[%d]", i);
        const struct array_use use = { name, true, 1, problem_type_size(r->p->aux[i].type), false };
        cl_int status =
            tensor_check_array(&r->a->aux[i], &use, r->context, &c->mem[PARAM_AUX + i], &c->args.aux_offset[i], r->why);
        if (status)
            return status;
    }
    return CL_SUCCESS;
}

static cl_int check_dropout(struct call *c, const struct reader *r)
{
    const clattn_forward_args *const a = r->a;
    struct arguments *const to = &c->args;
    if (r->p->dropout_p > 0 && a->dropout_offset > UINT32_MAX)
        return why_set(r->why, CLATTN_ERROR_INVALID_ARGUMENT, "dropout_offset is %llu, at most 2^32 - 1",
                       (unsigned long long)a->dropout_offset);
    to->dropout_seed_low = (cla_i32)(uint32_t)a->dropout_seed;
    to->dropout_seed_high = (cla_i32)(uint32_t)(a->dropout_seed >> 32);
    to->dropout_offset = (cla_i32)(uint32_t)a->dropout_offset;
    return CL_SUCCESS;
}

struct tensor4_use call_use_of_bias(const clattn_problem *p, const clattn_sizes *s)
{
    return (struct tensor4_use){ "bias", p->bias_type != 0, { s->b, s->h, s->nq, s->nk },
                                 problem_type_size(p->bias_type), false, NULL, false, false,
                                 p->flags & CLATTN_REPEAT };
}

struct tensor4_use call_use_of_mask(const clattn_problem *p, const clattn_sizes *s)
{
    return (struct tensor4_use){ "mask", p->flags & CLATTN_MASK, { s->b, s->h, s->nq, s->nk }, 1, false, NULL, false,
                                 false, p->flags & CLATTN_REPEAT };
}

static cl_int check_tensors4(struct call *c, const struct reader *r)
{
    const clattn_problem *p = r->p;
    const clattn_sizes *s = &r->s;
    struct arguments *to = &c->args;
    const bool maps = p->flags & CLATTN_BLOCK_MAP || r->a->block_q || r->a->block_k;
    cl_int status = maps ? block_map_check(p, r->a, r->why) : CL_SUCCESS;
    if (status)
        return status;
    const struct {
        int param;
        const clattn_tensor4 *tensor;
        struct tensor4_use use;
        cla_scores_at *at;
    } rows[] = {
        { PARAM_BIAS,
          &r->a->bias,
          call_use_of_bias(p, s),
          &to->bias },
        { PARAM_MASK,
          &r->a->mask,
          call_use_of_mask(p, s),
          &to->mask },
        { PARAM_BLOCK_MAP,
          &r->a->block_map,
          maps ? block_map_use(p, r->a, s, false) : (struct tensor4_use){ .name = "block_map" },
          &to->map },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct tensor4 t;
        if ((status = tensor4_check(rows[i].tensor, &rows[i].use, r->context, &t, r->why)))
            return status;
        c->mem[rows[i].param] = t.mem;
        *rows[i].at = tensor4_place(&t);
    }
    to->block_q = r->a->block_q;
    to->block_k = r->a->block_k;
    return CL_SUCCESS;
}

/* ---- Numbers ---- */

int64_t call_short_parts(int64_t tiles)
{
    return (tiles + CLA_CHAIN - 1) / CLA_CHAIN;
}

bool call_set_parts(struct call *c, int parts)
{
    int64_t total;
    if (!checked_mul(c->part_groups, parts, &total) || total > INT32_MAX)
        return false;
    c->args.parts = parts;
    c->args.groups = (cla_i32)total;
    return true;
}

static cl_int set_split(struct call *c, const struct call_plan *plan, const clattn_sizes *s, int32_t wanted,
                        struct why *why)
{
    const clattn_problem *const p = plan->p;
    if (wanted < 0 || wanted > SPLITS_MAX)
        INVALID("splits is %d, outside 0 to %d", (int)wanted, SPLITS_MAX);
    const int forced = wanted ? wanted : p->splits;
    const struct split split =
        forced ? split_by_force(forced) : split_by_rule(&plan->split, s, c->args.packed_heads);
    c->parts_may_be_fewer = !forced && !(p->flags & CLATTN_BATCH_INVARIANT);
    c->short_parts = call_short_parts((s->nk + plan->target->shape.keys - 1) / plan->target->shape.keys);
    c->args.part_least = split.least;
    for (int parts = split.parts; !call_set_parts(c, parts); parts--)
        if (!c->parts_may_be_fewer)
            REFUSE("%d parts of keys make too many work-groups", parts);
    return CL_SUCCESS;
}

/* All but how keys are split. */
static cl_int set_rows(struct call *c, const struct call_plan *plan, const clattn_sizes *s, struct why *why)
{
    const struct rows *const rows = &plan->split.rows;
    struct arguments *const to = &c->args;
    const int packed_heads = split_heads(rows, s);
    const int64_t blocks = (s->nq * packed_heads + rows->per_group - 1) / rows->per_group;
    int64_t heads, total;
    if (!checked_mul(s->b, s->h / packed_heads, &heads) || heads > INT32_MAX || !checked_mul(heads, blocks, &total) ||
        total > INT32_MAX)
        REFUSE("b %lld, h %lld and nq %lld make too many work-groups", (long long)s->b, (long long)s->h,
               (long long)s->nq);
    to->heads = (cla_i32)heads;
    to->packed_heads = packed_heads;
    to->per_packed_head = 1 / (cla_f32)packed_heads;
    to->h = (cla_i32)s->h;
    to->nq = (cla_i32)s->nq;
    to->nk = (cla_i32)s->nk;
    c->part_groups = total;
    return CL_SUCCESS;
}

static cl_int set_groups(struct call *c, const struct call_plan *plan, const clattn_sizes *s, int32_t splits,
                         struct why *why)
{
    const cl_int status = set_rows(c, plan, s, why);
    return status ? status : set_split(c, plan, s, splits, why);
}

cl_int call_set_groups(struct call *c, const struct call_plan *plan, const clattn_sizes *s, struct why *why)
{
    const cl_int status = set_rows(c, plan, s, why);
    c->args.part_least = 1;
    if (!status)
        call_set_parts(c, 1); /* as many groups as were found to fit */
    return status;
}

static int32_t clamp_offset(int64_t x)
{
    return (int32_t)(x < -ROWS_MAX ? -ROWS_MAX : x > ROWS_MAX ? ROWS_MAX : x);
}

/* What a row sees to the left and right of its diagonal: bounds are at most ROWS_MAX in size, or none. */
static void fill_window(struct arguments *to, const clattn_problem *p)
{
    int64_t low, high;
    feature_range(p, &low, &high);
    to->window_low = low == INT64_MIN ? INT32_MIN : (cla_i32)low;
    to->window_high = high == INT64_MAX ? INT32_MAX : (cla_i32)high;
}

void call_known(struct arguments *to, const clattn_problem *p)
{
    enum { ARRAYS = CLA_Q_LEN | CLA_KV_LEN | CLA_KV_START | CLA_CU_Q | CLA_CU_K };
    memcpy(&to->scale_bits, &p->scale, sizeof to->scale_bits);
    memcpy(&to->softcap_bits, &p->softcap, sizeof to->softcap_bits);
    to->scale = (cla_f32)p->scale;
    to->scale_log2 = (cla_f32)(p->scale * 1.4426950408889634);
    to->softcap = (cla_f32)p->softcap;
    const double kept = 1 / (1 - p->dropout_p);
    memcpy(&to->dropout_scale_bits, &kept, sizeof kept);
    to->dropout_scale = (cla_f32)kept;
    to->dropout_threshold = (cla_i32)dropout_threshold(p->dropout_p);
    to->align = p->align;
    to->flags = (cla_i32)p->flags;
    to->given = (cla_i32)(p->flags & ARRAYS) | (p->align == CLATTN_ALIGN_OFFSETS ? CLA_OFFSETS_GIVEN : 0);
    fill_window(to, p);
}

static void fill_sizes(struct arguments *to, const clattn_sizes *s)
{
    to->heads_per_kv = (cla_i32)(s->h / s->hk);
    to->total_q = (cla_i32)s->total_q;
    to->total_k = (cla_i32)s->total_k;
    to->offset = clamp_offset(s->offset);
}

/* Whether heads share rows of bias or mask. Then it pays to work on the same rows of all heads at a time, so that
 * caches hold them: 0.9 times the time on a CPU with a [1,1,1024,1024] bias of f32. */
static bool heads_share(const cla_scores_at *at)
{
    return !at->h && at->q;
}

bool call_heads_share(const struct call *c, const clattn_problem *p)
{
    return heads_share(&c->args.bias) || (heads_share(&c->args.mask) && !(p->flags & CLATTN_BLOCK_MAP));
}

/* Where sequences begin is on the device; a total that was forgotten is all that can be seen here. */
static cl_int check_totals(const struct reader *r)
{
    const clattn_sizes *const s = &r->s;
    const struct {
        const char *name, *n_name, *tensor_name;
        uint32_t flag;
        int64_t total, n;
        const clattn_tensor *tensor;
    } rows[] = {
        { "total_q", "nq", "q", CLATTN_CU_Q, s->total_q, s->nq, &r->a->q },
        { "total_k", "nk", "k", CLATTN_CU_K, s->total_k, s->nk, &r->a->k },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (r->p->flags & rows[i].flag && s->b && rows[i].n && !rows[i].total && rows[i].tensor->mem)
            return why_set(r->why, CLATTN_ERROR_INVALID_ARGUMENT,
                           "%s is 0, but %s is given and %s is %lld: it counts the rows of all sequences together",
                           rows[i].name, rows[i].tensor_name, rows[i].n_name, (long long)rows[i].n);
    return CL_SUCCESS;
}

cl_int call_read_inputs(struct call *c, const struct call_plan *plan, const clattn_forward_args *given,
                        enum call_use use, clattn_sizes *s, struct why *why)
{
    struct reader r = { .p = plan->p, .a = given, .use = use, .context = plan->context, .why = why };
    cl_int status;
    c->args = plan->known;
    if ((status = call_sizes(&r.s, c, given->sizes, why)) || (status = check_totals(&r)) ||
        (status = check_tensors(c, &r)) || (status = check_arrays(c, &r)) || (status = check_tensors4(c, &r)) ||
        (status = check_aux(c, &r)) || (status = check_dropout(c, &r)))
        return status;
    fill_sizes(&c->args, &r.s);
    *s = r.s;
    return CL_SUCCESS;
}

cl_int call_read_forward(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    clattn_forward_args given;
    clattn_sizes s;
    cl_int status;
    if ((status = caller_struct_read(&given, sizeof given, in, "clattn_forward_args", why)) ||
        (status = call_read_inputs(c, plan, &given, CALL_WRITES, &s, why)) ||
        (status = set_groups(c, plan, &s, given.splits, why)))
        return status;
    c->workspace = (struct workspace){ given.workspace, given.workspace_offset, given.workspace_size };
    c->args.write_lse = c->mem[PARAM_LSE] != NULL;
    c->args.heads_inner = call_heads_share(c, plan->p);
    return CL_SUCCESS;
}

cl_int call_read_sizes(struct call *c, const struct call_plan *plan, const void *in, struct why *why)
{
    clattn_forward_args given;
    clattn_sizes s;
    cl_int status;
    if ((status = caller_struct_read(&given, sizeof given, in, "clattn_forward_args", why)) ||
        (status = call_sizes(&s, c, given.sizes, why)))
        return status;
    return set_groups(c, plan, &s, given.splits, why);
}
