/* float storage. load(p): one element; loadn(n, p): n consecutive ones; loada4(p): four,
 * aligned as a vector of four; store(x, p): one, rounded; storen(n, x, p): n. */
typedef float cla_elem_f32;
#define cla_load_f32(p) (*(p))
#define cla_loada4_f32(p) (*(const __global float4 *)(p))
#define cla_loadn_f32(n, p) vload##n(0, p)
#define cla_store_f32(x, p) (*(p) = (x))
#define cla_storen_f32(n, x, p) vstore##n(x, 0, p)
