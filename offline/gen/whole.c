/* whole.c - instructions on whole numbers
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

/* ---- sums, products, bits ---- */

#define EACH(name, expression)                                                                     \
    static void name(struct lanes *x)                                                              \
    {                                                                                              \
        for (unsigned i = 0; i < x->n; i++) {                                                      \
            const uint64_t a = x->in[0][i].u, b = x->in[1][i].u, c = x->in[2][i].u;                \
            (void)a, (void)b, (void)c;                                                             \
            x->out[i].u = expression;                                                              \
        }                                                                                          \
    }
#define ONE(name, expression)                                                                      \
    static void name(struct lanes *x)                                                              \
    {                                                                                              \
        for (unsigned i = 0; i < x->n; i++) {                                                      \
            const uint64_t a = x->in[0][i].u;                                                      \
            x->out[i].u = expression;                                                              \
        }                                                                                          \
    }
#define TWO(name, expression)                                                                      \
    static void name(struct lanes *x)                                                              \
    {                                                                                              \
        for (unsigned i = 0; i < x->n; i++) {                                                      \
            const uint64_t a = x->in[0][i].u, b = x->in[1][i].u;                                   \
            x->out[i].u = expression;                                                              \
        }                                                                                          \
    }

ONE(move, a)
ONE(complement, ~a)
ONE(leading_zeros, (uint32_t)a ? (uint64_t)__builtin_clz((uint32_t)a) : 32)
TWO(add, a + b)
TWO(bit_and, a & b)
TWO(bit_or, a | b)
TWO(bit_xor, a ^ b)
EACH(add3, a + b + c)
EACH(multiply_add, a + b * c)

/* Into acc0 a product goes whole, for what follows of it: macl and mach read that one. */
static void multiply(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        x->out[i].u = x->in[0][i].u * x->in[1][i].u;
        if (x->op->dst.file == IN_ACC && !x->op->dst.reg && x->mask >> i & 1)
            x->thread->wide[i] = x->out[i].i;
    }
}

/* What `mul acc, a, b's lower half` began: plus a times b's upper half. */
static uint64_t whole_product(const struct lanes *x, unsigned i)
{
    const int64_t b = x->in[1][i].i;
    const int is_signed = x->op->src[1].type == TYPE_D;
    const uint64_t upper = is_signed ? (uint64_t)((b & 0xffffffff) >> 16) | (b < 0 ? ~(uint64_t)0xffff : 0)
                                     : (uint64_t)(b & 0xffffffff) >> 16;
    return (uint64_t)x->thread->wide[i] + (x->in[0][i].u * upper << 16);
}

static void multiply_low(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].u = whole_product(x, i);
}

/* A lane's word beside its result, if it is on. */
static void accumulate(struct lanes *x, unsigned i, uint32_t word)
{
    if (!(x->mask >> i & 1))
        return;
    memcpy(x->thread->file + FILE_ACC + 4 * i, &word, 4);
    memset(x->thread->known + FILE_ACC + 4 * i, (int)(x->known >> i & 1), 4);
}

/* The upper half; the lower one stays in the accumulator. */
static void multiply_high(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        const uint64_t product = whole_product(x, i);
        x->out[i].i = (int64_t)product >> 32;
        if (x->mask >> i & 1)
            x->thread->wide[i] = (int64_t)(uint32_t)product;
        accumulate(x, i, (uint32_t)product);
    }
}

static void add_carry(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        const uint64_t sum = (x->in[0][i].u & 0xffffffff) + (x->in[1][i].u & 0xffffffff);
        x->out[i].u = sum & 0xffffffff;
        accumulate(x, i, (uint32_t)(sum >> 32));
    }
}

static void subtract_borrow(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        const uint64_t a = x->in[0][i].u & 0xffffffff, b = x->in[1][i].u & 0xffffffff;
        x->out[i].u = (a - b) & 0xffffffff;
        accumulate(x, i, a < b);
    }
}

