/* Rows of K and V: cla_k_row(e, k) and cla_v_row(e, k) are the handles of those of key k, as they are stored. Fixed,
 * not a slot. */
CLA_CAT(CLA_ROWS_, CLA_STORAGE_k)(k)
CLA_CAT(CLA_ROWS_, CLA_STORAGE_v)(v)

/* For questions of alignment: what all rows begin at a whole number of steps from, and all steps there are, as
 * cla_q_steps(). */
CLA_FN const __global cla_k_elem *cla_k_base(const cla_env *e) { return e->k; }
CLA_FN const __global cla_v_elem *cla_v_base(const cla_env *e) { return e->v; }
CLA_FN long cla_k_steps(const cla_env *e) { return CLA_STEPS(e->a->k.b, e->k_stride); }
CLA_FN long cla_v_steps(const cla_env *e) { return CLA_STEPS(e->a->v.b, e->v_stride); }
