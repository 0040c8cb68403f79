/* The logit of a key without a value, which every row sees. */
#define CLA_HAS_SINKS 1
CLA_FN cla_scalar cla_sink(const cla_env *e, int row)
{
    return e->at.sinks[e->a->sinks_offset + e->h + cla_head(e, row)];
}
