/* Arithmetic that gives the same bits on every device: bytes of a cache depend on it. Products and sums are rounded one
 * by one. */
#pragma OPENCL FP_CONTRACT OFF

/* A finite x > 0 is m 2^e, m of 24 bits. */
CLA_FN uint cla_split(float x, int *e)
{
    const uint bits = as_uint(x), field = bits >> 23, m = bits & 0x7fffff, shift = field ? 0 : clz(m) - 8;
    *e = (field ? (int)field : 1) - 150 - (int)shift;
    return field ? m | 0x800000 : m << shift;
}

/* q 2^e, which is at least 2^-160, and q of 26 to 53 bits, to the nearest float, halves up; what is too large to the
 * largest. */
CLA_FN float cla_join(ulong q, int e)
{
    const int lost = max(40 - (int)clz(q), -149 - e);
    const ulong m = (q + (1ul << (lost - 1))) >> lost;
    const ulong bits = ((ulong)(e + lost + 149) << 23) + m; /* the first bit of m, where it has 24, counts one */
    return as_float((uint)min(bits, 0x7f7ffffful));
}

/* a / b as IEEE 754 rounds it, for a >= 0 and an odd integer b up to 255, or for a = 1 and a finite b > 0: OpenCL's
 * own may be off by 2.5 ulp. What is left of the division cannot matter, for no such quotient lies half-way between two
 * floats: b times what does has more binary digits than a float. An infinite or NaN a stays what it is. */
CLA_FN float cla_divide(float a, float b)
{
    int ea, eb;
    if (!(a > 0) || isinf(a)) return a;
    const ulong n = (ulong)cla_split(a, &ea) << 28, m = cla_split(b, &eb);
    return cla_join(n / m, ea - eb - 28);
}

/* 1 / x, and 0 of what is not finite or whose reciprocal no float holds. By its bits: to some devices a subnormal x is
 * equal to 0. */
CLA_FN float cla_factor(float x)
{
    const uint size = as_uint(x) & 0x7fffffff; /* 0x200000 is 2^-128 */
    const uint factor = size <= 0x200000 || size >= 0x7f800000 ? 0 : as_uint(cla_divide(1, as_float(size)));
    return as_float(factor | (as_uint(x) & 0x80000000));
}
