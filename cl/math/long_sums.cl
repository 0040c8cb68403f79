/* Sums of more than CLA_CHAIN terms. What the addition to = sum + x lost is 0 where `to` is inf or NaN. The losing form
 * leaves that in *lost; the kept one first adds to x what the addition before left there. So a sum of any length is off
 * by little more than one addition, and *lost may be forgotten behind the last one. */
#define CLA_ADD_KEPT(lost_of, losing, kept, T) \
    CLA_FN T lost_of(T sum, T x, T to) \
    { \
        const T added = to - sum, less = (sum - (to - added)) + (x - added); \
        return less == less ? less : (T)(0); \
    } \
    CLA_FN T losing(T sum, T x, T *lost) \
    { \
        const T to = sum + x; \
        *lost = lost_of(sum, x, to); \
        return to; \
    } \
    CLA_FN T kept(T sum, T x, T *lost) { return losing(sum, x + *lost, lost); }
CLA_ADD_KEPT(cla_lost, cla_add_losing, cla_add_kept, real)
CLA_ADD_KEPT(cla_lost_scalar, cla_add_losing_scalar, cla_add_kept_scalar, cla_scalar)
/* The same in memory: of one number, and of a vector that may have no room for its loss. */
CLA_FN void cla_add_kept_there(__global cla_scalar *to, __global cla_scalar *loss, cla_scalar x)
{
    cla_scalar lost = *loss;
    *to = cla_add_kept_scalar(*to, x, &lost);
    *loss = lost;
}
CLA_FN void cla_add_vector_there(__global cla_scalar *to, __global cla_scalar *loss, int loses, real x)
{
    const real before = CLA_LOAD_PLAIN(to), more = loses ? x + CLA_LOAD_PLAIN(loss) : x, sum = before + more;
    CLA_STORE_PLAIN(sum, to);
    if (loses) CLA_STORE_PLAIN(cla_lost(before, more, sum), loss);
}
