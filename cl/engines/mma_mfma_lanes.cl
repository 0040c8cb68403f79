/* How lanes of a wave hold the operands of v_mfma_f32_16x16x16: the matrix calculator's and LLVM's numbers for CDNA.
 * Lane l has row l % 16 of the instruction's A and column l % 16 of its B, of both the elements 4 (l / 16) .. of K; of
 * its D it has column l % 16 and rows 4 (l / 16) .. Left and right change places, so that it computes D^T = B^T A^T and
 * a lane has one row of D: S lies as the second product's left operand does then. */
#if CLA_WAVE != 64 || CLA_MMA_M != 16 || CLA_MMA_N != 16 || CLA_MMA_K != 16 || CLA_MMA_ROWS != 1
#error "v_mfma_f32_16x16x16 has other numbers."
#endif
#define CLA_MMA_COLUMN(item) ((item) % 16)
#define CLA_MMA_ROW(column) (column)
#define CLA_MMA_PART(item) ((item) / 16 % 4)
#define CLA_MMA_APART 16
#define CLA_MMA_DEPTH 4
#define CLA_MMA_WHOLE 0

typedef uint2 cla_left;
typedef uint2 cla_right;
CLA_FN cla_left cla_left_of(const uint2 *x) { return x[0]; }
