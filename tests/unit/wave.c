/* wave.c - which lane of a wave holds what in engines mfma and wmma: their layouts in plain C, by AMD's manuals
 * SPDX-License-Identifier: Apache-2.0
 *
 * As warp.c has it of mma_nv: the manuals' maps are written down once more, those of v_mfma_f32_16x16x16 for CDNA and
 * of v_wmma_f32_16x16x16 for RDNA 3 and 4. What mma_mfma_lanes.cl and mma_wmma_lanes.cl say of columns and rows, and
 * products_mma.cl of keys and columns of O, has to follow from them, and 16-byte reads of 8 lanes have to be free of
 * bank conflicts. */
#include "config.h"

#include "tests/lib/tap.h"

enum { MOST_LANES = 64, N = 16, MOST = 256, BANKS = 8 };

/* A unit by its manual: elements of A and B of a lane, of D; at which k is element i, in which row is register v. A has
 * row lane % 16, B and D column lane % 16. And as the fragments have it: a lane's column, the row of a column. */
static const struct unit {
    const char *name;
    int lanes, whole, elements, depth;
    int (*k)(int lane, int i), (*row)(int lane, int v), (*column)(int lane), (*row_of)(int column);
} *u;
static int k_mfma(int lane, int i) { return 4 * (lane / 16) + i; }
static int k_gfx12(int lane, int i) { return 8 * (lane / 16) + i; }
static int k_gfx11(int lane, int i) { return lane * 0 + i; }
static int row_gfx11(int lane, int v) { return 2 * v + lane / 16; }
static int column_plain(int lane) { return lane % 16; }
static int column_gfx11(int lane) { return lane % 2 * 8 + lane % 16 / 2; }
static int row_of_plain(int column) { return column; }
static int row_of_gfx11(int column) { return column % 8 * 2 + column / 8; }
static const struct unit units[] = {
    { "mfma", 64, 0, 4, 4, k_mfma, k_mfma, column_plain, row_of_plain },
    { "wmma, gfx12", 32, 0, 8, 8, k_gfx12, k_gfx12, column_plain, row_of_plain },
    { "wmma, gfx11", 32, 1, 16, 8, k_gfx11, row_gfx11, column_gfx11, row_of_gfx11 },
};

static int part_of(int lane) { return lane / 16; }
static int parts(void) { return N / u->depth; }
static int steps(void) { return 8 / u->depth; } /* instructions that a chunk feeds */

static long Q[N][MOST], K[MOST][MOST], V[MOST][MOST];
static long s[MOST_LANES][MOST], o[MOST_LANES][MOST]; /* registers of a lane, as the engine numbers them */

/* Each element that lanes hold more than once has to be the same. Returns whether it is. */
static int gather(long to[N][N], long from[MOST_LANES][N])
{
    int good = 1, seen[N][N] = { { 0 } };
    for (int lane = 0; lane < u->lanes; lane++)
        for (int i = 0; i < u->elements; i++) {
            const int m = lane % 16, k = u->k(lane, i);
            good &= !seen[m][k]++ || to[m][k] == from[lane][i];
            to[m][k] = from[lane][i];
        }
    for (int m = 0; m < N; m++)
        for (int k = 0; k < N; k++)
            good &= seen[m][k] > 0;
    return good;
}
static int multiply(long (*d)[MOST], int at, int apart, long a[MOST_LANES][N], long b[MOST_LANES][N])
{
    long A[N][N], B[N][N];
    const int good = gather(A, a) & gather(B, b);
    for (int lane = 0; lane < u->lanes; lane++)
        for (int v = 0; v < u->depth; v++)
            for (int k = 0; k < N; k++)
                d[lane][at + apart * v] += A[u->row(lane, v)][k] * B[lane % 16][k];
    return good;
}

static int free_of_conflicts(const int *place)
{
    for (int lane = 0; lane < u->lanes; lane++)
        for (int other = lane / BANKS * BANKS; other < lane; other++)
            if (place[lane] % BANKS == place[other] % BANKS && place[lane] != place[other])
                return 0;
    return 1;
}

