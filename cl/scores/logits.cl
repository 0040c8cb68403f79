/* Scores of a tile, from products of Q and K: everything but masks. Fixed, not a slot. */
CLA_FN void cla_scores(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    CLA_EACH_ELEMENT(t, k0, n)
        const real scale = CLA_SCALES_LATE ? (real)(CLA_SCALE(e->a)) : (real)(1);
        CLA_ELEMENT = cla_score(e, CLA_ELEMENT * scale, CLA_ELEMENT_Q, CLA_ELEMENT_K);
    CLA_END_ELEMENT
    cla_bias(t, e, s, k0, n);
}
