/* How lanes of a warp hold the operands of mma.sync m16n8k16: "Matrix Fragments for mma.m16n8k16" of the PTX manual.
 * Lane 4 g + c (g < 8, c < 4) has rows g and g + 8 of A and D, column g of B; of K the elements 2 c, 2 c + 1, 2 c + 8
 * and 2 c + 9, in that order, of D columns 2 c and 2 c + 1. */
#if CLA_WAVE != 32 || CLA_MMA_M != 16 || CLA_MMA_N != 8 || CLA_MMA_K != 16 || CLA_MMA_ROWS != 2
#error "mma.sync m16n8k16 has other numbers."
#endif
#define CLA_MMA_COLUMN(item) ((item) % 32 / 4)
#define CLA_MMA_ROW(column) (column)
#define CLA_MMA_PART(item) ((item) % 4)
#define CLA_MMA_APART 1
#define CLA_MMA_DEPTH 4
#define CLA_MMA_WHOLE 0

/* Registers: rows g, g + 8, g, g + 8 at 2 c .., 2 c .., 2 c + 8 .., 2 c + 8 .. */
typedef uint4 cla_left;
typedef uint2 cla_right;
CLA_FN cla_left cla_left_of(const uint2 *x) { return (uint4)(x[0].x, x[1].x, x[0].y, x[1].y); }
