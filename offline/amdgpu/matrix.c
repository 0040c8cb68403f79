/* matrix.c - products of matrices: MFMA of CDNA, WMMA of RDNA 3 and 4
 * SPDX-License-Identifier: Apache-2.0
 *
 * Every lane of a wave has some elements of a row of A, some of a column of B, and some of a column of C and D. A shape
 * says which; below they are the functions a_at() and d_at(). What nothing wrote makes a row or a column of D
 * undefined. */
#include <math.h>
#include <string.h>

#include "reader.h"

enum element { E_F16, E_BF16, E_F32, E_I8, E_U8 };
enum layout { MFMA, WMMA_11, WMMA_12 };
struct shape {
    enum element in, out; /* of A and B; of C and D: E_F32, E_F16, E_BF16, E_I8: 32 bits, whole */
    enum layout layout;
    int m, k, blocks;     /* m rows and columns */
};

/* X(name, operands, in, out, layout, m, k, blocks) */
#define SHAPES(X)                                                               \
    X(v_mfma_f32_32x32x4f16, "D-22D", E_F16, E_F32, MFMA, 32, 4, 2)             \
    X(v_mfma_f32_16x16x4f16, "C-22C", E_F16, E_F32, MFMA, 16, 4, 4)             \
    X(v_mfma_f32_4x4x4f16, "4-224", E_F16, E_F32, MFMA, 4, 4, 16)               \
    X(v_mfma_f32_32x32x8f16, "C-22C", E_F16, E_F32, MFMA, 32, 8, 1)             \
    X(v_mfma_f32_16x16x16f16, "4-224", E_F16, E_F32, MFMA, 16, 16, 1)           \
    X(v_mfma_f32_32x32x4_2b_f16, "D-22D", E_F16, E_F32, MFMA, 32, 4, 2)         \
    X(v_mfma_f32_16x16x4_4b_f16, "C-22C", E_F16, E_F32, MFMA, 16, 4, 4)         \
    X(v_mfma_f32_4x4x4_16b_f16, "4-224", E_F16, E_F32, MFMA, 4, 4, 16)          \
    X(v_mfma_f32_32x32x8_f16, "C-22C", E_F16, E_F32, MFMA, 32, 8, 1)            \
    X(v_mfma_f32_16x16x16_f16, "4-224", E_F16, E_F32, MFMA, 16, 16, 1)          \
    X(v_mfma_f32_32x32x16_f16, "C-44C", E_F16, E_F32, MFMA, 32, 16, 1)          \
    X(v_mfma_f32_16x16x32_f16, "4-444", E_F16, E_F32, MFMA, 16, 32, 1)          \
    X(v_mfma_f32_32x32x2bf16, "D-11D", E_BF16, E_F32, MFMA, 32, 2, 2)           \
    X(v_mfma_f32_16x16x2bf16, "C-11C", E_BF16, E_F32, MFMA, 16, 2, 4)           \
    X(v_mfma_f32_4x4x2bf16, "4-114", E_BF16, E_F32, MFMA, 4, 2, 16)             \
    X(v_mfma_f32_32x32x4bf16, "C-11C", E_BF16, E_F32, MFMA, 32, 4, 1)           \
    X(v_mfma_f32_16x16x8bf16, "4-114", E_BF16, E_F32, MFMA, 16, 8, 1)           \
    X(v_mfma_f32_32x32x4bf16_1k, "D-22D", E_BF16, E_F32, MFMA, 32, 4, 2)        \
    X(v_mfma_f32_16x16x4bf16_1k, "C-22C", E_BF16, E_F32, MFMA, 16, 4, 4)        \
    X(v_mfma_f32_4x4x4bf16_1k, "4-224", E_BF16, E_F32, MFMA, 4, 4, 16)          \
    X(v_mfma_f32_32x32x8bf16_1k, "C-22C", E_BF16, E_F32, MFMA, 32, 8, 1)        \
    X(v_mfma_f32_16x16x16bf16_1k, "4-224", E_BF16, E_F32, MFMA, 16, 16, 1)      \
    X(v_mfma_f32_32x32x4_2b_bf16, "D-22D", E_BF16, E_F32, MFMA, 32, 4, 2)       \
    X(v_mfma_f32_16x16x4_4b_bf16, "C-22C", E_BF16, E_F32, MFMA, 16, 4, 4)       \
    X(v_mfma_f32_4x4x4_16b_bf16, "4-224", E_BF16, E_F32, MFMA, 4, 4, 16)        \
    X(v_mfma_f32_32x32x8_bf16, "C-22C", E_BF16, E_F32, MFMA, 32, 8, 1)          \
    X(v_mfma_f32_16x16x16_bf16, "4-224", E_BF16, E_F32, MFMA, 16, 16, 1)        \
    X(v_mfma_f32_32x32x16_bf16, "C-44C", E_BF16, E_F32, MFMA, 32, 16, 1)        \
    X(v_mfma_f32_16x16x32_bf16, "4-444", E_BF16, E_F32, MFMA, 16, 32, 1)        \
    X(v_mfma_f32_32x32x1f32, "D-11D", E_F32, E_F32, MFMA, 32, 1, 2)             \
    X(v_mfma_f32_16x16x1f32, "C-11C", E_F32, E_F32, MFMA, 16, 1, 4)             \
    X(v_mfma_f32_4x4x1f32, "4-114", E_F32, E_F32, MFMA, 4, 1, 16)               \
    X(v_mfma_f32_32x32x2f32, "C-11C", E_F32, E_F32, MFMA, 32, 2, 1)             \
    X(v_mfma_f32_16x16x4f32, "4-114", E_F32, E_F32, MFMA, 16, 4, 1)             \
    X(v_mfma_f32_32x32x1_2b_f32, "D-11D", E_F32, E_F32, MFMA, 32, 1, 2)         \
    X(v_mfma_f32_16x16x1_4b_f32, "C-11C", E_F32, E_F32, MFMA, 16, 1, 4)         \
    X(v_mfma_f32_4x4x1_16b_f32, "4-114", E_F32, E_F32, MFMA, 4, 1, 16)          \
    X(v_mfma_f32_32x32x2_f32, "C-11C", E_F32, E_F32, MFMA, 32, 2, 1)            \
    X(v_mfma_f32_16x16x4_f32, "4-114", E_F32, E_F32, MFMA, 16, 4, 1)            \
    X(v_mfma_i32_32x32x8i8, "C-11C", E_I8, E_I8, MFMA, 32, 8, 1)                \
    X(v_mfma_i32_16x16x16i8, "4-114", E_I8, E_I8, MFMA, 16, 16, 1)              \
    X(v_mfma_i32_32x32x16_i8, "C-22C", E_I8, E_I8, MFMA, 32, 16, 1)             \
    X(v_mfma_i32_16x16x32_i8, "4-224", E_I8, E_I8, MFMA, 16, 32, 1)

