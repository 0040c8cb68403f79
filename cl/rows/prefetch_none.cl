/* Prefetch slot: nothing is asked for in advance. */
CLA_FN void cla_prefetch(const __global uchar *row, int at) {}
#define CLA_ASK_FOR(p) (void)(p)
