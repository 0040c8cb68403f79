/* Where the sums of all segments are: in memory of the work-item's own. */
typedef real *cla_total;
#define CLA_TOTAL_STEP 1
#define CLA_TOTAL_MEMORY real cla_total_sums[CLA_TOTAL_N];
#define CLA_TOTAL(e, key) cla_total_sums
