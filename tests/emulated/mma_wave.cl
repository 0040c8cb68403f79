/* A wave for matrix units in emulation: CLA_WAVE neighbours of a work-group, each with CLA_OWN_WORDS words. They meet
 * in global memory and at fences of global memory, on purpose: so a checker of races judges the engine's local memory
 * by the engine's own barriers. */
#define CLA_UNROLL_MMA CLA_NO_UNROLL

typedef struct {
    __global uint *at; /* the warp's words */
    int lane;
} cla_warp;

CLA_FN ulong cla_product(uint x, uint y) { return (ulong)x * y; }
CLA_FN int cla_kept(int x) { return x; }
CLA_FN int cla_item_again(int key) { return get_local_id(0); }
CLA_FN uint cla_work_group_again(void) { return CLA_GROUP; }

CLA_FN void cla_warp_init(cla_warp *w, const cla_env *e, int item)
{
    w->lane = item % CLA_WAVE;
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
CLA_FN uint cla_pack_weights(float low, float high) { return cla_pack2(low, high); }
CLA_FN uint cla_low_halves(uint x, uint y) { return (x & 0xffff) | y << 16; }
CLA_FN uint cla_high_halves(uint x, uint y) { return x >> 16 | (y & 0xffff0000u); }
