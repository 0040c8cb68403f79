/* How lanes of a wave of 32 hold the operands of v_wmma_f32_16x16x16, by the manuals of RDNA 3 and 4. Lane l has row
 * l % 16 of the instruction's A, column l % 16 of its B and of its D. Left and right change places, so that it computes
 * D^T = B^T A^T and a lane has one row of D.
 *     gfx12   elements 8 (l / 16) .. of K, rows 8 (l / 16) .. of its D: S lies as the second product's left operand
 *             does
 *     gfx11   all elements of K (CLA_MMA_WHOLE), rows 2 v + l / 16 of its D
 * Rows of gfx11's D are numbered so that a lane has 8 of them side by side, too: 2 v + i is number 8 i + v. */
#if CLA_WAVE != 32 || CLA_MMA_M != 16 || CLA_MMA_N != 16 || CLA_MMA_K != 16 || CLA_MMA_ROWS != 1
#error "v_wmma_f32_16x16x16 has other numbers."
#endif
#ifndef CLA_MMA_WHOLE
#define CLA_MMA_WHOLE CLA_WMMA_WHOLE
#endif
#define CLA_MMA_PART(item) ((item) / 16 % 2)
#define CLA_MMA_APART 16
#define CLA_MMA_DEPTH 8

#define CLA_MMA_COLUMN CLA_CAT(CLA_MMA_COLUMN_, CLA_MMA_WHOLE)
#define CLA_MMA_COLUMN_0(item) ((item) % 16)
#define CLA_MMA_COLUMN_1(item) ((item) % 2 * 8 + (item) % 16 / 2)
#define CLA_MMA_ROW CLA_CAT(CLA_MMA_ROW_, CLA_MMA_WHOLE)
#define CLA_MMA_ROW_0(column) (column)
#define CLA_MMA_ROW_1(column) ((column) % 8 * 2 + (column) / 8)
#define CLA_LEFT_TYPE_0 uint4
#define CLA_LEFT_TYPE_1 uint8
typedef CLA_CAT(CLA_LEFT_TYPE_, CLA_MMA_WHOLE) cla_left;
typedef cla_left cla_right;
CLA_FN uint4 cla_left_of(const uint4 *x) { return x[0]; } /* of gfx12 */
