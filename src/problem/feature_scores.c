/* feature_scores.c - the rows of what changes scores and weights: functions, bias, sinks and dropout. Knows no device.
 * SPDX-License-Identifier: Apache-2.0
 *
 * A score's fragment has the function cla_NAME(e, s, q, k), in natural units (doc/kernels, "The slots"). */
#include "config.h"

#include "problem/feature.h"

#include "base/number.h"
#include "problem/mod_grads.h"
#include "problem/mods.h"
#include "problem/workload.h"

#include <math.h>
#include <string.h>

/* ---- softcap: C tanh(s / C) ---- */

static bool softcap_applies(const clattn_problem *p)
{
    return p->softcap > 0;
}

static cl_int softcap_check(clattn_problem *p, struct why *why)
{
    if (!(p->softcap >= 0) || !isfinite(p->softcap))
        INVALID("softcap is %g, must be positive, or 0 for none", p->softcap);
    /* The kernel multiplies by it, by log2(e) and by its inverse: all are normal numbers. */
    const bool wide = p->type == CLATTN_F64;
    if (p->softcap && (p->softcap < (wide ? 1e-307 : 1e-37) || p->softcap > (wide ? 4e307 : 8e37)))
        INVALID("softcap is %g, must be %s", p->softcap, wide ? "1e-307 to 4e307" : "1e-37 to 8e37, or f64");
    return CL_SUCCESS;
}

static const char *softcap_needs(const clattn_problem *p)
{
    return p->type == CLATTN_F64 ? "tanh_builtin.cl" : "tanh_poly.cl";
}

static cl_int softcap_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    const char *rest = number_read_real(value, &to->problem.softcap);
    if (!rest || *rest || !(to->problem.softcap > 0))
        SYNTAX("\"%s\": expected a positive number", word);
    return CL_SUCCESS;
}

static void softcap_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)c;
    text_add(to, " softcap");
    number_print_real(to, p->softcap);
}

/* Of everything that is done to a score: it costs about the same. */
static void softcap_represent(clattn_workload *class, const clattn_problem *p)
{
    (void)p;
    class->problem.softcap = 30;
}

static double softcap_change(const struct feature_at *at, double x)
{
    const double cap = at->p->softcap;
    return cap * tanh(x / cap);
}

static double softcap_slope(const struct feature_at *at, double x)
{
    const double t = tanh(x / at->p->softcap);
    return 1 - t * t;
}

/* ---- mods: the caller's texts, whose answer nobody knows ---- */

static bool mods_applies(const clattn_problem *p)
{
    return p->n_mods;
}

static bool mods_takes(const clattn_problem *p)
{
    return p->aux_grads;
}

static cl_int check_mods(clattn_problem *p, struct why *why)
{
    return mods_check(p, why);
}

static cl_int mods_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    const size_t n = strlen(value);
    if (n >= sizeof to->mods || !workload_is_names(value))
        SYNTAX("\"%.40s\": expected names of letters, digits, _, - and . with commas between", word);
    memcpy(to->mods, value, n + 1);
    return CL_SUCCESS;
}

static bool mods_is_said(const clattn_workload *c)
{
    return *c->mods;
}

static const char *mods_unsaid(const clattn_workload *c)
{
    return memchr(c->mods, 0, sizeof c->mods) && workload_is_names(c->mods)
               ? NULL
               : "names that are not of letters, digits, _, - and . with commas between";
}

static void mods_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)p;
    text_add(to, " mod:%s", c->mods);
}

/* ---- alibi: slopes by head, times the distance from the diagonal ---- */

static cl_int alibi_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    (void)word, (void)value, (void)why;
    to->problem.flags |= CLATTN_ALIBI;
    return CL_SUCCESS;
}

static void alibi_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)c, (void)p;
    text_add(to, " alibi");
}

static double alibi_change(const struct feature_at *at, double x)
{
    return x - at->read * fabs((double)(at->q + at->offset - at->k));
}

/* ---- bias: a number for each query and key, by a slope of its head if so asked ---- */

