/* Matrix unit of engine `mma_nv`, with mma_m16n8k16.cl: NVIDIA's instructions, register to register. No address enters
 * asm: drivers do not agree on what one of local memory is. volatile only where items of a warp meet. */
#define CLA_UNROLL_MMA CLA_UNROLL
#define CLA_STRING_(x) #x
#define CLA_STRING(x) CLA_STRING_(x)
#define CLA_MMA_TYPE CLA_STRING(CLA_TQ) /* f16 or bf16, as PTX calls them */

typedef int cla_warp; /* what a warp needs to talk to itself: nothing */
CLA_FN void cla_warp_init(cla_warp *w, const cla_env *e, int item) { *w = 0; }

#define CLA_MMA_D \
    "+f"(d[0]), "+f"(d[column]), "+f"(d[row]), "+f"(d[row + column]) /* (g, 2 c), (g, 2 c + 1), (g + 8, 2 c), .. */
CLA_FN void cla_mma(cla_warp w, float *d, const int row, const int column, cla_left a, uint2 b)
{
#if CLA_NV_CC >= 80
    __asm__ volatile("mma.sync.aligned.m16n8k16.row.col.f32." CLA_MMA_TYPE "." CLA_MMA_TYPE ".f32 "
                     "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : CLA_MMA_D
                     : "r"(a.x), "r"(a.y), "r"(a.z), "r"(a.w), "r"(b.x), "r"(b.y));
#else /* Turing: the same registers in two steps */
#define CLA_MMA_HALF(ax, ay, bx) \
    __asm__ volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, {%0,%1,%2,%3};" \
                     : CLA_MMA_D \
                     : "r"(ax), "r"(ay), "r"(bx));
    CLA_MMA_HALF(a.x, a.y, b.x)
    CLA_MMA_HALF(a.z, a.w, b.y)
#endif
}

/* All 64 bits: of (ulong)x * y compilers lose sight of what the upper halves are, and add them up. */
CLA_FN ulong cla_product(uint x, uint y)
{
    ulong z;
    __asm__("mul.wide.u32 %0, %1, %2;" : "=l"(z) : "r"(x), "r"(y));
    return z;
}
/* What is kept in a register, since no compiler can tell how to compute it anew. */
CLA_FN int cla_kept(int x)
{
    __asm__ volatile("" : "+r"(x));
    return x;
}
/* What the item has whose number differs by the bits of `by`. */
CLA_FN float cla_exchange(cla_warp w, float x, int by)
{
    float y;
    __asm__ volatile("shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;" : "=f"(y) : "f"(x), "r"(by));
    return y;
}
/* Items may have gone different ways: mma.sync.aligned wants them together. */
CLA_FN void cla_converge(cla_warp w) { __asm__ volatile("bar.warp.sync 0xffffffff;"); }
/* Two elements as they are stored, rounded to nearest. */
CLA_FN uint cla_pack2(float low, float high)
{
    uint x;
#if CLA_NV_CC >= 80
    __asm__("cvt.rn." CLA_MMA_TYPE "x2.f32 %0, %1, %2;" : "=r"(x) : "f"(high), "f"(low));
#else
    __asm__("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
            : "=r"(x)
            : "f"(low), "f"(high));
#endif
    return x;
}
CLA_FN uint cla_pack_weights(float low, float high) { return cla_pack2(low, high); }
CLA_FN uint cla_low_halves(uint x, uint y)
{
    uint z;
    __asm__("prmt.b32 %0, %1, %2, 0x5410;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}
CLA_FN uint cla_high_halves(uint x, uint y)
{
    uint z;
    __asm__("prmt.b32 %0, %1, %2, 0x7632;" : "=r"(z) : "r"(x), "r"(y));
    return z;
}

/* Who this item and its work-group are, as if not known yet: what was known before the loop would be kept in registers.
 * A special register alone is no group's number: a driver may run a launch in pieces. */
#define CLA_WORK_GROUP_AGAIN_IN(x, axis, number) \
    __asm__ volatile("{ .reg .b32 p; mov.b32 p, " CLA_PTX_PIECE_BEGIN(number) "; mov.u32 %0, %%ctaid." axis ";" \
                     " add.u32 %0, %0, p; }" \
                     : "=r"(x));
CLA_FN int cla_item_again(int key)
{
    uint x;
    __asm__ volatile("mov.u32 %0, %%tid.x;" : "=r"(x));
    return x;
}
CLA_FN uint cla_work_group_again(void)
{
    uint x, y;
    CLA_WORK_GROUP_AGAIN_IN(x, "x", "0")
    CLA_WORK_GROUP_AGAIN_IN(y, "y", "1")
    return y * (uint)get_num_groups(0) + x;
}
