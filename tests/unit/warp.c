/* warp.c - which item of a warp holds what in engine mma_nv: its layout in plain C, by the maps of the PTX manual
 * SPDX-License-Identifier: Apache-2.0
 *
 * The emulation (matrix.t) and the engine may share a misreading: here PTX's maps are written down once more, from the
 * manual's "Matrix Fragments for mma.m16n8k16" and "m16n8k8" with .f16. What the engine's head says of rows, keys and
 * columns has to follow from them, and 16-byte accesses have to be free of bank conflicts. */
#include "config.h"

#include "tests/lib/tap.h"

enum { LANES = 32, BANKS = 8 /* of 16 bytes: an eighth of a warp's, or 8 items, go at a time */ };

struct place {
    int row, col;
};

/* ---- The manual ---- */

static struct place left(int lane, int i) /* of 16 x 16: a0 .. a7 */
{
    return (struct place){ lane / 4 + (i % 4 >= 2 ? 8 : 0), lane % 4 * 2 + i % 2 + (i >= 4 ? 8 : 0) };
}
static struct place right(int lane, int i) /* of 16 x 8: b0 .. b3 */
{
    return (struct place){ lane % 4 * 2 + i % 2 + (i >= 2 ? 8 : 0), lane / 4 };
}
static struct place sums(int lane, int i) /* of 16 x 8: c0 .. c3 */
{
    return (struct place){ lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + i % 2 };
}
static struct place left_k8(int lane, int i) /* of 16 x 8: a0 .. a3 */
{
    return (struct place){ lane / 4 + (i >= 2 ? 8 : 0), lane % 4 * 2 + i % 2 };
}
static struct place right_k8(int lane, int i) /* of 8 x 8: b0, b1 */
{
    return (struct place){ lane % 4 * 2 + i, lane / 4 };
}

/* What an instruction adds to an item's four sums: a and b have 8 and 4 elements for each item. */
static void mma(long (*c)[4], long (*a)[8], long (*b)[4])
{
    long A[16][16], B[16][8];
    for (int lane = 0; lane < LANES; lane++) {
        for (int i = 0; i < 8; i++)
            A[left(lane, i).row][left(lane, i).col] = a[lane][i];
        for (int i = 0; i < 4; i++)
            B[right(lane, i).row][right(lane, i).col] = b[lane][i];
    }
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 16; k++)
                c[lane][i] += A[sums(lane, i).row][k] * B[k][sums(lane, i).col];
}

/* ---- Maps alone ---- */

static int covers(struct place (*map)(int, int), int n, int rows, int cols)
{
    int seen[16][16] = { { 0 } };
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < n; i++)
            seen[map(lane, i).row][map(lane, i).col]++;
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            if (seen[r][c] != 1)
                return 0;
    return n * LANES == rows * cols;
}

static void check_maps(void)
{
    int same = 1, emulated = 1;
    ok(covers(left, 8, 16, 16) && covers(right, 4, 16, 8) && covers(sums, 4, 16, 8) && covers(left_k8, 4, 16, 8) &&
           covers(right_k8, 2, 8, 8),
       "each element has one holder");
    /* Turing's two steps of 8 take the first half of the registers, then the second. */
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 8; i++) {
            const struct place x = left(lane, i), y = left_k8(lane, i % 4);
            same &= x.row == y.row && x.col == y.col + i / 4 * 8;
            if (i < 4)
                same &= right(lane, i).row == right_k8(lane, i % 2).row + i / 2 * 8;
        }
    ok(same, "an m16n8k16 is two m16n8k8");
    /* mma_emu.cl: who has row r and column k of the left operand, and in which word and half; of the right one. */
    for (int lane = 0; lane < LANES; lane++)
        for (int i = 0; i < 4; i++)
            for (int k = 0; k < 16; k++) {
                const struct place at = sums(lane, i);
                const int owner = k % 8 / 2, l = lane / 4 * 4 + owner, word = i / 2 + k / 8 * 2;
                const int r = 4 * (2 * (lane % 4) + i % 2) + owner;
                emulated &= left(l, 2 * word + k % 2).row == at.row && left(l, 2 * word + k % 2).col == k;
                emulated &= right(r, k / 8 * 2 + k % 2).row == k && right(r, k / 8 * 2 + k % 2).col == at.col;
            }
    ok(emulated, "the emulation reads from who holds it");
}

