/* matrix.c - products of matrices: dpas
 * SPDX-License-Identifier: Apache-2.0
 *
 * `dpas.8x8 (16|M0) D:f C:f B:hf A:hf` is D = C + A x B with repeat rows and as many columns as lanes. Rows of C and D
 * are registers; row r of A is 32 bytes, behind one another; lane n of register d of B has the 2 or 4 elements of
 * column n that meet the d-th word of A's row. */
#include <math.h>

#include "reader.h"

enum { DEPTH = 8, ROW_BYTES = 32, MAX_ROWS = 8 };

static size_t register_at(const struct thread *t, const struct operand *o)
{
    return (size_t)o->reg * t->worker->launch->kernel->grf + (size_t)o->sub * o->size;
}

static uint32_t word_at(const struct thread *t, size_t at)
{
    uint32_t x;
    memcpy(&x, t->file + at, sizeof x);
    return x;
}

/* ---- what is defined ---- */

static void need(struct thread *t, const struct op *o, size_t at, size_t size)
{
    if (!memchr(t->known + at, 0, size))
        return;
    check_lanes(t, o, FOUND_READ_REGISTER, t->active);
    memset(t->known + at, 1, size);
}

static void need_all(struct thread *t, const struct op *o)
{
    const size_t grf = t->worker->launch->kernel->grf;
    if (o->src[0].file != IN_NULL)
        need(t, o, register_at(t, &o->src[0]), o->repeat * grf);
    need(t, o, register_at(t, &o->src[1]), DEPTH * grf);
    need(t, o, register_at(t, &o->src[2]), (size_t)o->repeat * ROW_BYTES);
}

/* ---- sums ---- */

static double half_of(uint8_t type, uint32_t word, unsigned k)
{
    const uint32_t x = word >> 16 * k & 0xffff;
    return type == TYPE_HF ? half_to_float(x) : bf16_to_float(x);
}

static int32_t byte_of(uint8_t type, uint32_t word, unsigned k)
{
    const uint32_t x = word >> 8 * k & 0xff;
    return type == TYPE_B ? (int8_t)x : (int32_t)x;
}

/* Where the manual says nothing the sum is made in double and rounded once, or to the asked side after every four
 * products. */
static uint32_t real_element(const struct thread *t, const struct op *o, uint32_t start, size_t a, size_t b)
{
    const size_t grf = t->worker->launch->kernel->grf;
    const int sign = t->worker->launch->asked->approximate;
    double sum = float_of(start);
    for (unsigned d = 0; d < DEPTH; d++) {
        const uint32_t x = word_at(t, a + 4 * d), y = word_at(t, b + d * grf);
        for (unsigned k = 0; k < 2; k++)
            sum += half_of(o->src[2].type, x, k) * half_of(o->src[1].type, y, k);
        if (sign && d % 2)
            sum = round_float(sum, sign > 0 ? ROUND_RP : ROUND_RM);
    }
    return bits_of((float)sum);
}

static uint32_t whole_element(const struct thread *t, const struct op *o, uint32_t start, size_t a, size_t b)
{
    const size_t grf = t->worker->launch->kernel->grf;
    uint32_t sum = start;
    for (unsigned d = 0; d < DEPTH; d++) {
        const uint32_t x = word_at(t, a + 4 * d), y = word_at(t, b + d * grf);
        for (unsigned k = 0; k < 4; k++)
            sum += (uint32_t)(byte_of(o->src[2].type, x, k) * byte_of(o->src[1].type, y, k));
    }
    return sum;
}

static void multiply(struct thread *t, const struct op *o)
{
    const size_t grf = t->worker->launch->kernel->grf;
    const size_t c = register_at(t, &o->src[0]), b = register_at(t, &o->src[1]), a = register_at(t, &o->src[2]);
    const size_t to = register_at(t, &o->dst);
    const uint32_t mask = issue_mask(t, o);
    uint32_t out[MAX_ROWS][MAX_LANES];
    if (t->worker->launch->checked)
        need_all(t, o);
    for (unsigned row = 0; row < o->repeat; row++)
        for (unsigned n = 0; n < o->width; n++) {
            const uint32_t start = o->src[0].file == IN_NULL ? 0 : word_at(t, c + row * grf + 4 * n);
            out[row][n] = (o->dst.type == TYPE_F ? real_element : whole_element)(t, o, start, a + row * ROW_BYTES,
                                                                                b + 4 * n);
        }
    for (unsigned row = 0; row < o->repeat; row++)
        for (uint32_t rest = mask; rest; rest &= rest - 1) {
            const size_t at = to + row * grf + 4 * lowest_lane(rest);
            memcpy(t->file + at, &out[row][lowest_lane(rest)], 4);
            memset(t->known + at, 1, 4);
        }
}

/* ---- reading ---- */

static void check_types(struct reader *r, const struct statement *s, const struct op *o)
{
    const uint8_t a = o->src[2].type, b = o->src[1].type, d = o->dst.type, c = o->src[0].type;
    const int reals = d == TYPE_F && c == TYPE_F && a == b && (a == TYPE_HF || a == TYPE_BF);
    const int wholes = (d == TYPE_D || d == TYPE_UD) && (c == TYPE_D || c == TYPE_UD) &&
                       (a == TYPE_B || a == TYPE_UB) && (b == TYPE_B || b == TYPE_UB);
    if (!reals && !wholes)
        fail(r, "%s of these types is not executed here", s->name);
}

static void check_plain(struct reader *r, const struct statement *s, const struct operand *o)
{
    if (o->negate || o->absolute || o->invert || o->indirect)
        fail(r, "%s of such operands is not executed here", s->name);
}

static void check_room(struct reader *r, const struct operand *o, size_t bytes)
{
    const size_t grf = r->kernel->grf;
    if (o->file != IN_GRF || o->reg * grf + (size_t)o->sub * o->size + bytes > r->kernel->info.registers * grf)
        fail(r, "a matrix that lies in no registers");
}

static void read_dpas(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    struct word rest = { s->name, strlen(s->name) };
    uint32_t depth, repeat;
    const size_t grf = r->kernel->grf;
    (void)f;
    word_until(&rest, '.');
    if (!word_digits(&rest, &depth) || !word_begins(rest, "x"))
        fail(r, "%s is not executed here", s->name);
    word_until(&rest, 'x');
    if (!word_digits(&rest, &repeat) || rest.length || depth != DEPTH || !repeat || repeat > MAX_ROWS ||
        o->width * 4u != grf || o->predicated || o->condition || o->first)
        fail(r, "%s of this form is not executed here", s->name);
    if (s->n_words != 4)
        fail(r, "%s takes 4 operands", s->name);
    o->repeat = (uint8_t)repeat;
    o->is_matrix = 1;
    o->has_dst = 1;
    o->n_src = 3;
    read_destination(r, s->words[0], o, &o->dst);
    check_plain(r, s, &o->dst);
    for (unsigned i = 0; i < 3; i++) {
        read_source(r, s->words[i + 1], o, &o->src[i]);
        check_plain(r, s, &o->src[i]);
    }
    check_types(r, s, o);
    check_room(r, &o->dst, repeat * grf);
    if (o->src[0].file != IN_NULL)
        check_room(r, &o->src[0], repeat * grf);
    check_room(r, &o->src[1], DEPTH * grf);
    check_room(r, &o->src[2], (size_t)repeat * ROW_BYTES);
}

static const struct form forms[] = {
    { "dpas", 3, NULL, NULL, multiply, read_dpas, 0, 0 },
};

struct forms gen_matrix_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
