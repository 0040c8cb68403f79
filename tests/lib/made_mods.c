/* made_mods.c - score_mods and their derivatives made up at random: as texts, and computed in double
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/made_mods.h"

#include "tests/lib/trial.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* ---- Computing ---- */

static double op_tanh(double a, double b)
{
    (void)b;
    return tanh(a);
}
static double op_bell(double a, double b)
{
    (void)b;
    return exp(-a * a);
}
static double op_add(double a, double b)
{
    return a + b;
}
static double op_multiply(double a, double b)
{
    return a * b;
}
static double op_min(double a, double b)
{
    return fmin(a, b);
}
static double op_max(double a, double b)
{
    return fmax(a, b);
}
static double op_abs(double a, double b)
{
    (void)b;
    return fabs(a);
}
static double op_sine(double a, double b)
{
    (void)b;
    return sin(a);
}
static double op_root(double a, double b)
{
    (void)b;
    return sqrt(1 + a * a);
}
static double op_ratio(double a, double b)
{
    return a / (1 + b * b);
}
static double op_log(double a, double b)
{
    (void)b;
    return log(1 + a * a);
}

/* A and B are operands, V the value; T is the type. NULL: one operand. The derivatives by A and by B. */
static const struct op {
    double (*compute)(double a, double b);
    const char *value, *by_a, *by_b;
} ops[] = {
    { op_add, "A + B", "(T)(1)", "(T)(1)" },
    { op_tanh, "tanh(A)", "(1 - V * V)", NULL },
    { op_bell, "exp(-A * A)", "(-2 * A * V)", NULL },
    { op_multiply, "A * B", "B", "A" },
    { op_min, "fmin(A, B)", "(A < B ? (T)(1) : (T)(0))", "(A < B ? (T)(0) : (T)(1))" },
    { op_max, "fmax(A, B)", "(A > B ? (T)(1) : (T)(0))", "(A > B ? (T)(0) : (T)(1))" },
    { op_abs, "fabs(A)", "(A < (T)(0) ? (T)(-1) : (T)(1))", NULL },
    { op_sine, "sin(A)", "cos(A)", NULL },
    { op_root, "sqrt(1 + A * A)", "(A / V)", NULL },
    { op_ratio, "A / (1 + B * B)", "(1 / (1 + B * B))", "(-2 * B * V / (1 + B * B))" },
    { op_log, "log(1 + A * A)", "(2 * A / (1 + A * A))", NULL },
};
enum { OPS = sizeof ops / sizeof *ops, ADD = 0, LEAVES = MADE_LEAVES, NODES = MADE_NODES };

double made_uniform(uint64_t seed, uint64_t i)
{
    return (double)(trial_hash(seed, 77, i) >> 11) / 9007199254740992.0;
}

struct made_mod made_mod(uint64_t seed)
{
    struct made_mod m = { .constant = floor(made_uniform(seed, 0) * 64) / 16 - 2 };
    for (int i = LEAVES; i < NODES; i++) {
        const uint64_t at = 8 * (uint64_t)i;
        m.op[i] = (int)(made_uniform(seed, at) * OPS);
        m.a[i] = i == LEAVES ? 0 : (int)(made_uniform(seed, at + 1) * i); /* the score, at least once */
        m.b[i] = i == LEAVES + 1 ? 1 : (int)(made_uniform(seed, at + 2) * i);
    }
    m.op[NODES - 1] = ADD; /* of the last two */
    m.a[NODES - 1] = NODES - 2;
    m.b[NODES - 1] = NODES - 3;
    return m;
}

double made_mod_compute(const struct made_mod *m, double s, int q, int k, double element)
{
    double v[NODES] = { s, element, (q - k) * 0.125, m->constant };
    for (int i = LEAVES; i < NODES; i++)
        v[i] = ops[m->op[i]].compute(v[m->a[i]], v[m->b[i]]);
    return 0.25 * s + tanh(v[NODES - 1]);
}

