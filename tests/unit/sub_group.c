/* sub_group.c - which lane of a sub-group holds what in engines dpas and dpas8: the layout in plain C, as Intel has it
 * SPDX-License-Identifier: Apache-2.0
 *
 * As warp.c and wave.c have it of other units: the emulation (matrix.t) and the engines may share a misreading, so here
 * the specifications of cl_intel_subgroup_matrix_multiply_accumulate and of block reads (cl_intel_subgroups,
 * cl_intel_subgroups_short, cl_intel_subgroup_local_block_io) are written down once more. mma_dpas_lanes.cl and
 * mma_operands_blocks.cl are the engines' own, compiled as C; what products_mma.cl says of keys and of columns of O is
 * written again. Both products have to follow. Two programs are made of this file, for 16 lanes and for 8. */
#include "config.h"

#include "tests/lib/tap.h"

#include <stdint.h>

/* ---- What the engines' files need: OpenCL C as far as they have it, and the numbers of the host ---- */

#ifndef CLA_WAVE
#define CLA_WAVE 16
#endif
#define CLA_MMA_M CLA_WAVE
#define CLA_MMA_N 8
#define CLA_MMA_K 16
#define CLA_MMA_ROWS 1
#define CLA_ROW_WAVES shares
static int shares; /* waves that share rows */
#define CLA_FN static inline
#define CLA_CAT_(a, b) a##b
#define CLA_CAT(a, b) CLA_CAT_(a, b)
#define __local
#define uint uint32_t
typedef struct {
    uint x, y, z, w;
} uint4;
typedef struct {
    uint s[8];
} uint8;
CLA_FN uint cla_low_halves(uint x, uint y) { return (x & 0xffff) | y << 16; }
CLA_FN uint cla_high_halves(uint x, uint y) { return x >> 16 | (y & 0xffff0000u); }

#if defined __GNUC__
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-parameter" /* a unit's functions have what some unit asks for */
#endif
#include "cl/engines/mma_dpas_lanes.cl"
static cla_right cla_read_block(const uint4 *p);
#include "cl/engines/mma_operands_blocks.cl"
#if defined __GNUC__
#pragma GCC diagnostic pop
#endif

/* ---- The specifications ---- */

enum { LANES = CLA_WAVE, M = 8, K = 16, MOST = 256 };
static int lane; /* who reads */

/* Number i of 16 bits, the low half of a word first. */
static int half(const void *words, int i)
{
    const int x = (int)(((const uint *)words)[i / 2] >> 16 * (i % 2) & 0xffff);
    return x >= 0x8000 ? x - 0x10000 : x;
}
static uint word(int low, int high) { return ((uint)low & 0xffff) | (uint)high << 16; }

/* Element m of a lane: 16 lanes read 8 runs of 16 shorts, and each has the short of its own number from every run; so
 * do 8 lanes with runs of 8 words. */
static cla_right cla_read_block(const uint4 *p)
{
    cla_right x;
    for (int i = 0; i < 64 / LANES; i++)
        ((uint *)&x)[i] = LANES == 16 ? word(half(p, 16 * (2 * i) + lane), half(p, 16 * (2 * i + 1) + lane)) :
                                        ((const uint *)p)[8 * i + lane];
    return x;
}

/* D += A B. `a` has M elements, which are rows, of a column of 16 bits for each of 16 lanes or of 32 for each of 8.
 * `b` has the column of a lane, as 8 words of two elements each, and so has d: 8 rows. */
static void multiply(long (*d)[MOST], int at, const cla_right *a, const cla_left *b)
{
    for (int n = 0; n < LANES; n++)
        for (int m = 0; m < M; m++)
            for (int k = 0; k < K; k++)
                d[n][at + m] += (long)(LANES == 16 ? half(&a[k], m) : half(&a[k / 2], 2 * m + k % 2)) *
                                half(&b[n], k);
}

/* ---- The engines ---- */

