/* Matrix unit of engines `dpas_emu` and `dpas_emu8`, with mma_wave.cl and mma_dpas_lanes.cl: what mma_dpas.cl does, by
 * exchange among neighbours, for tests on any device. Who holds what is written here once more, as the specification of
 * cl_intel_subgroup_matrix_multiply_accumulate has it.
 *
 * The instruction's A is the right operand, its B the left one.
 *     A       row m at k: of 16 lanes, lane k, half m; of 8 lanes, lane k / 2, word m, half k % 2
 *     B       column n at k: lane n, word k / 2, half k % 2
 *     D       row m, column n: lane n, component m */
typedef ushort cla_block_part_16;
typedef uint cla_block_part_8;
typedef CLA_CAT(cla_block_part_, CLA_WAVE) cla_block_part;
CLA_FN cla_right cla_read_block(const __local uint4 *p) /* a lane: of each row of 32 bytes its own part */
{
    const int lane = get_local_id(0) % CLA_WAVE;
    cla_right x;
    CLA_UNROLL for (int m = 0; m < 8; m++)
        ((cla_block_part *)&x)[m] = ((const __local cla_block_part *)p)[CLA_WAVE * m + lane];
    return x;
}

/* What mma_surfaces_2d.cl asks for, as cl_intel_subgroup_2d_block_io has it: numbers of 16 bits, and zeros from outside
 * of the surface. NaN where the extension promises nothing. */
CLA_FN ushort cla_at_surface(const __global uchar *at, int width, int height, int pitch, int first, int x, int y)
{
    if ((uintptr_t)at % 64 || width < 64 || width % 4 || pitch < 64 || pitch % 16 || width > pitch || first % 2)
        return 0x7fff;
    if (x < 0 || 2 * x + 2 > width || y < 0 || y >= height) return 0;
    return *(const __global ushort *)(at + (ulong)y * (uint)pitch + 2 * x);
}
#define CLA_AT_SURFACE(s, x0, x, y) cla_at_surface((s).at, (s).width, (s).height, (s).pitch, x0, x, y)
#define CLA_READ_ROWS(n, s, x, y, to) \
    for (int i = 0; i < 2 * (n); i++) \
        (to)[i] = CLA_AT_SURFACE(s, x, (x) + 16 * (i / (n)) + (int)get_local_id(0) % CLA_WAVE, (y) + i % (n));
#define CLA_PREFETCH_ROWS(n, s, x, y)
#define CLA_READ_COLUMNS(n, s, x, y, to) \
    for (int i = 0; i < (n) / 2; i++) { \
        const int lane = get_local_id(0) % CLA_WAVE; \
        (to)[i] = CLA_AT_SURFACE(s, x, (x) + lane, (y) + 2 * i) | \
                  (uint)CLA_AT_SURFACE(s, x, (x) + lane, (y) + 2 * i + 1) << 16; \
    }

#define CLA_A_WORDS (64 / CLA_WAVE)
CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, cla_right b)
{
    __global uint *mine = w.at + CLA_OWN_WORDS * w.lane;
    CLA_UNROLL for (int i = 0; i < CLA_A_WORDS; i++) mine[i] = ((const uint *)&b)[i];
    CLA_UNROLL for (int i = 0; i < 8; i++) mine[CLA_A_WORDS + i] = ((const uint *)&a)[i];
    CLA_MEET
    CLA_UNROLL for (int m = 0; m < 8; m++) {
        const __global uint *left = mine + CLA_A_WORDS;
        float sum = 0;
        CLA_NO_UNROLL for (int k = 0; k < 16; k++) {
            const __global uint *right = w.at + CLA_OWN_WORDS * (k * CLA_WAVE / 16);
            const uint both = CLA_WAVE == 16 ? right[m / 2] : right[m];
            sum += cla_half_of(both, CLA_WAVE == 16 ? m & 1 : k & 1) * cla_half_of(left[k / 2], k & 1);
        }
        d[m * column] += sum;
    }
    CLA_MEET
}
