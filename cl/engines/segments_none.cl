/* Sums over any number of tiles in one chain, for an engine whose tiles are far less exact than such a sum, and
 * which has no registers left for anything else: a head is one segment. */
#define CLA_SEGMENT INT_MAX
CLA_FN int cla_next_segment(const cla_args *a, int *q0) { return 1; }
CLA_FN int cla_has_segments(const cla_args *a) { return 0; }
CLA_FN void cla_open_total(const cla_env *e, int sums) {}
CLA_FN void cla_close_segment(cla_tile *t, const cla_env *e) {}
CLA_FN void cla_close_total(cla_tile *t, const cla_env *e, int sums) {}
