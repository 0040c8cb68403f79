/* The weight of a score beside a row's maximum, in the unit of scores. Fixed, not a slot. */
/* What a row subtracts before exponentiation. A row that saw nothing yet has m = -inf: then -inf - 0 still gives p = 0,
 * where -inf - -inf would give NaN. */
CLA_FN real cla_pivot(real m) { return m == (real)(-INFINITY) ? (real)(0) : m; }
CLA_FN real cla_weight(real x, real pivot) { return cla_exp2((x - pivot) * CLA_UNIT_LOG2); }
/* An engine may have others. CLA_FACTOR: what the sums of a row are multiplied with when its maximum has become `now`.
 * CLA_LOWEST: the maximum of a row that has seen nothing. CLA_SINK_LAST: whether a row's sink is counted behind its
 * keys. CLA_IS_FIRST: whether an item is of the first of those that share rows. CLA_KEPT: a number that is not to be
 * computed anew in a loop. */
#define CLA_WEIGHT(t, x, pivot) cla_weight(x, pivot)
#define CLA_FACTOR(t, before, now) cla_weight(before, cla_pivot(now))
#define CLA_LOWEST (-INFINITY)
#define CLA_SINK_LAST 0
#define CLA_IS_FIRST(t) 1
#define CLA_KEPT(x) (x)
