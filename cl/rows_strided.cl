/* Where the rows of K and V of a sequence lie: each a stride behind the one before. Engines ask here, and see no stride
 * of their own. Row 0 lies in the buffer even where there are no keys. */
CLA_FN const __global cla_k_elem *cla_k_row(const cla_env *e, int k) { return CLA_ROW(e->k, k, e->k_stride); }
CLA_FN const __global cla_v_elem *cla_v_row(const cla_env *e, int k) { return CLA_ROW(e->v, k, e->v_stride); }

/* For questions of alignment: what all rows begin at a whole number of steps from, and all steps there are, as
 * cla_q_steps(). */
CLA_FN const __global cla_k_elem *cla_k_base(const cla_env *e) { return e->k; }
CLA_FN const __global cla_v_elem *cla_v_base(const cla_env *e) { return e->v; }
CLA_FN long cla_k_steps(const cla_env *e) { return e->k_stride; }
CLA_FN long cla_v_steps(const cla_env *e) { return e->v_stride; }

/* Whether rows are equally far apart, by less than 4 GiB: then row k of K is k * cla_k_bytes(e) behind row 0, and so it
 * is with V. */
#define CLA_WIDER_ELEMENT CLA_MAX(sizeof(cla_k_elem), sizeof(cla_v_elem))
#define CLA_STRIDE_BITS (CLA_WIDER_ELEMENT == 2 ? 31 : CLA_WIDER_ELEMENT == 4 ? 30 : 29)
CLA_FN int cla_rows_are_even(const cla_env *e) { return (e->k_stride | e->v_stride) >> CLA_STRIDE_BITS == 0; }
CLA_FN uint cla_k_bytes(const cla_env *e) { return (uint)sizeof(cla_k_elem) * (uint)e->k_stride; }
CLA_FN uint cla_v_bytes(const cla_env *e) { return (uint)sizeof(cla_v_elem) * (uint)e->v_stride; }
