/* inputs.c - seeded Q, K and V for a problem: the same numbers on every platform
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/inputs.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/quantise.h"

#include <math.h>

uint64_t inputs_bits(uint64_t *state) /* splitmix64 */
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    return z ^ z >> 31;
}

/* Nearly normal, deviation 1, bounded by 3.5: four 16-bit uniforms summed as integers. No libm, so no last digit
 * depends on the platform. */
double inputs_normal(uint64_t *state)
{
    const uint64_t bits = inputs_bits(state);
    const int64_t sum = (int64_t)((bits & 0xffff) + (bits >> 16 & 0xffff) + (bits >> 32 & 0xffff) + (bits >> 48));
    return (double)(sum - 2 * 0xffff) * (1.7320508075688772 / 65536);
}

void inputs_round(int type, double *x, size_t n)
{
    double block[256];
    unsigned char stored[2 * 256];
    if (quantise_is_scaled(type))
        return; /* by scales that are not known here */
    for (size_t at = 0; at < n; at += 256) {
        const size_t m = n - at < 256 ? n - at : 256;
        if (quantise_is(type)) {
            quantise_store(type, NULL, x + at, stored, m);
            quantise_load(type, NULL, stored, x + at, m);
        } else {
            convert_store(type, x + at, block, m);
            convert_load(type, block, x + at, m);
        }
    }
}

uint64_t inputs_stream(uint64_t seed, uint64_t stream)
{
    uint64_t state = seed ^ stream * UINT64_C(0xd1342543de82ef95);
    (void)inputs_bits(&state);
    return state;
}

static void fill(double *x, size_t n, double size, int type, uint64_t seed, uint64_t stream)
{
    uint64_t state = inputs_stream(seed, stream);
    for (size_t i = 0; i < n; i++)
        x[i] = size * inputs_normal(&state);
    inputs_round(quantise_is(type) ? CLATTN_F32 : type, x, n);
}

clattn_problem inputs_defaults(const clattn_problem *given)
{
    clattn_problem p = *given;
    if (p.type == 0)
        p.type = CLATTN_F32;
    if (p.k_type == 0)
        p.k_type = p.type;
    if (p.v_type == 0)
        p.v_type = p.type;
    if (p.o_type == 0)
        p.o_type = p.type;
    if (p.dv == 0)
        p.dv = p.d;
    if (quantise_is_scaled(p.k_type) && p.k_group == 0)
        p.k_group = p.d;
    if (quantise_is_scaled(p.v_type) && p.v_group == 0)
        p.v_group = p.dv;
    if (p.sizes.hk == 0)
        p.sizes.hk = p.sizes.h;
    if (p.scale == 0 && !(p.flags & CLATTN_SCALE))
        p.scale = 1 / sqrt(p.d);
    return p;
}

/* *product *= n, or -1. */
static int times(size_t *product, int64_t n)
{
    const size_t limit = (SIZE_MAX < INT64_MAX ? SIZE_MAX : (size_t)INT64_MAX) / sizeof(double);
    if (n < 0 || (n != 0 && *product > limit / (uint64_t)n))
        return -1;
    *product *= (size_t)n;
    return 0;
}

static int volume(size_t *out, int64_t b, int64_t h, int64_t n, int64_t width)
{
    *out = 1;
    return times(out, b) || times(out, h) || times(out, n) || times(out, width) ? -1 : 0;
}

int inputs_count(const clattn_workload *c, struct counts *n)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const clattn_sizes *s = &p.sizes;
    const int64_t qb = p.flags & CLATTN_CU_Q ? 1 : s->b, nq = p.flags & CLATTN_CU_Q ? s->total_q : s->nq;
    const int64_t kb = p.flags & CLATTN_CU_K ? 1 : s->b, nk = p.flags & CLATTN_CU_K ? s->total_k : s->nk;
    return volume(&n->q, qb, s->h, nq, p.d) || volume(&n->k, kb, s->hk, nk, p.d) ||
                   volume(&n->v, kb, s->hk, nk, p.dv) || volume(&n->o, qb, s->h, nq, p.dv) ||
                   volume(&n->lse, qb, s->h, nq, 1)
               ? -1
               : 0;
}

void inputs_fill(const clattn_workload *c, double *q, double *k, double *v)
{
    const clattn_problem p = inputs_defaults(&c->problem);
    const double deviation = fabs(p.scale) * sqrt(p.d); /* of a logit, when q and k have deviation 1 */
    double size = deviation > 0 ? sqrt(3 / deviation) : 1;
    struct counts n;
    if (inputs_count(c, &n) != 0)
        return;
    size = size > 64 ? 64 : size < 0.015625 ? 0.015625 : size; /* within half's range, whatever the scale */
    fill(q, n.q, size, p.type, c->seed, 1);
    fill(k, n.k, size, p.k_type, c->seed, 2);
    fill(v, n.v, 1, p.v_type, c->seed, 3);
}