static unsigned shift_of(const struct lanes *x, unsigned i)
{
    const int is_long = x->op->dst.size == 8 || x->op->src[0].size == 8;
    return (unsigned)(x->in[1][i].u & (is_long ? 63 : 31));
}

static void shift_left(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].u = x->in[0][i].u << shift_of(x, i);
}

/* Zeros come from above the source's own bits. */
static void shift_right(struct lanes *x)
{
    const uint8_t size = x->op->src[0].size;
    const uint64_t bits = size == 8 ? ~(uint64_t)0 : ((uint64_t)1 << 8 * (size < 4 ? 4 : size)) - 1;
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].u = (x->in[0][i].u & bits) >> shift_of(x, i);
}

static void shift_arithmetic(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i].i = x->in[0][i].i >> shift_of(x, i);
}

/* ---- comparing and choosing ---- */

static int is_less(const struct lanes *x, unsigned i, unsigned a, unsigned b)
{
    return x->op->exec_type == TYPE_UQ ? x->in[a][i].u < x->in[b][i].u : x->in[a][i].i < x->in[b][i].i;
}

static int holds(const struct lanes *x, unsigned i)
{
    const int less = is_less(x, i, 0, 1), more = is_less(x, i, 1, 0);
    switch (x->op->condition) {
    case COND_EQ: return !less && !more;
    case COND_NE: return less || more;
    case COND_GT: return more;
    case COND_GE: return !less;
    case COND_LT: return less;
    case COND_LE: return !more;
    default: return 0;
    }
}

/* Flags are set here; the result is all ones or zeros. */
static void compare(struct lanes *x)
{
    uint32_t bits = 0;
    for (unsigned i = 0; i < x->n; i++) {
        bits |= (uint32_t)holds(x, i) << i;
        x->out[i].i = -(int64_t)(bits >> i & 1);
    }
    issue_set_flag(x->thread, x->op, x->mask, bits, x->known);
}

static void choose(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++)
        x->out[i] = holds(x, i) ? x->in[0][i] : x->in[1][i];
}

/* The third source against zero. */
static void choose_by(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        const int64_t c = x->in[2][i].i;
        const uint8_t k = x->op->condition;
        const int is_first = k == COND_EQ ? c == 0 : k == COND_NE ? c != 0 : k == COND_GT ? c > 0 :
                             k == COND_GE ? c >= 0 : k == COND_LT ? c < 0 : c <= 0;
        x->out[i] = is_first ? x->in[0][i] : x->in[1][i];
    }
}

/* ---- bfn.(expression of s0, s1, s2): its table of eight bits is the form's ---- */

/* What an expression's words stand for: all eight combinations at once. & binds more than ^, ^ more than |. */
struct expression {
    struct reader *reader;
    const char *at;
    int depth;
};
static uint8_t take_or(struct expression *e);

static uint8_t take_term(struct expression *e)
{
    static const uint8_t sources[] = { 0xaa, 0xcc, 0xf0 };
    uint8_t value = 0;
    if (++e->depth > 20)
        fail(e->reader, "an expression of bfn that is too deep");
    if (*e->at == '~') {
        e->at++;
        value = (uint8_t)~take_term(e);
    } else if (*e->at == '(') {
        e->at++;
        value = take_or(e);
        if (*e->at++ != ')')
            fail(e->reader, "an expression of bfn");
    } else if (e->at[0] == 's' && e->at[1] >= '0' && e->at[1] <= '2') {
        value = sources[e->at[1] - '0'];
        e->at += 2;
    } else {
        fail(e->reader, "an expression of bfn");
    }
    e->depth--;
    return value;
}

static uint8_t take_and(struct expression *e)
{
    uint8_t value = take_term(e);
    while (*e->at == '&') {
        e->at++;
        value &= take_term(e);
    }
    return value;
}

static uint8_t take_xor(struct expression *e)
{
    uint8_t value = take_and(e);
    while (*e->at == '^') {
        e->at++;
        value ^= take_and(e);
    }
    return value;
}

