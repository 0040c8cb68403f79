/* What a matrix unit provides, and what follows from it. Its instruction adds to D, M x N, the product of A, M x K, and
 * B, K x N: so does a wave, whose lanes hold all three. The slot before this one is the unit: how its lanes hold them,
 * and its instructions. All else is written in these terms.
 *
 * Numbers, which the host has too (struct unit of engine.h):
 *     CLA_WAVE                 lanes of a wave
 *     CLA_MMA_M, _N, _K        the instruction's shape
 *     CLA_MMA_ROWS             rows of A and D that a lane has elements of
 *     CLA_ROW_WAVES            waves that share rows, each with its part of V's columns (products_mma.cl)
 *     CLA_OWN_WORDS            words of the workspace that each item has, where lanes meet there; 0: none
 * Layout, of the lane that an item of the work-group is:
 *     CLA_MMA_COLUMN(item)     its column of B
 *     CLA_MMA_ROW(column)      its first row of A and D; the others are CLA_MMA_M / CLA_MMA_ROWS apart
 *     CLA_MMA_PART(item)       which part of these rows and of that column it has: elements CLA_MMA_DEPTH * part ..
 *                              of K, columns CLA_MMA_COLUMNS * part .. of D. An instruction may take the K elements of
 *                              A and B in any order that is the same for both
 *     CLA_MMA_APART            how far apart the lanes of two neighbouring parts are. Unless it is 1, lanes of
 *                              neighbouring rows of A are neighbours
 *     CLA_MMA_DEPTH            elements of K of a part, the number 4, 8 or 16
 *     CLA_MMA_WHOLE            1: of its row of A and its column of B a lane has the other part as well, since the
 *                              instruction takes both from all lanes; else 0
 * Types and functions:
 *     cla_warp                 what a wave needs to talk to itself; cla_warp_init(w, e, item) makes it
 *     cla_left                 A, as a lane holds it; cla_left_of(x): of its part of row r, 16 bits each, in x[r],
 *                              uint2, uint4 or uint8. Where CLA_MMA_WHOLE it is uint8, both parts, and has no function
 *     cla_right                B, as a lane holds it: its part of its column, uint8 where CLA_MMA_WHOLE; with
 *                              mma_operands_blocks.cl what comes of the unit's cla_read_block(p): a wave reads at p
 *     cla_mma(w, d, row, column, a, b)   the instruction: element (r, i) of D is d[r * row + i * column]
 *     cla_exchange(w, x, by)   x of the lane with number (this lane's ^ by)
 *     cla_converge(w)          lanes that have gone different ways are together again
 *     cla_pack2(low, high)     two elements as they are stored, rounded to nearest
 *     cla_pack_weights(low, high)  likewise, for weights of a forward pass. A NaN may become any number: the sum of its
 *                              row is NaN then, and O is divided by that
 *     cla_low_halves(x, y), cla_high_halves(x, y)     those of two words in one
 *     cla_product(x, y)        all 64 bits of a product of 32
 *     cla_kept(x)              x in a register, which no compiler can tell how to compute anew
 *     cla_item_again(key), cla_work_group_again()     who this item and its work-group are, as if not known yet; key: a
 *                              number from 0 on, where there is one that compilers do not know before the loop
 *     CLA_UNROLL_MMA           how loops about instructions are unrolled */
#if !defined CLA_WAVE || !defined CLA_MMA_M || !defined CLA_MMA_N || !defined CLA_MMA_K || !defined CLA_MMA_ROWS || \
    !defined CLA_ROW_WAVES || !defined CLA_OWN_WORDS
#error "The host has to name CLA_WAVE, CLA_MMA_M, _N, _K and _ROWS, CLA_ROW_WAVES and CLA_OWN_WORDS."
#endif
#if !defined CLA_MMA_ROW || !defined CLA_MMA_COLUMN || !defined CLA_MMA_PART || !defined CLA_MMA_APART || \
    !defined CLA_MMA_DEPTH || !defined CLA_MMA_WHOLE || !defined CLA_UNROLL_MMA
