/* report.c - what clattn-run tells about a run
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "report.h"

#include "convert.h"
#include "json.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

void report_start(struct report *r)
{
    memset(r, 0, sizeof *r);
    r->plan_ms = r->time_ms = r->flops = r->bytes = NAN;
}

/* FLOPs entry by entry, each with lengths and a diagonal of its own: for what the case as a whole has no words. */
static cl_int entrywise_flops(const struct arrays *a, double *flops)
{
    clattn_case one = a->c;
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
        if (a->in.offsets) {
            p->align = CLATTN_ALIGN_OFFSET;
            p->sizes.offset = a->in.offsets[b];
        }
        const cl_int e = clattn_case_cost(&one, &f, &bytes);
        if (e != CL_SUCCESS)
            return e;
        *flops += f;
    }
    return CL_SUCCESS;
}

cl_int report_problem(struct report *r, const struct arrays *a)
{
    clattn_case whole = a->c;
    clattn_problem *p = &whole.problem;
    double flops = NAN, bytes = NAN;
    /* What the string has no words for is left out of it. */
    if (a->in.offsets) {
        p->align = a->mixed ? CLATTN_ALIGN_BOTTOM_RIGHT : CLATTN_ALIGN_OFFSET;
        p->sizes.offset = !a->mixed && p->sizes.b > 0 ? a->in.offsets[0] : 0;
    }
    if (a->long_lists)
        p->flags &= (uint32_t) ~(CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START);
    if (clattn_case_print(&whole, r->problem, sizeof r->problem, NULL) != CL_SUCCESS)
        r->problem[0] = '\0';
    cl_int e = clattn_case_cost(&whole, &flops, &bytes);
    if (e == CL_SUCCESS && (a->long_lists || a->mixed))
        e = entrywise_flops(a, &flops);
    if (e != CL_SUCCESS)
        return e;
    if (a->in.shared) {
        const double row =
            (double)p->d * (double)convert_size(p->k_type) + (double)p->dv * (double)convert_size(p->v_type);
        bytes -= (double)(p->sizes.b - 1) * (double)p->sizes.hk * (double)p->sizes.nk * row;
    }
    r->flops = flops;
    r->bytes = bytes;
    return CL_SUCCESS;
}

void report_error(const struct report *r, double *error, double *bound)
{
    const struct verdict *v = &r->verdict;
    const int lse = v->error_o <= v->bound_o && !(v->error_lse <= v->bound_lse);
    *error = lse ? v->error_lse : v->error_o;
    *bound = lse ? v->bound_lse : v->bound_o;
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
    key_string("source", "default");
    key_number("plan_ms", r->plan_ms);
    key_number("time_ms", r->time_ms);
    key_number("gflops", r->flops / r->time_ms * 1e-6);
    key_number("gbytes_s", r->bytes / r->time_ms * 1e-6);
    key_number("max_error", error);
    key_number("bound", bound);
    printf("\"binary\": null}\n"); /* this version keeps none */
}

static void print_text(const struct report *r)
{
    printf("device   %s / %s\n", r->platform, r->device);
    if (r->problem[0])
        printf("problem  %s\n", r->problem);
    printf("engine   %s, tile %s (default), plan made in %.4g ms\n", r->engine, r->tile[0] ? r->tile : "-", r->plan_ms);
    if (!isnan(r->time_ms))
        printf("time     %.4g ms, %.4g GFLOP/s, %.4g GB/s\n", r->time_ms, r->flops / r->time_ms * 1e-6,
               r->bytes / r->time_ms * 1e-6);
    if (r->verified) {
        printf("max-error %.3g bound %.3g\n", r->verdict.error_o, r->verdict.bound_o);
        printf("lse-error %.3g bound %.3g\n", r->verdict.error_lse, r->verdict.bound_lse);
    }
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
