/* Tiles of K and V as blocks of two dimensions, which a wave reads from global memory at once: rows of a tensor are a
 * surface there, and what lies outside of it is read as zero. Of K a block is right operands as they are multiplied, so
 * that K does not pass through local memory. Of V it is columns by pairs of keys, which is how mma_operands_blocks.cl
 * stores them.
 * Where a tensor is no surface, tiles come an item's chunks at a time, as with all other units.
 *
 * The unit has, for waves of 16 lanes, these macros of statements:
 *     CLA_READ_ROWS(n, s, x, y, to)    n rows by two times 16 elements from (x, y) on, ushort to[2 * n]: a lane has its
 *                                      element of the first 16 of each row, then its one of the others
 *     CLA_READ_COLUMNS(n, s, x, y, to) n rows by 16 columns, uint to[n / 2]: a lane has its column, two rows a word
 *     CLA_PREFETCH_ROWS(n, s, x, y)    what CLA_READ_ROWS will read, to a cache
 * where n is 16 or 32. */
#if CLA_WAVE != 16
#error "Blocks of two dimensions are for waves of 16."
#endif
#define CLA_SURFACES (CLA_MAY_BE_EVEN && CLA_D % 8 == 0 && CLA_D >= 32 && CLA_DV % 16 == 0 && CLA_DV >= 32)

/* The rows of a head from row 0 on. The address is a multiple of 64, so that they begin at x. */
typedef struct {
    const __global uchar *at;
    int x, width, height, pitch; /* elements, bytes, rows, bytes */
} cla_surface;
CLA_FN cla_surface cla_surface_of(const __global void *first, int bytes, int height, uint pitch)
{
    const int ahead = (int)((uintptr_t)first & 63);
    cla_surface s;
    s.at = (const __global uchar *)first - ahead;
    s.x = ahead / 2;
    s.width = ahead + bytes;
    s.height = height;
    s.pitch = (int)pitch;
    return s;
}
/* What messages ask for, of rows that are known to be wide. */
CLA_FN int cla_is_surface(const __global void *first, int bytes, uint pitch)
{
    return ((uint)(uintptr_t)first & 63) + bytes <= pitch && pitch < 1 << 24;
}
CLA_FN int cla_are_surfaces(const cla_env *e, int rows)
{
    return CLA_SURFACES && rows <= 1 << 24 && cla_is_surface(cla_k_row(e, 0), 2 * CLA_D, cla_k_bytes(e)) &&
           cla_is_surface(cla_v_row(e, 0), 2 * CLA_DV, cla_v_bytes(e));
}
CLA_FN cla_surface cla_surface_of_k(const cla_tile *t, const cla_env *e)
{
    return cla_surface_of(cla_k_row(e, 0), 2 * CLA_D, t->end, cla_k_bytes(e));
}
CLA_FN cla_surface cla_surface_of_v(const cla_tile *t, const cla_env *e)
{
    return cla_surface_of(cla_v_row(e, 0), 2 * CLA_DV, t->end, cla_v_bytes(e));
}

/* CLA_DOTS() of Q and K. Blocks are half as long beside wide rows, whose sums fill the registers. */
#define CLA_ROWS_OF_K (CLA_BK % 32 || CLA_D > 64 || CLA_DV > 64 ? 16 : 32)
CLA_FN cla_left cla_q_fragment(const cla_tile *t, int i, int step);
CLA_FN void cla_dots_of_surface(const cla_tile *t, const cla_env *e, real *s, int k0)
{
    const cla_surface k = cla_surface_of_k(t, e);
    CLA_UNROLL for (int i = 0; i < CLA_S_N; i++) s[i] = 0;
    CLA_UNROLL_MMA for (int d = 0; d < CLA_MMA_STEPS(CLA_D); d += 2) {
        cla_left left[CLA_RT][2];
        CLA_UNROLL for (int i = 0; i < CLA_RT; i++)
            CLA_UNROLL for (int h = 0; h < 2 && d + h < CLA_MMA_STEPS(CLA_D); h++)
                left[i][h] = cla_q_fragment(t, i, d + h);
        CLA_UNROLL_MMA for (int k1 = 0; k1 < CLA_BK; k1 += CLA_ROWS_OF_K) {
            ushort x[2 * CLA_ROWS_OF_K];
            CLA_READ_ROWS(CLA_ROWS_OF_K, k, k.x + CLA_MMA_K * d, k0 + k1, x)
            CLA_UNROLL_MMA for (int h = 0; h < 2 && d + h < CLA_MMA_STEPS(CLA_D); h++)
                CLA_UNROLL_MMA for (int j = 0; j < CLA_ROWS_OF_K; j += CLA_MMA_N)
                    CLA_UNROLL_MMA for (int i = 0; i < CLA_RT; i++)
                        cla_mma(t->warp, s + (k1 + j) * CLA_R_N + i, 1, CLA_R_N, left[i][h],
                                as_uint4(vload8((CLA_ROWS_OF_K * h + j) / 8, x)));
        }
    }
}