#error "missing: CLA_MMA_ROW CLA_MMA_COLUMN CLA_MMA_PART CLA_MMA_APART CLA_MMA_DEPTH CLA_MMA_WHOLE or CLA_UNROLL_MMA"
#endif
#define CLA_MMA_PARTS (CLA_WAVE * CLA_MMA_ROWS / CLA_MMA_M)
#define CLA_MMA_COLUMNS (CLA_MMA_N / CLA_MMA_PARTS)
#define CLA_MMA_OF_D (CLA_MMA_ROWS * CLA_MMA_COLUMNS) /* elements of D that a lane has */
#define CLA_MMA_TILES (CLA_MMA_K / CLA_MMA_N) /* of D, which as A of another instruction fill its K */

/* A part of a row or column; by CLA_MMA_DEPTH. And what a lane keeps of A in local memory: all of it, or its own part
 * where the lane of the other one has that; by CLA_MMA_WHOLE. */
typedef uint2 cla_part_4;
typedef uint4 cla_part_8;
typedef uint8 cla_part_16;
typedef CLA_CAT(cla_part_, CLA_MMA_DEPTH) cla_part;
#define CLA_HELD_TYPE_0 cla_left
#define CLA_HELD_TYPE_1 cla_part
typedef CLA_CAT(CLA_HELD_TYPE_, CLA_MMA_WHOLE) cla_held;
#define CLA_HELD_OF CLA_CAT(CLA_HELD_OF_, CLA_MMA_WHOLE)
#define CLA_HELD_OF_0(x) cla_left_of(x)
#define CLA_HELD_OF_1(x) (x)[0]

#define CLA_LEFT_OF_PART_0 return cla_left_of(x);
#define CLA_OTHER_PART(s) as_uint(cla_exchange(w, as_float(x[0].s), CLA_MMA_APART))
#define CLA_LEFT_OF_PART_1 \
    const uint4 other = (uint4)(CLA_OTHER_PART(x), CLA_OTHER_PART(y), CLA_OTHER_PART(z), CLA_OTHER_PART(w)); \
    return CLA_MMA_PART(cla_item_again(0)) ? (cla_left)(other, x[0]) : (cla_left)(x[0], other);
CLA_FN cla_left cla_left_of_part(cla_warp w, const cla_part *x) { CLA_CAT(CLA_LEFT_OF_PART_, CLA_MMA_WHOLE) }

#define CLA_LEFT_HELD_0 return at[lane];
#define CLA_LEFT_HELD_1 \
    lane &= ~CLA_MMA_APART; \
    return (cla_left)(at[lane], at[lane + CLA_MMA_APART]);
CLA_FN cla_left cla_left_held(const __local cla_held *at, int lane) { CLA_CAT(CLA_LEFT_HELD_, CLA_MMA_WHOLE) }

/* Functions that a unit lacks, or that take or return something else: compilers name them here. */
#define CLA_HAS(call) sizeof(((void)(call), 0))
#define CLA_A_WARP (*(cla_warp *)0)
enum {
    CLA_UNIT = CLA_HAS(cla_warp_init((cla_warp *)0, (const cla_env *)0, 0)) +
               CLA_HAS(cla_mma(CLA_A_WARP, (float *)0, 0, 0, cla_left_of_part(CLA_A_WARP, (const cla_part *)0),
                               (cla_right)(0))) +
               CLA_HAS(cla_exchange(CLA_A_WARP, 0.0f, 1)) + CLA_HAS(cla_converge(CLA_A_WARP)) +
               CLA_HAS(cla_low_halves(0u, 0u) + cla_high_halves(0u, 0u)) +
               CLA_HAS(cla_pack2(0.0f, 0.0f) + cla_pack_weights(0.0f, 0.0f)) +
               CLA_HAS(cla_product(0u, 0u)) + CLA_HAS(cla_kept(cla_item_again(0))) + CLA_HAS(cla_work_group_again())
};

/* Goes over `by`, so that cla_exchange() meets all lanes that share rows. */
#define CLA_EACH_PART(by) for (int by = CLA_MMA_APART; by < CLA_MMA_APART * CLA_MMA_PARTS; by *= 2)