/* Of WMMA the generation and the wave decide how many registers there are: X(name, in, out). */
#define WMMA_SHAPES(X)                              \
    X(v_wmma_f32_16x16x16_f16, E_F16, E_F32)        \
    X(v_wmma_f32_16x16x16_bf16, E_BF16, E_F32)      \
    X(v_wmma_f16_16x16x16_f16, E_F16, E_F16)        \
    X(v_wmma_bf16_16x16x16_bf16, E_BF16, E_BF16)    \
    X(v_wmma_i32_16x16x16_iu8, E_I8, E_I8)

#define ID(name, ...) ID_##name,
enum shape_id { SHAPES(ID) WMMA_SHAPES(ID) N_SHAPES };
#define SHAPE(name, operands, in, out, layout, m, k, blocks) [ID_##name] = { in, out, layout, m, k, blocks },
#define WMMA_SHAPE(name, in, out) [ID_##name] = { in, out, WMMA_11, 16, 16, 1 },
static const struct shape shapes[N_SHAPES] = { SHAPES(SHAPE) WMMA_SHAPES(WMMA_SHAPE) };

/* ---- where elements lie ---- */

struct place { /* of a matrix's element */
    int block, row, k;
};

static int element_bits(enum element e)
{
    return e == E_F32 ? 32 : e == E_F16 || e == E_BF16 ? 16 : 8;
}

