/* Matrix unit of engine `mfma_emu`, with mma_wave.cl and mma_mfma_lanes.cl: what mma_mfma.cl does, by exchange among
 * neighbours, for tests on any device. Who holds what is written here once more, as the manual has it.
 *
 * The instruction's A is the right operand, its B the left one. Row m of A and column n of B at k: of lane
 * m + 16 (k / 4) and of lane n + 16 (k / 4). Register v of D: row 4 (lane / 16) + v, column lane % 16. */
CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, uint2 b)
{
    __global uint *mine = w.at + CLA_OWN_WORDS * w.lane;
    mine[0] = b.x;
    mine[1] = b.y;
    mine[2] = a.x;
    mine[3] = a.y;
    CLA_MEET
    CLA_UNROLL for (int v = 0; v < 4; v++) {
        const int m = 4 * (w.lane / 16) + v, n = w.lane % 16;
        float sum = 0;
        CLA_NO_UNROLL for (int k = 0; k < 16; k++) {
            const __global uint *at = w.at + CLA_OWN_WORDS * (16 * (k / 4)) + k % 4 / 2;
            sum += cla_half_of(at[CLA_OWN_WORDS * m], k & 1) * cla_half_of(at[CLA_OWN_WORDS * n + 2], k & 1);
        }
        d[v * column] += sum;
    }
    CLA_MEET
}
