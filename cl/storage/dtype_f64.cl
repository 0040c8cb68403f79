/* double storage; only ever beside arithmetic in double. */
typedef double cla_elem_f64;
#define CLA_STORAGE_f64 plain
#define CLA_BYTES_f64(n) (8 * (n))
#define cla_load_f64(p) (*(p))
#define cla_raw_f64 double
#define cla_unpack4_f64(x) (x)
#define cla_loadn_f64(n, p) vload##n(0, p)
#define cla_store_f64(x, p) (*(p) = (x))
#define cla_storen_f64(n, x, p) vstore##n(x, 0, p)
