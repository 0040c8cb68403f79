/* The first pass of a backward call: L and D of every row of Q (stats.cl). Where O is 0, as in rows that see nothing,
 * it does not matter what dO is. */
CLA_FN real cla_product(const __global cla_o_elem *o, const __global cla_q_elem *dout)
{
    const real x = CLA_WIDE(cla_loadn_o, cla_load_o, o);
    return x == (real)(0) ? (real)(0) : x * CLA_WIDE(cla_loadn_dout, cla_load_dout, dout);
}
/* The last columns of a ragged row come with some that are there already: PoCL 3.1 makes loads of a loop over single
 * halves behind vectors of them that want to be aligned, and rows are not. */
CLA_FN cla_scalar cla_dot_of_rows(const __global cla_o_elem *o, const __global cla_q_elem *dout)
{
    real sum = (real)(0);
    CLA_NO_UNROLL for (int c = 0; c + CLA_WIDTH <= CLA_DV; c += CLA_WIDTH) sum += cla_product(o + c, dout + c);
    if (CLA_DV > CLA_WIDTH ? CLA_DV % CLA_WIDTH : 0) {
        const int last = CLA_DV - CLA_WIDTH;
        const integer is_new = CLA_COUNT >= (integer)(CLA_WIDTH - CLA_DV % CLA_WIDTH);
        sum += is_new ? cla_product(o + last, dout + last) : (real)(0);
    }
    cla_scalar rest = cla_lane_sum(sum);
    CLA_NO_UNROLL for (int c = 0; c < (CLA_DV < CLA_WIDTH ? CLA_DV : 0); c++) {
        const cla_scalar x = cla_load_o(o + c);
        rest += x == 0 ? 0 : x * cla_load_dout(dout + c);
    }
    return rest;
}

__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_delta(const cla_args a, CLA_PARAMS)
{
    cla_env e;
    int b, h;
    CLA_TAKE_PARAMS(e.at)
    const int q0 = cla_block_of_rows(&a, CLA_GROUP, CLA_BLOCK, &b, &h);
    cla_enter(&e, &a, b, h, 0);
    CLA_NO_UNROLL for (int q = q0 + (int)get_local_id(0); q < min(q0 + CLA_BLOCK, e.nq); q += CLA_ITEMS) {
        const cla_scalar lse = e.at.lse[cla_written_row(&e, &a.lse, q)];
        cla_scalar delta = 0;
        const int saw = q < e.q_len && lse != -INFINITY;
        if (saw) {
            delta = cla_dot_of_rows(e.at.o + cla_written_row(&e, &a.o, q), e.at.dout + cla_written_row(&e, &a.dout, q));
            if (a.given & CLA_DLSE_GIVEN) delta -= e.at.dlse[cla_written_row(&e, &a.dlse, q)];
        }
        __global cla_scalar *to = cla_stats(&e, q);
        to[0] = saw ? lse * (CLA_NATURAL ? 1 : CLA_LOG2E) : INFINITY;
        to[1] = delta;
    }
}
