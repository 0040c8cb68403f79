/* What the passes of a backward call tell each other of a row of Q, in the workspace: L, what its scores subtract
 * before they become weights, i.e. its LSE in the unit of scores; and D = dot(dO, O) - dLSE. A row that saw nothing has
 * L = +inf, so that nothing weighs in it, and D = 0. Fixed, not a slot. */
CLA_FN long cla_stats_row(const cla_env *e, int q) { return cla_written_row(e, &e->a->stats, q); }
CLA_FN __global cla_scalar *cla_stats(const cla_env *e, int q)
{
    return (__global cla_scalar *)(e->at.workspace + e->a->states_offset) + 2 * cla_stats_row(e, q);
}
/* Weights below 2^CLA_LIGHTEST are next to nothing: products with them would be denormal. */
#define CLA_LIGHTEST (sizeof(cla_scalar) == 8 ? -900 : -100)
/* Behind the stats of all rows lies what stripes of keys add up: of dQ each a tensor [row,pitch], rows being whole
 * vectors, unless the engine has a pass for it, and then the totals of these where stripes are long; of slopes
 * [b,h,tile of keys,item]; of captured buffers each work-group its own tables of all that are wanted, one behind the
 * other, and then what those lose; of a bias without an axis of keys each stripe its cells, and then what those lose,
 * of one with that axis what its cells lose. What is not wanted is not there. */
#define CLA_DQ_PITCH CLA_ROUND_UP(CLA_D, CLA_WIDTH)
#define CLA_DQ_HAS_TOTALS(a) ((a)->tiles > CLA_CHAIN * (a)->parts)
CLA_FN __global cla_scalar *cla_dq_parts(const cla_env *e)
{
    return (__global cla_scalar *)(e->at.workspace + e->a->states_offset) + 2 * e->a->stats_rows;
}
CLA_FN long cla_dq_elements(const cla_args *a) { return a->parts * a->stats_rows * CLA_DQ_PITCH; }
CLA_FN __global cla_scalar *cla_slope_parts(const cla_env *e)
{
    const cla_args *a = e->a;
    return cla_dq_parts(e) +
           (CLA_DQ_IN_STRIPES && a->wanted & CLA_DQ_WANTED ? (1 + CLA_DQ_HAS_TOTALS(a)) * cla_dq_elements(a) : 0);
}
CLA_FN __global cla_scalar *cla_aux_parts(const cla_env *e)
{
    const cla_args *a = e->a;
    const long slopes = (long)a->heads * a->tiles * CLA_PARTNERS;
    return cla_slope_parts(e) + (a->wanted & CLA_DSLOPES_WANTED ? slopes : 0);
}
CLA_FN __global cla_scalar *cla_aux_table(const cla_env *e, int table)
{
    return cla_aux_parts(e) + ((long)CLA_GROUP * CLA_TABLES + table) * e->a->aux_cells;
}
/* From a cell to what additions to it lose. */
CLA_FN long cla_aux_losses(const cla_args *a) { return (long)a->groups * CLA_TABLES * a->aux_cells; }
CLA_FN __global cla_scalar *cla_bias_parts(const cla_env *e) { return cla_aux_parts(e) + 2 * cla_aux_losses(e->a); }
CLA_FN __global cla_scalar *cla_part_of_dq(const cla_env *e, int part, int q)
{
    return cla_dq_parts(e) + (part * e->a->stats_rows + cla_stats_row(e, q)) * CLA_DQ_PITCH;
}

/* Turns to head h of entry b; part: which stripe of keys, where there are several. */
CLA_FN void cla_enter(cla_env *e, const cla_args *a, int b, int h, int part)
{
    cla_env_init(e, a, b, h, part);
    e->looked = 0;
    cla_sequence(e);
}

/* Work-group `group` of those that have a block of `rows` queries of one head each: whose, and the first row; past the
 * end for a group that only rounds up the grid. */
CLA_FN int cla_block_of_rows(const cla_args *a, uint group, int rows, int *b, int *h)
{
    const uint blocks = (a->nq + rows - 1) / rows, bh = group / blocks;
    const int spare = bh >= (uint)a->heads;
    *b = spare ? 0 : bh / a->h;
    *h = spare ? 0 : bh % a->h;
    return spare ? CLA_LIMIT : (group - bh * blocks) * rows;
}
