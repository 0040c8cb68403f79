/* Rows of K and V that are stored element by element: a row's handle is where its first element lies. */
#define CLA_ROWS_plain(x) \
    CLA_FN const __global cla_##x##_elem *cla_##x##_row(const cla_env *e, int k) \
    { \
        const cla_key at = cla_find(e, k); \
        const __global cla_##x##_elem *zeros = (const __global cla_##x##_elem *)CLA_ZEROS(e); \
        return CLA_IS_THERE(at) ? e->x + CLA_AT(at, e->a->x.b, e->x##_stride) : zeros; \
    }
