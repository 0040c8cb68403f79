/* A byte for each query and key; one that is not 0 keeps. */
#define cla_load_mask(p) (*(p))
#define cla_loadn_mask(n, p) vload##n(0, p)
CLA_GATHER(mask, uchar, uchar, cla_loadn_mask, cla_load_mask)

CLA_FN int cla_bool_begin(const cla_env *e, int q0, int q1) { return 0; }
CLA_FN int cla_bool_end(const cla_env *e, int q0, int q1) { return e->k_end; }
/* Where one row of the mask serves all queries, as with padding: the next key that it keeps. Dropped ones are passed
 * over 16 at a time. */
CLA_FN int cla_bool_next(const cla_env *e, int q0, int q1, int k, int end)
{
    const cla_args *a = e->a;
    if (a->mask.q || a->mask.k != 1) return k;
    const __global uchar *at = e->at.mask + cla_scores_from(e, &a->mask);
    CLA_NO_UNROLL while (k + 16 <= end && !any(vload16(0, at + k) != (uchar16)(0))) k += 16;
    CLA_NO_UNROLL while (k < end && !at[k]) k++;
    return k;
}
CLA_FN int cla_bool_full(const cla_env *e, int q0, int q1, int k0, int k1)
{
    return cla_mask_is_full(e, q0, q1, k0, k1);
}
CLA_FN void cla_bool_drop(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    const cla_args *a = e->a;
    const __global uchar *at = e->at.mask + cla_scores_from(e, &a->mask);
    CLA_EACH_SQUARE(t, k0, n)
        CLA_VECTOR(uchar) x[CLA_SQUARE_N];
        cla_gather_mask(x, e, at, a->mask.q, a->mask.k, q, k);
        CLA_EACH_OF_SQUARE {
            real *to = &s[(j + i) * CLA_R_N + r];
            *to = CLA_VECTOR(CLA_CAT(convert_, CLA_INTEGER))(x[i]) != (integer)(0) ? *to : (real)(-INFINITY);
        }
    CLA_END_SQUARE
}
