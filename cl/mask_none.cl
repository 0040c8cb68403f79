/* Every key that exists is seen. */
CLA_FN int cla_mask_begin(const cla_env *e, int q0, int q1) { return 0; }
CLA_FN int cla_mask_end(const cla_env *e, int q0, int q1) { return e->k_end; }
CLA_FN int cla_mask_full(const cla_env *e, int q0, int q1, int k0, int k1) { return 1; }
CLA_FN integer cla_mask_keep(const cla_env *e, integer q, integer k) { return (integer)(-1); }
