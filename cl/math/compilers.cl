/* What compilers differ in, each behind a word that says what is wanted: no other fragment asks which compiler it is
 * compiled by. Fixed, not a slot. */
#define CLA_FN static inline __attribute__((always_inline))
#define CLA_PRAGMA(x) _Pragma(#x)
#define CLA_UNROLL CLA_PRAGMA(unroll)
#define CLA_UNROLL_BY(n) CLA_PRAGMA(unroll n)
#define CLA_NO_UNROLL CLA_PRAGMA(nounroll)
/* What is no fault that a user should read of: a loop that an optimiser cannot unroll as it is asked to, and how
 * vectors that are wider than registers are handed to functions, which are all of one program. */
#pragma clang diagnostic ignored "-Wunknown-pragmas" /* NVIDIA's driver 470: CLA_UNROLL and its kin */
#pragma clang diagnostic ignored "-Wunknown-warning-option"
#pragma clang diagnostic ignored "-Wpass-failed"
#pragma clang diagnostic ignored "-Wpsabi"

/* What a kernel asks for where the host knows Intel's sub-groups. */
#define CLA_SUB_GROUP_0
#define CLA_SUB_GROUP_8 __attribute__((intel_reqd_sub_group_size(8)))
#define CLA_SUB_GROUP_16 __attribute__((intel_reqd_sub_group_size(16)))

/* What kernels of engines ask for. A matrix unit may ask for something else. */
#define CLA_KERNEL_OF_ENGINE CLA_CAT(CLA_SUB_GROUP_, CLA_SUB_GROUP)

/* to += x * y. By name where it is one instruction: Intel's compiler for GPUs makes 40 moves per 256 of sums that it
 * may contract. AMD's older devices have one for those sums only: the host has CLA_FMA 0 for them. */
#define CLA_ADD_PRODUCT CLA_CAT(CLA_ADD_PRODUCT_, CLA_FMA)
#define CLA_ADD_PRODUCT_0(to, x, y) (to) += (x) * (y);
#define CLA_ADD_PRODUCT_1(to, x, y) (to) = fma(x, y, to);

/* 2^x of a float by one instruction. native_exp2 of AMD's compilers up to LLVM 19 costs 5 more for the same; clang's
 * library for NVIDIA knows none, NVIDIA's own does. */
#define CLA_NATIVE_EXP2 native_exp2
#ifdef __AMDGCN__
#if __has_builtin(__builtin_amdgcn_exp2f) /* a line of its own: only clang knows the question */
#undef CLA_NATIVE_EXP2
#define CLA_NATIVE_EXP2 __builtin_amdgcn_exp2f
#endif
#elif defined(__NVPTX__)
#undef CLA_NATIVE_EXP2
#define CLA_NATIVE_EXP2 cla_native_exp2
CLA_FN float cla_native_exp2(float x)
{
    float y;
    __asm__("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
    return y;
}
#endif

/* Four halves in a ushort4, as floats. Where halves are a type of their own by name: vload_half4() wants an address,
 * and Mesa keeps what has one in memory. */
#ifdef cl_khr_fp16
#pragma OPENCL EXTENSION cl_khr_fp16 : enable
#define CLA_HALVES_4(x) convert_float4(as_half4(x))
#else
#define CLA_HALVES_4(x) vload_half4(0, (const half *)&(x))
#endif

/* Whether the operands of AMD's wmma are whole rows and columns, as on gfx11. Compilers for gfx12 know that form,
 * too. */
#define CLA_WMMA_WHOLE 1
#ifdef __AMDGCN__
#if __has_builtin(__builtin_amdgcn_wmma_f32_16x16x16_f16_w32_gfx12)
#undef CLA_WMMA_WHOLE
#define CLA_WMMA_WHOLE 0
#endif
#endif

/* Whether four elements of so many bytes can be loaded at once from wherever the first one lies: AMD's hardware loads
 * 16 bytes from any address, Intel's GPUs from any multiple of 4. */
#if defined(__AMDGCN__)
#define CLA_LOADS_ANYWHERE(bytes) 1
#elif defined(cl_intel_required_subgroup_size)
#define CLA_LOADS_ANYWHERE(bytes) ((bytes) >= 4)
#else
#define CLA_LOADS_ANYWHERE(bytes) 0
#endif

/* Whether a compiler keeps all that it computes from an item's number in registers over a whole loop: AMD's do. */
#if defined(__AMDGCN__)
#define CLA_KEEPS_PLACES 1
#else
#define CLA_KEEPS_PLACES 0
#endif

/* Steps of a loop that are unrolled, n of them unless what they sum is wide: AMD's compilers, of clang 17 and since
 * clang 20, read ahead too far then, but not for gfx9, which has more registers. Which GPU it is the host says: AMD's
 * driver compiles with a header that was compiled for no GPU, and so has none of clang's names of GPUs and waves. */
#if defined(__AMDGCN__) && CLA_GFX / 256 != 9
#define CLA_STEPS_UNLESS(wide, n) ((wide) ? 1 : (n))
#else
#define CLA_STEPS_UNLESS(wide, n) n
#endif

/* Whether an instruction of AVX-512 looks up a float for each lane, and has a name. */
#ifdef __AVX512F__
#if __has_builtin(__builtin_ia32_permvarsf512)
#define CLA_HAS_LOOK_UP 1
#else
#define CLA_HAS_LOOK_UP 0
#endif
#else
#define CLA_HAS_LOOK_UP 0
#endif

/* A barrier of local memory in two halves: nobody waits for what an item does between them. */
#ifdef cl_intel_split_work_group_barrier
#define CLA_ARRIVE() intel_work_group_barrier_arrive(CLK_LOCAL_MEM_FENCE)
#define CLA_WAIT() intel_work_group_barrier_wait(CLK_LOCAL_MEM_FENCE)
#else
#define CLA_ARRIVE() barrier(CLK_LOCAL_MEM_FENCE)
#define CLA_WAIT()
#endif

/* PTX for the number of the first work-group of this piece of a launch. NVIDIA's driver may run a launch in pieces, and
 * says in %envreg0 to 2 where each begins, which get_group_id() of its compilers adds. clang's library knows of no
 * pieces, and nobody sets those there. */
#ifdef __NV_CL_C_VERSION
#define CLA_PTX_PIECE_BEGIN(axis) "%%envreg" axis
#else
#define CLA_PTX_PIECE_BEGIN(axis) "0"
#endif
