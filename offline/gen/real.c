/* real.c - instructions on real numbers
 * SPDX-License-Identifier: Apache-2.0
 *
 * Numbers of 16 and 32 bits are exact in double; sums are rounded to odd there, so that rounding them once more, in
 * any mode, gives what rounding the exact sum would have. Numbers of 64 bits are rounded to nearest. */
#include "real.h"

#include <math.h>

#include "approx.h"
#include "reader.h"

/* What goes to whole numbers is rounded to f32 first, where that is the type of the computation. Real destinations
 * round once, when the result is put. */
static void settle(struct lanes *x)
{
    const struct op *o = x->op;
    const int mode = fetch_rounding(x->thread);
    if (o->dst.type == o->exec_type || o->exec_type == TYPE_DF)
        return;
    for (unsigned i = 0; i < x->n; i++)
        if (o->exec_type == TYPE_F && !type_real(o->dst.type))
            x->out[i].r = round_float(x->out[i].r, mode);
}

void real_move(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].r = x->in[0][i].r;
}

void real_add(struct lanes *x)
{
    const int is_double = x->op->exec_type == TYPE_DF;
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].r = is_double ? x->in[0][i].r + x->in[1][i].r : add_odd(x->in[0][i].r, x->in[1][i].r);
    settle(x);
}

void real_multiply(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].r = x->in[0][i].r * x->in[1][i].r;
    settle(x);
}

void real_multiply_add(struct lanes *x)
{
    const int is_double = x->op->exec_type == TYPE_DF;
    for (unsigned i = 0; i < x->n; i++) {
        const double a = x->in[0][i].r, b = x->in[1][i].r, c = x->in[2][i].r;
        x->out[i].r = is_double ? fma(b, c, a) : add_odd(b * c, a);
    }
    settle(x);
}

/* ---- comparing and choosing ---- */

static int holds(uint8_t condition, double a, double b)
{
    switch (condition) {
    case COND_EQ: return a == b;
    case COND_NE: return a != b;
    case COND_GT: return a > b;
    case COND_GE: return a >= b;
    case COND_LT: return a < b;
    case COND_LE: return a <= b;
    default: return isnan(a) || isnan(b);
    }
}

void real_compare(struct lanes *x)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < x->n; i++) {
        bits |= (uint32_t)holds(x->op->condition, x->in[0][i].r, x->in[1][i].r) << i;
        x->out[i].i = -(int64_t)(bits >> i & 1);
    }
    issue_set_flag(x->thread, x->op, x->mask, bits, x->known);
}

/* The smaller or the larger one; of a NaN and a number the number. */
void real_choose(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        const double a = x->in[0][i].r, b = x->in[1][i].r;
        const int is_first = isnan(b) || (!isnan(a) && holds(x->op->condition, a, b));
        x->out[i].r = is_first ? a : b;
    }
}

void real_choose_by(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].r = holds(x->op->condition, x->in[2][i].r, 0) ? x->in[0][i].r : x->in[1][i].r;
}

/* ---- to whole numbers that stay real ---- */

#define ROUND(name, mode)                                      \
    static void name(struct lanes *x)                          \
    {                                                          \
        for (unsigned i = 0; i < x->n; i++)                    \
            x->out[i].r = round_whole(x->in[0][i].r, mode);    \
    }
ROUND(round_down, ROUND_RM)
ROUND(round_up, ROUND_RP)
ROUND(round_even, ROUND_RN)
ROUND(round_to_zero, ROUND_RZ)

/* ---- math ---- */

typedef double approximation(double x, int sign);
static void each(struct lanes *x, approximation *f)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].r = f(x->in[0][i].r, x->approximate);
}

#define MATH(name)                            \
    static void math_##name(struct lanes *x)  \
    {                                         \
        each(x, approx_##name);               \
    }
MATH(inv)
MATH(log)
MATH(exp)
MATH(sqrt)
MATH(rsqt)
MATH(sin)
MATH(cos)

/* Quotient and remainder towards zero; of a division by zero all ones. */
static void divide(struct lanes *x, int remainder)
{
    const int is_signed = x->op->src[0].type == TYPE_D;
    for (unsigned i = 0; i < x->n; i++) {
        const int64_t a = x->in[0][i].i, b = x->in[1][i].i;
        if (!b)
            x->out[i].i = is_signed && !remainder && a >= 0 ? INT32_MAX : is_signed && !remainder ? INT32_MIN : -1;
        else
            x->out[i].i = remainder ? a % b : a / b;
    }
}

static void quotient(struct lanes *x)
{
    divide(x, 0);
}

static void rest(struct lanes *x)
{
    divide(x, 1);
}

/* What is promised is promised of f32; f16 is computed as that and rounded. */
static void read_math(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    read_by_operands(r, f, s, o);
    if (o->exec_type == TYPE_DF || o->exec_type == TYPE_UQ || o->exec_type == TYPE_Q)
        fail(r, "%s of 64 bits is not executed here", s->name);
}

static const struct form forms[] = {
    { "rndd", 1, NULL, round_down, issue_lanes, NULL, 0, 0 },
    { "rndu", 1, NULL, round_up, issue_lanes, NULL, 0, 0 },
    { "rnde", 1, NULL, round_even, issue_lanes, NULL, 0, 0 },
    { "rndz", 1, NULL, round_to_zero, issue_lanes, NULL, 0, 0 },
    { "math.inv", 1, NULL, math_inv, issue_lanes, read_math, 0, 0 },
    { "math.log", 1, NULL, math_log, issue_lanes, read_math, 0, 0 },
    { "math.exp", 1, NULL, math_exp, issue_lanes, read_math, 0, 0 },
    { "math.sqt", 1, NULL, math_sqrt, issue_lanes, read_math, 0, 0 },
    { "math.rsqt", 1, NULL, math_rsqt, issue_lanes, read_math, 0, 0 },
    { "math.sin", 1, NULL, math_sin, issue_lanes, read_math, 0, 0 },
    { "math.cos", 1, NULL, math_cos, issue_lanes, read_math, 0, 0 },
    { "math.iqot", 2, quotient, NULL, issue_lanes, read_math, 0, 0 },
    { "math.irem", 2, rest, NULL, issue_lanes, read_math, 0, 0 },
};

struct forms gen_real_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
