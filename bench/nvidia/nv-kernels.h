/* nv-kernels.h - the kernels of nv-questions.c and nv-units.c
 * SPDX-License-Identifier: Apache-2.0
 *
 * One text for each question; what differs between its variants comes by -D. All take one buffer of 32-bit words. No
 * text asks for more than one thing that a driver may refuse. */
#ifndef NV_KERNELS_H
#define NV_KERNELS_H

/* m16n8k16 of 16-bit types, T its name in PTX. Item 4 g + t of 32; matrices row-major: A[16][16] and B[16][8] of
 * 16 bits, C and D[16][8] of float, one behind the other. Registers are those of the PTX ISA, "Matrix Fragments for
 * mma.m16n8k16". */
static const char text_mma16[] =
    "#define STR_(x) #x\n"
    "#define STR(x) STR_(x)\n"
    "#define PAIR(p, i, j) ((uint)(p)[i] | (uint)(p)[j] << 16)\n"
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void probe(__global uint *io) {\n"
    "    __global const ushort *a = (__global const ushort *)io, *b = a + 256;\n"
    "    __global float *c = (__global float *)(b + 128), *d = c + 128;\n"
    "    const int g = get_local_id(0) / 4, t = get_local_id(0) % 4, low = g * 16 + 2 * t, high = low + 128;\n"
    "    const uint a0 = PAIR(a, low, low + 1), a1 = PAIR(a, high, high + 1);\n"
    "    const uint a2 = PAIR(a, low + 8, low + 9), a3 = PAIR(a, high + 8, high + 9);\n"
    "    const int up = 2 * t * 8 + g;\n"
    "    const uint b0 = PAIR(b, up, up + 8), b1 = PAIR(b, up + 64, up + 72);\n"
    "    const int at = g * 8 + 2 * t;\n"
    "    float c0 = c[at], c1 = c[at + 1], c2 = c[at + 64], c3 = c[at + 65];\n"
    "    __asm__ volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.\" STR(T) \".\" STR(T) \".f32 \"\n"
    "                     \"{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\"\n"
    "                     : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3)\n"
    "                     : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"r\"(b0), \"r\"(b1));\n"
    "    d[at] = c0; d[at + 1] = c1; d[at + 64] = c2; d[at + 65] = c3;\n"
    "}\n";

/* m16n8k8 of tf32: A[16][8] and B[8][8] of float, C and D[16][8]. */
static const char text_mma_tf32[] =
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void probe(__global uint *io) {\n"
    "    __global const uint *a = io, *b = a + 128;\n"
    "    __global float *c = (__global float *)(io + 192), *d = c + 128;\n"
    "    const int g = get_local_id(0) / 4, t = get_local_id(0) % 4, at = g * 8 + 2 * t, row = g * 8 + t;\n"
    "    float c0 = c[at], c1 = c[at + 1], c2 = c[at + 64], c3 = c[at + 65];\n"
    "    __asm__ volatile(\"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 \"\n"
    "                     \"{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\"\n"
    "                     : \"+f\"(c0), \"+f\"(c1), \"+f\"(c2), \"+f\"(c3)\n"
    "                     : \"r\"(a[row]), \"r\"(a[row + 64]), \"r\"(a[row + 4]), \"r\"(a[row + 68]),\n"
    "                       \"r\"(b[t * 8 + g]), \"r\"(b[(t + 4) * 8 + g]));\n"
    "    d[at] = c0; d[at + 1] = c1; d[at + 64] = c2; d[at + 65] = c3;\n"
    "}\n";

/* How the address of local memory comes to asm, FORM: 0 as it is, 1 by cvta, 2 its low half, 3 by cvta and its low
 * half, 4 as a generic one. GIVEN(p) is the operand; WITH(n, op) is the text, op of the address that is operand n. */
#define LOCAL_ADDRESS \
    "#if FORM == 2\n" \
    "#define GIVEN(p) \"r\"((uint)(size_t)(p))\n" \
    "#else\n" \
    "#define GIVEN(p) \"l\"(p)\n" \
    "#endif\n" \
    "#if FORM == 1\n" \
    "#define WITH(n, op) \"{ .reg .u64 s; cvta.to.shared.u64 s, %\" #n \"; \" op(\"s\") \" }\"\n" \
    "#elif FORM == 3\n" \
    "#define WITH(n, op) \"{ .reg .u64 s; .reg .u32 w; cvta.to.shared.u64 s, %\" #n \"; \" \\\n" \
    "                    \"cvt.u32.u64 w, s; \" op(\"w\") \" }\"\n" \
    "#else\n" \
    "#define WITH(n, op) op(\"%\" #n)\n" \
    "#endif\n" \
    "#if FORM == 4\n" \
    "#define SPACE \"\"\n" \
    "#else\n" \
    "#define SPACE \".shared\"\n" \
    "#endif\n"

/* Items read the word of another one by asm, io[i], and store one by asm that is read without, io[64 + i]. `before`
 * keeps x away from address 0, where a wrong address would be right. */
static const char text_local[] =
    LOCAL_ADDRESS
    "#define LOAD(at) \"ld\" SPACE \".u32 %0, [\" at \"];\"\n"
    "#define STORE(at) \"st\" SPACE \".u32 [\" at \"], %1;\"\n"
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void probe(__global uint *io) {\n"
    "    __local uint before[64] __attribute__((aligned(16))), x[64] __attribute__((aligned(16)));\n"
    "    __local uint y[64] __attribute__((aligned(16)));\n"
    "    const uint i = get_local_id(0);\n"
    "    uint got;\n"
    "    before[i] = io[i] + 7; x[i] = 1000 + i; y[i] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    __asm__ volatile(WITH(1, LOAD) : \"=r\"(got) : GIVEN(x + (63 - i)) : \"memory\");\n"
    "    __asm__ volatile(WITH(0, STORE) : : GIVEN(y + (63 - i)), \"r\"(2000 + i) : \"memory\");\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    io[i] = got; io[64 + i] = y[i]; io[128 + i] = before[63 - i];\n"
    "}\n";

/* 16 bytes an item from io[256 ..] to local memory, behind the back of the registers; io[4 i ..] is what came. */
static const char text_async[] =
    LOCAL_ADDRESS
    "#define COPY(at) \"cp.async.cg.shared.global [\" at \"], [%1], 16;\"\n"
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void probe(__global uint *io) {\n"
    "    __local uint x[256] __attribute__((aligned(16)));\n"
    "    const uint i = get_local_id(0);\n"
    "    for (int n = 0; n < 4; n++) x[4 * i + n] = 0;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    __asm__ volatile(WITH(0, COPY) : : GIVEN(x + 4 * i), \"l\"(io + 256 + 4 * i) : \"memory\");\n"
    "    __asm__ volatile(\"cp.async.commit_group;\" : : : \"memory\");\n"
    "    __asm__ volatile(\"cp.async.wait_group 0;\" : : : \"memory\");\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (int n = 0; n < 4; n++) io[4 * i + n] = x[4 * (63 - i) + n];\n"
    "}\n";

/* All WORDS of local memory are written, and read by another item than their writer: how many are wrong, for each item
 * of each group. */
static const char text_static[] =
    "__kernel __attribute__((reqd_work_group_size(256, 1, 1))) void probe(__global uint *io) {\n"
    "    __local uint x[WORDS];\n"
    "    const uint i = get_local_id(0), salt = get_group_id(0) * 977;\n"
    "    uint bad = 0;\n"
    "    for (uint n = i; n < WORDS; n += 256) x[n] = n * 2654435761u + salt;\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    for (uint n = 255 - i; n < WORDS; n += 256) bad += x[n] != n * 2654435761u + salt;\n"
    "    io[get_global_id(0)] = bad;\n"
    "}\n";

static const char text_plain[] =
    "__kernel void probe(__global uint *io) { io[get_global_id(0)] = (uint)get_global_id(0) + 1; }\n";

static const char text_wgmma[] =
    "__kernel __attribute__((reqd_work_group_size(128, 1, 1))) void probe(__global uint *io) {\n"
    "    __asm__ volatile(\"wgmma.fence.sync.aligned;\" : : : \"memory\");\n"
    "    io[get_global_id(0)] = (uint)get_global_id(0) + 1;\n"
    "}\n";

/* 4 io[0] times CHAINS independent products, of numbers in +-[0.5, 1) as bits of T: equal ones would draw less
 * power. */
static const char text_peak[] =
    "#define STR_(x) #x\n"
    "#define STR(x) STR_(x)\n"
    "#if CHAINS == 16\n"
    "#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7) F(8) F(9) F(10) F(11) F(12) F(13) F(14) F(15)\n"
    "#elif CHAINS == 8\n"
    "#define EACH(F) F(0) F(1) F(2) F(3) F(4) F(5) F(6) F(7)\n"
    "#else\n"
    "#define EACH(F) F(0) F(1) F(2) F(3)\n"
    "#endif\n"
    "#define MAKE(i) float4 c##i = (float4)(0);\n"
    "#define STEP(i) \\\n"
    "    __asm__ volatile(\"mma.sync.aligned.m16n8k16.row.col.f32.\" STR(T) \".\" STR(T) \".f32 \" \\\n"
    "                     \"{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};\" \\\n"
    "                     : \"+f\"(c##i.x), \"+f\"(c##i.y), \"+f\"(c##i.z), \"+f\"(c##i.w) \\\n"
    "                     : \"r\"(a0), \"r\"(a1), \"r\"(a2), \"r\"(a3), \"r\"(b0), \"r\"(b1));\n"
    "#define ADD(i) sum += c##i.x + c##i.y + c##i.z + c##i.w;\n"
    "uint some(uint n) { return ((n * 2654435761u) & MASK) | ONES; }\n"
    "__kernel __attribute__((reqd_work_group_size(LOCAL, 1, 1))) void probe(__global uint *io) {\n"
    "    const uint at = get_global_id(0) * 6, times = io[0];\n"
    "    const uint a0 = some(at), a1 = some(at + 1), a2 = some(at + 2), a3 = some(at + 3);\n"
    "    const uint b0 = some(at + 4), b1 = some(at + 5);\n"
    "    EACH(MAKE)\n"
    "    for (uint n = 0; n < times; n++) { EACH(STEP) EACH(STEP) EACH(STEP) EACH(STEP) }\n"
    "    float sum = 0;\n"
    "    EACH(ADD)\n"
    "    io[1 + get_global_id(0)] = as_uint(sum);\n"
    "}\n";

/* x x + x of half numbers, io[i] of two of them into io[64 + i]. FORM 0: loads and stores alone; 1: arithmetic in half;
 * 2: the same in half2. PRAGMA: 0 none; 1 the extension is asked for; 2 and pretended to be there. */
static const char text_half[] =
    "#if PRAGMA == 2\n"
    "#define cl_khr_fp16 1\n"
    "#endif\n"
    "#if PRAGMA\n"
    "#pragma OPENCL EXTENSION cl_khr_fp16 : enable\n"
    "#endif\n"
    "__kernel __attribute__((reqd_work_group_size(64, 1, 1))) void probe(__global uint *io) {\n"
    "    __global half *p = (__global half *)io;\n"
    "    const int i = get_local_id(0);\n"
    "#if FORM == 0\n"
    "    const float2 x = vload_half2(i, p);\n"
    "    vstore_half2(x * x + x, 64 + i, p);\n"
    "#elif FORM == 1\n"
    "    for (int n = 0; n < 2; n++) { const half x = p[2 * i + n]; p[128 + 2 * i + n] = x * x + x; }\n"
    "#else\n"
    "    __global half2 *v = (__global half2 *)io;\n"
    "    const half2 x = v[i];\n"
    "    v[64 + i] = x * x + x;\n"
    "#endif\n"
    "}\n";

/* io[32 k + i]: what item i has of the item whose number differs by 2^k. */
static const char text_shuffle[] =
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void probe(__global uint *io) {\n"
    "    const uint i = get_local_id(0);\n"
    "    for (int k = 0; k < 5; k++) {\n"
    "        uint y;\n"
    "        __asm__ volatile(\"shfl.sync.bfly.b32 %0, %1, %2, 0x1f, 0xffffffff;\"\n"
    "                         : \"=r\"(y) : \"r\"(500 + i), \"r\"(1 << k));\n"
    "        io[32 * k + i] = y;\n"
    "    }\n"
    "}\n";

/* The same by the extensions, and the size of a sub-group behind it, io[160 + i]. */
static const char text_subgroup[] =
    "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\n"
    "#if SHUFFLE\n"
    "#pragma OPENCL EXTENSION cl_khr_subgroup_shuffle : enable\n"
    "#endif\n"
    "__kernel __attribute__((reqd_work_group_size(32, 1, 1))) void probe(__global uint *io) {\n"
    "    const uint i = get_local_id(0);\n"
    "#if SHUFFLE\n"
    "    for (int k = 0; k < 5; k++) io[32 * k + i] = sub_group_shuffle_xor(500 + i, 1u << k);\n"
    "#else\n"
    "    io[i] = sub_group_reduce_max(500 + i);\n"
    "#endif\n"
    "    io[160 + i] = get_sub_group_size();\n"
    "}\n";

/* io[0] rounds of what takes time and nothing else. */
static const char text_spin[] =
    "__kernel void probe(__global uint *io) {\n"
    "    float x = (float)get_global_id(0) * 1e-6f, m = (float)io[1];\n"
    "    for (uint n = io[0]; n > 0; n--) x = x * m + 1e-7f;\n"
    "    io[2 + get_global_id(0)] = as_uint(x);\n"
    "}\n";

#endif
