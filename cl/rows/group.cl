/* Who this work-group is, and where its rows lie. Fixed, not a slot. */
typedef struct {
    int unused;                       /* see args.h */
    int n;                            /* which look-up of derivatives is wanted */
    integer at;                       /* the elements, -1 for none, */
    real grad;                        /* and what they receive */
} cla_looked;
typedef struct {
    int unused;                       /* see args.h */
    int b, h, hk;                     /* batch entry or sequence, first query head, key/value head */
    int part;                         /* of the keys: 0 .. a->parts - 1 */
    const cla_args *a;
    cla_pointers at;                  /* of all buffers */
    int nq, nk;                       /* rows of Q and of K that this sequence has */
    int q_len, k_begin, k_end;        /* those that count */
    int offset;                       /* of the diagonal */
    const __global cla_q_elem *q;     /* row 0 of this b, h; where K and V are paged, theirs of page 0 */
    const __global cla_k_elem *k;
    const __global cla_v_elem *v;
    long q_stride, k_stride, v_stride; /* from row to row */
    int first_q, first_k;             /* of a varlen sequence, in the tensor */
    cla_looked *looked;               /* where derivatives put what they look up; 0: nowhere */
} cla_env;

/* By pointer: Oclgrind 21.10 knows no struct that an inlined function returns. */
CLA_FN void cla_env_init(cla_env *e, const cla_args *a, int b, int h, int part)
{
    e->a = a;
    e->b = b;
    e->h = h;
    e->part = part;
    e->hk = h / a->heads_per_kv;
    e->nq = a->nq;
    e->nk = a->nk;
    e->q = e->at.q + (a->q.offset + b * a->q.b + h * a->q.h);
    e->k = e->at.k + (a->k.offset + (CLA_PAGED ? 0 : b) * a->k.b + e->hk * a->k.h);
    e->v = e->at.v + (a->v.offset + (CLA_PAGED ? 0 : b) * a->v.b + e->hk * a->v.h);
    e->first_q = e->first_k = 0;
    e->q_stride = a->q.row;
    e->k_stride = a->k.row;
    e->v_stride = a->v.row;
}

/* GQA packing: where CLA_PACKS_HEADS is set, row r of a (b, h) is query r / n of head h + r % n, n being packed_heads.
 * So heads that share keys fill a tile which the queries of one would leave empty, and keys are read once for all of
 * them. Else a row is a query. Floats divide exactly: rows are few (split.h). */
CLA_FN int cla_row_count(const cla_env *e, int queries)
{
    return CLA_PACKS_HEADS ? queries * e->a->packed_heads : queries;
}
CLA_FN int cla_query(const cla_env *e, int row)
{
    return CLA_PACKS_HEADS && e->a->packed_heads > 1 ? (int)(((float)row + 0.5f) * e->a->per_packed_head) : row;
}
CLA_FN int cla_head(const cla_env *e, int row)
{
    return CLA_PACKS_HEADS ? row - cla_query(e, row) * e->a->packed_heads : 0;
}

/* Where a row of another tensor lies. Computed where it is used, at the end: kept from the start it takes registers
 * from the loop over keys. */
CLA_FN long cla_written_row(const cla_env *e, const cla_rows_at *at, int row)
{
    return at->offset + e->b * at->b + (e->h + cla_head(e, row)) * at->h + (e->first_q + cla_query(e, row)) * at->row;
}

/* Where what this entry and head have of a bias or a mask begins. */
#define CLA_TURN(n, of) (CLA_REPEATS ? (uint)(n) % (uint)(of) : (uint)(n))
CLA_FN long cla_scores_from(const cla_env *e, const cla_scores_at *at)
{
    return at->offset + CLA_TURN(e->b, at->entries) * at->b + CLA_TURN(e->h, at->heads) * at->h;
}

/* The number of this work-group. */
#define CLA_GROUP ((uint)get_group_id(1) * (uint)get_num_groups(0) + (uint)get_group_id(0))

/* Work-group `group` of all, with `rows` rows each: which part of the keys and whose rows it has, and the first of
 * them. Divisions are of 32 bits: GPUs compute those of 64 by a hundred instructions each. */
CLA_FN int cla_place(const cla_args *a, uint group, int rows, int *b, int *h, int *part)
{
    const int packed = CLA_PACKS_HEADS ? a->packed_heads : 1;
    const uint blocks = (a->nq * packed + rows - 1) / rows, heads = a->heads;
    const int spare = group >= (uint)a->groups; /* to round up the grid: sees rows past the end, so it does nothing */
    *part = 0;
    if (a->parts > 1 && !spare) {
        *part = group / (blocks * heads);
        group -= *part * (blocks * heads);
    }
    const int bh = spare ? 0 : a->heads_inner ? group % heads : group / blocks;
    const int block = spare ? -1 : a->heads_inner ? group / heads : group % blocks;
    *b = bh / (a->h / packed);
    *h = bh % (a->h / packed) * packed;
    return ((int)blocks - 1 - block) * rows;
}

/* Rows count from 0: without a sign the product takes half as many instructions. */
#define CLA_ROW(base, row, stride) ((base) + (uint)(row) * (ulong)(stride))

/* The last of n, or 0: what a compiler loads ahead of a test or a loop lies in a buffer even where there is none. */
CLA_FN int cla_last(int n) { return max(n - 1, 0); }

/* Where a row of Q lies; rows past the end read as the last one. */
CLA_FN const __global cla_q_elem *cla_q_row(const cla_env *e, int row)
{
    const int r = min(row, cla_last(cla_row_count(e, e->nq)));
    const __global cla_q_elem *head = CLA_PACKS_HEADS ? e->q + cla_head(e, r) * e->a->q.h : e->q;
    return CLA_ROW(head, cla_query(e, r), e->q_stride);
}
/* For questions of alignment: all steps between rows of Q. */
CLA_FN long cla_q_steps(const cla_env *e) { return CLA_PACKS_HEADS ? e->q_stride | e->a->q.h : e->q_stride; }

/* The rows that count, and the diagonal by the alignment rule. */
CLA_FN void cla_whole(cla_env *e)
{
    e->q_len = e->nq;
    e->k_begin = 0;
    e->k_end = e->nk;
}
/* Where this batch entry is in an array: of one that is not there compilers may load element 0 ahead of the test. That
 * an array is given does not stand in `flags`, which are tested: they must not know better. */
CLA_FN int cla_entry(const cla_env *e, int array) { return e->a->given & array ? e->b : 0; }
CLA_FN void cla_diagonal(cla_env *e)
{
    const cla_args *a = e->a;
    const int entry = cla_entry(e, CLA_OFFSETS_GIVEN);
    const int given = a->align == CLA_OFFSETS ? e->at.offsets[a->offsets_offset + entry] : a->offset;
    const int at = a->align == CLA_BOTTOM_RIGHT ? e->k_end - e->q_len : a->align == CLA_TOP_LEFT ? 0 : given;
    e->offset = clamp(at, -CLA_LIMIT, CLA_LIMIT);
}
