/* report.c - what clattn-run tells about a run
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/run/report.h"

#include "tools/oracle/convert.h"
#include "tools/system/json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* Flags of varlen tensors, and of all that is said entry by entry. */
enum {
    PACKED = CLATTN_CU_Q | CLATTN_CU_K,
    LISTS = PACKED | CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START
};

void report_start(struct report *r)
{
    memset(r, 0, sizeof *r);
    r->made.struct_size = sizeof r->made;
    r->plan_ms = r->time_ms = r->flops = r->bytes = NAN;
}

/* Whether these are the sequences that the word "varlen" stands for. */
static int is_varlen(const int32_t *cu, int64_t b, int64_t n)
{
    for (int64_t i = 0; i < b; i++)
        if (cu[i + 1] - cu[i] != (n * (i + 1) + b - 1) / b)
            return 0;
    return 1;
}

/* Lengths of entry b of padded tensors that compute what entry b of packed ones does. */
static void unpack(const struct arrays *a, int64_t b, int32_t *q_len, int32_t *kv_len)
{
    const int32_t nq = a->x.cu_q[b + 1] - a->x.cu_q[b], nk = a->x.cu_k[b + 1] - a->x.cu_k[b];
    *q_len = a->in.q_len && a->in.q_len[b] < nq ? a->in.q_len[b] : nq;
    *kv_len = a->in.kv_len && a->in.kv_len[b] < nk ? a->in.kv_len[b] : nk;
}

/* FLOPs entry by entry, each with lengths and a diagonal of its own: for what the case as a whole has no words. */
static cl_int entrywise_flops(const struct arrays *a, double *flops)
{
    clattn_workload one = a->c;
    clattn_problem *p = &one.problem;
    p->sizes.b = 1;
    *flops = 0;
    for (int64_t b = 0; b < a->c.problem.sizes.b && p->sizes.nq > 0; b++) {
        double f = 0, bytes = 0;
        if (a->in.q_len)
            one.q_len[0] = a->in.q_len[b];
        if (a->in.kv_len)
            one.kv_len[0] = a->in.kv_len[b];
        if (a->in.kv_start)
            one.kv_start[0] = a->in.kv_start[b];
        if (a->x.cu_q) {
            p->flags = (p->flags & ~(uint32_t)PACKED) | CLATTN_Q_LEN | CLATTN_KV_LEN;
            unpack(a, b, &one.q_len[0], &one.kv_len[0]);
        }
        if (a->in.offsets) {
            p->align = CLATTN_ALIGN_OFFSET;
            p->sizes.offset = a->in.offsets[b];
        }
        const cl_int e = clattn_workload_cost(&one, &f, &bytes);
        if (e != CL_SUCCESS)
            return e;
        *flops += f;
    }
    return CL_SUCCESS;
}

/* Bytes of what is read and written: that of one entry with all rows, when they are varlen. */
static cl_int all_bytes(const struct arrays *a, double *bytes)
{
    clattn_workload all = a->c;
    clattn_problem *p = &all.problem;
    clattn_sizes *z = &p->sizes;
    double flops;
    p->flags &= (uint32_t)~LISTS;
    if (a->x.cu_q) {
        z->b = 1;
        z->nq = z->total_q;
        z->nk = z->total_k;
    }
    cl_int e = clattn_workload_cost(&all, &flops, bytes);
    if (e == CL_SUCCESS && a->in.shared && z->b > 1) { /* one entry of K and V for all */
        const double others = (double)z->b - 1;
        double one = 0, none = 0;
        z->b = 1;
        e = clattn_workload_cost(&all, &flops, &one);
        z->nk = 0;
        if (e == CL_SUCCESS)
            e = clattn_workload_cost(&all, &flops, &none);
        *bytes -= others * (one - none);
    }
    return e;
}

/* Leaves out of the string what it has no words for. Returns whether that is something that counts for FLOPs. */
static int put_in_words(const struct arrays *a, clattn_workload *c)
{
    clattn_problem *p = &c->problem;
    const int64_t b = p->sizes.b;
    const int odd = a->x.cu_q && (b > CLATTN_LIST_MAX || !is_varlen(a->x.cu_q, b, p->sizes.nq) ||
                                  !is_varlen(a->x.cu_k, b, p->sizes.nk));
    if (a->in.offsets) {
        p->align = a->mixed ? CLATTN_ALIGN_BOTTOM_RIGHT : CLATTN_ALIGN_OFFSET;
        p->sizes.offset = !a->mixed && b > 0 ? a->in.offsets[0] : 0;
    }
    if (odd)
        p->flags = (p->flags & ~(uint32_t)PACKED) | CLATTN_Q_LEN | CLATTN_KV_LEN;
    for (int64_t i = 0; i < b && odd && b <= CLATTN_LIST_MAX; i++)
        unpack(a, i, &c->q_len[i], &c->kv_len[i]);
    if (a->long_lists || (odd && b > CLATTN_LIST_MAX))
        p->flags &= (uint32_t)~LISTS;
    return a->mixed || a->long_lists || odd;
}

