/* Where the sums of all segments are: in the workspace, for engines that have no registers left for them. Items of a group are
 * neighbours there. What the engine itself keeps there, CLA_OWN_WORDS for every item of the grid, comes first. */
typedef __global real *cla_total;
#define CLA_TOTAL_STEP CLA_LANES
#define CLA_TOTAL_MEMORY
#define CLA_TOTAL(t, e) cla_total_place(e, CLA_TOTAL_N, CLA_ITEM(t))

CLA_FN cla_total cla_total_place(const cla_env *e, int n, int item)
{
    const ulong groups = (ulong)get_num_groups(0) * get_num_groups(1);
    __global uint *from = e->at.workspace + e->a->workspace_offset + groups * (CLA_LANES * CLA_OWN_WORDS);
    return (__global real *)from + (ulong)CLA_GROUP * (CLA_LANES * n) + item;
}
