/* IEEE half storage, arithmetic in float: vload_half and vstore_half are core OpenCL, cl_khr_fp16 is not needed. */
typedef half cla_elem_f16;
#define CLA_STORAGE_f16 plain
#define CLA_BYTES_f16(n) (2 * (n))
#define cla_load_f16(p) vload_half(0, p)
#define cla_raw_f16 ushort
#define cla_unpack4_f16(x) vload_half4(0, (const half *)&(x))
#define cla_loadn_f16(n, p) vload_half##n(0, p)
#define cla_store_f16(x, p) vstore_half_rte(x, 0, p)
#define cla_storen_f16(n, x, p) vstore_half##n##_rte(x, 0, p)