/* Elements of A, or B, that a lane has. */
static int per_lane(const struct shape *s, int lanes)
{
    return s->layout == WMMA_11 ? s->k : s->m * s->k * s->blocks / lanes;
}

/* The first of them; those behind it follow along k. */
static struct place a_at(const struct shape *s, int lanes, int lane)
{
    const int group = lane / s->m, n = per_lane(s, lanes), per_block = lanes / s->m / s->blocks;
    struct place p = { 0, lane % s->m, 0 };
    if (s->layout != WMMA_11) {
        p.block = group / per_block;
        p.k = n * (group % per_block);
    }
    return p;
}

static struct place d_at(const struct shape *s, int lanes, int lane, int v)
{
    struct place p = { 0, 0, 0 };
    const int group = lane / 16;
    if (s->layout == WMMA_11) {
        p.row = lanes / 16 * v + group;
    } else if (s->layout == WMMA_12) {
        p.row = 8 * group + v;
    } else if (s->m == 32) {
        p.block = v / 16;
        p.row = 8 * (v % 16 / 4) + 4 * (lane / 32) + v % 4;
    } else if (s->m == 16) {
        p.block = v / 4;
        p.row = 4 * group + v % 4;
    } else {
        p.block = lane / 4;
        p.row = v;
    }
    return p;
}

/* ---- operands ---- */

enum { MAX_M = 32, MAX_K = 32, MAX_BLOCKS = 16, MAX_CELLS = 1024 /* m k blocks */,
       MAX_SUMS = 2048 /* m m blocks */ };
struct product {
    const struct shape *s;
    struct wave *w;
    const struct op *o;
    int lanes, flush, approximate, shift; /* shift: m is two to it */
    double a[MAX_CELLS], b[MAX_CELLS]; /* [block][row][k], [block][k][column] */
    double d[MAX_SUMS];                /* [block][row][column]: C, then D */
    uint8_t a_wrong[MAX_M * MAX_BLOCKS], b_wrong[MAX_M * MAX_BLOCKS]; /* [block][row]: not defined */
};

static double decode(const struct product *p, uint32_t word, int e, int is_signed)
{
    const enum element type = p->s->in;
    float x;
    if (type == E_I8)
        return is_signed ? (double)(int8_t)(word >> 8 * (e & 3)) : (double)(word >> 8 * (e & 3) & 255);
    if (type == E_F32)
        x = float_of(word);
    else {
        const uint32_t half = word >> 16 * (e & 1) & 0xffff;
        if (p->flush && type == E_F16 && !(half & 0x7c00))
            return half & 0x8000 ? -0.0 : 0.0;
        x = type == E_F16 ? half_to_float(half) : bf16_to_float(half);
    }
    return p->flush ? flush(x) : x;
}

/* One word of a lane's: elements e to e + n - 1. */
static void take_word(struct product *p, uint32_t word, int lane, int e, int n, int source, int is_signed)
{
    const struct matrix_map *map = &p->w->worker->map;
    const int m = p->s->m, k = p->s->k, row = map->row[lane], block = map->block[lane], first = map->k[lane] + e;
    double *a = p->a + (block * m + row) * k + first, *b = p->b + (block * k + first) * m + row;
    for (int h = 0; h < n; h++)
        if (source)
            b[h * m] = decode(p, word, h, is_signed);
        else
            a[h] = decode(p, word, h, is_signed);
}

