/* sample_feature.c - the tensors of a sample that features read: bias, mask, block map, slopes and sinks
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "judge/sample_feature.h"

#include "base/checked.h"

/* ---- Bias: of the sample's shape ---- */

static int64_t bias_count(const struct sample *s)
{
    int64_t shape[4], n = 1;
    sample_bias_shape(s, shape);
    for (int i = 0; i < 4; i++)
        if (!checked_mul(n, shape[i], &n))
            return 0;
    return n;
}

static double bias_value(const struct sample *s, int64_t at)
{
    return sample_number(s->seed + 3, at) * 2;
}

/* ---- Mask: [nq,nk] ---- */

static int64_t mask_count(const struct sample *s)
{
    int64_t n;
    return checked_mul(s->p.sizes.nq, s->p.sizes.nk, &n) ? n : 0;
}

static double mask_value(const struct sample *s, int64_t at)
{
    return sample_hash(s->seed + 4, at) % 8 != 0;
}

static int64_t mask_cell(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    (void)b, (void)h;
    return q * s->p.sizes.nk + k;
}

/* ---- Block map ---- */

static int64_t blocks_of(int64_t n)
{
    return (n + SAMPLE_BLOCK - 1) / SAMPLE_BLOCK;
}

static int64_t map_count(const struct sample *s)
{
    return blocks_of(s->p.sizes.nq) * blocks_of(s->p.sizes.nk);
}

static double map_value(const struct sample *s, int64_t at)
{
    return sample_hash(s->seed + 5, at) % 4 != 0;
}

static int64_t map_cell(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    (void)b, (void)h;
    return q / SAMPLE_BLOCK * blocks_of(s->p.sizes.nk) + k / SAMPLE_BLOCK;
}

/* ---- Slopes and sinks: by head ---- */

static int64_t head_cell(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    (void)s, (void)b, (void)q, (void)k;
    return h;
}

/* Those of one entry serve all, or each has its own, of the same value. */
static int64_t slopes_count(const struct sample *s)
{
    int64_t n;
    return checked_mul(s->p.sizes.b, s->p.sizes.h, &n) ? n : 0;
}

static double slopes_value(const struct sample *s, int64_t at)
{
    return 1.0 / (double)(2 << at % s->p.sizes.h % 8);
}

static int64_t sinks_count(const struct sample *s)
{
    return s->p.sizes.h;
}

static double sinks_value(const struct sample *s, int64_t at)
{
    return sample_number(s->seed + 6, at);
}

/* ---- The rows ---- */

static const struct {
    enum sample_what what;
    int type;                                                  /* 0: the problem's bias_type */
    int64_t (*count)(const struct sample *s);                  /* 0 for too many */
    double (*value)(const struct sample *s, int64_t at);
    int64_t (*cell)(const struct sample *s, int64_t b, int64_t h, int64_t q, int64_t k);
} tensors[FEATURE_TENSORS] = {
    [FEATURE_READS_BIAS] = { SAMPLE_BIAS, 0, bias_count, bias_value, sample_bias_cell },
    [FEATURE_READS_MASK] = { SAMPLE_MASK, CLATTN_U8, mask_count, mask_value, mask_cell },
    [FEATURE_READS_MAP] = { SAMPLE_MAP, CLATTN_U8, map_count, map_value, map_cell },
    [FEATURE_READS_SLOPES] = { SAMPLE_SLOPES, CLATTN_F32, slopes_count, slopes_value, head_cell },
    [FEATURE_READS_SINKS] = { SAMPLE_SINKS, CLATTN_F32, sinks_count, sinks_value, head_cell },
};

static enum feature_tensor find(enum sample_what what)
{
    int i = FEATURE_READS_NONE + 1;
    while (i < FEATURE_TENSORS && tensors[i].what != what)
        i++;
    return i < FEATURE_TENSORS ? (enum feature_tensor)i : FEATURE_READS_NONE;
}

bool sample_feature_has(enum sample_what what)
{
    return find(what) != FEATURE_READS_NONE;
}

int64_t sample_feature_count(const struct sample *s, enum sample_what what)
{
    const enum feature_tensor tensor = find(what);
    if (tensor == FEATURE_READS_SLOPES && s->p.flags & CLATTN_BIAS_SLOPES)
        return tensors[tensor].count(s); /* which the row of the bias reads beside that */
    FEATURE_EACH(f)
        if (f->reads == tensor && feature_applies(f, &s->p))
            return tensors[tensor].count(s);
    return 0;
}

int sample_feature_type(const struct sample *s, enum sample_what what)
{
    const int type = tensors[find(what)].type;
    return type ? type : s->p.bias_type;
}

double sample_feature_value(const struct sample *s, enum sample_what what, int64_t at)
{
    return tensors[find(what)].value(s, at);
}

double sample_feature_slope(const struct sample *s, int64_t h)
{
    return s->p.flags & CLATTN_BIAS_SLOPES ? slopes_value(s, h) : 1;
}

double sample_feature_read(const struct sample *s, enum feature_tensor from, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const double x = from == FEATURE_READS_NONE ? 0 : tensors[from].value(s, tensors[from].cell(s, b, h, q, k));
    return from == FEATURE_READS_BIAS ? x * sample_feature_slope(s, h) : x;
}
