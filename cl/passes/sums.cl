/* How a pass sums many numbers for each result: a work-group has CLA_RESULTS results. Where it has several items,
 * CLA_SHARES of them share each: they sum what lies CLA_SHARES numbers apart, then what they came to. Fixed, not a
 * slot. */
#define CLA_AT_ONCE (CLA_ITEMS > 1 ? CLA_RESULTS : 1)
#define CLA_SHARES (CLA_ITEMS / CLA_AT_ONCE)
#define CLA_LOCAL_SHARES __local cla_scalar cla_local_shares[CLA_ITEMS];

/* A share of the sum of n numbers, `step` apart. */
CLA_FN cla_scalar cla_share_of(const __global cla_scalar *from, long n, long step, int share)
{
    cla_scalar sum = 0, lost = 0;
    CLA_NO_UNROLL for (long i = share; i < n; i += CLA_SHARES) sum = cla_add_kept_scalar(sum, from[i * step], &lost);
    return sum;
}

/* Result i of `all` goes to PUT(e, i, sum), of which SUM(e, i, share) is a share. */
#define CLA_SUM_RESULTS(e, all, SUM, PUT) \
    CLA_NO_UNROLL for (int x = 0; x < CLA_RESULTS; x += CLA_AT_ONCE) { \
        const int item = get_local_id(0), own = item % CLA_AT_ONCE, share = item / CLA_AT_ONCE; \
        const long i = (long)CLA_GROUP * CLA_RESULTS + x + own; \
        cla_scalar sum = i < (all) ? SUM(e, i, share) : 0; \
        if (CLA_SHARES > 1) { \
            cla_local_shares[item] = sum; \
            barrier(CLK_LOCAL_MEM_FENCE); \
        } \
        if (i < (all) && !share) { \
            CLA_NO_UNROLL for (int y = 1; y < CLA_SHARES; y++) sum += cla_local_shares[own + y * CLA_AT_ONCE]; \
            PUT(e, i, sum); \
        } \
    }