static bool bias_applies(const clattn_problem *p)
{
    return p->bias_type;
}

static cl_int bias_check(clattn_problem *p, struct why *why)
{
    char types[PROBLEM_TYPE_WORDS];
    if (p->bias_type && !problem_type_may(p->bias_type, PROBLEM_ROWS))
        INVALID("bias_type %d is none of %s", (int)p->bias_type, problem_type_ranges(types, PROBLEM_ROWS));
    if (p->bias_type == CLATTN_F64 && p->type != CLATTN_F64)
        REFUSE("a bias of f64 goes with f64 only, not with %s", problem_type_name(p->type));
    if (p->flags & CLATTN_BIAS_SLOPES && !p->bias_type)
        INVALID("CLATTN_BIAS_SLOPES is of a bias, and there is none");
    if (p->flags & CLATTN_BIAS_SLOPES && p->flags & CLATTN_ALIBI)
        INVALID("CLATTN_BIAS_SLOPES does not go with CLATTN_ALIBI: both are for the slopes of a call");
    return CL_SUCCESS;
}

static cl_int bias_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    const char *rest = feature_read_axes(value, &to->problem, to->bias_axes);
    to->problem.bias_type = rest && *rest == ':' ? problem_type_find(rest + 1) : CLATTN_F32;
    if (!rest || (*rest && *rest != ':') || !to->problem.bias_type)
        SYNTAX("\"%.40s\": expected the axes bhqk, 1 where broadcast, 2 to 9 of b and h that repeat, and perhaps :TYPE",
               word);
    return CL_SUCCESS;
}

static cl_int slopes_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    (void)word, (void)value, (void)why;
    to->problem.flags |= CLATTN_BIAS_SLOPES;
    return CL_SUCCESS;
}

static void bias_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    feature_print_axes(to, "bias", c->bias_axes);
    if (p->bias_type != CLATTN_F32)
        text_add(to, ":%s", problem_type_name(p->bias_type));
    if (p->flags & CLATTN_BIAS_SLOPES)
        text_add(to, " slopes");
}

static void bias_represent(clattn_workload *class, const clattn_problem *p)
{
    class->problem.bias_type = p->bias_type;
    class->bias_axes[2] = class->bias_axes[3] = 1;
}

static const char *bias_needs(const clattn_problem *p)
{
    return p->flags & CLATTN_BIAS_SLOPES ? "bias_slopes.cl" : "bias_unscaled.cl";
}

static double bias_change(const struct feature_at *at, double x)
{
    return x + at->read;
}

/* ---- sink: a logit for each head that has no value ---- */

static cl_int sink_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    (void)word, (void)value, (void)why;
    to->problem.flags |= CLATTN_SINKS;
    return CL_SUCCESS;
}

static void sink_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)c, (void)p;
    text_add(to, " sink");
}

static double sink_change(const struct feature_at *at, double x)
{
    (void)x;
    return at->read;
}

/* ---- dropout: weights that are left out at random ---- */

static bool dropout_applies(const clattn_problem *p)
{
    return p->dropout_p > 0;
}

static cl_int dropout_check(clattn_problem *p, struct why *why)
{
    if (p->dropout_p == 0)
        p->dropout_p = 0; /* -0 is another key */
    else if (!(p->dropout_p >= 0x1p-32 && p->dropout_p <= 1 - 0x1p-32))
        INVALID("dropout_p is %.17g, must be 0, or from 2^-32 to 1 - 2^-32", p->dropout_p);
    if (p->dropout_p > 0 && p->flags & CLATTN_BATCH_INVARIANT)
        INVALID("CLATTN_BATCH_INVARIANT does not go with dropout, which depends on the batch entry");
    return CL_SUCCESS;
}

static cl_int dropout_read(clattn_workload *to, const char *word, const char *value, struct why *why)
{
    double *const p = &to->problem.dropout_p;
    const char *rest = number_read_real(value, p);
    if (!rest || *rest || !(*p > 0 && *p < 1))
        SYNTAX("\"%s\": expected a number between 0 and 1", word);
    return CL_SUCCESS;
}

