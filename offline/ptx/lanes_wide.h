/* lanes_wide.h - instructions of a whole warp: shuffles, votes, matrices; part of lanes.c
 * SPDX-License-Identifier: Apache-2.0
 *
 * `mask` has the lanes that execute together. */
#ifndef PTX_LANES_WIDE_H
#define PTX_LANES_WIDE_H

#include "lanes.h"
#include "offline/frame/small.h"

/* ---- shuffles and votes ---- */

/* The lane that lane i reads, and whether it is within its segment. */
static inline int shfl_source(int mode, int i, uint32_t b, uint32_t c, int *inside)
{
    const int n = (int)(b & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
    const int most = (i & segment) | (clamp & ~segment), least = i & segment;
    const int from[] = { i - n, i + n, i ^ n, least | (n & ~segment) };
    const int j = from[mode];
    *inside = mode == SHFL_UP ? j >= most : j <= most;
    return *inside ? j : i;
}

/* Sources: value, b, c, member mask. What comes from a lane that is not there stays undefined. */
static void shfl(struct warp *w, const struct op *o, uint32_t mask)
{
    const int k = o->n_dst;
    uint32_t from[LANES], out[LANES], inside = 0, absent = 0;
    memcpy(from, (const void *)reg_u32(w, o->reg[k]), sizeof from);
    for (int i = 0; i < LANES; i++) {
        int is;
        const int j = shfl_source(o->sub, i, IN(u32, k + 1), IN(u32, k + 2), &is);
        out[i] = from[j];
        inside |= (uint32_t)is << i;
        absent |= (~mask >> j & 1) << i;
    }
    put_w(w, o->reg[0], mask, out);
    w->defined[o->reg[0]] &= ~(absent & mask);
    if (o->n_dst == 2)
        put_p(w, o->reg[1], mask, inside);
}

/* Sources: predicate, member mask. */
static void vote(struct warp *w, const struct op *o, uint32_t mask)
{
    const uint32_t yes = get_p(w, o->reg[1]) & mask;
    const uint32_t answers[] = { yes == mask, yes != 0, yes == mask || yes == 0 };
    if (o->sub != VOTE_BALLOT) {
        put_p(w, o->reg[0], mask, answers[o->sub] ? ~0u : 0);
        return;
    }
    uint32_t out[LANES];
    for (int i = 0; i < LANES; i++)
        out[i] = yes;
    put_w(w, o->reg[0], mask, out);
}

static void activemask(struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t out[LANES];
    for (int i = 0; i < LANES; i++)
        out[i] = mask;
    put_w(w, o->reg[0], mask, out);
}

static inline uint32_t redux_one(int operation, int is_signed, uint32_t a, uint32_t b)
{
    const int less = is_signed ? (int32_t)a < (int32_t)b : a < b;
    switch (operation) {
    case ATOM_ADD: return a + b;
    case ATOM_AND: return a & b;
    case ATOM_OR: return a | b;
    case ATOM_XOR: return a ^ b;
    case ATOM_MIN: return less ? a : b;
    default: return less ? b : a;
    }
}

static void redux(struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t out[LANES], all = 0, any = 0;
    for (int i = 0; i < LANES; i++)
        if (mask >> i & 1)
            all = any++ ? redux_one(o->sub, o->type == T_S32, all, IN(u32, 1)) : IN(u32, 1);
    for (int i = 0; i < LANES; i++)
        out[i] = all;
    put_w(w, o->reg[0], mask, out);
}

/* ---- matrices: lane i holds, of group g = i / 4 and t = i % 4 ----
 *
 * A (16 x K): register r has row g + 8 (r % 2), columns 2t + 8 (r / 2) and the next, lower half first
 * B (K x 8):  register r has rows 2t + 8 r and the next, column g
 * C, D (16 x 8), f32: registers 0 and 1 row g, 2 and 3 row g + 8; columns 2t and 2t + 1 */

static inline float element(const struct op *o, uint32_t pair, int upper)
{
    const uint32_t x = upper ? pair >> 16 : pair & 0xffff;
    return o->type == T_F16 ? half_to_float(x) : bf16_to_float(x);
}

/* Products are exact. Nearest: so is their sum with C, but for what double drops, and it is rounded once. Else: four
 * products at a time are added and the sum rounded down or up, about as far off as matrix units are (PTX promises no
 * more than "at least single precision" in an order of their choice). */
static inline float dot(const double *row, const double (*columns)[8], int column, int depth, float c, int sign)
{
    double sum = c;
    for (int k = 0; k < depth; k++) {
        sum += row[k] * columns[k][column];
        if (sign && k % 4 == 3)
            sum = round_float(sum, sign < 0 ? ROUND_RM : ROUND_RP);
    }
    return (float)sum;
}

static void mma(struct warp *w, const struct op *o, uint32_t mask)
{
    const int depth = o->sub, n_a = depth / 4, n_b = depth / 8;
    double a[16][16], b[16][8];
    float out[4][LANES];
    for (int i = 0; i < LANES; i++) {
        const int g = i / 4, t = i % 4;
        for (int r = 0; r < n_a; r++)
            for (int h = 0; h < 2; h++)
                a[g + 8 * (r % 2)][2 * t + 8 * (r / 2) + h] = element(o, IN(u32, 4 + r), h);
        for (int r = 0; r < n_b; r++)
            for (int h = 0; h < 2; h++)
                b[2 * t + 8 * r + h][g] = element(o, IN(u32, 4 + n_a + r), h);
    }
    for (int r = 0; r < 4; r++)
        for (int i = 0; i < LANES; i++)
            out[r][i] = dot(a[i / 4 + 8 * (r / 2)], (const double(*)[8])b, 2 * (i % 4) + r % 2, depth,
                            IN(f32, 4 + n_a + n_b + r), w->approximate);
    for (int r = 0; r < 4; r++)
        put_w(w, o->reg[r], mask, out[r]);
}

/* An 8 x 8 matrix of 16 bits, a row in four lanes, transposed. */
static void movmatrix(struct warp *w, const struct op *o, uint32_t mask)
{
    uint32_t from[LANES], out[LANES] = { 0 };
    memcpy(from, (const void *)reg_u32(w, o->reg[1]), sizeof from);
    for (int i = 0; i < LANES; i++)
        for (int h = 0; h < 2; h++) {
            const int row = 2 * (i % 4) + h, column = i / 4;
            out[i] |= (from[4 * row + column / 2] >> 16 * (column % 2) & 0xffff) << 16 * h;
        }
    put_w(w, o->reg[0], mask, out);
}

#endif
