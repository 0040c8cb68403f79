/* Row q sees the keys from q + offset + low to q + offset + high, causal or not; the smallest and the largest int are
 * no bounds. */
CLA_FN int cla_window_low(const cla_env *e) { return add_sat(e->offset, e->a->window_low); }
CLA_FN int cla_window_high(const cla_env *e) { return min(add_sat(e->offset, e->a->window_high), CLA_LIMIT); }

CLA_FN int cla_window_begin(const cla_env *e, int q0, int q1) { return q0 + cla_window_low(e); }
CLA_FN int cla_window_end(const cla_env *e, int q0, int q1) { return add_sat(q1, cla_window_high(e)); }
CLA_FN int cla_window_next(const cla_env *e, int q0, int q1, int k, int end) { return k; }
CLA_FN int cla_window_full(const cla_env *e, int q0, int q1, int k0, int k1)
{
    return k1 - 1 <= q0 + cla_window_high(e) && k0 >= q1 - 1 + cla_window_low(e);
}
CLA_FN void cla_window_drop(const cla_tile *t, const cla_env *e, real *s, int k0, int n)
{
    const integer low = (integer)(cla_window_low(e)), high = (integer)(cla_window_high(e));
    CLA_KEEP_WHERE((integer)(k >= q + low) & (integer)(k <= q + high))
}
