/* The gradient of sinks: of one head, over all its rows, those that see nothing else as well; a chain of CLA_BLOCK rows
 * at a time. */
CLA_FN cla_scalar cla_sink_part(const cla_env *e, cla_scalar sink, int q0)
{
    const cla_args *a = e->a;
    cla_scalar sum = 0;
    CLA_NO_UNROLL for (int q = q0; q < min(q0 + CLA_BLOCK, e->nq); q++) {
        const cla_scalar lse = e->at.lse[cla_written_row(e, &a->lse, q)];
        cla_scalar delta = 0;
        if (q < e->q_len) delta = cla_stats(e, q)[1];
        else if (a->given & CLA_DLSE_GIVEN) delta = -e->at.dlse[cla_written_row(e, &a->dlse, q)];
        if (lse != -INFINITY) sum -= exp(sink - lse) * delta;
    }
    return sum;
}

__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_sum_dsinks(const cla_args a, CLA_PARAMS)
{
    const int first = CLA_GROUP * CLA_BLOCK;
    cla_env e;
    CLA_TAKE_PARAMS(e.at)
    CLA_NO_UNROLL for (int h = first + (int)get_local_id(0); h < min(first + CLA_BLOCK, a.h); h += CLA_ITEMS) {
        const cla_scalar sink = e.at.sinks[a.sinks_offset + h];
        cla_scalar sum = 0, lost = 0;
        CLA_NO_UNROLL for (int b = 0; b < a.heads / a.h; b++) {
            cla_enter(&e, &a, b, h, 0);
            CLA_NO_UNROLL for (int q0 = 0; q0 < e.nq; q0 += CLA_BLOCK)
                sum = cla_add_kept_scalar(sum, cla_sink_part(&e, sink, q0), &lost);
        }
        e.at.dsinks[a.dsinks_offset + h] = (float)sum;
    }
}
