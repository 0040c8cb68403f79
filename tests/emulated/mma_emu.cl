/* Matrix unit of engine `mma_emu`, with mma_m16n8k16.cl and mma_wave.cl: what mma_asm.cl does, by exchange among
 * neighbours, for tests on any device. Who holds what is written here once more, as the manual has it.
 *
 * Item 4 r + k / 2 % 4 has row r and r + 8 of the left operand at k; of the right one column r. */
CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, uint2 b)
{
    __global uint *mine = w.at + CLA_OWN_WORDS * w.lane;
    mine[0] = a.x;
    mine[1] = a.y;
    mine[2] = a.z;
    mine[3] = a.w;
    mine[4] = b.x;
    mine[5] = b.y;
    CLA_MEET
    CLA_UNROLL for (int i = 0; i < 4; i++) {
        const __global uint *left = w.at + CLA_OWN_WORDS * (w.lane / 4 * 4) + i / 2;
        const __global uint *right = w.at + CLA_OWN_WORDS * 4 * (2 * (w.lane % 4) + i % 2) + 4;
        float sum = 0; /* as the units do, which add up more exactly than that */
        CLA_NO_UNROLL for (int k = 0; k < 16; k++) {
            const int owner = CLA_OWN_WORDS * (k % 8 / 2);
            sum += cla_half_of(left[owner + k / 8 * 2], k & 1) * cla_half_of(right[owner + k / 8], k & 1);
        }
        d[i / 2 * row + i % 2 * column] += sum;
    }
    CLA_MEET
}
