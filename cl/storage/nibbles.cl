/* What blocks of 32 elements share that have four bits of each in halves of bytes, as GGUF's q4_0, q4_1, q5_0 and q5_1:
 * 16 bytes at `at`, of which byte j has element j in its low half and element j + 16 in its high half. */
#define CLA_NIBBLE_SHIFT(c) ((c) / 16 % 2 * 4) /* bits below an element's own */
#define CLA_NIBBLE(at, c) ((at)[(c) % 16] >> CLA_NIBBLE_SHIFT(c) & 15)
/* Of n elements from a multiple of n on. */
#define CLA_NIBBLES(n, at, c) (convert_int##n(vload##n(0, (at) + (c) % 16)) >> CLA_NIBBLE_SHIFT(c) & 15)
/* Four as the low halves of bytes; what is in the high ones does not count. */
static inline uint cla_nibble_quad(const __global uchar *at, int c)
{
    const __global ushort *pairs = (const __global ushort *)(at + c % 16);
    return (pairs[0] | (uint)pairs[1] << 16) >> CLA_NIBBLE_SHIFT(c);
}

/* The fifth bits of a block's elements: bit c of four bytes, low ones first. */
static inline uint cla_fifth_bits(const __global uchar *at)
{
    const __global ushort *pairs = (const __global ushort *)at;
    return pairs[0] | (uint)pairs[1] << 16;
}
#define CLA_FIFTH(at, c) ((cla_fifth_bits(at) >> (c) % 32 & 1) << 4)
#define CLA_FIFTHS(n, at, c) \
    (((int##n)((int)(cla_fifth_bits(at) >> (c) % 32)) >> (int##n)(CLA_COUNT_##n) & 1) << 4)
/* Four codes of five bits as bytes: the product takes bit i of the factor to bit 8 i, and others elsewhere. */
static inline uint cla_five_bit_quad(const __global uchar *fifths, const __global uchar *nibbles, int c)
{
    const uint high = (cla_fifth_bits(fifths) >> c % 32 & 15) * 0x204081 & 0x01010101;
    return (cla_nibble_quad(nibbles, c) & 0x0f0f0f0f) | high << 4;
}