/* ---- The engine ---- */

/* A warp with one row tile: 16 queries, bk keys, d dims, dv columns. */
struct shape {
    int bk, d, dv;
};
enum { MOST = 256 };
static long Q[16][MOST], K[MOST][MOST], V[MOST][MOST];
static long s[LANES][MOST], o[LANES][2 * MOST];    /* registers of an item, as the engine numbers them */
static long staged[MOST * MOST / 8][8];            /* places of 16 bytes */
static int touched[LANES];                         /* the place that each item reads or writes at once */

static int query_of(int lane, int r) { return lane / 4 + 8 * r; }
static int key_of(int lane, int j) { return 16 * (j / 4) + 4 * (lane % 4) + j % 4; }

static void fill(long (*x)[MOST], int rows, int cols)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < cols; c++)
            x[r][c] = rand() % 2001 - 1000;
}

static int free_of_conflicts(void)
{
    for (int first = 0; first < LANES; first += BANKS)
        for (int i = 0; i < BANKS; i++)
            for (int j = 0; j < i; j++)
                if (touched[first + i] % BANKS == touched[first + j] % BANKS &&
                    touched[first + i] != touched[first + j])
                    return 0;
    return 1;
}

/* Rows as they are; every other one swaps the halves of 8 chunks. */
static int k_place(const struct shape *sh, int key, int c)
{
    const int chunks = sh->d / 8;
    return key * chunks + (chunks % 8 ? c : c ^ 4 * (key & 1));
}
static int v_place(const struct shape *sh, int quad, int p) { return quad * 4 * (sh->dv / 8) + (p ^ 2 * (quad & 3)); }

/* S = Q K^T. Returns whether the reads are free of conflicts. */
static int first_product(const struct shape *sh)
{
    int good = 1;
    memset(s, 0, sizeof s);
    for (int key = 0; key < sh->bk; key++)
        for (int c = 0; c < sh->d / 8; c++)
            memcpy(staged[k_place(sh, key, c)], &K[key][8 * c], sizeof *staged);
    for (int d = 0; d < sh->d / 32; d++)
        for (int j = 0; j < sh->bk / 8; j++) {
            for (int half = 0; half < 2; half++) {
                long a[LANES][8], b[LANES][4], c[LANES][4] = { { 0 } };
                for (int lane = 0; lane < LANES; lane++) {
                    const int g = lane / 4, t = lane % 4;
                    const int key = 16 * (j / 2) + 4 * (g / 2) + 2 * (j % 2) + g % 2;
                    const long *low = &Q[query_of(lane, 0)][32 * d + 8 * t + 4 * half];
                    const long *high = &Q[query_of(lane, 1)][32 * d + 8 * t + 4 * half];
                    const long words[] = { low[0], low[1], high[0], high[1], low[2], low[3], high[2], high[3] };
                    touched[lane] = k_place(sh, key, 4 * d + t);
                    memcpy(a[lane], words, sizeof words);
                    memcpy(b[lane], staged[touched[lane]] + 4 * half, sizeof *b);
                }
                good &= free_of_conflicts();
                mma(c, a, b);
                for (int lane = 0; lane < LANES; lane++)
                    for (int i = 0; i < 4; i++) /* s[(2 j + i % 2) * 2 + i / 2] */
                        s[lane][(2 * j + i % 2) * 2 + i / 2] += c[lane][i];
            }
        }
    return good;
}