static void take(struct product *p, int source, int is_signed)
{
    const struct operand *a = &p->o->src[source];
    const struct matrix_map *map = &p->w->worker->map;
    const int n = per_lane(p->s, p->lanes), per_word = 32 / element_bits(p->s->in);
    uint8_t *wrong = source ? p->b_wrong : p->a_wrong;
    lane_u32 space[MAX_LANES];
    memset(wrong, 0, sizeof p->a_wrong);
    for (int word = 0; word * per_word < n; word++) {
        const lane_u32 *from = fetch_plain(p->w, a, a->kind == OPERAND_CONST ? 0 : (unsigned)word, space);
        const uint64_t defined = fetch_defined(p->w, a, (unsigned)word);
        for (int lane = 0; lane < p->lanes; lane++) {
            take_word(p, from[lane], lane, word * per_word, per_word, source, is_signed);
            wrong[map->block[lane] * p->s->m + map->row[lane]] |= !(defined >> lane & 1);
        }
    }
}

/* RDNA 3: lanes 16 to 31 (63) have to repeat lanes 0 to 15. */
static void check_halves(const struct product *p, int source)
{
    const struct operand *a = &p->o->src[source];
    uint64_t wrong = 0;
    for (unsigned word = 0; a->kind == OPERAND_VECTOR && word < a->words; word++) {
        const lane_u32 *x = vector_of(p->w, a->reg + word);
        const uint64_t defined = fetch_defined(p->w, a, word);
        for (int lane = 16; lane < p->lanes; lane++)
            if (x[lane] != x[lane % 16] && defined >> lane & 1 && defined >> lane % 16 & 1)
                wrong |= (uint64_t)1 << lane;
    }
    if (wrong)
        check_lanes(p->w, p->o, FOUND_HALVES_DIFFER, wrong);
}

/* ---- sums ---- */

static float to_float(double x, int sign)
{
    return round_float(x, sign < 0 ? ROUND_RM : sign > 0 ? ROUND_RP : ROUND_RN);
}

/* Exact products, in double. Each element's sum is rounded once, or to the asked side after every four of them: steps
 * are the outer loop, so that a row's elements are computed side by side. */
static void add_products(const struct product *p, int block, int row, double *sums)
{
    const int m = p->s->m, n = p->s->k;
    const double *a = p->a + (block * m + row) * n, *b = p->b + block * n * m;
    for (int k = 0; k < n; k++) {
        const double x = a[k], *y = b + k * m;
        for (int column = 0; column < m; column++)
            sums[column] += x * y[column];
        for (int column = 0; p->approximate && k % 4 == 3 && p->s->out == E_F32 && column < m; column++)
            sums[column] = to_float(sums[column], p->approximate);
    }
}

static uint32_t encode(const struct product *p, double sum)
{
    const int mode = p->approximate < 0 ? ROUND_RM : p->approximate > 0 ? ROUND_RP : ROUND_RN;
    float x;
    switch (p->s->out) {
    case E_F16: return round_small(sum, 10, mode);
    case E_BF16: return round_small(sum, 7, mode);
    case E_F32:
        x = to_float(sum, p->approximate);
        return bits_of(p->flush ? flush(x) : x);
    default: { /* clamp takes the nearest number that there is; without it the lower bits stay */
        const double limited = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
        return p->o->clamp ? (uint32_t)(int32_t)limited : (uint32_t)(int64_t)sum;
    }
    }
}

static double decode_c(const struct product *p, uint32_t word)
{
    switch (p->s->out) {
    case E_F16: return half_to_float(word & 0xffff);
    case E_BF16: return bf16_to_float(word & 0xffff);
    case E_F32: return float_of(word);
    default: return (double)(int32_t)word;
    }
}

/* How elements of C and D lie in registers: two in each (generation 12, 16 bits), or one, in the half that op_sel
 * says. */
struct packing {
    int n, packed; /* elements of a lane */
    unsigned shift;
};

static int words_of_d(const struct packing *pack)
{
    return pack->packed ? pack->n / 2 : pack->n;
}

/* Element h of a lane's register `word` of C or D. */
static size_t cell_of(const struct product *p, const struct packing *pack, int word, int lane, int h)
{
    return p->w->worker->map.d[pack->packed ? 2 * word + h : word][lane];
}

