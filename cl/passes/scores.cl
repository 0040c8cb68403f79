/* The scores of a call, and its weights, at one of four stages: a work-group has CLA_BQ rows of one (b, h), or of heads
 * that are packed, as in forward.cl, and goes over all keys. It multiplies no values. Scores are in natural units here,
 * whatever changes them (CLA_NATURAL is 1), and the stage is the same for all items. */

/* What stands where a row has no score. */
CLA_FN cla_scalar cla_no_score(const cla_args *a) { return a->stage == CLA_SCORES_WEIGHTS ? 0 : -INFINITY; }

/* Where key 0 of a row lies. */
CLA_FN __global cla_o_elem *cla_score_row(const cla_env *e, int row)
{
    const cla_scores_at *at = &e->a->scores;
    return e->at.scores + (at->offset + e->b * at->b + (e->h + cla_head(e, row)) * at->h +
                           (e->first_q + cla_query(e, row)) * at->q);
}

/* Keys from .. to - 1 of rows r0 .. r1 - 1 that have no score there. */
CLA_FN void cla_put_none(const cla_env *e, int r0, int r1, int from, int to)
{
    const cla_scalar none = cla_no_score(e->a);
    CLA_NO_UNROLL for (int r = r0; r < r1; r++) {
        __global cla_o_elem *row = cla_score_row(e, r);
        CLA_NO_UNROLL for (int k = from + (int)get_local_id(0); k < to; k += CLA_LANES)
            cla_store_o(none, row + k * e->a->scores.k);
    }
}

/* A tile's keys k0 .. end - 1 of rows before `rows`, square by square, with vectors along the keys. */
CLA_FN void cla_put_scores(const cla_tile *t, const cla_env *e, const real *s, int rows, int k0, int n, int end)
{
    const long step = e->a->scores.k;
    CLA_EACH_SQUARE(t, k0, n)
        real x[CLA_WIDTH]; /* one is used where lanes are keys already */
        CLA_EACH_OF_SQUARE x[i] = s[(j + i) * CLA_R_N + r];
        if (CLA_ROW_STEP) { CLA_TRANSPOSE(real, x) }
        CLA_EACH_OF_SQUARE {
            if (q + i >= rows) continue;
            __global cla_o_elem *to = cla_score_row(e, q + i) + k * step;
            if (step == 1 && k + CLA_WIDTH <= end) CLA_STORE_WIDE(cla_storen_o, cla_store_o, x[i], to);
            else
                CLA_UNROLL for (int lane = 0; lane < CLA_WIDTH; lane++)
                    if (k + lane < end) cla_store_o(CLA_LANE(x[i], const cla_scalar, lane), to + lane * step);
        }
    CLA_END_SQUARE
}

/* What the rows of slot r subtract before exponentiation. Rows past the last one have its LSE, and are not written. */
CLA_FN real cla_slot_pivot(const cla_tile *t, const cla_env *e, int r)
{
    const int last = cla_last(cla_row_count(e, e->nq));
    real x;
    CLA_EACH_LANE CLA_LANE(x, cla_scalar, i) =
        e->at.lse[cla_written_row(e, &e->a->lse, min(cla_slot_row(t, r) + i * CLA_ROW_STEP, last))];
    return cla_pivot(x);
}

/* Scores become what values are multiplied with. No weight is above 1, whatever rounding made of its score. */
CLA_FN void cla_weigh(const cla_tile *t, const cla_env *e, real *s, const real *pivot, int k0, int n)
{
    CLA_EACH_ELEMENT(t, k0, n)
        const real above = CLA_ELEMENT - pivot[r];
        const real weight = cla_weight(above > (real)(0) ? (real)(0) : above, (real)(0));
        CLA_ELEMENT = CLA_ELEMENT == (real)(-INFINITY) ? (real)(0) : weight;
    CLA_END_ELEMENT
    cla_dropout_zero(t, e, s, k0, n);
    if (CLA_HAS_DROPOUT)
        CLA_EACH_ELEMENT(t, k0, n)
            CLA_ELEMENT *= CLA_DROPOUT_FACTOR(e->a);
        CLA_END_ELEMENT
}

