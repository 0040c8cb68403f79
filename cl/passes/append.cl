/* Writes new rows into the caches. A work-item has a part of a row of K or of V, elements that share a scale or a byte
 * among them; a work-group has parts of one sequence, row by row. Where rows end that fit, later ones are dropped, so
 * that no hole is left. */
CLA_FN long cla_row_at(const cla_rows_at *t, int first, int h, int row)
{
    return t->offset + first * t->b + h * t->h + row * t->row;
}
#define CLA_SCALES_AT(name, a, at, first, h, row) \
    ((at)->name + ((a)->name##_offset + (long)(first) * (a)->name[0] + (long)(h) * (a)->name[1] + \
                   (long)(row) * (a)->name[2]))

/* A part of a row of K or of V; `turns`: rows of K are rotated where the problem says so. */
#define CLA_APPEND(k, K, width, turns) \
    CLA_FN void cla_append_##k(const cla_args *a, const cla_pointers *at, int b, int i, int h, int part, int length) \
    { \
        const int first = cla_first_axis(a, at, b, length + i), row = cla_row_axis(a, length + i); \
        const int c0 = part * CLA_##K##_PART; \
        cla_source x; \
        cla_source_init(&x, at->new_##k + cla_row_at(&a->new_##k, b, h, i)); \
        if (turns) cla_turn_source(&x, a, at, b, i, length); \
        const cla_scales s = { 0, CLA_##K##_GROUP, CLA_##K##_ZERO, a->given & CLA_##K##_SCALE_GIVEN, \
                               CLA_SCALES_AT(k##_scale, a, at, first, h, row), \
                               CLA_SCALES_AT(k##_zero, a, at, first, h, row), a->k##_scale[3], a->k##_zero[3] }; \
        CLA_CAT(cla_encode_, CLA_INTO_##K)(&x, &s, c0, min(c0 + CLA_##K##_PART, width), \
                                           at->k + cla_row_at(&a->k, first, h, row)); \
    }
CLA_APPEND(k, K, CLA_D, 1)
CLA_APPEND(v, V, CLA_DV, 0)

__kernel void cla_append(const cla_args a, CLA_PARAMS)
{
    CLA_ROOM_MEMORY(no_page)
    cla_pointers at;
    CLA_TAKE_PARAMS(at)
    const int items = (int)get_local_size(0), groups = (a.nq * a.row_parts + items - 1) / items; /* of a sequence */
    const int spare = CLA_GROUP / (uint)groups >= (uint)a.sequences; /* to round up the grid */
    const int b = spare ? 0 : CLA_GROUP / (uint)groups, from = CLA_GROUP % (uint)groups * items;
    const int part = from + (int)get_local_id(0), last = (from + items - 1) / a.row_parts; /* row of this group */
    const int length = cla_length(&a, &at, b), n = spare ? 0 : min(cla_new_rows(&a, &at, b), last + 1);
    const int fit = CLA_FITTING(&a, &at, b, length, n, no_page), i = part / a.row_parts, of_row = part % a.row_parts;
    if (i >= fit) return;
    const int k_parts = a.kv_heads * CLA_K_PARTS, of_v = of_row - k_parts;
    if (of_v < 0)
        cla_append_k(&a, &at, b, i, of_row / CLA_K_PARTS, of_row % CLA_K_PARTS, length);
    else
        cla_append_v(&a, &at, b, i, of_v / CLA_V_PARTS, of_v % CLA_V_PARTS, length);
}
