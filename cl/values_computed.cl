/* Values slot: 16 elements of a q4_0 row are computed of their codes, as fewer are. */
#define cla_values_q4_0_16(p, c) cla_computed_q4_0(16, p, c)
