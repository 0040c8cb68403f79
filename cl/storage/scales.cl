/* Scales and zero points of one row of K or V, where its storage type has any: those of group 0, from there to the next
 * group, and how many elements share one. */
typedef struct {
    int unused; /* see args.h */
    int group, has_zero, given; /* given: they are read; else computed and written */
    __global float *scale, *zero;
    long scale_step, zero_step;
} cla_scales;
