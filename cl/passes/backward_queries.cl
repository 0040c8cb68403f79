/* The pass of a backward call that owns queries, where the one that owns keys leaves dQ to it: a work-group has CLA_OWN
 * queries of one head, and goes over the keys that they see as the forward pass does. */
CLA_FN void cla_take_keys(cla_tile *t, const cla_env *e, int k0, int n, int q1)
{
    real p[CLA_S_N], ds[CLA_S_N], raw[CLA_CURVED ? CLA_S_N : 1];
    cla_weigh(t, e, p, ds, raw, k0, n, t->first, q1, k0, k0 + n, n == CLA_BK);
    cla_go_back(t, e, ds, raw, k0, n);
    cla_add_keys(t, e, ds, k0, n);
}

__kernel CLA_KERNEL_OF_ENGINE __attribute__((reqd_work_group_size(CLA_LANES, 1, 1)))
void cla_backward_queries(const cla_args a, CLA_PARAMS)
{
    cla_tile t;
    cla_env e;
    int b, h;
    CLA_LOCAL(t)
    CLA_TAKE_PARAMS(e.at)
    const int q0 = cla_block_of_rows(&a, CLA_GROUP, CLA_OWN, &b, &h);
    cla_enter(&e, &a, b, h, 0);
    const int q1 = min(q0 + CLA_OWN, e.q_len), last = q0 < q1 ? max(min(e.k_end, cla_mask_end(&e, q0, q1)), 0) : 0;
    const int first = min(max(e.k_begin, cla_mask_begin(&e, q0, q1)), last), end = first < last ? last : 0;

    cla_begin_rows(&t, &e, q0, end, CLA_Q_SCALE(&a));
    const int has_segments = cla_has_segments(&a);
    if (has_segments) cla_open_total(&e, CLA_ALL_SUMS);
    int next;
    CLA_NO_UNROLL for (int k0 = cla_mask_next(&e, q0, q1, min(first, end), end); k0 < end; k0 = next) {
        const int n = min(CLA_BK, end - k0);
        next = cla_mask_next(&e, q0, q1, k0 + n, end);
        cla_take_keys(&t, &e, k0, n, q1);
        if (has_segments && (k0 - first) / CLA_SEGMENT < (next - first) / CLA_SEGMENT) cla_close_segment(&t, &e);
    }
    if (has_segments) cla_close_total(&t, &e, CLA_ALL_SUMS);
    cla_write_rows(&t, &e);
}