static int q[LANES][MOST], k[MOST][MOST], v[MOST][MOST]; /* rows as they are stored, zero from their width on */
static uint4 local_k[MOST * MOST / 8], local_v[MOST * MOST / 8];
static long s[LANES][MOST], o[LANES][MOST]; /* registers of a lane, as the engines number them */

static int round_up(int x, int step) { return (x + step - 1) / step * step; }
static int row_of(int l) { return CLA_MMA_ROW(CLA_MMA_COLUMN(l)); }
static int key_of(int j) { return K * (j / CLA_MMA_DEPTH) + CLA_MMA_DEPTH * CLA_MMA_PART(lane) + j % CLA_MMA_DEPTH; }
/* Sum x of tile h; a chunk of rows is a column for one instruction. A share has its part of all chunks. */
static int column_of(int h, int x, int chunks)
{
    const int own = chunks / shares, share = h / own, p = CLA_MMA_N * (h % own) + CLA_MMA_ROW(x);
    return 8 * (share * own + p % own) + p / own;
}

static void pack(void *words, const int *x, int n)
{
    for (int i = 0; i < n / 2; i++)
        ((uint *)words)[i] = word(x[2 * i], x[2 * i + 1]);
}
static cla_left left_of(const int *x)
{
    uint8 y;
    pack(&y, x, K);
    return cla_left_of(&y);
}
static uint4 chunk_of(const int *row, int c)
{
    uint4 x;
    pack(&x, row + 8 * c, 8);
    return x;
}

/* Rows to local memory, a chunk at a time. */
static void store(int bk, int d, int dv)
{
    memset(local_k, 0x55, sizeof local_k);
    memset(local_v, 0x55, sizeof local_v);
    for (int row = 0; row < bk; row++)
        for (int c = 0; c < d / 8; c++)
            local_k[cla_k_place(row, c, d / 8)] = chunk_of(k[row], c);
    for (int row = 0; row < bk / CLA_TURNED; row++)
        for (int c = 0; c < dv / 8; c++) {
            uint4 x[CLA_TURNED];
            for (int i = 0; i < CLA_TURNED; i++)
                x[i] = chunk_of(v[CLA_TURNED * row + i], c);
            cla_put_columns(local_v, x, row, c, dv / 8);
        }
}

/* V once more, as mma_surfaces_2d.cl stores it: 16 rows of a column at a time, two rows a word. */
static void store_columns(int bk, int dv)
{
    memset(local_v, 0x55, sizeof local_v);
    for (int row = 0; row < bk; row += 16)
        for (int column = 0; column < dv; column++)
            for (int i = 0; i < 8; i++)
                cla_column_place(local_v, row, column, dv / 8)[i] =
                    word(v[row + 2 * i][column], v[row + 2 * i + 1][column]);
}

/* S^T = K Q^T. */
static void first_product(int bk, int d)
{
    memset(s, 0, sizeof s);
    for (int step = 0; step < d / K; step++)
        for (int j = 0; j < bk / CLA_MMA_N; j++) {
            cla_right right[LANES];
            cla_left left[LANES];
            for (lane = 0; lane < LANES; lane++) {
                cla_read read[CLA_READ_N];
                cla_read_dotted(local_k, read, CLA_MMA_COLUMN(lane), CLA_MMA_PART(lane), j, step, d / 8);
                right[lane] = CLA_RIGHT(read, 0);
                left[lane] = left_of(&q[row_of(lane)][K * step]);
            }
            multiply(s, CLA_MMA_N * j, right, left);
        }
}

/* O^T = V^T P^T, with S for P as it lies in registers. */
static void second_product(int bk, int dv)
{
    memset(o, 0, sizeof o);
    for (int j = 0; j < bk / K; j++)
        for (int h = 0; h < dv / CLA_MMA_N; h++) {
            cla_right right[LANES];
            cla_left left[LANES];
            for (lane = 0; lane < LANES; lane++) {
                cla_read read[CLA_READ_N];
                int p[K];
                cla_read_summed(local_v, read, CLA_MMA_COLUMN(lane), CLA_MMA_PART(lane), j, h, dv / 8);
                right[lane] = CLA_RIGHT(read, 0);
                for (int i = 0; i < K; i++)
                    p[i] = (int)s[lane][CLA_MMA_DEPTH * j + i];
                left[lane] = left_of(p);
            }
            multiply(o, CLA_MMA_N * h, right, left);
        }
}

