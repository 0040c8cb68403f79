/* What the passes of a backward call tell each other of a row of Q, in the workspace: L, what its scores subtract
 * before they become weights, i.e. its LSE in the unit of scores; and D = dot(dO, O) - dLSE. A row that saw nothing has
 * L = +inf, so that nothing weighs in it, and D = 0. Fixed, not a slot. */
CLA_FN long cla_stats_row(const cla_env *e, int q) { return cla_written_row(e, &e->a->stats, q); }
CLA_FN __global cla_scalar *cla_stats(const cla_env *e, int q)
{
    return (__global cla_scalar *)(e->at.workspace + e->a->states_offset) + 2 * cla_stats_row(e, q);
}
/* A row of dQ as a stripe of keys adds it up: of whole vectors. All stripes lie behind the stats, each [row,pitch]. */
#define CLA_DQ_PITCH CLA_ROUND_UP(CLA_D, CLA_WIDTH)
CLA_FN __global cla_scalar *cla_part_of_dq(const cla_env *e, int part, int q)
{
    const cla_args *a = e->a;
    return (__global cla_scalar *)(e->at.workspace + a->states_offset) + 2 * a->stats_rows +
           (part * a->stats_rows + cla_stats_row(e, q)) * CLA_DQ_PITCH;
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
