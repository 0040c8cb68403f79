/* int8 and int4: an element is x / scale + zero, rounded to the nearest integer, ties to even; -most - 1 to most. Where
 * the scale is none it is zero, whatever x is: 0 times an infinite x would be NaN. */
typedef struct {
    int unused; /* see args.h */
    float factor, zero, most;
} cla_coding;

CLA_FN float cla_limit(float x, float most) { return fmax(fmin(x, most), -most - 1); }

/* 1 / scale. One that is subnormal is none on every device, since some read it as 0. */
CLA_FN float cla_factor_of(float scale)
{
    return (as_uint(scale) & 0x7fffffff) < 0x800000 ? 0 : cla_factor(scale);
}

/* By elements c0 to c1 - 1, which are group g: the largest magnitude becomes `most`; with zero points the whole range
 * is used, which has a 0. */
CLA_FN float cla_measure(cla_coding *to, const cla_source *x, const cla_scales *s, int c0, int c1)
{
    float least = 0, largest = 0;
    int odd = 0;
    for (int c = c0; c < c1; c++) {
        const float v = (float)cla_take(x, c);
        least = fmin(least, v);
        largest = fmax(largest, v);
        odd |= !isfinite(v);
    }
    const float range = s->has_zero ? largest - least : fmax(largest, fabs(least));
    const float exact = cla_divide(range, s->has_zero ? 2 * to->most + 1 : to->most);
    const float scale = odd ? NAN : exact < FLT_MIN ? 0 : exact; /* 1 / scale is finite */
    to->factor = cla_factor(scale);
    to->zero = s->has_zero ? cla_limit(rint(-to->most - 1 - least * to->factor), to->most) : 0;
    return scale;
}

CLA_FN void cla_code(cla_coding *to, const cla_source *x, const cla_scales *s, int c0, int c1, float most)
{
    const int g = c0 / s->group;
    to->most = most;
    if (s->given) {
        to->factor = cla_factor_of(s->scale[g * s->scale_step]);
        to->zero = s->has_zero ? s->zero[g * s->zero_step] : 0;
        return;
    }
    s->scale[g * s->scale_step] = cla_measure(to, x, s, c0, c1);
    if (s->has_zero) s->zero[g * s->zero_step] = to->zero;
}

CLA_FN int cla_coded(const cla_coding *by, float x)
{
    return (int)rint(cla_limit((by->factor == 0 ? 0 : x * by->factor) + by->zero, by->most));
}
