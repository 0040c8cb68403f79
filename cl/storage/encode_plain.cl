/* Elements c0 to c1 - 1 of a row, to a storage type that is not quantised: CLA_ENCODE_PLAIN(T) for each in use. */
#define CLA_ENCODE_PLAIN(T) \
    CLA_FN void cla_encode_##T(const cla_source *x, const cla_scales *s, int c0, int c1, __global uchar *row) \
    { \
        __global cla_elem_##T *to = (__global cla_elem_##T *)row; \
        for (int c = c0; c < c1; c++) cla_store_##T(cla_take(x, c), to + c); \
    }
