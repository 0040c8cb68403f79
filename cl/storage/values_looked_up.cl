/* Values slot: the elements of a q4_0 block have 16 values, as many as a vector of AVX-512 has lanes. One instruction
 * looks up a value for each lane by the last four bits of a lane of another vector. Intel's compiler finds that
 * instruction in cla_look_up(). clang 14 finds it too, but widens the codes twice, so that it gets the built-in. The
 * codes are loaded ahead of the scale: in the other order clang merges the two loads, which overlap, byte by byte, and
 * the kernel takes 2.5 times as long. */
CLA_FN float16 cla_look_up(float16 t, int16 at)
{
    const int16 x = at & 15;
    return (float16)(t[x.s0], t[x.s1], t[x.s2], t[x.s3], t[x.s4], t[x.s5], t[x.s6], t[x.s7],
                     t[x.s8], t[x.s9], t[x.sa], t[x.sb], t[x.sc], t[x.sd], t[x.se], t[x.sf]);
}
#define CLA_LOOK_UP CLA_CAT(CLA_LOOK_UP_, CLA_HAS_LOOK_UP)
#define CLA_LOOK_UP_0 cla_look_up
#define CLA_LOOK_UP_1 __builtin_ia32_permvarsf512
CLA_FN float16 cla_values_q4_0_16(const __global uchar *p, int c)
{
    const int16 codes = convert_int16(vload16(0, CLA_BLOCK_Q4_0(p, c) + 2));
    const float16 values = (float16)(-8, -7, -6, -5, -4, -3, -2, -1, 0, 1, 2, 3, 4, 5, 6, 7) * cla_scale_q4_0(p, c);
    return CLA_LOOK_UP(values, CLA_NIBBLE_SHIFT(c) ? rotate(codes, (int16)(28)) : codes);
}
