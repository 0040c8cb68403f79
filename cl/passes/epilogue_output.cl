/* Epilogue slot: what becomes of a row's sums. O in its storage type, divided by the sum of the weights, and LSE in
 * its own; or, where the keys are split, both as a state of the part in the workspace, in what is computed in, for pass
 * merge. An engine says which row, column and vector each of its elements is, and hands over the row's maximum m, in
 * the unit of scores, and the sum l of its weights relative to that. */
#define CLA_IS_SPLIT(e) ((e)->a->parts > 1)

/* States are [part,b,h,nq,dv], and behind them all [part,b,h,nq] of LSE. */
CLA_FN __global cla_scalar *cla_states(const cla_env *e)
{
    return (__global cla_scalar *)(e->at.workspace + e->a->states_offset);
}
CLA_FN long cla_state_rows(const cla_env *e) /* of a part */
{
    const cla_args *a = e->a;
    return (long)(a->heads * (CLA_PACKS_HEADS ? a->packed_heads : 1)) * a->nq;
}
CLA_FN long cla_state_row(const cla_env *e, int row)
{
    const cla_args *a = e->a;
    return e->part * cla_state_rows(e) + (long)(e->b * a->h + e->h + cla_head(e, row)) * a->nq + cla_query(e, row);
}

/* The first element of a row of O, wherever it goes. A row of a part that saw nothing is not written. */
CLA_FN long cla_o_row(const cla_env *e, int row)
{
    return CLA_IS_SPLIT(e) ? cla_state_row(e, row) * CLA_DV : cla_written_row(e, &e->a->o, row);
}
#define CLA_IS_WRITTEN(e, l) (!(CLA_IS_SPLIT(e) && (l) == 0))

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

/* One finished element of the row that begins at `row`; CLA_WIDTH of them, from `column` on; and 8, x[0] .. x[7], where
 * the row is wide and the engine has cla_pack2(). */
CLA_FN void cla_put(const cla_env *e, long row, int column, cla_scalar x)
{
    if (CLA_IS_SPLIT(e)) cla_states(e)[row + column] = x;
    else cla_store_o(x, e->at.o + row + column);
}
CLA_FN void cla_put_vector(const cla_env *e, long row, int column, real x)
{
    if (CLA_IS_SPLIT(e)) CLA_STORE_PLAIN(x, cla_states(e) + row + column);
    else CLA_STORE_WIDE(cla_storen_o, cla_store_o, x, e->at.o + row + column);
}
#define CLA_ROW_IS_WIDE(e, row) \
    (CLA_IS_SPLIT(e) || (CLA_O_LIKE_Q && (uintptr_t)((e)->at.o + (row)) % 16 == 0))
#define CLA_PUT_8(e, row, column, x) \
    if (CLA_IS_SPLIT(e)) \
        CLA_UNROLL for (int put = 0; put < 8; put++) cla_states(e)[(row) + (column) + put] = (x)[put]; \
    else \
        *(__global uint4 *)((e)->at.o + (row) + (column)) = \
            (uint4)(cla_pack2((x)[0], (x)[1]), cla_pack2((x)[2], (x)[3]), cla_pack2((x)[4], (x)[5]), \
                    cla_pack2((x)[6], (x)[7]));

/* The logarithm of a row's sum l exp(m). `mine`: whether this item, of those that share the row, writes it. */
CLA_FN void cla_put_lse(const cla_env *e, int row, cla_scalar m, cla_scalar l, int mine)
{
    if (!mine || !(CLA_IS_SPLIT(e) || e->a->write_lse)) return;
    const cla_scalar lse = l == 0 ? -INFINITY : m * CLA_UNIT_LN + log(l);
    if (CLA_IS_SPLIT(e)) cla_states(e)[e->a->parts * cla_state_rows(e) * CLA_DV + cla_state_row(e, row)] = lse;
    else e->at.lse[cla_written_row(e, &e->a->lse, row)] = (cla_lse_elem)lse;
}
