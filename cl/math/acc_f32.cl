/* Arithmetic in float. */
typedef float cla_scalar;
#define CLA_SCALAR float
#define CLA_INTEGER int /* as wide as the scalar, so that ?: works on vectors */
#define CLA_LOG2E 1.44269504088896340736f
#define CLA_LN2 0.69314718055994530942f
#define CLA_SCALE(a) ((a)->scale)
#define CLA_SCALE_LOG2(a) ((a)->scale_log2)
#define CLA_SOFTCAP(a) ((a)->softcap)
#define CLA_DROPOUT_SCALE(a) ((a)->dropout_scale)
#define CLA_LEAST (-MAXFLOAT) /* the least finite number */
