/* What every slot may rely on: types, loads. Fixed, not a slot. */
#define CLA_CAT_(a, b) a##b
#define CLA_CAT(a, b) CLA_CAT_(a, b)
#define CLA_LINE 64 /* bytes of a line of memory */
#define CLA_ROUND_UP(x, to) (((x) + (to) - 1) / (to) * (to))
#define CLA_MAX(x, y) ((x) > (y) ? (x) : (y))
#define CLA_LIMIT (1 << 30) /* most rows, most keys, farthest offset: a row, an offset and a key add up in an int */

/* What one work-item computes with at a time: a vector of CLA_WIDTH lanes, or a scalar. Masks and scores are written
 * once for both: arithmetic, built-ins and ?: only. Comparisons give -1 on vectors and 1 on scalars; & and ?: fit
 * both. */
#define CLA_SUFFIX_1
#define CLA_SUFFIX_2 2
#define CLA_SUFFIX_4 4
#define CLA_SUFFIX_8 8
#define CLA_SUFFIX_16 16
#define CLA_SUFFIX CLA_CAT(CLA_SUFFIX_, CLA_WIDTH)
typedef CLA_CAT(CLA_SCALAR, CLA_SUFFIX) real;
typedef CLA_CAT(CLA_INTEGER, CLA_SUFFIX) integer;
#define CLA_COUNT_1 0
#define CLA_COUNT_2 0, 1
#define CLA_COUNT_4 CLA_COUNT_2, 2, 3
#define CLA_COUNT_8 CLA_COUNT_4, 4, 5, 6, 7
#define CLA_COUNT_16 CLA_COUNT_8, 8, 9, 10, 11, 12, 13, 14, 15
#define CLA_COUNT ((integer)(CLA_CAT(CLA_COUNT_, CLA_WIDTH))) /* 0, 1, .. in the lanes */
#define CLA_VECTOR(T) CLA_CAT(T, CLA_SUFFIX)
#define CLA_LANE(x, T, i) (((T *)&(x))[i])
#define real_(x) CLA_CAT(CLA_CAT(convert_, CLA_SCALAR), CLA_SUFFIX)(x)

/* The unit of scores: log2 where nothing changes them, so that 2^x needs no factor; else the natural one, in which a
 * finite bias or logit stays what it is. What Q is multiplied with, log2 and ln of one unit. That product is never
 * larger than Q, which may be as large as float goes: a scale above 1 is left to the scores (CLA_SCALES_LATE). */
#define CLA_Q_SCALE(a) (CLA_SCALES_LATE ? 1 : CLA_NATURAL ? CLA_SCALE(a) : CLA_SCALE_LOG2(a))
#define CLA_UNIT_LOG2 (CLA_NATURAL ? CLA_LOG2E : 1)
#define CLA_UNIT_LN (CLA_NATURAL ? 1 : CLA_LN2)

/* CLA_TQ, CLA_TK, CLA_TV, CLA_TO name the storage types of Q, K, V, O. */
typedef CLA_CAT(cla_elem_, CLA_TQ) cla_q_elem;
typedef CLA_CAT(cla_elem_, CLA_TK) cla_k_elem;
typedef CLA_CAT(cla_elem_, CLA_TV) cla_v_elem;
typedef CLA_CAT(cla_elem_, CLA_TO) cla_o_elem;
/* Gradients are stored as what they are the gradients of, but dO as Q is. */
#define cla_store_o CLA_CAT(cla_store_, CLA_TO)
#define cla_storen_o CLA_CAT(cla_storen_, CLA_TO)
#define cla_store_dq CLA_CAT(cla_store_, CLA_TQ)
#define cla_storen_dq CLA_CAT(cla_storen_, CLA_TQ)
#define cla_store_dk CLA_CAT(cla_store_, CLA_TK)
#define cla_storen_dk CLA_CAT(cla_storen_, CLA_TK)
#define cla_store_dv CLA_CAT(cla_store_, CLA_TV)
#define cla_storen_dv CLA_CAT(cla_storen_, CLA_TV)
#define cla_load_q CLA_CAT(cla_load_, CLA_TQ)
#define cla_load_k CLA_CAT(cla_load_, CLA_TK)
#define cla_load_v CLA_CAT(cla_load_, CLA_TV)
#define cla_loadn_q CLA_CAT(cla_loadn_, CLA_TQ)
#define cla_loadn_k CLA_CAT(cla_loadn_, CLA_TK)
#define cla_loadn_v CLA_CAT(cla_loadn_, CLA_TV)
#define cla_load_o CLA_CAT(cla_load_, CLA_TO)
#define cla_loadn_o CLA_CAT(cla_loadn_, CLA_TO)
#define cla_load_dout cla_load_q
#define cla_loadn_dout cla_loadn_q
/* Of quantised storage. */
#define cla_code_k CLA_CAT(cla_code_, CLA_TK)
#define cla_code_v CLA_CAT(cla_code_, CLA_TV)
#define cla_value_k CLA_CAT(cla_value_, CLA_TK)
#define cla_value_v CLA_CAT(cla_value_, CLA_TV)
#define cla_codes_k CLA_CAT(cla_codes_, CLA_TK)
#define cla_codes_v CLA_CAT(cla_codes_, CLA_TV)
#define cla_values_k CLA_CAT(cla_values_, CLA_TK)
#define cla_values_v CLA_CAT(cla_values_, CLA_TV)
#define cla_scale_k CLA_CAT(cla_scale_, CLA_TK)
#define cla_scale_v CLA_CAT(cla_scale_, CLA_TV)
#define cla_least_k CLA_CAT(cla_least_, CLA_TK)
#define cla_least_v CLA_CAT(cla_least_, CLA_TV)
#define cla_quad_k CLA_CAT(cla_quad_, CLA_TK)
#define cla_quad_v CLA_CAT(cla_quad_, CLA_TV)
#define cla_of_quad_k CLA_CAT(cla_of_quad_, CLA_TK)
#define cla_of_quad_v CLA_CAT(cla_of_quad_, CLA_TV)

