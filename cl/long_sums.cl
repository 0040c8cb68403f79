/* Sums of more than CLA_CHAIN terms. Fixed, not a slot. sum + x, where x has been given first what the addition before
 * lost; *lost is then what this one loses, a number itself unless the sum is none. So a sum of any length is off by
 * little more than one addition, and *lost may be forgotten behind the last. */
#define CLA_ADD_KEPT(name, T) \
    CLA_FN T name(T sum, T x, T *lost) \
    { \
        const T all = x + *lost, to = sum + all, added = to - sum; \
        const T less = (sum - (to - added)) + (all - added); \
        *lost = less == less ? less : (T)(0); \
        return to; \
    }
CLA_ADD_KEPT(cla_add_kept, real)
CLA_ADD_KEPT(cla_add_kept_scalar, cla_scalar)
/* The same of a number whose loss lies in memory. */
CLA_FN cla_scalar cla_add_kept_there(cla_scalar sum, cla_scalar x, __global cla_scalar *loss)
{
    cla_scalar lost = *loss;
    const cla_scalar to = cla_add_kept_scalar(sum, x, &lost);
    *loss = lost;
    return to;
}
