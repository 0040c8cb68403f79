/* The logit of a key without a value, which every row sees. In units of log2 it must stay finite. */
CLA_FN cla_scalar cla_sink_logit(const cla_env *e) { return e->at.sinks[e->a->sinks_offset + e->h]; }
CLA_FN cla_scalar cla_sink(const cla_env *e)
{
    const real sink = cla_to_log2((real)(cla_sink_logit(e)));
    return CLA_LANE(sink, const cla_scalar, 0);
}
/* Where the sink is the maximum, to and fro by log2(e) would cost digits: a large sink would be worse than its float. */
CLA_FN float cla_lse(const cla_env *e, cla_scalar m, cla_scalar l)
{
    if (l == 0) return -INFINITY;
    return m == cla_sink(e) ? (float)(cla_sink_logit(e) + log(l)) : (float)(m * CLA_LN2 + log(l));
}
