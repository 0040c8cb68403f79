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
/* The same in memory. */
CLA_FN void cla_add_kept_there(__global cla_scalar *to, __global cla_scalar *loss, cla_scalar x)
{
    cla_scalar lost = *loss;
    *to = cla_add_kept_scalar(*to, x, &lost);
    *loss = lost;
}
