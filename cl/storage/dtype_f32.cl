/* float storage. load(p): one element; loadn(n, p): n consecutive ones; store(x, p): one, rounded; storen(n, x, p): n.
 * raw: a type that moves the bits of one; unpack4(x): a variable of four raw ones, converted. CLA_STORAGE: how rows of
 * K and V are reached that are stored so, storage_*.cl. CLA_BYTES: how many n elements of a row take. */
typedef float cla_elem_f32;
#define CLA_STORAGE_f32 plain
#define CLA_BYTES_f32(n) (4 * (n))
#define cla_load_f32(p) (*(p))
#define cla_raw_f32 float
#define cla_unpack4_f32(x) (x)
#define cla_loadn_f32(n, p) vload##n(0, p)
#define cla_store_f32(x, p) (*(p) = (x))
#define cla_storen_f32(n, x, p) vstore##n(x, 0, p)
