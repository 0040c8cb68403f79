/* Load slot of engine `mma_emu`: what mma_asm.cl does, by exchange among 32 neighbours of a work-group, for tests on
 * any device. They meet in global memory and at fences of global memory, on purpose: so a checker of races judges the
 * engine's local memory by the engine's own barriers. */
#define CLA_UNROLL_MMA CLA_NO_UNROLL
#define CLA_OWN_WORDS 6 /* of the workspace, that each item has */

typedef struct {
    __global uint *at; /* the warp's words */
    int lane;
} cla_warp;

CLA_FN ulong cla_product(uint x, uint y) { return (ulong)x * y; }
CLA_FN int cla_kept(int x) { return x; }
CLA_FN int cla_item_again(void) { return get_local_id(0); }
CLA_FN uint cla_work_group_again(void) { return CLA_GROUP; }

CLA_FN void cla_warp_init(cla_warp *w, const cla_env *e, int item)
{
    w->lane = item % 32;
    w->at = e->at.workspace + e->a->workspace_offset +
            CLA_OWN_WORDS * (cla_work_group_again() * get_local_size(0) + (size_t)(item - w->lane));
}
#define CLA_MEET barrier(CLK_GLOBAL_MEM_FENCE);

/* Half `high` of a word, as a number and from one. */
CLA_FN float cla_half_of(uint x, int high)
{
    const ushort y = high ? x >> 16 : x & 0xffff;
    return cla_load_q((const cla_q_elem *)&y);
}
CLA_FN uint cla_half_from(float x)
{
    ushort y;
    CLA_CAT(cla_store_, CLA_TQ)(x, (cla_q_elem *)&y); /* as P is stored */
    return y;
}

/* Item 4 r + k / 2 % 4 has row r and r + 8 of the left operand at k; of the right one column r. */
CLA_FN void cla_mma(cla_warp w, float *c0, float *c1, float *c2, float *c3, uint4 a, uint b0, uint b1)
{
    float *const c[4] = { c0, c1, c2, c3 };
    __global uint *mine = w.at + CLA_OWN_WORDS * w.lane;
    mine[0] = a.x;
    mine[1] = a.y;
    mine[2] = a.z;
    mine[3] = a.w;
    mine[4] = b0;
    mine[5] = b1;
    CLA_MEET
    CLA_UNROLL for (int i = 0; i < 4; i++) {
        const __global uint *left = w.at + CLA_OWN_WORDS * (w.lane / 4 * 4) + i / 2;
        const __global uint *right = w.at + CLA_OWN_WORDS * 4 * (2 * (w.lane % 4) + i % 2) + 4;
        float sum = 0; /* as the units do, which add up more exactly than that */
        CLA_NO_UNROLL for (int k = 0; k < 16; k++) {
            const int owner = CLA_OWN_WORDS * (k % 8 / 2);
            sum += cla_half_of(left[owner + k / 8 * 2], k & 1) * cla_half_of(right[owner + k / 8], k & 1);
        }
        *c[i] += sum;
    }
    CLA_MEET
}

CLA_FN float cla_exchange(cla_warp w, float x, int by)
{
    w.at[CLA_OWN_WORDS * w.lane] = as_uint(x);
    CLA_MEET
    const float y = as_float(w.at[CLA_OWN_WORDS * (w.lane ^ by)]);
    CLA_MEET
    return y;
}
CLA_FN void cla_converge(cla_warp w) {}
CLA_FN uint cla_pack2(float low, float high) { return cla_half_from(low) | cla_half_from(high) << 16; }
CLA_FN uint cla_low_halves(uint x, uint y) { return (x & 0xffff) | y << 16; }
CLA_FN uint cla_high_halves(uint x, uint y) { return x >> 16 | (y & 0xffff0000u); }
