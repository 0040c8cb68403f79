/* Where the rows of K and V of a sequence lie: each a stride behind the one before. Engines ask here, and see no stride
 * of their own. Row 0 lies in the buffer even where there are no keys. */
CLA_FN const __global cla_k_elem *cla_k_row(const cla_env *e, int k) { return CLA_ROW(e->k, k, e->k_stride); }
CLA_FN const __global cla_v_elem *cla_v_row(const cla_env *e, int k) { return CLA_ROW(e->v, k, e->v_stride); }

/* The bits of all addresses of rows, as cla_q_bits(). */
CLA_FN ulong cla_k_bits(const cla_env *e) { return (uintptr_t)e->k | (uintptr_t)e->k_stride * sizeof(cla_k_elem); }
CLA_FN ulong cla_v_bits(const cla_env *e) { return (uintptr_t)e->v | (uintptr_t)e->v_stride * sizeof(cla_v_elem); }

/* Whether rows are equally far apart, by less than 4 GiB: then row k of K is k * cla_k_step(e) bytes behind row 0, and so
 * it is with V. */
CLA_FN int cla_rows_are_even(const cla_env *e) { return (e->k_stride | e->v_stride) >> 31 == 0; }
CLA_FN uint cla_k_step(const cla_env *e) { return (uint)e->k_stride * (uint)sizeof(cla_k_elem); }
CLA_FN uint cla_v_step(const cla_env *e) { return (uint)e->v_stride * (uint)sizeof(cla_v_elem); }
