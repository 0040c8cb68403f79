/* reference_bound.c - how far off what a device computed may be: the law of doc/semantics, and what tests ask
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/reference_bound.h"

#include "tools/oracle/convert.h"

#include <clattn.h>

#include <float.h>
#include <math.h>

struct reference_precision reference_precision_of(int type)
{
    const struct convert_type *const t = convert_type(type), *const f32 = convert_type(CLATTN_F32);
    const struct convert_type *const computed = type == CLATTN_F64 ? t : f32;
    const struct convert_type *const stored = t && t->epsilon > 0 ? t : f32;
    return (struct reference_precision) { computed->epsilon, stored->epsilon, stored->tiny, computed->tiny,
                                          4 * computed->tiny };
}

double reference_rounding(int type, double x)
{
    const struct reference_precision p = reference_precision_of(type);
    return p.eps * fabs(x) + p.tiny;
}

double reference_lse_unit(const struct reference *r)
{
    return ldexp(1, r->p.flags & CLATTN_LSE_F64 ? -53 : -24);
}

static double unit_of(const struct reference *r)
{
    return reference_precision_of(r->type).unit;
}

/* Of the law: what two sums of `terms` terms may lose, or a weight that is scaled anew behind each of them. */
static double chains(double terms)
{
    return 32 + 8 * fmin(terms, 64);
}

double reference_adding(const struct reference *r, double terms)
{
    return unit_of(r) * (r->share > 0 ? 16 + 2 * log2(1 + terms) : chains(terms));
}

double reference_sum(const struct reference *r, double terms)
{
    if (r->share > 0)
        return r->share * reference_adding(r, terms);
    return reference_adding(r, terms) + (r->narrow_p ? unit_of(r) * terms : 0); /* matrix units: one chain */
}

double reference_dot(const struct reference *r, double width)
{
    if (r->share > 0)
        return reference_sum(r, width);
    return unit_of(r) * (96 + (r->narrow_p ? 2 * width : 0));
}

/* Of an element that is scaled, times one of the other operand; of a product; of softcap's quotient. Nothing of a sink
 * underflows, nor of a score of zeros. */
double reference_score_flow(const struct reference *r, double sizes)
{
    if (!(sizes > 0))
        return 0;
    const double more = fmax(1, fabs(r->scale));
    const double flow = reference_precision_of(r->type).flow; /* first: the others may be as large as doubles go */
    return flow * more * ((double)r->d + sizes) + flow * r->p.softcap;
}

double reference_doubt(const struct reference *r, double n, struct reference_score s)
{
    if (r->share > 0)
        return r->share * unit_of(r) * 32 * (1 + s.x + s.y);
    return unit_of(r) * (chains(n) + 16 * (s.y + s.away)) + reference_dot(r, (double)r->d) * s.x +
           reference_score_flow(r, s.sizes);
}

static int type_of_p(const struct reference *r)
{
    return r->p.type ? r->p.type : r->type;
}
int reference_narrow_f16(const struct reference *r)
{
    return r->narrow_p && type_of_p(r) == CLATTN_F16;
}
double reference_lost(const struct reference *r)
{
    return r->narrow_p && type_of_p(r) == CLATTN_BF16 ? ldexp(1, -118) : reference_precision_of(r->type).lost;
}
double reference_flow(const struct reference *r)
{
    const int narrow = r->narrow_p && type_of_p(r) == CLATTN_BF16;
    return (narrow ? ldexp(1, -116) : reference_precision_of(r->type).flow) / (1 - r->p.dropout_p);
}

double reference_narrowed(const struct reference *r)
{
    const double eps = reference_precision_of(type_of_p(r)).eps;
    return !r->narrow_p ? 0 : r->share > 0 ? (1 + r->share) * eps : 2 * eps;
}

double reference_lse_rounding(const struct reference *r, double n, double lse)
{
    const double unit = unit_of(r), stored = reference_lse_unit(r), storing = stored > unit ? stored * fabs(lse) : 0;
    if (r->share > 0)
        return r->share * stored * (16 + 2 * log2(1 + n) + 2 * fabs(lse)) + storing;
    return unit * (chains(n) + 4 * fabs(lse)) + storing + ldexp(1, -126);
}

double reference_size(double sum, double x)
{
    return isfinite(x) ? fmin(sum + fabs(x), DBL_MAX) : sum;
}

double reference_excess(double log_p, double doubt)
{
    return doubt < 1 ? exp(log_p) * expm1(doubt) : exp(log_p + doubt) - exp(log_p);
}
