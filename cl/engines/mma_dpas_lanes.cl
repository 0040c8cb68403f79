/* How lanes of a sub-group hold the operands of Intel's sub_group_*_matrix_mad_k16, by the specification of
 * cl_intel_subgroup_matrix_multiply_accumulate: M x N x K is 8 x sub-group x 16. Lane l has column l of the
 * instruction's B, all 16 elements, and column l of its D, 8 rows. Of its A, 8 rows of 32 bytes, it has what comes when
 * the sub-group reads these rows as a block: 16 lanes an element of each row, 8 lanes a word of it. Left and right
 * change places, so that it computes D^T = B^T A^T: a lane has a row of the left operand and of D, and two tiles of S
 * side by side lie as the second product's left operand does. */
#if CLA_WAVE != CLA_MMA_M || CLA_MMA_N != 8 || CLA_MMA_K != 16 || CLA_MMA_ROWS != 1 || \
    (CLA_WAVE != 8 && CLA_WAVE != 16)
#error "matrix_mad_k16 has other numbers."
#endif
#define CLA_MMA_COLUMN(item) ((item) % CLA_WAVE)
#define CLA_MMA_ROW(column) (column)
#define CLA_MMA_PART(item) 0
#define CLA_MMA_APART 1
#define CLA_MMA_DEPTH 16
#define CLA_MMA_WHOLE 0

typedef uint8 cla_left;
CLA_FN cla_left cla_left_of(const uint8 *x) { return x[0]; }
typedef uint4 cla_block_16;
typedef uint8 cla_block_8;
typedef CLA_CAT(cla_block_, CLA_WAVE) cla_right;
