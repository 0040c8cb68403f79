/* issue.c - a vector or scalar instruction: sources, the function on them, results
 * SPDX-License-Identifier: Apache-2.0
 *
 * What nothing wrote is followed from result to result and told where it becomes an address, part of a mask or branch,
 * or is stored. */
#include <math.h>
#include <string.h>

#include "inside.h"

/* ---- results ---- */

void issue_put(struct wave *w, uint32_t reg, uint64_t mask, const lane_u32 *from, uint64_t defined)
{
    lane_u32 *to = vector_of(w, reg);
    w->defined[reg] = (w->defined[reg] & ~mask) | (defined & mask);
    if (mask == all_lanes(w)) {
        memcpy((void *)to, (const void *)from, w->n * sizeof *to);
        return;
    }
    for (uint32_t i = 0; i < w->n; i++)
        to[i] = mask >> i & 1 ? from[i] : to[i];
}

static void put_word(struct wave *w, uint32_t reg, uint32_t x, uint32_t defined)
{
    if (reg == REG_NULL)
        return;
    w->s[reg] = x;
    w->s_defined[reg] = defined;
}

void issue_put_exec(struct wave *w, const struct op *o, uint64_t x, uint64_t defined)
{
    const uint64_t all = all_lanes(w), wrong = ~defined & all;
    if (wrong && w->worker->launch->checked)
        check_lanes(w, o, FOUND_READ_REGISTER, wrong);
    put_word(w, REG_EXEC, (uint32_t)x, ~0u);
    put_word(w, REG_EXEC + 1, w->n == 64 ? (uint32_t)(x >> 32) : 0, ~0u);
}

void issue_put_scalar(struct wave *w, const struct operand *o, uint64_t x, uint64_t defined)
{
    if (o->reg == REG_NULL)
        return;
    put_word(w, o->reg, (uint32_t)x, (uint32_t)defined);
    if (o->words >= 2)
        put_word(w, o->reg + 1u, (uint32_t)(x >> 32), (uint32_t)(defined >> 32));
}

/* EXEC is a register like others, but what it holds must be defined. */
static void put_checked(struct wave *w, const struct op *o, const struct operand *to, uint64_t x, uint64_t defined)
{
    if (to->reg != REG_EXEC && to->reg != REG_EXEC + 1) {
        issue_put_scalar(w, to, x, defined);
        return;
    }
    const uint64_t high = (uint64_t)w->s[REG_EXEC + 1] << 32;
    if (to->reg == REG_EXEC + 1)
        issue_put_exec(w, o, x << 32 | w->s[REG_EXEC], defined << 32 | 0xffffffffu);
    else if (to->words >= 2)
        issue_put_exec(w, o, x, defined);
    else
        issue_put_exec(w, o, (uint32_t)x | high, defined | (uint64_t)0xffffffff << 32);
}

/* ---- vectors ---- */

static void scale(const struct op *o, lane_u32 *out, uint32_t n)
{
    const float by = o->omod == 1 ? 2 : o->omod == 2 ? 4 : o->omod == 3 ? 0.5f : 1;
    for (uint32_t i = 0; i < n; i++) {
        float x = float_of(out[i]);
        if (o->omod)
            x *= by;
        out[i] = bits_of(o->clamp ? saturate(x) : x);
    }
}

static void scale_halves(const struct op *o, lane_u32 *out, uint32_t n, int both)
{
    const float by = o->omod == 1 ? 2 : o->omod == 2 ? 4 : o->omod == 3 ? 0.5f : 1;
    for (uint32_t i = 0; i < n; i++) {
        uint32_t r = 0;
        for (unsigned h = 0; h <= (unsigned)both; h++) {
            const float x = half_to_float(out[i] >> 16 * h) * by;
            r |= float_to_half(o->clamp ? saturate(x) : x) << 16 * h;
        }
        out[i] = r;
    }
}

static void scale_doubles(const struct op *o, lane_u32 *out, uint32_t n)
{
    const double by = o->omod == 1 ? 2 : o->omod == 2 ? 4 : o->omod == 3 ? 0.5 : 1;
    for (uint32_t i = 0; i < n; i++) {
        double x = double_of(out[i] | (uint64_t)out[n + i] << 32) * by;
        if (o->clamp)
            x = x > 0 ? x < 1 ? x : 1 : 0;
        out[i] = (uint32_t)bits64_of(x);
        out[n + i] = (uint32_t)(bits64_of(x) >> 32);
    }
}

