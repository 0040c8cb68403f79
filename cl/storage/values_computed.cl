/* Values slot: 16 elements of a q4_0 row are computed from their codes, in the same way as 2, 4 and 8. */
#define cla_values_q4_0_16(p, c) cla_computed_q4_0(16, p, c)
