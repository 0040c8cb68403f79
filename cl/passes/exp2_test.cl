/* What the exp slot computes, for exp2.c to compare with double. */
__kernel void cla_power(const __global float *x, __global float *y)
{
    const size_t at = get_global_id(0) * 4;
    vstore4(cla_exp2(vload4(0, x + at)), 0, y + at);
}
