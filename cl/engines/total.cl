/* The sums of all segments of a row. Fixed, not a slot; where they are kept is one. A chain of m additions of one sign
 * may lose m / 2 ulp, so none has more than CLA_CHAIN: a tile's sums begin at zero, and so do those of a segment, which
 * has that many tiles. Segments may be more, so what adding them up loses is kept beside their sum. */

#define CLA_SEGMENT (CLA_CHAIN * CLA_BK) /* keys */

/* Sum and loss of each element of o, then of l, then the maxima that they are relative to. */
#define CLA_TOTAL_L (2 * CLA_O_N)
#define CLA_TOTAL_M (CLA_TOTAL_L + 2 * CLA_R_N)
#define CLA_TOTAL_N (CLA_TOTAL_M + CLA_R_N)

/* Scales sum i and its loss by f, and adds x. */
CLA_FN void cla_total_add(cla_total w, int i, real x, real f)
{
    const cla_total at = w + i * CLA_TOTAL_STEP;
    real lost;
    at[0] = cla_add_losing(at[0] * f, x, &lost);
    at[CLA_TOTAL_STEP] = at[CLA_TOTAL_STEP] * f + lost;
}
CLA_FN real cla_total_sum(cla_total w, int i)
{
    return w[i * CLA_TOTAL_STEP] + w[(i + 1) * CLA_TOTAL_STEP];
}

/* Unrolled: PoCL takes a loop for one that all items of a group walk together, and is three times as long about the
 * kernel. */
CLA_FN void cla_open_total(cla_total w)
{
    CLA_UNROLL_O for (int i = 0; i < CLA_TOTAL_M; i++) w[i * CLA_TOTAL_STEP] = (real)(0);
    CLA_UNROLL for (int i = CLA_TOTAL_M; i < CLA_TOTAL_N; i++) w[i * CLA_TOTAL_STEP] = (real)(CLA_LOWEST);
}
/* Adds a segment to the total, and lets the next one begin. What scales the total is rounded, each time to the same
 * side if maxima rise evenly: so the total keeps the maximum that it is relative to until that is less than half of a
 * weight, and the segment is scaled instead. */
CLA_FN void cla_close_segment(const cla_tile *t, cla_total w, real *o, const real *m, real *l)
{
    real f[CLA_R_N], g[CLA_R_N];
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
        const cla_total top = w + (CLA_TOTAL_M + r) * CLA_TOTAL_STEP;
        const real before = *top, now = CLA_ROW_MAX(t, m, r), down = CLA_FACTOR(t, before, now);
        f[r] = down < (real)(0.5f) ? down : (real)(1);
        g[r] = down < (real)(0.5f) ? (real)(1) : 1 / down;
        *top = down < (real)(0.5f) ? now : before;
        cla_total_add(w, CLA_TOTAL_L + 2 * r, l[r] * g[r], f[r]);
        l[r] = (real)(0);
    }
    CLA_UNROLL_O for (int i = 0; i < CLA_O_N; i++) {
        cla_total_add(w, 2 * i, o[i] * CLA_O_FACTOR(g, i), CLA_O_FACTOR(f, i));
        o[i] = (real)(0);
    }
}
/* Behind the last segment: o and l of all, relative to the maximum again. */
CLA_FN void cla_take_total(const cla_tile *t, cla_total w, real *o, const real *m, real *l)
{
    real f[CLA_R_N];
    CLA_UNROLL for (int r = 0; r < CLA_R_N; r++) {
        f[r] = CLA_FACTOR(t, w[(CLA_TOTAL_M + r) * CLA_TOTAL_STEP], CLA_ROW_MAX(t, m, r));
        l[r] = cla_total_sum(w, CLA_TOTAL_L + 2 * r) * f[r];
    }
    CLA_UNROLL_O for (int i = 0; i < CLA_O_N; i++) o[i] = cla_total_sum(w, 2 * i) * CLA_O_FACTOR(f, i);
}
