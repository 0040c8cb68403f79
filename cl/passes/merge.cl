/* Pass `merge`: partial results (O, LSE) of the same rows over disjoint keys become the result over all keys. What
 * forward computes of keys is computed of parts: LSE is the score, O the value.
 *
 * A work-group of CLA_ITEMS items has CLA_COLUMN_ITEMS of them side by side along the columns, each with CLA_VECTORS
 * vectors of CLA_WIDTH. The others take rows where parts are few, and share a row's parts where they are many: `lanes`
 * of them, item `lane` the parts lane, lane + lanes, .. What they come to is added up in local memory, as a tree.
 *
 * Barriers, each of which separates what all items did before it | from what any of them does behind it:
 *     1 STORED   what an item has so far is stored | others read it
 *     2 READ     it is read | it is stored anew */
#define CLA_BARRIER_STORED barrier(CLK_LOCAL_MEM_FENCE);
#define CLA_BARRIER_READ barrier(CLK_LOCAL_MEM_FENCE);

#define CLA_LANES_MOST (CLA_ITEMS / CLA_COLUMN_ITEMS)
#define CLA_COLUMNS (CLA_COLUMN_ITEMS * CLA_VECTORS * CLA_WIDTH) /* of a work-group */
#define CLA_LOAD_SCALAR(p) (*(p))
#define CLA_LOAD_SCALARS(n, p) vload##n(0, p)
#define CLA_GREATER(x, y) ((x) < (y) ? (y) : (x)) /* x where y is NaN */
#define CLA_EACH_VECTOR CLA_UNROLL for (int v = 0; v < CLA_VECTORS; v++)

/* Who this item is. */
typedef struct {
    int unused; /* see args.h */
    int lane, lanes, column; /* of its first vector; the next is CLA_COLUMN_ITEMS vectors behind */
    int is_there;            /* it has a row, and columns of it */
    int b, h, q;
    int first, n;            /* rows of the sequence in the tensor: from `first` on, n of them */
} cla_item;

CLA_FN void cla_find(cla_item *t, const cla_args *a, const __global int *cu)
{
    const uint group = (uint)get_group_id(1) * (uint)get_num_groups(0) + (uint)get_group_id(0);
    const uint chunks = (a->columns + CLA_COLUMNS - 1) / CLA_COLUMNS, block = group / chunks;
    const int item = get_local_id(0), others = item / CLA_COLUMN_ITEMS;
    t->lanes = cla_lanes(a->parts, CLA_INVARIANT ? 1 : CLA_LANES_MOST);
    t->lane = others % t->lanes;
    t->column = (group - block * chunks) * CLA_COLUMNS + item % CLA_COLUMN_ITEMS * CLA_WIDTH;
    const ulong at = (ulong)block * (CLA_LANES_MOST / t->lanes) + others / t->lanes;
    const int is_row = at < (ulong)a->rows; /* else it is spare, to round up the grid */
    const uint row = is_row ? at : 0, bh = row / a->nq;
    t->q = row - bh * a->nq;
    t->b = bh / a->h;
    t->h = bh - t->b * a->h;
    t->first = 0;
    t->n = a->nq;
    if (a->flags & CLA_CU_Q) { /* as kv_varlen.cl clamps them */
        const __global int *at_b = cu + (a->cu_q_offset + (a->given & CLA_CU_Q ? t->b : 0)); /* as cla_entry() */
        t->first = clamp(at_b[0], 0, a->total_q);
        t->n = clamp(clamp(at_b[1], 0, a->total_q) - t->first, 0, a->nq);
    }
    t->is_there = is_row && t->q < t->n && t->column < a->columns;
}

/* Of a row in a tensor; of states, which know no sequences, and of what is written. */
CLA_FN long cla_state_of(const cla_item *t, const cla_rows_at *at)
{
    return at->offset + t->b * at->b + t->h * at->h + t->q * at->row;
}
CLA_FN long cla_written_of(const cla_item *t, const cla_rows_at *at)
{
    return at->offset + t->b * at->b + t->h * at->h + (t->first + t->q) * at->row;
}

/* LSE of a part, in the caller's unit: -inf where it saw nothing. */
CLA_FN cla_scalar cla_part_lse(const cla_args *a, const __global cla_lse_elem *lse, long at)
{
    const cla_scalar x = a->lse_is_wide ? ((const __global cla_scalar *)lse)[at] : lse[at];
    return x == INFINITY && a->merge_flags & CLA_LSE_IN_EMPTY_INF ? -INFINITY : x;
}

/* Vector v of an item's columns; past the end it holds anything. */
CLA_FN real cla_part_o(const __global cla_scalar *row, int column, int dv)
{
    real x;
    if (column + CLA_WIDTH <= dv) return CLA_WIDE(CLA_LOAD_SCALARS, CLA_LOAD_SCALAR, row + column);
    for (int i = 0; i < CLA_WIDTH; i++) CLA_LANE(x, cla_scalar, i) = row[min(column + i, dv - 1)];
    return x;
}
CLA_FN void cla_write_o(__global cla_o_elem *row, int column, int dv, real x)
{
    if (column + CLA_WIDTH <= dv) CLA_STORE_WIDE(cla_storen_o, cla_store_o, x, row + column);
    else
        for (int i = 0; i < dv - column; i++) cla_store_o(CLA_LANE(x, cla_scalar, i), row + column + i);
}

/* Chains of more than CLA_CHAIN additions keep what they lose, as in total.cl. */
CLA_FN void cla_add(real *sum, real *lost, real x)
{
    const real before = *sum, now = before + x, added = now - before, less = (before - (now - added)) + (x - added);
    *sum = now;
    *lost += less == less ? less : (real)(0);
}