static void make_map(const struct product *p, const struct packing *pack)
{
    struct matrix_map *map = &p->w->worker->map;
    if (map->shape == p->o->sub + 1)
        return;
    map->shape = p->o->sub + 1;
    for (int lane = 0; lane < p->lanes; lane++) {
        const struct place at = a_at(p->s, p->lanes, lane);
        map->row[lane] = (uint16_t)at.row;
        map->block[lane] = (uint16_t)at.block;
        map->k[lane] = (uint16_t)at.k;
        for (int v = 0; v < pack->n; v++) {
            const struct place d = d_at(p->s, p->lanes, lane, v);
            map->d[v][lane] = (uint16_t)((d.block * p->s->m + d.row) * p->s->m + lane % p->s->m);
        }
    }
}

static unsigned shift_of(const struct packing *pack, int h)
{
    return pack->packed ? 16u * (unsigned)h : pack->shift;
}

static void take_c(struct product *p, const struct packing *pack)
{
    const struct operand *c = &p->o->src[2];
    lane_u32 space[MAX_LANES];
    for (int word = 0; word < words_of_d(pack); word++) {
        const lane_u32 *from = fetch_plain(p->w, c, c->kind == OPERAND_CONST ? 0 : (unsigned)word, space);
        for (int lane = 0; lane < p->lanes; lane++)
            for (int h = 0; h <= pack->packed; h++) {
                const double x = decode_c(p, from[lane] >> shift_of(pack, h));
                p->d[cell_of(p, pack, word, lane, h)] = p->flush ? flush((float)x) : x;
            }
    }
}

static void put_d(struct product *p, const struct packing *pack)
{
    struct wave *w = p->w;
    const struct operand *c = &p->o->src[2];
    const int is_small = p->s->out == E_F16 || p->s->out == E_BF16;
    const uint32_t keep = is_small && !pack->packed ? ~(0xffffu << pack->shift) : 0;
    lane_u32 out[32][MAX_LANES], space[MAX_LANES];
    uint64_t defined[32];
    for (int word = 0; word < words_of_d(pack); word++) {
        const unsigned from_word = c->kind == OPERAND_CONST ? 0 : (unsigned)word;
        const lane_u32 *from = fetch_plain(w, c, from_word, space);
        defined[word] = fetch_defined(w, c, from_word);
        for (int lane = 0; lane < p->lanes; lane++) {
            out[word][lane] = from[lane] & keep;
            for (int h = 0; h <= pack->packed; h++) {
                const size_t m = (size_t)p->s->m, cell = cell_of(p, pack, word, lane, h), line = cell >> p->shift;
                const size_t column = (line & ~(m - 1)) | (cell & (m - 1)); /* with its block, as in b_wrong */
                out[word][lane] |= encode(p, p->d[cell]) << shift_of(pack, h);
                if (p->a_wrong[line] || p->b_wrong[column])
                    defined[word] &= ~((uint64_t)1 << lane);
            }
        }
    }
    for (int word = 0; word < words_of_d(pack); word++)
        issue_put(w, p->o->dst[0].reg + (uint32_t)word, all_lanes(w), out[word], defined[word]);
}

