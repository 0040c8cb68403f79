/* Epilogue slot: what becomes of a row's sums. O in the storage type of Q, divided by the sum of the weights; LSE in
 * float. An engine says which row, column and vector each of its elements is, and hands over the row's maximum m, in
 * the unit of scores, and the sum l of its weights relative to that. */
typedef cla_q_elem cla_o_elem;
#define cla_store_o CLA_CAT(cla_store_, CLA_TQ)
#define cla_storen_o CLA_CAT(cla_storen_, CLA_TQ)

/* Where a row lies. Computed where it is used, at the end: kept from the start it takes registers from the loop over
 * keys. */
CLA_FN long cla_written_row(const cla_env *e, const cla_rows_at *at, int row)
{
    return at->offset + e->b * at->b + (e->h + cla_head(e, row)) * at->h + (e->first_q + cla_query(e, row)) * at->row;
}
CLA_FN __global cla_o_elem *cla_o_row(const cla_env *e, int row)
{
    return e->at.o + cla_written_row(e, &e->a->o, row);
}
CLA_FN __global float *cla_lse_row(const cla_env *e, int row)
{
    return e->at.lse + cla_written_row(e, &e->a->lse, row);
}

/* Elements as they are written, from what was summed up for them: exactly 0 where a row saw nothing. `inverse` is
 * CLA_INVERSE(l), taken once for a row: a compiler that moves a division out of a loop makes it an exact one. l is a
 * vector, of a row for each lane; or all lanes are of one row and l is a scalar, cla_finished_row(). */
#define CLA_INVERSE(l) (1 / (l))
#define CLA_FINISHED(o, l, inverse) ((l) == (real)(0) ? (real)(0) : (o) * (inverse))
CLA_FN real cla_finished_row(real o, cla_scalar l, cla_scalar inverse)
{
    const integer saw_nothing = (integer)(-(l == 0));
    return saw_nothing ? (real)(0) : o * inverse;
}

/* One finished element of a row; CLA_WIDTH of them, from `column` on; and 8, x[0] .. x[7], where the row is wide and
 * the engine has cla_pack2(). */
CLA_FN void cla_put(__global cla_o_elem *row, int column, cla_scalar x) { cla_store_o(x, row + column); }
CLA_FN void cla_put_vector(__global cla_o_elem *row, int column, real x)
{
    CLA_STORE_WIDE(cla_storen_o, cla_store_o, x, row + column);
}
#define CLA_ROW_IS_WIDE(row) ((uintptr_t)(row) % 16 == 0)
#define CLA_PUT_8(row, column, x) \
    *(__global uint4 *)((row) + (column)) = \
        (uint4)(cla_pack2((x)[0], (x)[1]), cla_pack2((x)[2], (x)[3]), cla_pack2((x)[4], (x)[5]), \
                cla_pack2((x)[6], (x)[7]));

/* The logarithm of a row's sum l exp(m). `mine`: whether this item, of those that share the row, writes it. */
CLA_FN void cla_put_lse(const cla_env *e, int row, cla_scalar m, cla_scalar l, int mine)
{
    if (e->a->write_lse && mine) *cla_lse_row(e, row) = l == 0 ? -INFINITY : (float)(m * CLA_UNIT_LN + log(l));
}
