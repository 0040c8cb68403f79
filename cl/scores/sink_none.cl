/* No sink. */
#define CLA_HAS_SINKS 0
CLA_FN cla_scalar cla_sink(const cla_env *e, int row) { return -INFINITY; }
