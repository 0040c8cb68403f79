/* IEEE half storage, arithmetic in float: vload_half and vstore_half are core OpenCL, cl_khr_fp16 is not needed, and
 * used in CLA_HALVES_4 alone, where it is there. */
typedef half cla_elem_f16;
#define CLA_STORAGE_f16 plain
#define CLA_BYTES_f16(n) (2 * (n))
#define cla_load_f16(p) vload_half(0, p)
#define cla_raw_f16 ushort
#define cla_unpack4_f16(x) CLA_HALVES_4(x)
#define cla_loadn_f16(n, p) cla_load_halves_##n(p)
#define cla_store_f16(x, p) vstore_half_rte(x, 0, p)
#define cla_storen_f16(n, x, p) vstore_half##n##_rte(x, 0, p)

/* By their bits: PoCL 3.1 takes vectors of halves for aligned ones where it does not convert them on the spot, and rows
 * are not. */
#define CLA_LOAD_HALVES(n) \
    static inline float##n cla_load_halves_##n(const __global half *p) \
    { \
        const ushort##n bits = vload##n(0, (const __global ushort *)p); \
        return vload_half##n(0, (const half *)&bits); \
    }
CLA_LOAD_HALVES(2)
CLA_LOAD_HALVES(4)
CLA_LOAD_HALVES(8)
/* In two pieces: of one PoCL converts four halves at a time, and takes 1.8 times as long. */
static inline float16 cla_load_halves_16(const __global half *p)
{
    const __global ushort *from = (const __global ushort *)p;
    const ushort8 bits[2] = { vload8(0, from), vload8(1, from) };
    return vload_half16(0, (const half *)bits);
}