/* The greatest LSE of this item's parts. */
CLA_FN cla_scalar cla_top(const cla_item *t, const cla_args *a, const __global cla_lse_elem *lse)
{
    cla_scalar top = -INFINITY;
    if (t->is_there) {
        const long at = cla_state_of(t, &a->lse_parts);
        CLA_NO_UNROLL for (int p = t->lane; p < a->parts; p += t->lanes) {
            const cla_scalar x = cla_part_lse(a, lse, at + p * a->lse_parts_stride);
            top = CLA_GREATER(top, x);
        }
    }
    return top;
}

/* o and l become the sums of this item's parts, relative to the greatest LSE of all. A part that saw nothing is passed
 * over, whatever its O holds, so `most` is a number wherever it is used. */
CLA_FN void cla_sums(const cla_item *t, const cla_args *a, const __global cla_scalar *o_parts,
                     const __global cla_lse_elem *lse, cla_scalar most, real *o, real *l)
{
    const cla_scalar unit = a->merge_flags & CLA_LSE_IN_LOG2 ? 1 : CLA_LOG2E;
    const long at = cla_state_of(t, &a->lse_parts), o_at = cla_state_of(t, &a->o_parts);
    real lost[CLA_VECTORS], l_lost = (real)(0);
    CLA_EACH_VECTOR lost[v] = (real)(0);
    CLA_NO_UNROLL for (int p0 = t->lane; p0 < a->parts; p0 += CLA_CHAIN * t->lanes) {
        real part[CLA_VECTORS], part_l = (real)(0);
        CLA_EACH_VECTOR part[v] = (real)(0);
        CLA_NO_UNROLL for (int p = p0; p < min(p0 + CLA_CHAIN * t->lanes, a->parts); p += t->lanes) {
            const cla_scalar x = cla_part_lse(a, lse, at + p * a->lse_parts_stride);
            if (x == -INFINITY) continue;
            const __global cla_scalar *row = o_parts + (o_at + p * a->o_parts_stride);
            const real w = cla_exp2((real)((x - most) * unit));
            part_l += w;
            CLA_EACH_VECTOR part[v] += w * cla_part_o(row, t->column + v * CLA_COLUMN_ITEMS * CLA_WIDTH, a->columns);
        }
        cla_add(l, &l_lost, part_l);
        CLA_EACH_VECTOR cla_add(&o[v], &lost[v], part[v]);
    }
    *l += l_lost;
    CLA_EACH_VECTOR o[v] += lost[v];
}

/* The logarithm of all, as the caller wants it; m and l are in the unit and relative to the greatest of the parts. */
CLA_FN cla_lse_elem cla_merged_lse(const cla_args *a, cla_scalar m, cla_scalar l)
{
    const int in = a->merge_flags & CLA_LSE_IN_LOG2, out = a->merge_flags & CLA_LSE_OUT_LOG2;
    if (l == 0) return a->merge_flags & CLA_LSE_OUT_EMPTY_INF ? INFINITY : -INFINITY;
    if (out) return (in ? m : m * CLA_LOG2E) + log2(l);
    return (in ? m * CLA_LN2 : m) + log(l);
}

/* The sum is 1 where one part alone saw anything: O keeps its bits then, also where 1 / 1 need not be exact. */
CLA_FN void cla_write(const cla_item *t, const cla_args *a, const cla_pointers *at, cla_scalar m, const real *o, real l)
{
    const cla_scalar sum = CLA_LANE(l, cla_scalar, 0), inverse = sum == 1 ? 1 : 1 / sum;
    __global cla_o_elem *row = at->o + cla_written_of(t, &a->o);
    CLA_EACH_VECTOR {
        const int column = t->column + v * CLA_COLUMN_ITEMS * CLA_WIDTH;
        if (column < a->columns) cla_write_o(row, column, a->columns, sum == 0 ? (real)(0) : o[v] * inverse);
    }
    if (a->write_lse && !t->column) at->lse[cla_written_of(t, &a->lse)] = cla_merged_lse(a, m, sum);
}

__kernel __attribute__((reqd_work_group_size(CLA_ITEMS, 1, 1)))
void cla_merge(const cla_args a, CLA_PARAMS)
{
    __local real tree[CLA_ITEMS * CLA_VECTORS], tree_l[CLA_ITEMS];
    __local cla_scalar tree_m[CLA_ITEMS];
    const int item = get_local_id(0);
    cla_pointers at;
    cla_item t;
    CLA_TAKE_PARAMS(at)
    cla_find(&t, &a, at.cu_q);

    cla_scalar m = cla_top(&t, &a, at.lse_parts);
    CLA_UNROLL for (int n = CLA_LANES_MOST / 2; n; n /= 2) {
        tree_m[item] = m;
        CLA_BARRIER_STORED
        if (n < t.lanes) m = CLA_GREATER(m, tree_m[item ^ n * CLA_COLUMN_ITEMS]);
        CLA_BARRIER_READ
    }
    real o[CLA_VECTORS], l = (real)(0);
    CLA_EACH_VECTOR o[v] = (real)(0);
    if (t.is_there) cla_sums(&t, &a, at.o_parts, at.lse_parts, m, o, &l);
    CLA_UNROLL for (int n = CLA_LANES_MOST / 2; n; n /= 2) {
        CLA_EACH_VECTOR tree[item * CLA_VECTORS + v] = o[v];
        tree_l[item] = l;
        CLA_BARRIER_STORED
        if (n < t.lanes) {
            const int other = item ^ n * CLA_COLUMN_ITEMS;
            l += tree_l[other];
            CLA_EACH_VECTOR o[v] += tree[other * CLA_VECTORS + v];
        }
        CLA_BARRIER_READ
    }
    if (t.is_there && !t.lane) cla_write(&t, &a, &at, m, o, l);
}
