/* Who this work-group is, and where its rows lie. Fixed, not a slot. */
typedef struct {
    const cla_args *a;
    cla_pointers at;                  /* of all buffers */
    int b, h, hk;                     /* batch entry or sequence, first query head, key/value head */
    int nq, nk;                       /* rows of Q and of K that this sequence has */
    int q_len, k_begin, k_end;        /* those that count */
    int offset;                       /* of the diagonal */
    const __global cla_q_elem *q;     /* row 0 of this b, h */
    const __global cla_k_elem *k;
    const __global cla_v_elem *v;
    long q_stride, k_stride, v_stride; /* from row to row */
    int first_q;                      /* of a packed sequence, in the tensor */
} cla_env;

/* By pointer: Oclgrind 21.10 knows no struct that an inlined function returns. */
CLA_FN void cla_env_init(cla_env *e, const cla_args *a, int b, int h)
{
    e->a = a;
    e->b = b;
    e->h = h;
    e->hk = h / a->group;
    e->nq = a->nq;
    e->nk = a->nk;
    e->q = e->at.q + (a->q_offset + b * a->q_stride[0] + h * a->q_stride[1]);
    e->k = e->at.k + (a->k_offset + b * a->k_stride[0] + e->hk * a->k_stride[1]);
    e->v = e->at.v + (a->v_offset + b * a->v_stride[0] + e->hk * a->v_stride[1]);
    e->first_q = 0;
    e->q_stride = a->q_stride[2];
    e->k_stride = a->k_stride[2];
    e->v_stride = a->v_stride[2];
}

/* GQA packing: where CLA_PACKS, row r of a (b, h) is query r / pack of head h + r % pack. So heads that share keys fill a
 * tile which the queries of one would leave empty, and keys are read once for all of them. Else a row is a query. Floats
 * divide exactly: rows are few (pack.h). */
CLA_FN int cla_row_count(const cla_env *e, int queries) { return CLA_PACKS ? queries * e->a->pack : queries; }
CLA_FN int cla_query(const cla_env *e, int row)
{
    return CLA_PACKS && e->a->pack > 1 ? (int)(((float)row + 0.5f) * e->a->per_pack) : row;
}
CLA_FN int cla_head(const cla_env *e, int row) { return CLA_PACKS ? row - cla_query(e, row) * e->a->pack : 0; }

/* Work-group `group` of all, with `rows` rows each: whose rows it has, and the first of them. */
CLA_FN int cla_place(const cla_args *a, size_t group, int rows, int *b, int *h)
{
    const int pack = CLA_PACKS ? a->pack : 1;
    const size_t blocks = (a->nq * pack + rows - 1) / rows, heads = a->groups / blocks;
    const int spare = group >= (size_t)a->groups; /* to round up the grid: sees rows past the end, so it does nothing */
    const int bh = spare ? 0 : a->heads_inner ? group % heads : group / blocks;
    const int block = spare ? -1 : a->heads_inner ? group / heads : group % blocks;
    *b = bh / (a->h / pack);
    *h = bh % (a->h / pack) * pack;
    return ((int)blocks - 1 - block) * rows;
}

/* Rows count from 0: without a sign the product takes half as many instructions. */
#define CLA_ROW(base, row, stride) ((base) + (uint)(row) * (ulong)(stride))

/* Where a row of Q lies; rows past the end read as the last one. */
CLA_FN const __global cla_q_elem *cla_q_row(const cla_env *e, int row)
{
    const int r = min(row, cla_row_count(e, e->nq) - 1);
    const __global cla_q_elem *head = CLA_PACKS ? e->q + cla_head(e, r) * e->a->q_stride[1] : e->q;
    return CLA_ROW(head, cla_query(e, r), e->q_stride);
}
/* For questions of alignment: all steps between rows of Q. */
CLA_FN long cla_q_steps(const cla_env *e) { return CLA_PACKS ? e->q_stride | e->a->q_stride[1] : e->q_stride; }
/* Computed where they are used, at the end: kept from the start they take registers from the loop over keys. */
CLA_FN long cla_written_row(const cla_env *e, long offset, const long *stride, int row)
{
    return offset + e->b * stride[0] + (e->h + cla_head(e, row)) * stride[1] + (e->first_q + cla_query(e, row)) * stride[2];
}
CLA_FN __global cla_q_elem *cla_o_row(const cla_env *e, int row)
{
    return e->at.o + cla_written_row(e, e->a->o_offset, e->a->o_stride, row);
}
CLA_FN __global float *cla_lse_row(const cla_env *e, int row)
{
    return e->at.lse + cla_written_row(e, e->a->lse_offset, e->a->lse_stride, row);
}

/* The logarithm of a row's sum l exp(m). */
CLA_FN float cla_lse(cla_scalar m, cla_scalar l) { return l == 0 ? -INFINITY : (float)(m * CLA_UNIT_LN + log(l)); }

/* The rows that count, and the diagonal by the alignment rule. */
CLA_FN void cla_whole(cla_env *e)
{
    e->q_len = e->nq;
    e->k_begin = 0;
    e->k_end = e->nk;
}
CLA_FN void cla_lengths(cla_env *e)
{
    const cla_args *a = e->a;
    cla_whole(e);
    if (a->flags & CLA_Q_LEN) e->q_len = clamp(e->at.q_len[a->q_len_offset + e->b], 0, e->nq);
    if (a->flags & CLA_KV_LEN) e->k_end = clamp(e->at.kv_len[a->kv_len_offset + e->b], 0, e->nk);
    if (a->flags & CLA_KV_START) e->k_begin = clamp(e->at.kv_start[a->kv_start_offset + e->b], 0, e->nk);
}
CLA_FN void cla_diagonal(cla_env *e)
{
    const cla_args *a = e->a;
    const int given = a->align == CLA_OFFSETS ? e->at.offsets[a->offsets_offset + e->b] : a->offset;
    const int at = a->align == CLA_BOTTOM_RIGHT ? e->k_end - e->q_len : a->align == CLA_TOP_LEFT ? 0 : given;
    e->offset = clamp(at, -CLA_LIMIT, CLA_LIMIT);
}