static const struct made_form forms[2][2] = {
    /* f64 or not, vector or not */
    { { "float", "f", "table[h * 8 + (q + 3 * k) % 8]", "(q - k) * 0.125f", "h * 8 + (q + 3 * k) % 8", 0 },
      { "real", "f", "(real)(table[h * 8 + b])", "real_(q - k) * (real)(0.125f)", "(q - q) + (h * 8 + b)",
        CLATTN_MOD_VECTOR } },
    { { "double", "", "table[h * 8 + (q + 3 * k) % 8]", "(q - k) * 0.125", "h * 8 + (q + 3 * k) % 8", 0 },
      { "real", "", "(real)(table[h * 8 + b])", "real_(q - k) * (real)(0.125)", "(q - q) + (h * 8 + b)",
        CLATTN_MOD_VECTOR } },
};
struct made_form made_form(int wide, int vector)
{
    return forms[wide != 0][vector != 0];
}

int made_form_index(const struct made_form *f, int h, int q, int k)
{
    return f->flags ? h * 8 : h * 8 + (q + 3 * k) % 8;
}

/* ---- Writing ---- */

static void add(char *to, const char *format, ...)
{
    const size_t n = strlen(to);
    va_list ap;
    va_start(ap, format);
    vsnprintf(to + n, MADE_TEXT - n, format, ap);
    va_end(ap);
}

/* A pattern with its letters replaced. */
static void add_pattern(char *to, const char *pattern, const struct made_form *f, const struct made_mod *m, int i)
{
    for (const char *c = pattern; *c; c++)
        if (*c == 'A' || *c == 'B' || *c == 'V')
            add(to, "v%d", *c == 'A' ? m->a[i] : *c == 'B' ? m->b[i] : i);
        else if (*c == 'T')
            add(to, "%s", f->type);
        else
            add(to, "%c", *c);
}

/* The derivative of value i by the score (d) or by the element (e), of those of its operands. */
static void add_slope(char *to, char which, const struct made_form *f, const struct made_mod *m, int i)
{
    const struct op *const op = &ops[m->op[i]];
    add(to, "const %s %c%d = ", f->type, which, i);
    add_pattern(to, op->by_a, f, m, i);
    add(to, " * %c%d", which, m->a[i]);
    if (op->by_b) {
        add(to, " + ");
        add_pattern(to, op->by_b, f, m, i);
        add(to, " * %c%d", which, m->b[i]);
    }
    add(to, ";\n");
}

static void write_values(char *to, const struct made_form *f, const struct made_mod *m, int captured)
{
    *to = '\0';
    add(to, "const %s v0 = s;\nconst %s v1 = %s;\nconst %s v2 = %s;\nconst %s v3 = (%s)(%.4f%s);\n", f->type, f->type,
        captured ? f->element : f->distance, f->type, f->distance, f->type, f->type, m->constant, f->suffix);
    for (int i = LEAVES; i < NODES; i++) {
        add(to, "const %s v%d = ", f->type, i);
        add_pattern(to, ops[m->op[i]].value, f, m, i);
        add(to, ";\n");
    }
    add(to, "const %s end = tanh(v%d);\n", f->type, NODES - 1);
}

static void write_slopes(char *to, char which, const struct made_form *f, const struct made_mod *m)
{
    for (int i = 0; i < LEAVES; i++)
        add(to, "const %s %c%d = (%s)(%d);\n", f->type, which, i, f->type, i == (which == 'e'));
    for (int i = LEAVES; i < NODES; i++)
        add_slope(to, which, f, m, i);
}

void made_mod_write(struct made_texts *t, const struct made_form *f, const struct made_mod *m, int captured)
{
    write_values(t->mod, f, m, captured);
    add(t->mod, "s = 0.25%s * s + end;\n", f->suffix);
    write_values(t->grad, f, m, captured);
    write_slopes(t->grad, 'd', f, m);
    if (captured) {
        write_slopes(t->grad, 'e', f, m);
        add(t->grad, "table_index = %s;\ntable_grad = ds * (1 - end * end) * e%d;\n", f->index, NODES - 1);
    }
    add(t->grad, "ds *= 0.25%s + (1 - end * end) * d%d;\n", f->suffix, NODES - 1);
}
