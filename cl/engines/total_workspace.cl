/* Where the sums of all segments are: in the workspace, for engines that have no registers left for them. Items of a
 * work-group are neighbours there. What the engine itself keeps there, CLA_OWN_WORDS for every item of the grid, comes
 * first. */
typedef __global real *cla_total;
#define CLA_TOTAL_STEP CLA_LANES
#define CLA_TOTAL_MEMORY
#define CLA_TOTAL(e, key) cla_total_place(e, CLA_TOTAL_N, key)

/* key: a key's number that compilers do not know before the loop, for CLA_ITEM_AGAIN. */
CLA_FN cla_total cla_total_place(const cla_env *e, int n, int key)
{
    const ulong groups = (ulong)get_num_groups(0) * get_num_groups(1);
    /* First: nothing is kept for it in the loop. */
    const ulong at = (ulong)CLA_WORK_GROUP_AGAIN * (CLA_LANES * n) + CLA_ITEM_AGAIN(key);
    return (__global real *)(e->at.workspace + (at * (sizeof(real) / 4) + groups * (CLA_LANES * CLA_OWN_WORDS) +
                                                e->a->workspace_offset));
}
