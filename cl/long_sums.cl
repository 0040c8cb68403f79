/* Sums of more than CLA_CHAIN terms. Fixed, not a slot. sum + x, and in *lost what that loses, a number itself
 * unless the sum is none; and the same where x is given first what the addition before lost. So a sum of any length
 * is off by little more than one addition, and *lost may be forgotten behind the last. */
#define CLA_ADD_KEPT(losing, kept, T) \
    CLA_FN T losing(T sum, T x, T *lost) \
    { \
        const T to = sum + x, added = to - sum, less = (sum - (to - added)) + (x - added); \
        *lost = less == less ? less : (T)(0); \
        return to; \
    } \
    CLA_FN T kept(T sum, T x, T *lost) { return losing(sum, x + *lost, lost); }
CLA_ADD_KEPT(cla_add_losing, cla_add_kept, real)
CLA_ADD_KEPT(cla_add_losing_scalar, cla_add_kept_scalar, cla_scalar)
/* The same in memory. */
CLA_FN void cla_add_kept_there(__global cla_scalar *to, __global cla_scalar *loss, cla_scalar x)
{
    cla_scalar lost = *loss;
    *to = cla_add_kept_scalar(*to, x, &lost);
    *loss = lost;
}
