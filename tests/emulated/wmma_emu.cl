/* Matrix unit of engines `wmma_emu` and `wmma_emu11`, with mma_wave.cl and mma_wmma_lanes.cl: what mma_wmma.cl does on
 * gfx12 and on gfx11, by exchange among neighbours, for tests on any device. Who holds what is written here once more,
 * as the manuals have it.
 *
 * The instruction's A is the right operand, its B the left one.
 *     gfx12   row m of A and column n of B at k: of lane m + 16 (k / 8) and of lane n + 16 (k / 8), element k % 8.
 *             Register v of D: row 8 (lane / 16) + v, column lane % 16
 *     gfx11   of lane m and of lane m + 16, which have to be the same, element k; n likewise. Register v of D:
 *             row 2 v + lane / 16, column lane % 16
 * What gfx11's lanes have twice is taken from one of them for even k and from the other one for odd k. */
#define CLA_EMU_WORDS (CLA_MMA_WHOLE ? 8 : 4)
#define CLA_EMU_OWNER(k) (CLA_MMA_WHOLE ? 16 * ((k) % 2) : 16 * ((k) / 8))
#define CLA_EMU_ROW(lane, v) (CLA_MMA_WHOLE ? 2 * (v) + (lane) / 16 : 8 * ((lane) / 16) + (v))
CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, cla_left b)
{
    __global uint *mine = w.at + CLA_OWN_WORDS * w.lane;
    CLA_UNROLL for (int i = 0; i < CLA_EMU_WORDS; i++) mine[i] = ((const uint *)&b)[i];
    CLA_UNROLL for (int i = 0; i < CLA_EMU_WORDS; i++) mine[CLA_EMU_WORDS + i] = ((const uint *)&a)[i];
    CLA_MEET
    CLA_UNROLL for (int v = 0; v < 8; v++) {
        const int m = CLA_EMU_ROW(w.lane, v), n = w.lane % 16;
        float sum = 0;
        CLA_NO_UNROLL for (int k = 0; k < 16; k++) {
            const __global uint *at = w.at + CLA_OWN_WORDS * CLA_EMU_OWNER(k) + k / 2 % CLA_EMU_WORDS;
            sum += cla_half_of(at[CLA_OWN_WORDS * m], k & 1) *
                   cla_half_of(at[CLA_OWN_WORDS * n + CLA_EMU_WORDS], k & 1);
        }
        d[v * column] += sum;
    }
    CLA_MEET
}