/* Waves share blocks of n rows, of so many across: what a wave does with each. */
#define CLA_EACH_BLOCK(across, n) \
    CLA_UNROLL for (int turn = 0; turn * CLA_NW < (across) * CLA_BK / (n); turn++) { \
        const int at = t->item / CLA_WAVE + turn * CLA_NW, column = at % (across), row = at / (across) * (n); \
        if ((across) * CLA_BK / (n) % CLA_NW == 0 || row < CLA_BK) {
#define CLA_END_BLOCK }}

#define CLA_ROWS_AHEAD (CLA_BK % 32 ? 16 : 32)
CLA_FN void cla_fetch_k_of_surface(const cla_tile *t, const cla_env *e, int k0)
{
    const cla_surface k = cla_surface_of_k(t, e);
    CLA_EACH_BLOCK((CLA_D + 31) / 32, CLA_ROWS_AHEAD)
        CLA_PREFETCH_ROWS(CLA_ROWS_AHEAD, k, k.x + 32 * column, k0 + row)
    CLA_END_BLOCK
}

#define CLA_V_ACROSS (CLA_DV / 16)
#define CLA_ROWS_OF_V (CLA_BK % 32 || CLA_V_ACROSS * (CLA_BK / 32) % CLA_NW ? 16 : 32)
#define CLA_MOVED_OF_BLOCK ((uint *)t->moved + turn * (CLA_ROWS_OF_V / 2))
CLA_FN void cla_fetch_v_of_surface(cla_tile *t, const cla_env *e, int k0)
{
    const cla_surface v = cla_surface_of_v(t, e);
    CLA_EACH_BLOCK(CLA_V_ACROSS, CLA_ROWS_OF_V)
        uint x[CLA_ROWS_OF_V / 2];
        CLA_READ_COLUMNS(CLA_ROWS_OF_V, v, v.x + 16 * column, k0 + row, x)
        CLA_UNROLL for (int i = 0; i < CLA_ROWS_OF_V / 2; i++) CLA_MOVED_OF_BLOCK[i] = x[i];
    CLA_END_BLOCK
}
CLA_FN void cla_store_v_of_surface(cla_tile *t)
{
    CLA_EACH_BLOCK(CLA_V_ACROSS, CLA_ROWS_OF_V)
        uint x[CLA_ROWS_OF_V / 2];
        CLA_UNROLL for (int i = 0; i < CLA_ROWS_OF_V / 2; i++) {
            x[i] = CLA_MOVED_OF_BLOCK[i];
            if (CLA_DROPS)
                x[i] &= (t->seen[row + 2 * i] ? 0x0000ffffu : 0) | (t->seen[row + 2 * i + 1] ? 0xffff0000u : 0);
        }
        CLA_UNROLL for (int j = 0; j < CLA_ROWS_OF_V / 16; j++)
            vstore8(vload8(j, x), 0,
                    cla_column_place(t->v, row + 16 * j, 16 * column + t->item % CLA_WAVE, CLA_DV / 8));
    CLA_END_BLOCK
}
