/* The loop over key tiles. A work-group owns CLA_BQ rows of one (b, h), or of heads that are packed, and a part of the
 * keys that they see. Groups that share a head are neighbours, and the longest causal rows come first; where heads
 * share a bias or a mask, groups that share its rows are neighbours. Parts are farthest apart. */
CLA_FN void cla_drop_outside(const cla_tile *t, const cla_env *e, real *s, int k0, int n, int unpadded, int end)
{
    CLA_KEEP_WHERE(((q < (integer)(e->q_len)) | (integer)(-unpadded)) & (k < (integer)(end)))
}

#define CLA_PART_KEYS(keys) cla_part_keys(keys, a.parts, a.part_least, CLA_BK)
CLA_FN int cla_segment_end(int k)
{
    return (k / CLA_SEGMENT + 1) * CLA_SEGMENT;
}

__kernel CLA_KERNEL_OF_ENGINE __attribute__((reqd_work_group_size(CLA_LANES, 1, 1)))
void cla_forward(const cla_args a, CLA_PARAMS)
{
    cla_tile t;
    CLA_LOCAL(t)
    int b, h, part;
    const int r0 = cla_place(&a, CLA_GROUP, CLA_BQ, &b, &h, &part);
    cla_env e;
    CLA_TAKE_PARAMS(e.at)
    cla_env_init(&e, &a, b, h, part);
    cla_sequence(&e);

    /* Rows that count: of those past q_len none sees a key; those past nq are never written, but where a mask has holes
     * they must not keep a key that no other row keeps. */
    const int q0 = cla_query(&e, r0), q1 = min(cla_query(&e, r0 + CLA_BQ - 1) + 1, e.q_len);
    const int unpadded = CLA_DROPS ? 0 : e.q_len == e.nq;
    const int whole = unpadded || r0 + CLA_BQ <= cla_row_count(&e, e.q_len);
    int last = q0 < q1 ? max(min(e.k_end, cla_mask_end(&e, q0, q1)), 0) : 0;
    int first = min(max(e.k_begin, cla_mask_begin(&e, q0, q1)), last);
    const int low = CLA_INVARIANT ? e.k_begin : first, all = CLA_INVARIANT ? max(e.k_end - low, 0) : last - first;
    if (a.parts > 1) {
        const int keys = CLA_PART_KEYS(all), from = low + part * keys;
        first = max(first, from);
        last = min(last, from + keys);
    }
    /* Where there is nothing to see the loop is at key 0: compilers may load ahead of it. */
    const int end = first < last ? last : 0;
    const int begin = cla_on_tile(&e, cla_mask_next(&e, q0, q1, min(first, end), end), end);

    real s[CLA_S_N], o[CLA_O_N], m[CLA_R_N], l[CLA_R_N], f[CLA_R_N];
    CLA_TOTAL_MEMORY
    CLA_UNROLL_O for (int i = 0; i < CLA_O_N; i++) o[i] = (real)(0);
    cla_begin(&t, &e, r0, begin, end, CLA_Q_SCALE(&a));
    cla_start(&t, &e, m, l);

    int next;
    /* The call has a workspace for it. A row that sees nothing closes no segment, and keeps its sink. */
    const int most = CLA_INVARIANT ? all : a.nk;
    const int is_long = (a.parts > 1 ? min(CLA_PART_KEYS(most), most) : most) > CLA_SEGMENT && begin < end;
    if (is_long) cla_open_total(CLA_TOTAL(&e, begin));
    CLA_NO_UNROLL for (int k0 = begin; k0 < end;) { /* do-while is miscompiled by PoCL 7.1, engine cpu */
        const int base = CLA_INVARIANT ? e.k_begin : 0, stop = CLA_KEPT(cla_segment_end(k0 - base) + base);
        CLA_NO_UNROLL for (; k0 < min(stop, end); k0 = next) {
            const int n = min(CLA_BK, end - k0), k1 = k0 + CLA_COVERED(n);
            next = cla_on_tile(&e, cla_mask_next(&e, q0, q1, k0 + n, end), end);
            cla_qk(&t, &e, s, k0, n);
            cla_scores(&t, &e, s, k0, n);
            if (!(whole && k1 <= end)) cla_drop_outside(&t, &e, s, k0, n, unpadded, end);
            cla_mask_drop(&t, &e, s, q0, q1, k0, k1, k0, n);
            if (CLA_DROPS) cla_mark_seen(&t, s, n);
            cla_softmax(&t, s, m, l, f, n);
            cla_dropout_zero(&t, &e, s, k0, n);
            cla_pv(&t, &e, o, s, f, k0, n, next);
        }
        if (is_long) cla_close_segment(&t, CLA_TOTAL(&e, k0), o, m, l);
    }
    if (is_long) cla_take_total(&t, CLA_TOTAL(&e, end), o, m, l);
    if (CLA_HAS_SINKS & CLA_SINK_LAST) cla_count_sinks(&t, &e, o, m, l);
    if (CLA_HAS_DROPOUT)
        CLA_UNROLL_O for (int i = 0; i < CLA_O_N; i++) o[i] *= CLA_DROPOUT_FACTOR(&a);
    cla_row_sum(&t, l);
    cla_write(&t, &e, o, m, l);
}
