/* Where the keys of a sequence lie, in every tensor that has a row for each: on pages, which its block table names. A
 * tensor has strides from one page to the next and from row to row of a page; e->k and e->v are row 0 of page 0. Keys
 * of a page that there is not, by an entry below 0 or too large, are rows of zeros: those of a buffer of their own. */
typedef int2 cla_key; /* page, or -1, and row of the page */
CLA_FN cla_key cla_find(const cla_env *e, int k)
{
    const cla_args *a = e->a;
    /* k / page, exactly: src/base/division.c. */
    const int i = mul_hi((uint)k * 2, (uint)a->page_magic) >> a->page_shift;
    const int page = e->at.block_table[a->table_offset + e->b * a->table_stride + i];
    return (int2)((uint)page < (uint)a->pages ? page : -1, k - i * a->page);
}
#define CLA_IS_THERE(at) ((at).x >= 0)
#define CLA_AT(at, page_step, row_step) ((uint)(at).x * (ulong)(page_step) + (uint)(at).y * (ulong)(row_step))
#define CLA_AT_IN_ALL(e, at, page_step, row_step) CLA_AT(at, page_step, row_step)
#define CLA_STEPS(page_step, row_step) ((page_step) | (row_step))
#define CLA_ZEROS(e) (e)->at.absent

/* See rows_strided.cl. */
#define CLA_MAY_BE_EVEN 0
CLA_FN int cla_rows_are_even(const cla_env *e) { return 0; }
CLA_FN uint cla_k_bytes(const cla_env *e) { return 0; }
CLA_FN uint cla_v_bytes(const cla_env *e) { return 0; }
