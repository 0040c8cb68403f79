/* Where the keys of a sequence lie, in every tensor that has a row for each: one a stride behind another. Engines ask
 * rows.cl, and see no stride of their own. A tensor has strides from one batch entry to the next and from row to row;
 * e->k and e->v are row 0 of their batch entry already. Row 0 lies in the buffer even where there are no keys. */
typedef int cla_key;
CLA_FN cla_key cla_find(const cla_env *e, int k) { return k; }
#define CLA_IS_THERE(at) 1
/* From row 0 of the batch entry, and from that of batch entry 0 in a tensor whose varlen sequences are not skipped. */
#define CLA_AT(at, b_step, row_step) ((uint)(at) * (ulong)(row_step))
#define CLA_AT_IN_ALL(e, at, b_step, row_step) ((long)(e)->b * (b_step) + (long)((e)->first_k + (at)) * (row_step))
#define CLA_STEPS(b_step, row_step) (row_step)
#define CLA_ZEROS(e) 0

/* Whether rows are equally far apart, by less than 4 GiB: then row k of K is k * cla_k_bytes(e) behind row 0, and so it
 * is with V. */
#define CLA_MAY_BE_EVEN 1
#define CLA_WIDER_ELEMENT CLA_MAX(sizeof(cla_k_elem), sizeof(cla_v_elem))
#define CLA_STRIDE_BITS (CLA_WIDER_ELEMENT == 2 ? 31 : CLA_WIDER_ELEMENT == 4 ? 30 : 29)
CLA_FN int cla_rows_are_even(const cla_env *e) { return (e->k_stride | e->v_stride) >> CLA_STRIDE_BITS == 0; }
CLA_FN uint cla_k_bytes(const cla_env *e) { return (uint)sizeof(cla_k_elem) * (uint)e->k_stride; }
CLA_FN uint cla_v_bytes(const cla_env *e) { return (uint)sizeof(cla_v_elem) * (uint)e->v_stride; }