/* Products of Q and K as they are at the stage before masks. */
CLA_FN void cla_change(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    const int stage = e->a->stage;
    if (CLA_SCALES_LATE)
        CLA_EACH_ELEMENT(t, k0, n)
            CLA_ELEMENT *= CLA_SCALE(e->a);
        CLA_END_ELEMENT
    if (stage >= CLA_SCORES_CHANGED)
        CLA_EACH_ELEMENT(t, k0, n)
            CLA_ELEMENT = cla_score(e, CLA_ELEMENT, CLA_ELEMENT_Q, CLA_ELEMENT_K);
        CLA_END_ELEMENT
    if (stage >= CLA_SCORES_MASKED) cla_bias(t, e, s, k0, n);
}

__kernel CLA_KERNEL_OF_ENGINE __attribute__((reqd_work_group_size(CLA_LANES, 1, 1)))
void cla_scores_out(const cla_args a, CLA_PARAMS)
{
    cla_tile t;
    CLA_LOCAL(t)
    int b, h, part;
    const int r0 = cla_place(&a, CLA_GROUP, CLA_BQ, &b, &h, &part);
    cla_env e;
    CLA_TAKE_PARAMS(e.at)
    cla_env_init(&e, &a, b, h, part);
    cla_sequence(&e);

    /* Rows before `rows` have scores, those from there to r1 none. What masks leave out is passed over. */
    const int masked = a.stage >= CLA_SCORES_MASKED;
    const int rows = cla_row_count(&e, e.q_len), r1 = min(r0 + CLA_BQ, cla_row_count(&e, e.nq));
    const int q0 = cla_query(&e, r0), q1 = min(cla_query(&e, r0 + CLA_BQ - 1) + 1, e.q_len);
    const int last = q0 < q1 ? max(masked ? min(e.k_end, cla_mask_end(&e, q0, q1)) : e.k_end, 0) : 0;
    const int first = min(masked ? max(e.k_begin, cla_mask_begin(&e, q0, q1)) : e.k_begin, last);
    const int end = first < last ? last : 0, from = min(first, end);
    const int begin = cla_on_tile(&e, masked ? cla_mask_next(&e, q0, q1, from, end) : from, end);

    real s[CLA_S_N], pivot[CLA_R_N];
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) pivot[r] = (real)(0);
    cla_begin(&t, &e, r0, begin, end, CLA_Q_SCALE(&a));
    if (a.stage == CLA_SCORES_WEIGHTS && begin < end)
        CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) pivot[r] = cla_slot_pivot(&t, &e, r);

    int next, done = 0; /* keys before it are written */
    CLA_NO_UNROLL for (int k0 = begin; k0 < end; k0 = next) {
        const int n = min(CLA_BK, end - k0), k1 = k0 + CLA_COVERED(n);
        next = cla_on_tile(&e, masked ? cla_mask_next(&e, q0, q1, k0 + n, end) : k0 + n, end);
        CLA_QK_ALONE(&t, &e, s, k0, n, next);
        cla_change(&t, &e, s, k0, n);
        if (masked) cla_mask_drop(&t, &e, s, q0, q1, k0, k1, k0, n);
        if (a.stage == CLA_SCORES_WEIGHTS) cla_weigh(&t, &e, s, pivot, k0, n);
        cla_put_none(&e, r0, min(r1, rows), done, k0);
        if (CLA_IS_FIRST(&t)) cla_put_scores(&t, &e, s, min(r1, rows), k0, n, k0 + n);
        done = k0 + n;
    }
    cla_put_none(&e, r0, min(r1, rows), done, a.nk);
    cla_put_none(&e, max(r0, rows), r1, 0, a.nk);
}
