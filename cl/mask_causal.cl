/* Row q sees the keys up to q + offset. */
CLA_FN int cla_mask_begin(const cla_env *e, int q0, int q1) { return 0; }
CLA_FN int cla_mask_end(const cla_env *e, int q0, int q1) { return q1 + e->offset; }
CLA_FN int cla_mask_full(const cla_env *e, int q0, int q1, int k0, int k1) { return k1 <= q0 + e->offset + 1; }
CLA_FN integer cla_mask_keep(const cla_env *e, integer q, integer k) { return k <= q + (integer)e->offset; }
