/* What every slot may rely on: who this work-group is and where its rows lie. Fixed, not a slot. */
#define CLA_FN static inline __attribute__((always_inline))
#define CLA_CAT_(a, b) a##b
#define CLA_CAT(a, b) CLA_CAT_(a, b)
#define CLA_PRAGMA(x) _Pragma(#x)
#define CLA_UNROLL CLA_PRAGMA(unroll)
#define CLA_UNROLL_BY(n) CLA_PRAGMA(unroll n)
#define CLA_NO_UNROLL CLA_PRAGMA(nounroll)
/* Products that a dot product adds up one after the other: the error of a longer chain would pass the promised bound
 * where all products have one sign. */
#define CLA_CHAIN 64
#define CLA_ROUND_UP(x, to) (((x) + (to) - 1) / (to) * (to))
#define CLA_MAX(x, y) ((x) > (y) ? (x) : (y))

/* What one work-item computes with at a time: a vector of CLA_WIDTH lanes, or a scalar. Masks and scores are written
 * once for both: arithmetic, built-ins and ?: only. Comparisons give -1 on vectors and 1 on scalars; & and ?: fit both. */
#define CLA_SUFFIX_1
#define CLA_SUFFIX_2 2
#define CLA_SUFFIX_4 4
#define CLA_SUFFIX_8 8
#define CLA_SUFFIX_16 16
#define CLA_SUFFIX CLA_CAT(CLA_SUFFIX_, CLA_WIDTH)
typedef CLA_CAT(CLA_SCALAR, CLA_SUFFIX) real;
typedef CLA_CAT(CLA_INTEGER, CLA_SUFFIX) integer;
#define real_(x) CLA_CAT(CLA_CAT(convert_, CLA_SCALAR), CLA_SUFFIX)(x)

/* CLA_TQ, CLA_TK, CLA_TV name the storage types of Q and O, K, V. */
typedef CLA_CAT(cla_elem_, CLA_TQ) cla_q_elem;
typedef CLA_CAT(cla_elem_, CLA_TK) cla_k_elem;
typedef CLA_CAT(cla_elem_, CLA_TV) cla_v_elem;
#define cla_load_q CLA_CAT(cla_load_, CLA_TQ)
#define cla_load_k CLA_CAT(cla_load_, CLA_TK)
#define cla_load_v CLA_CAT(cla_load_, CLA_TV)
#define cla_loadn_q CLA_CAT(cla_loadn_, CLA_TQ)
#define cla_loadn_k CLA_CAT(cla_loadn_, CLA_TK)
#define cla_loadn_v CLA_CAT(cla_loadn_, CLA_TV)
#define cla_store_o CLA_CAT(cla_store_, CLA_TQ)

typedef struct {
    int b, h, hk;                     /* batch entry, query head, key/value head */
    int nq;                           /* rows of Q */
    int q_len, k_begin, k_end;        /* rows of Q and keys that exist in this sequence */
    int offset;                       /* of the causal diagonal */
    const __global cla_q_elem *q;     /* row 0 of this b, h */
    const __global cla_k_elem *k;
    const __global cla_v_elem *v;
    __global cla_q_elem *o;
    __global float *lse;
    long q_stride, k_stride, v_stride, o_stride, lse_stride; /* from row to row */
} cla_env;

/* By pointer: Oclgrind 21.10 knows no struct that an inlined function returns. */
CLA_FN void cla_env_init(cla_env *e, const cla_args *a, int b, int h, const __global cla_q_elem *q,
                         const __global cla_k_elem *k, const __global cla_v_elem *v, __global cla_q_elem *o,
                         __global float *lse)
{
    e->b = b;
    e->h = h;
    e->hk = h / a->group;
    e->nq = a->nq;
    e->q = q + (a->q_offset + b * a->q_stride[0] + h * a->q_stride[1]);
    e->k = k + (a->k_offset + b * a->k_stride[0] + e->hk * a->k_stride[1]);
    e->v = v + (a->v_offset + b * a->v_stride[0] + e->hk * a->v_stride[1]);
    e->o = o + (a->o_offset + b * a->o_stride[0] + h * a->o_stride[1]);
    e->lse = lse + (a->lse_offset + b * a->lse_stride[0] + h * a->lse_stride[1]);
    e->q_stride = a->q_stride[2];
    e->k_stride = a->k_stride[2];
    e->v_stride = a->v_stride[2];
    e->o_stride = a->o_stride[2];
    e->lse_stride = a->lse_stride[2];
}

/* Where query row q lies; rows past the end read as the last one. */
CLA_FN const __global cla_q_elem *cla_q_row(const cla_env *e, int q) { return e->q + min(q, e->nq - 1) * e->q_stride; }
CLA_FN __global cla_q_elem *cla_o_row(const cla_env *e, int q) { return e->o + q * e->o_stride; }
CLA_FN __global float *cla_lse_row(const cla_env *e, int q) { return e->lse + q * e->lse_stride; }

/* The logarithm of a row's sum l 2^m. */
CLA_FN float cla_lse(cla_scalar m, cla_scalar l) { return l == 0 ? -INFINITY : (float)(m * CLA_LN2 + log(l)); }

/* Offset of the diagonal by the alignment rule (CLATTN_ALIGN_*), in a range where adding a row never overflows: rows
 * and keys are at most 2^30. */
CLA_FN int cla_diagonal(const cla_args *a, int b, int q_len, int k_len, const __global int *offsets)
{
    const int given = a->align == 3 ? offsets[a->offsets_offset + b] : a->offset;
    const int at = a->align == 0 ? k_len - q_len : a->align == 1 ? 0 : given;
    return clamp(at, -(1 << 30), (1 << 30) - 1);
}