static void dropout_print(struct text *to, const clattn_workload *c, const clattn_problem *p)
{
    (void)c;
    text_add(to, " dropout");
    number_print_real(to, p->dropout_p);
}

static void dropout_represent(clattn_workload *class, const clattn_problem *p)
{
    (void)p;
    class->problem.dropout_p = 0.125;
}

/* ---- The rows ---- */

const struct feature feature_scores[] = {
    { .name = "softcap",
      .kind = FEATURE_SCORE,
      .facts = FEATURE_CHANGES_SCORES,
      .applies = softcap_applies,
      .check = softcap_check,
      .needs = softcap_needs,
      .fragment = "score_softcap.cl",
      .gradient = "grad_softcap.cl",
      .place = 2,
      .words = { { "softcap", true, softcap_read } },
      .print = softcap_print,
      .step = FEATURE_STEP_SCORES,
      .represent = softcap_represent,
      .change = softcap_change,
      .slope = softcap_slope },
    { .name = "mods",
      .kind = FEATURE_SCORE,
      .facts = FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD | FEATURE_CHANGES_SCORES,
      .applies = mods_applies,
      .check = check_mods,
      .write = mods_write_calls,
      .write_gradient = mod_grads_write_calls,
      .taken = "grad_mods.cl",
      .takes = mods_takes,
      .place = 8,
      .words = { { "mod:", true, mods_read } },
      .is_said = mods_is_said, /* a string has their names, a problem their texts */
      .unsaid = mods_unsaid,
      .print = mods_print,
      .step = FEATURE_STEP_SCORES,
      .represent = softcap_represent },
    { .name = "alibi",
      .kind = FEATURE_SCORE,
      .facts = FEATURE_DIFFERS_BY_HEAD | FEATURE_KNOWS_DIAGONAL | FEATURE_CHANGES_SCORES,
      .flag = CLATTN_ALIBI,
      .fragment = "score_alibi.cl",
      .taken = "grad_alibi.cl",
      .place = 3,
      .words = { { "alibi", false, alibi_read } },
      .print = alibi_print,
      .step = FEATURE_STEP_SCORES,
      .represent = softcap_represent,
      .reads = FEATURE_READS_SLOPES,
      .change = alibi_change },
    { .name = "bias",
      .kind = FEATURE_BIAS,
      .facts = FEATURE_HAS_HOLES | FEATURE_DIFFERS_BY_HEAD | FEATURE_CHANGES_SCORES | FEATURE_GATHERS,
      .applies = bias_applies,
      .check = bias_check,
      .needs = bias_needs,
      .fragment = "bias_add.cl",
      .taken = "grad_bias.cl",
      .place = 4,
      .words = { { "bias:", true, bias_read }, { "slopes", false, slopes_read } },
      .unsaid = feature_unsaid_axes,
      .print = bias_print,
      .step = FEATURE_STEP_READS,
      .represent = bias_represent,
      .reads = FEATURE_READS_BIAS,
      .change = bias_change },
    { .name = "sink",
      .kind = FEATURE_SINK,
      .facts = FEATURE_CHANGES_SCORES,
      .flag = CLATTN_SINKS,
      .fragment = "sink_logit.cl",
      .place = 7,
      .words = { { "sink", false, sink_read } },
      .print = sink_print,
      .step = FEATURE_STEP_SCORES,
      .represent = softcap_represent,
      .reads = FEATURE_READS_SINKS,
      .change = sink_change },
    { .name = "dropout",
      .kind = FEATURE_WEIGHT,
      .facts = FEATURE_DIFFERS_BY_HEAD,
      .applies = dropout_applies,
      .check = dropout_check,
      .fragment = "dropout.cl",
      .place = 9,
      .words = { { "dropout", true, dropout_read } },
      .print = dropout_print,
      .step = FEATURE_STEP_SCORES,
      .represent = dropout_represent },
    { .name = NULL },
};