/* O = P V, with S for P as it lies in registers. */
static int second_product(const struct shape *sh)
{
    const int chunks = sh->dv / 8;
    int good = 1;
    memset(o, 0, sizeof o);
    for (int quad = 0; quad < sh->bk / 4; quad++)
        for (int c = 0; c < chunks; c++)
            for (int i = 0; i < 4; i++) /* word i of the chunk: columns 8 c + 2 i and + 1, of four keys each */
                for (int x = 0; x < 8; x++)
                    staged[v_place(sh, quad, i * chunks + c)][x] = V[4 * quad + x % 4][8 * c + 2 * i + x / 4];
    for (int j = 0; j < sh->bk / 16; j++)
        for (int h = 0; h < sh->dv / 16; h++)
            for (int n = 0; n < 2; n++) {
                long a[LANES][8], b[LANES][4], c[LANES][4] = { { 0 } };
                for (int lane = 0; lane < LANES; lane++) {
                    const long *x = &s[lane][4 * j * 2];
                    const long words[] = { x[0], x[2], x[1], x[3], x[4], x[6], x[5], x[7] };
                    touched[lane] = v_place(sh, 4 * j + lane % 4, 8 * h + lane / 4);
                    memcpy(a[lane], words, sizeof words);
                    memcpy(b[lane], staged[touched[lane]] + 4 * n, sizeof *b);
                }
                good &= free_of_conflicts();
                mma(c, a, b);
                for (int lane = 0; lane < LANES; lane++)
                    for (int i = 0; i < 4; i++)
                        o[lane][8 * h + 4 * n + i] += c[lane][i];
            }
    return good;
}

static int scores_are_named(const struct shape *sh)
{
    for (int lane = 0; lane < LANES; lane++)
        for (int j = 0; j < sh->bk / 4; j++)
            for (int r = 0; r < 2; r++) {
                long want = 0;
                for (int d = 0; d < sh->d; d++)
                    want += Q[query_of(lane, r)][d] * K[key_of(lane, j)][d];
                if (s[lane][j * 2 + r] != want)
                    return 0;
            }
    return 1;
}

static long output(const struct shape *sh, int q, int col)
{
    long sum = 0;
    for (int k = 0; k < sh->bk; k++) {
        long score = 0;
        for (int d = 0; d < sh->d; d++)
            score += Q[q][d] * K[k][d];
        sum += score * V[k][col];
    }
    return sum;
}

/* Element by element, then 8 at a time where rows are multiples of 64. */
static int output_is_named(const struct shape *sh)
{
    const int chunks = sh->dv / 8;
    for (int lane = 0; lane < LANES; lane++)
        for (int r = 0; r < 2; r++)
            for (int h = 0; h < sh->dv / 16; h++)
                for (int x = 0; x < 2; x++) {
                    const int p = 8 * h + 2 * (lane % 4) + x, d = 8 * (p % chunks) + 2 * (p / chunks);
                    for (int n = 0; n < 2; n++)
                        if (o[lane][8 * h + 4 * n + x + 2 * r] != output(sh, query_of(lane, r), d + n))
                            return 0;
                }
    for (int lane = 0; lane < LANES && sh->dv % 64 == 0; lane++)
        for (int h = 0; h < sh->dv / 64; h++)
            for (int x = 0; x < 2; x++)
                for (int i = 0; i < 8; i++) {
                    const int from = 8 * (i / 2 * (sh->dv / 64) + h) + 4 * (i % 2) + x;
                    if (o[lane][from] != output(sh, query_of(lane, 0), 64 * h + 16 * (lane % 4) + 8 * x + i))
                        return 0;
                }
    return 1;
}

static void check_shape(const struct shape *sh)
{
    const int whole = sh->d % 64 == 0; /* narrower rows of K are not swizzled */
    fill(Q, 16, sh->d);
    fill(K, sh->bk, sh->d);
    fill(V, sh->bk, sh->dv);
    const int k_free = first_product(sh);
    ok(scores_are_named(sh), "S is where the masks look for it: bk%d d%d", sh->bk, sh->d);
    const int v_free = second_product(sh);
    ok(output_is_named(sh), "O is written where it belongs: bk%d dv%d", sh->bk, sh->dv);
    ok((k_free || !whole) && v_free, "no reads of K or V meet in a bank: bk%d d%d/%d", sh->bk, sh->d, sh->dv);
}

int main(void)
{
    static const struct shape shapes[] = { { 16, 32, 16 },  { 64, 64, 64 },   { 32, 128, 128 }, { 16, 256, 256 },
                                           { 48, 160, 112 }, { 128, 64, 48 }, { 16, 96, 192 } };
    check_maps();
    for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        check_shape(&shapes[i]);
    return done_testing();
}