/* Rows of operands are known by handles, of type cla_NAME_handle: those of K and V as their storage has it. Only
 * cla_get_NAME(e, row, column), an element, and cla_getn_NAME(n, e, row, column), n consecutive ones, look behind a
 * handle. */
#define CLA_STORAGE_q plain
#define CLA_STORAGE_k CLA_CAT(CLA_STORAGE_, CLA_TK)
#define CLA_STORAGE_v CLA_CAT(CLA_STORAGE_, CLA_TV)
#define cla_get_q(e, row, column) cla_get_plain(q, e, row, column)
#define cla_get_dout(e, row, column) cla_get_plain(dout, e, row, column)
#define cla_get_k(e, row, column) CLA_CAT(cla_get_, CLA_STORAGE_k)(k, e, row, column)
#define cla_get_v(e, row, column) CLA_CAT(cla_get_, CLA_STORAGE_v)(v, e, row, column)
#define cla_getn_q(n, e, row, column) cla_getn_plain(n, q, e, row, column)
#define cla_getn_dout(n, e, row, column) cla_getn_plain(n, dout, e, row, column)
#define cla_getn_k(n, e, row, column) CLA_CAT(cla_getn_, CLA_STORAGE_k)(n, k, e, row, column)
#define cla_getn_v(n, e, row, column) CLA_CAT(cla_getn_, CLA_STORAGE_v)(n, v, e, row, column)
#define cla_get_plain(x, e, row, column) cla_load_##x((row) + (column))
#define cla_getn_plain(n, x, e, row, column) cla_loadn_##x(n, (row) + (column))
/* Vectors of a row that are read one behind the other, since they share bytes: a block has two at least, and rows have
 * whole blocks. */
#define CLA_TOGETHER_k CLA_CAT(CLA_TOGETHER_, CLA_STORAGE_k)
#define CLA_TOGETHER_plain 1
#define CLA_TOGETHER_scaled 1
#define CLA_TOGETHER_blocks 2
/* Where a row's first byte lies, and how many there are. */
#define cla_start_k(e, row) CLA_CAT(cla_start_, CLA_STORAGE_k)(k, e, row)
#define cla_start_v(e, row) CLA_CAT(cla_start_, CLA_STORAGE_v)(v, e, row)
#define cla_start_plain(x, e, row) ((const __global uchar *)(row))
#define cla_start_blocks(x, e, row) (row)
#define cla_start_scaled(x, e, row) cla_##x##_codes_of(e, row)
#define CLA_ROW_BYTES_k CLA_CAT(CLA_BYTES_, CLA_TK)(CLA_D)
#define CLA_ROW_BYTES_v CLA_CAT(CLA_BYTES_, CLA_TV)(CLA_DV)
#define CLA_HANDLE_plain(x) const __global cla_##x##_elem *
#define CLA_HANDLE_blocks(x) const __global cla_##x##_elem *
#define CLA_HANDLE_scaled(x) long4
typedef CLA_HANDLE_plain(q) cla_q_handle;
typedef CLA_HANDLE_plain(q) cla_dout_handle;
typedef CLA_CAT(CLA_HANDLE_, CLA_STORAGE_k)(k) cla_k_handle;
typedef CLA_CAT(CLA_HANDLE_, CLA_STORAGE_v)(v) cla_v_handle;
