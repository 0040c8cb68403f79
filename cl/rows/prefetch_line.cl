/* Prefetch slot: the line of memory that holds byte `at` of a row is asked for into the second cache. The built-in
 * prefetch() of OpenCL C is empty on PoCL. */
CLA_FN void cla_prefetch(const __global uchar *row, int at) { __builtin_prefetch(row + at, 0, 2); }
#define CLA_ASK_FOR(p) __builtin_prefetch(p, 0, 3) /* the line of p, into the first cache */
