/* The logit of a key without a value, which every row sees: one of the first part. */
#define CLA_HAS_SINKS 1
CLA_FN cla_scalar cla_sink(const cla_env *e, int row)
{
    const cla_scalar logit = e->at.sinks[e->a->sinks_offset + e->h + cla_head(e, row)];
    return e->part ? -INFINITY : logit;
}
