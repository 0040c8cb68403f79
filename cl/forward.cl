/* The loop over key tiles. A work-group owns CLA_BQ query rows of one (b, h); groups that share a head are neighbours,
 * and the longest causal rows come first. */
__kernel __attribute__((reqd_work_group_size(CLA_LANES, 1, 1)))
void cla_forward(const cla_args a, const __global cla_q_elem *Q, const __global cla_k_elem *K,
                 const __global cla_v_elem *V, __global cla_q_elem *O, __global float *LSE, const __global int *q_len,
                 const __global int *kv_len, const __global int *kv_start, const __global int *offsets)
{
    cla_tile t;
    CLA_LOCAL(t)
    const int blocks = (a.nq + CLA_BQ - 1) / CLA_BQ;
    const int bh = get_group_id(0) / blocks, block = get_group_id(0) % blocks;
    const int q0 = (blocks - 1 - block) * CLA_BQ;
    cla_env e;
    cla_env_init(&e, &a, bh / a.h, bh % a.h, Q, K, V, O, LSE);
    cla_sequence(&e, &a, q_len, kv_len, kv_start, offsets);

    /* Rows that count: of those past q_len none sees a key, those past nq are never written. */
    const int q1 = min(q0 + CLA_BQ, e.q_len), whole = q0 + CLA_BQ <= e.q_len || e.q_len == e.nq;
    const int begin = max(e.k_begin, cla_mask_begin(&e, q0, q1));
    const int end = q0 < q1 ? min(e.k_end, cla_mask_end(&e, q0, q1)) : begin;

    real s[CLA_S_N], o[CLA_O_N], m[CLA_R_N], l[CLA_R_N], f[CLA_R_N];
    CLA_UNROLL_O for (int i = 0; i < CLA_O_N; i++) o[i] = (real)(0);
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
        m[r] = (real)(-INFINITY);
        l[r] = (real)(0);
    }
    cla_begin(&t, &e, q0, begin, end, CLA_SCALE(&a) * CLA_SCORE_UNIT);

    CLA_NO_UNROLL for (int k0 = begin; k0 < end; k0 += CLA_BK) {
        const int n = min(CLA_BK, end - k0), k1 = k0 + CLA_COVERED(n);
        cla_qk(&t, &e, s, k0, n);
        CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j++)
            CLA_UNROLL for (int r = 0; r < CLA_R_N; r++)
                s[j * CLA_R_N + r] = cla_score(&e, s[j * CLA_R_N + r], cla_s_q(&t, r), cla_s_k(&t, k0, j));
        if (!(whole && k1 <= end && cla_mask_full(&e, q0, q1, k0, k1)))
            CLA_UNROLL_COLS for (int j = 0; j < CLA_COLS(n); j++)
                CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
                    const integer q = cla_s_q(&t, r), k = cla_s_k(&t, k0, j);
                    const integer keep = (q < (integer)(e.q_len)) & (k < (integer)(end)) & cla_mask_keep(&e, q, k);
                    s[j * CLA_R_N + r] = keep ? s[j * CLA_R_N + r] : (real)(-INFINITY);
                }
        cla_softmax(&t, s, m, l, f, n);
        cla_pv(&t, &e, o, s, f, k0, n);
    }
    cla_row_sum(&t, l);
    cla_write(&t, &e, o, m, l, a.write_lse);
}