static uint8_t take_or(struct expression *e)
{
    uint8_t value = take_xor(e);
    while (*e->at == '|') {
        e->at++;
        value |= take_xor(e);
    }
    return value;
}

static void any_bits(struct lanes *x)
{
    for (unsigned i = 0; i < x->n; i++) {
        const uint64_t s[3] = { x->in[0][i].u, x->in[1][i].u, x->in[2][i].u };
        uint64_t r = 0;
        for (unsigned k = 0; k < 8; k++)
            if (x->op->sub >> k & 1)
                r |= (k & 1 ? s[0] : ~s[0]) & (k & 2 ? s[1] : ~s[1]) & (k & 4 ? s[2] : ~s[2]);
        x->out[i].u = r;
    }
}

static void read_bits(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct expression e = { r, s->name + 3, 0 };
    if (*e.at++ != '.')
        fail(r, "%s is not executed here", s->name);
    o->sub = take_or(&e);
    if (*e.at)
        fail(r, "%s is not executed here", s->name);
    read_by_operands(r, f, s, o);
}

/* Before Xe-HPC there is no macl: mach does not write the accumulator then. */
static void read_high(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct word behind;
    if (strchr(s->name, '.'))
        fail(r, "%s is not executed here", s->name);
    read_by_operands(r, f, s, o);
    if (r->kernel->grf == 32 && !word_find(s->notes, "AccWrEn", &behind))
        o->lanes = multiply_low;
}

static void read_condition_needed(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    if (!o->condition || strchr(s->name, '.'))
        fail(r, "%s without a condition", s->name);
    read_by_operands(r, f, s, o);
}

/* ---- the table; functions on real numbers are in real.c ---- */

#include "real.h"
static const struct form forms[] = {
    { "mov", 1, move, real_move, issue_lanes, NULL, FORM_MOVE, 0 },
    { "add", 2, add, real_add, issue_lanes, NULL, 0, 0 },
    { "mul", 2, multiply, real_multiply, issue_lanes, NULL, FORM_PRODUCT, 0 },
    { "mad", 3, multiply_add, real_multiply_add, issue_lanes, NULL, FORM_PRODUCT, 0 },
    { "add3", 3, add3, NULL, issue_lanes, NULL, 0, 0 },
    { "addc", 2, add_carry, NULL, issue_lanes, NULL, 0, 0 },
    { "subb", 2, subtract_borrow, NULL, issue_lanes, NULL, 0, 0 },
    { "macl", 2, multiply_low, NULL, issue_lanes, NULL, FORM_WIDE, 0 },
    { "mach", 2, multiply_high, NULL, issue_lanes, read_high, FORM_WIDE, 0 },
    { "and", 2, bit_and, NULL, issue_lanes, NULL, 0, 0 },
    { "or", 2, bit_or, NULL, issue_lanes, NULL, 0, 0 },
    { "xor", 2, bit_xor, NULL, issue_lanes, NULL, 0, 0 },
    { "not", 1, complement, NULL, issue_lanes, NULL, 0, 0 },
    { "lzd", 1, leading_zeros, NULL, issue_lanes, NULL, 0, 0 },
    { "shl", 2, shift_left, NULL, issue_lanes, NULL, 0, 0 },
    { "shr", 2, shift_right, NULL, issue_lanes, NULL, 0, 0 },
    { "asr", 2, shift_arithmetic, NULL, issue_lanes, NULL, 0, 0 },
    { "bfn", 3, any_bits, NULL, issue_lanes, read_bits, 0, 0 },
    { "cmp", 2, compare, real_compare, issue_lanes, read_condition_needed, FORM_COMPARES | FORM_BITS, 0 },
    { "sel", 2, choose, real_choose, issue_lanes, NULL, FORM_SELECTS | FORM_COMPARES, 0 },
    { "csel", 3, choose_by, real_choose_by, issue_lanes, read_condition_needed, FORM_COMPARES, 0 },
};

struct forms gen_whole_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
