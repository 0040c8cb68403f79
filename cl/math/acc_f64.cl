/* Arithmetic in double. */
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
typedef double cla_scalar;
#define CLA_SCALAR double
#define CLA_INTEGER long
#define CLA_LOG2E 1.44269504088896340736
#define CLA_LN2 0.69314718055994530942
#define CLA_SCALE(a) as_double((a)->scale_bits)
#define CLA_SCALE_LOG2(a) (CLA_SCALE(a) * CLA_LOG2E)
#define CLA_SOFTCAP(a) as_double((a)->softcap_bits)
#define CLA_DROPOUT_SCALE(a) as_double((a)->dropout_scale_bits)
#define CLA_LEAST (-DBL_MAX)
