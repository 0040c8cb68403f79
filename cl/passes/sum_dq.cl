/* The pass that sums dQ, which stripes of keys have added up each by itself: their sum, in the order of stripes, in
 * the type of Q. */
__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_dq(const cla_args a, CLA_PARAMS)
{
    enum { VECTORS = CLA_DQ_PITCH / CLA_WIDTH };
    cla_env e;
    int b, h;
    CLA_TAKE_PARAMS(e.at)
    const int q0 = cla_block_of_rows(&a, CLA_GROUP, CLA_BLOCK, &b, &h);
    cla_enter(&e, &a, b, h, 0);
    const int n = clamp(e.nq - q0, 0, CLA_BLOCK) * VECTORS;
    CLA_NO_UNROLL for (int at = (int)get_local_id(0); at < n; at += CLA_ITEMS) {
        const int q = q0 + at / VECTORS, c = at % VECTORS * CLA_WIDTH;
        __global cla_q_elem *to = e.at.dq + cla_written_row(&e, &a.dq, q) + c;
        real sum = (real)(0), lost = (real)(0);
        CLA_NO_UNROLL for (int part = 0; part < a.parts; part++)
            sum = cla_add_kept(sum, CLA_LOAD_PLAIN(cla_part_of_dq(&e, part, q) + c), &lost);
        if (c + CLA_WIDTH <= CLA_D) CLA_STORE_WIDE(cla_storen_dq, cla_store_dq, sum, to);
        else CLA_NO_UNROLL for (int i = 0; i < CLA_D - c; i++) cla_store_dq(CLA_LANE(sum, cla_scalar, i), to + i);
    }
}
