/* Caches of pages: a sequence has room for nk rows, and up to the first entry of its table that is no page. */
#define CLA_ROOM_MEMORY(name) __local int name;

/* position / page, exactly: src/base/division.c. */
CLA_FN int cla_page_of(const cla_args *a, int position)
{
    return mul_hi((uint)position * 2, (uint)a->page_magic) >> a->page_shift;
}
CLA_FN const __global int *cla_table(const cla_args *a, const cla_pointers *at, int b)
{
    return at->block_table + (a->table_offset + b * a->table_stride);
}

/* Of the n rows behind the `length` that sequence b has, how many fit. The items of a group share the search for that
 * entry, and all must come here. */
CLA_FN int cla_fitting(const cla_args *a, const cla_pointers *at, int b, int length, int n, __local int *no_page)
{
    const int most = min(n, max(a->nk - length, 0)), some = most > 0; /* where none fits, length may be INT_MAX */
    const int begin = some ? cla_page_of(a, length) : 0, end = some ? cla_page_of(a, length + most - 1) + 1 : 0;
    const __global int *table = cla_table(a, at, b);
    if (get_local_id(0) == 0) *no_page = INT_MAX;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (int i = begin + (int)get_local_id(0); i < end; i += (int)get_local_size(0))
        if ((uint)table[i] >= (uint)a->pages) atomic_min(no_page, i);
    barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); /* all have read what one may write now */
    return *no_page == INT_MAX ? most : max(*no_page * a->page - length, 0);
}
#define CLA_FITTING(a, at, b, length, n, name) cla_fitting(a, at, b, length, n, &name)

/* Where the row at a position of sequence b lies: on axis page, and on axis row. */
CLA_FN int cla_first_axis(const cla_args *a, const cla_pointers *at, int b, int position)
{
    return cla_table(a, at, b)[cla_page_of(a, position)];
}
CLA_FN int cla_row_axis(const cla_args *a, int position) { return position - cla_page_of(a, position) * a->page; }