static void flush_out(const struct op *o, lane_u32 *out, uint32_t n)
{
    const char type = o->dst[0].type;
    for (uint32_t i = 0; i < (type == 'q' ? 2 * n : n); i++)
        if (type == 'f' || type == 'q')
            out[i] = bits_of(flush(float_of(out[i])));
        else
            out[i] = out[i] & 0x7c00 ? out[i] : out[i] & 0x8000;
}

/* Part of a word goes into the old one. */
static void place_part(const struct wave *w, const struct op *o, lane_u32 *out)
{
    const lane_u32 *old = vector_of(w, o->dst[0].reg);
    const uint8_t part = o->dst_part != PART_ALL ? o->dst_part : o->dst[0].part;
    const unsigned shift = part <= PART_BYTE_3 ? 8u * part : part == PART_HIGH ? 16 : 0;
    const uint32_t field = part <= PART_BYTE_3 ? 0xff : 0xffff;
    const int keep = o->dst_part != PART_ALL ? o->dst_unused == UNUSED_PRESERVE : o->keep_half;
    const int extend = o->dst_part != PART_ALL && o->dst_unused == UNUSED_SEXT;
    for (uint32_t i = 0; i < w->n; i++) {
        const uint32_t x = out[i] & field, top = extend && x > field / 2 ? ~(field << shift) << shift : 0;
        out[i] = x << shift | top | (keep ? old[i] & ~(field << shift) : 0);
    }
}

static void finish(const struct wave *w, const struct op *o, struct issue *is)
{
    const char type = o->dst[0].type;
    if ((o->omod || o->clamp) && !(o->flags & FORM_SATURATES)) {
        if (type == 'h' || type == 'p')
            scale_halves(o, is->out, w->n, type == 'p');
        else if (type == 'd')
            scale_doubles(o, is->out, w->n);
        else
            scale(o, is->out, type == 'q' ? 2 * w->n : w->n);
    }
    if ((w->flush & 1 && (type == 'f' || type == 'q')) || (w->flush & 2 && type == 'h'))
        flush_out(o, is->out, w->n);
    if (o->dst_part != PART_ALL || type == 'h' || type == 'i')
        place_part(w, o, is->out);
}

/* What of the results is defined. */
static void follow(const struct wave *w, const struct op *o, struct issue *is)
{
    uint64_t low = ~(uint64_t)0, high = ~(uint64_t)0;
    for (int k = 0; k < o->n_src; k++) {
        const struct operand *a = &o->src[k];
        if (a->type == 'm') {
            const uint64_t d = fetch_scalar_defined(w, a);
            low &= d;
            high &= d;
            continue;
        }
        low &= is->defined[k][0];
        high &= is->defined[k][a->words == 2];
    }
    if (o->define == DEFINE_SELECT) {
        const struct operand *m = &o->src[2];
        const uint64_t bits = fetch_scalar(w, m);
        low = fetch_scalar_defined(w, m) & ((is->defined[1][0] & bits) | (is->defined[0][0] & ~bits));
    }
    if (o->define == DEFINE_MOVE) {
        low = is->defined[0][0];
        high = is->defined[1][0];
    }
    is->out_defined[0] = o->define == DEFINE_ALL ? low & high : low;
    is->out_defined[1] = o->define == DEFINE_WORDS || o->define == DEFINE_MOVE ? high : low & high;
}

static void compute(struct wave *w, const struct op *o, struct issue *is)
{
    struct lanes x;
    uint64_t bits = 0;
    is->mask = exec_of(w);
    is->bits = 0;
    fetch_sources(w, o, is);
    follow(w, o, is);
    if (o->mask_source)
        bits = fetch_scalar(w, &o->src[o->mask_source - 1]);
    x.stride = w->n;
    x.approximate = w->worker->launch->asked->approximate;
    x.sub = o->sub;
    x.clamp = o->clamp;
    for (uint32_t first = 0; first < w->n; first += CHUNK) {
        for (int k = 0; k < o->n_src; k++)
            x.in[k] = is->source[k] + first;
        x.out = is->out + first;
        x.first = first;
        x.bits_in = (uint32_t)(bits >> first);
        x.bits_out = 0;
        o->lanes(&x);
        is->bits |= (uint64_t)x.bits_out << first;
    }
    if (o->n_dst && o->dst[0].kind == OPERAND_VECTOR)
        finish(w, o, is);
}

static void put_mask(struct wave *w, const struct op *o, const struct operand *to, const struct issue *is)
{
    const uint64_t defined = (is->out_defined[0] & is->out_defined[1]) | ~is->mask;
    put_checked(w, o, to, is->bits & is->mask, defined);
}