/* ---- Whether they are right ---- */

static long score(int row, int key)
{
    long sum = 0;
    for (int i = 0; i < MOST; i++)
        sum += q[row][i] * k[key][i];
    return sum;
}
static int scores_are_named(int bk)
{
    int seen[LANES][MOST] = { { 0 } }, good = 1;
    for (lane = 0; lane < LANES; lane++)
        for (int j = 0; j < bk; j++) {
            seen[row_of(lane)][key_of(j)]++;
            good &= s[lane][j] == score(row_of(lane), key_of(j));
        }
    for (int row = 0; row < LANES; row++)
        for (int key = 0; key < bk; key++)
            good &= seen[row][key] == 1;
    return good;
}
static int output_is_named(int bk, int dv)
{
    int seen[LANES][MOST] = { { 0 } }, good = 1;
    for (lane = 0; lane < LANES; lane++)
        for (int i = 0; i < dv; i++) {
            const int row = row_of(lane), column = column_of(i / CLA_MMA_N, i % CLA_MMA_N, dv / 8);
            long want = 0;
            for (int key = 0; key < bk; key++)
                want += score(row, key) * v[key][column];
            seen[row][column]++;
            good &= o[lane][i] == want;
        }
    for (int row = 0; row < LANES; row++)
        for (int column = 0; column < dv; column++)
            good &= seen[row][column] == 1;
    return good;
}

/* Places of rows that are CLA_SWAPPED_ALIKE apart differ by as many rows' chunks, which engine_mma.cl counts on. */
static int rows_lie_alike(int bk, int d)
{
    int good = 1;
    for (int row = CLA_SWAPPED_ALIKE; row < bk; row++)
        for (int c = 0; c < d / 8; c++)
            good &= cla_k_place(row, c, d / 8) ==
                    cla_k_place(row - CLA_SWAPPED_ALIKE, c, d / 8) + CLA_SWAPPED_ALIKE * (d / 8);
    return good;
}

static void fill(int (*x)[MOST], int rows, int width, int most)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < MOST; c++)
            x[r][c] = c < width ? rand() % (2 * most + 1) - most : 0;
}

int main(void)
{
    static const struct shape {
        int bk, d, dv;
    } shapes[] = { { 16, 16, 8 },  { 32, 64, 64 },   { 64, 64, 64 },  { 16, 128, 128 }, { 16, 256, 256 },
                   { 48, 80, 40 }, { 32, 160, 104 }, { 128, 48, 24 }, { 32, 41, 26 },   { 16, 1, 255 } };
    for (size_t i = 0; i < 2 * (sizeof shapes / sizeof *shapes); i++) {
        const struct shape *const at = &shapes[i / 2];
        shares = 1 + (int)(i % 2);
        const int bk = at->bk, d = round_up(at->d, K), dv = round_up(at->dv, shares * CLA_MMA_N);
        fill(q, LANES, at->d, 9); /* so that scores have 16 bits */
        fill(k, bk, at->d, 9);
        fill(v, bk, at->dv, 1000);
        store(bk, d, dv);
        first_product(bk, d);
        ok(scores_are_named(bk), "%d lanes, %d shares: S is where the masks look for it: bk%d d%d", LANES, shares, bk,
           at->d);
        second_product(bk, dv);
        ok(output_is_named(bk, dv), "%d lanes, %d shares: O is written where it belongs: bk%d dv%d", LANES, shares, bk,
           at->dv);
        store_columns(bk, dv);
        second_product(bk, dv);
        ok(output_is_named(bk, dv), "%d lanes, %d shares: and with whole columns of V: bk%d dv%d", LANES, shares, bk,
           at->dv);
        ok(rows_lie_alike(bk, d), "%d lanes, %d shares: rows of K lie alike: bk%d d%d", LANES, shares, bk, at->d);
    }
    return done_testing();
}