/* S^T = K Q^T: the right operand is the instruction's A. */
static int first_product(int bk, int d, int *conflicts)
{
    int good = 1;
    memset(s, 0, sizeof s);
    for (int c = 0; c < d / 8; c += parts())
        for (int j = 0; j < bk / N; j++)
            for (int h = 0; h < steps(); h++) {
                long a[MOST_LANES][N], b[MOST_LANES][N];
                int place[MOST_LANES];
                for (int lane = 0; lane < u->lanes; lane++) {
                    const int key = N * j + u->column(lane), query = u->row_of(u->column(lane));
                    const int first = c + (u->whole ? 0 : part_of(lane));
                    for (int i = 0; i < u->elements; i++) {
                        const int dim = 8 * first + u->depth * h + i;
                        a[lane][i] = K[key][dim];
                        b[lane][i] = Q[query][dim];
                    }
                    place[lane] = key * (d / 8) + (first ^ (u->row_of(key % N) & 7));
                }
                good &= multiply(s, u->depth * j, 1, a, b);
                *conflicts |= !free_of_conflicts(place);
            }
    return good;
}
static int key_of(int lane, int j) { return N * (j / u->depth) + u->depth * part_of(lane) + j % u->depth; }
static int column_of(int n, int x, int dv) /* place x of tile n */
{
    const int p = N * (n / steps()) + x, chunks = dv / 8;
    return 8 * (p % chunks) + steps() * (p / chunks) + n % steps();
}

/* O^T = V^T P^T, with S for P as it lies in registers; gfx11's lanes get the other half's. */
static int second_product(int bk, int dv, int *conflicts)
{
    int good = 1;
    memset(o, 0, sizeof o);
    for (int j = 0; j < bk / N; j++)
        for (int n = 0; n < dv / N; n++) {
            long a[MOST_LANES][N], b[MOST_LANES][N];
            int place[MOST_LANES];
            for (int lane = 0; lane < u->lanes; lane++) {
                const int first = u->whole ? 0 : part_of(lane), x = u->row_of(u->column(lane));
                for (int i = 0; i < u->elements; i++) {
                    const int owner = u->whole ? lane % 16 + 16 * (i / u->depth) : lane;
                    a[lane][i] = V[N * j + u->depth * first + i][column_of(n, x, dv)];
                    b[lane][i] = s[owner][u->depth * j + i % u->depth];
                }
                place[lane] = (parts() * j + first) * u->depth * (dv / 8) + N * (n / steps()) + x;
            }
            good &= multiply(o, n * u->depth, 1, a, b);
            *conflicts |= !free_of_conflicts(place);
        }
    return good;
}

static int scores_are_named(int bk, int d)
{
    for (int lane = 0; lane < u->lanes; lane++)
        for (int j = 0; j < bk / parts(); j++) {
            long want = 0;
            for (int i = 0; i < d; i++)
                want += Q[u->row_of(u->column(lane))][i] * K[key_of(lane, j)][i];
            if (s[lane][j] != want)
                return 0;
        }
    return 1;
}
static int output_is_named(int bk, int d, int dv)
{
    for (int lane = 0; lane < u->lanes; lane++)
        for (int n = 0; n < dv / N; n++)
            for (int x = 0; x < u->depth; x++) {
                const int column = column_of(n, u->row_of(u->depth * part_of(lane) + x), dv);
                long want = 0;
                for (int k = 0; k < bk; k++) {
                    long score = 0;
                    for (int i = 0; i < d; i++)
                        score += Q[u->row_of(u->column(lane))][i] * K[k][i];
                    want += score * V[k][column];
                }
                if (o[lane][n * u->depth + x] != want)
                    return 0;
            }
    return 1;
}

static void fill(long (*x)[MOST], int rows)
{
    for (int r = 0; r < rows; r++)
        for (int c = 0; c < MOST; c++)
            x[r][c] = rand() % 201 - 100;
}

int main(void)
{
    static const struct {
        int bk, d, dv;
    } shapes[] = { { 16, 32, 32 }, { 64, 64, 64 }, { 32, 128, 128 }, { 16, 256, 256 }, { 48, 160, 96 } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        for (size_t n = 0; n < sizeof shapes / sizeof *shapes; n++) {
            const int bk = shapes[n].bk, d = shapes[n].d, dv = shapes[n].dv;
            int conflicts_k = 0, conflicts_v = 0;
            u = &units[i];
            fill(Q, N);
            fill(K, bk);
            fill(V, bk);
            ok(first_product(bk, d, &conflicts_k) && scores_are_named(bk, d),
               "%s: S is where the masks look for it: bk%d d%d", u->name, bk, d);
            ok(second_product(bk, dv, &conflicts_v) && output_is_named(bk, d, dv),
               "%s: O is written where it belongs: bk%d dv%d", u->name, bk, dv);
            ok((!conflicts_k || d % 64) && !conflicts_v, "%s: no reads of K or V meet in a bank: bk%d d%d/%d", u->name,
               bk, d, dv);
        }
    return done_testing();
}