static void put_results(struct wave *w, const struct op *o, struct issue *is)
{
    for (int k = 0; k < o->n_dst; k++) {
        const struct operand *d = &o->dst[k];
        if (d->kind == OPERAND_SCALAR) {
            put_mask(w, o, d, is);
            continue;
        }
        issue_put(w, d->reg, is->mask, is->out, is->out_defined[0]);
        if (d->words == 2)
            issue_put(w, d->reg + 1u, is->mask, is->out + w->n, is->out_defined[1]);
    }
    if (o->flags & FORM_EXEC)
        issue_put_exec(w, o, is->bits & is->mask, (is->out_defined[0] & is->out_defined[1]) | ~is->mask);
}

/* Registers are so many behind those that are named as M0 says. */
static void issue_indexed(struct wave *w, const struct op *o)
{
    const uint32_t by = w->s[REG_M0] & 0xff;
    const uint8_t which = w->indexed;
    struct op moved = *o;
    int outside = 0;
    for (int k = 0; k < 4; k++) {
        struct operand *a = k < 3 ? &moved.src[k] : &moved.dst[0];
        if (!(which >> k & 1) || a->kind != OPERAND_VECTOR)
            continue;
        a->reg = (uint16_t)(a->reg + by);
        outside |= a->reg + a->words > w->worker->launch->kernel->module->n_vectors;
    }
    if (outside) {
        check_end(w, o, FOUND_OUTSIDE, exec_of(w));
        return;
    }
    w->indexed = 0;
    issue_lanes(w, &moved);
    w->indexed = which;
}

void issue_lanes(struct wave *w, const struct op *o)
{
    struct issue *is = &w->worker->issue[0];
    if (w->indexed) {
        issue_indexed(w, o);
        return;
    }
    compute(w, o, is);
    put_results(w, o, is);
}

void issue_pair(struct wave *w, const struct op *o)
{
    struct issue *first = &w->worker->issue[0], *second = &w->worker->issue[1];
    compute(w, o, first);
    compute(w, o->pair, second);
    put_results(w, o, first);
    put_results(w, o->pair, second);
}

/* ---- scalars ---- */

/* Bits of a function of bits that do not depend on the undefined ones. */
static uint64_t follow_bits(const struct op *o, const struct scalar *in, uint64_t da, uint64_t db)
{
    uint64_t differs = 0, first = 0;
    for (int i = 0; i < 4; i++) {
        struct scalar x = *in;
        x.a = (i & 1 ? in->a | ~da : in->a & da);
        x.b = (i & 2 ? in->b | ~db : in->b & db);
        o->scalar(&x);
        if (!i)
            first = x.r;
        differs |= x.r ^ first;
    }
    return ~differs;
}

static uint64_t follow_scalar(const struct wave *w, const struct op *o, const struct scalar *in)
{
    uint64_t d[3] = { ~(uint64_t)0, ~(uint64_t)0, ~(uint64_t)0 };
    int whole = !(o->flags & FORM_SCC_IN) || w->scc_defined;
    for (int k = 0; k < o->n_src && k < 3; k++) {
        d[k] = fetch_scalar_defined(w, &o->src[k]);
        whole = whole && d[k] == ~(uint64_t)0;
    }
    if (whole)
        return ~(uint64_t)0;
    if (o->flags & FORM_BITS && (!(o->flags & FORM_SCC_IN) || w->scc_defined))
        return follow_bits(o, in, d[0], d[1]);
    if (o->flags & FORM_SHIFTS && d[1] == ~(uint64_t)0)
        return follow_bits(o, in, d[0], d[1]);
    return 0;
}

void issue_scalar(struct wave *w, const struct op *o)
{
    struct scalar x = { 0, 0, 0, 0, w->scc };
    if (o->n_src > 0)
        x.a = fetch_scalar(w, &o->src[0]);
    if (o->n_src > 1)
        x.b = fetch_scalar(w, &o->src[1]);
    if (o->n_src > 2)
        x.c = fetch_scalar(w, &o->src[2]);
    const uint64_t defined = follow_scalar(w, o, &x);
    o->scalar(&x);
    if (o->flags & FORM_SCC) {
        const uint64_t field = o->n_dst && o->dst[0].words >= 2 ? ~(uint64_t)0 : 0xffffffffu;
        w->scc = x.scc & 1;
        w->scc_defined = (defined & field) == field || (o->flags & (FORM_BITS | FORM_SHIFTS) && x.r & defined & field);
    }
    for (int k = 0; k < o->n_dst; k++)
        put_checked(w, o, &o->dst[k], x.r, defined);
}