static void matrix(struct wave *w, const struct op *o)
{
    const struct amdgpu_module *m = w->worker->launch->kernel->module;
    struct product p;
    struct shape s = shapes[o->sub];
    struct packing pack = { s.m * s.m * s.blocks / (int)w->n, 0, 0 };
    p.s = &s;
    p.w = w;
    p.o = o;
    p.lanes = (int)w->n;
    p.shift = s.m == 32 ? 5 : s.m == 16 ? 4 : 2;
    p.approximate = w->worker->launch->asked->approximate;
    p.flush = p.approximate && s.layout == MFMA && (!m->mi200 || !strcmp(m->target, "gfx90a"));
    if (s.layout != MFMA) {
        s.layout = m->generation == 12 ? WMMA_12 : WMMA_11;
        pack.packed = s.layout == WMMA_12 && element_bits(s.out) == 16;
        pack.shift = o->d16 ? 16 : 0;
    }
    if (w->worker->launch->checked) {
        if (exec_of(w) != all_lanes(w))
            check_lanes(w, o, FOUND_LANES_OFF, all_lanes(w) & ~exec_of(w));
        for (int k = 0; k < 2 && s.layout == WMMA_11; k++)
            check_halves(&p, k);
    }
    make_map(&p, &pack);
    take(&p, 0, !(o->two & 1));
    take(&p, 1, !(o->two & 2));
    take_c(&p, &pack);
    for (int block = 0; block < s.blocks; block++)
        for (int row = 0; row < s.m; row++)
            add_products(&p, block, row, p.d + (block * s.m + row) * s.m);
    put_d(&p, &pack);
}

/* ---- reading ---- */

static void refuse(struct reader *r, const struct statement *s, const char *key)
{
    struct word v;
    if (find_modifier(s->modifiers, key, &v) && !word_is(v, "0"))
        fail(r, "%s with %s is not executed here", s->name, key);
}

static void read_mfma(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    static const char *const keys[] = { "cbsz", "abid", "blgp", "neg", "neg_lo", "neg_hi" };
    for (size_t i = 0; i < sizeof keys / sizeof *keys; i++)
        refuse(r, s, keys[i]);
    if (r->wave != 64)
        fail(r, "%s in a wave of 32 lanes", s->name);
    read_operands(r, f, s, o);
}

static unsigned bits_at(const struct statement *s, const char *key)
{
    struct word v;
    unsigned bits = 0, n = 0;
    if (find_modifier(s->modifiers, key, &v))
        for (size_t i = 0; i < v.length; i++)
            if (v.at[i] == '0' || v.at[i] == '1')
                bits |= (unsigned)(v.at[i] - '0') << n++;
    return bits;
}

/* Registers of A and B, and of C and D, are as many as the elements of a lane need. */
static void read_wmma(struct reader *r, const struct form *f, struct statement *s, struct op *o)
{
    const struct shape *shape = &shapes[f->sub];
    const int old = r->module->generation == 11, lanes = (int)r->wave;
    if (!old && lanes == 64)
        fail(r, "%s in a wave of 64 lanes is not executed here", s->name);
    if (r->module->generation < 11)
        fail(r, "%s does not exist there", s->name);
    const int in = (old ? 16 : 256 / lanes) * element_bits(shape->in) / 32;
    const int out = 256 / lanes / (!old && element_bits(shape->out) == 16 ? 2 : 1);
    const char operands[] = { (char)('0' + out), '-', (char)('0' + in), (char)('0' + in), (char)('0' + out), 0 };
    struct form sized = *f;
    const unsigned negative = bits_at(s, "neg_lo"), high = bits_at(s, "op_sel");
    if (shape->in == E_I8)
        o->two = (uint8_t)(~negative & 3); /* neg_lo: with a sign */
    else if (negative)
        fail(r, "%s with neg_lo is not executed here", s->name);
    refuse(r, s, "neg_hi");
    o->d16 = high >> 2 & 1;
    sized.operands = operands;
    read_operands(r, &sized, s, o);
}

#define FORM(name, operands, ...) \
    { #name, operands, NULL, NULL, matrix, FORM_MATRIX | FORM_SATURATES, ID_##name, DEFINE_ALL, read_mfma,   \
      0, 0, 0, 0, 0 },
#define WMMA_FORM(name, ...) \
    { #name, "", NULL, NULL, matrix, FORM_MATRIX | FORM_SATURATES, ID_##name, DEFINE_ALL, read_wmma, 0, 0, 0, 0, 0 },
static const struct form forms[] = { SHAPES(FORM) WMMA_SHAPES(WMMA_FORM) };

struct forms amdgpu_matrix_forms(void)
{
    const struct forms f = { forms, sizeof forms / sizeof *forms };
    return f;
}