cl_int report_problem(struct report *r, const struct arrays *a)
{
    clattn_workload whole = a->c;
    double bytes;
    const int entrywise = put_in_words(a, &whole);
    if (clattn_workload_print(&whole, r->problem, sizeof r->problem, NULL) != CL_SUCCESS)
        r->problem[0] = '\0';
    const cl_int e = entrywise ? entrywise_flops(a, &r->flops) : clattn_workload_cost(&whole, &r->flops, &bytes);
    return e == CL_SUCCESS ? all_bytes(a, &r->bytes) : e;
}

void report_merge(struct report *r, int64_t parts, int64_t rows, int64_t width, int type)
{
    const double cells = (double)parts * (double)rows, values = (double)rows * (double)width;
    const double size = (double)convert_size(type == CLATTN_F64 ? CLATTN_F64 : CLATTN_F32);
    snprintf(r->problem, sizeof r->problem, "merge of %lld parts, %lld rows of %lld", (long long)parts, (long long)rows,
             (long long)width);
    r->flops = 2 * cells * (double)width;
    r->bytes = cells * ((double)width * size + 4) + values * (double)convert_size(type) + 4 * (double)rows;
}

void report_error(const struct report *r, double *error, double *bound)
{
    const struct verdict *v = &r->verdict;
    const struct farthest *f = farthest_part(&v->lse) > farthest_part(&v->o) ? &v->lse : &v->o;
    for (int i = 0; i < VERIFY_GRADIENTS; i++)
        f = farthest_part(&v->gradients[i]) > farthest_part(f) ? &v->gradients[i] : f;
    for (int i = 0; i < VERIFY_SCORES; i++)
        f = farthest_part(&v->scores[i]) > farthest_part(f) ? &v->scores[i] : f;
    *error = f->error;
    *bound = f->bound;
}

static void key_string(const char *key, const char *x)
{
    printf("\"%s\": ", key);
    json_string(stdout, x && *x ? x : NULL);
    printf(", ");
}

static void key_number(const char *key, double x)
{
    char text[JSON_NUMBER];
    printf("\"%s\": %s, ", key, json_number(text, x, 9));
}

static const char *source_name(const struct report *r)
{
    static const char *const names[] = { "default", "tuned", "cached", "set" }; /* CLATTN_ORIGIN_* */
    return names[r->made.origin];
}

static void print_json(const struct report *r)
{
    double error = NAN, bound = NAN;
    if (r->verified)
        report_error(r, &error, &bound);
    putchar('{');
    key_string("version", clattn_version());
    key_string("platform", r->platform);
    key_string("device", r->device);
    key_string("problem", r->problem);
    key_string("engine", r->engine);
    key_string("tile", r->tile);
    key_string("source", source_name(r));
    key_number("plan_ms", r->plan_ms);
    key_number("time_ms", r->time_ms);
    key_number("gflops", r->flops / r->time_ms * 1e-6);
    key_number("gbytes_s", r->bytes / r->time_ms * 1e-6);
    key_number("max_error", error);
    key_number("bound", bound);
    printf("\"binary\": %s}\n", r->made.binary == CLATTN_BINARY_HIT    ? "\"hit\""
                                : r->made.binary == CLATTN_BINARY_MISS ? "\"miss\""
                                                                       : "null");
}

static void print_text(const struct report *r)
{
    printf("device   %s / %s\n", r->platform, r->device);
    if (r->problem[0])
        printf("problem  %s\n", r->problem);
    printf("engine   %s, tile %s (%s), plan made in %.4g ms\n", r->engine, r->tile[0] ? r->tile : "-", source_name(r),
           r->plan_ms);
    if (!isnan(r->time_ms))
        printf("time     %.4g ms, %.4g GFLOP/s, %.4g GB/s\n", r->time_ms, r->flops / r->time_ms * 1e-6,
               r->bytes / r->time_ms * 1e-6);
    if (r->verified) {
        printf("max-error %.3g bound %.3g\n", r->verdict.o.error, r->verdict.o.bound);
        printf("lse-error %.3g bound %.3g\n", r->verdict.lse.error, r->verdict.lse.bound);
    }
    for (int i = 0; i < VERIFY_GRADIENTS; i++)
        if (r->verified_gradients[i])
            printf("%s-error %.3g bound %.3g\n", verify_gradient_names[i], r->verdict.gradients[i].error,
                   r->verdict.gradients[i].bound);
    for (int i = 0; i < VERIFY_SCORES; i++)
        if (r->verified_scores[i])
            printf("%s-error %.3g bound %.3g\n", verify_score_names[i], r->verdict.scores[i].error,
                   r->verdict.scores[i].bound);
}

int report_print(const struct report *r, int json, struct fault *f)
{
    if (json)
        print_json(r);
    else
        print_text(r);
    if (fflush(stdout) != 0 || ferror(stdout))
        return fault_set(f, EXIT_USAGE, "standard output cannot be written");
    return 0;
}
