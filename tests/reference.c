/* reference.c - the float64 reference and the host's conversions, judged by slower and plainer ways
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tap.h"

#include "../tools/convert.h"
#include "../tools/reference.h"
#include <clattn.h>

#include <math.h>
#include <stdint.h>

/* ---- Conversions ---- */

/* The value of a 16-bit pattern, by the definition of the format. */
static double plain(uint16_t x, int mantissa, int bias)
{
    const int field = (x & 0x7fff) >> mantissa, ones = 0x7fff >> mantissa, fraction = x & ((1 << mantissa) - 1);
    double value;
    if (field == ones)
        value = fraction ? (double)NAN : (double)INFINITY;
    else
        value = (field ? 1.0 : 0.0) + (double)fraction / (1 << mantissa);
    if (field != ones)
        value *= pow(2, (field ? field : 1) - bias);
    return x & 0x8000 ? -value : value;
}

static uint16_t store16(int type, double x)
{
    uint16_t y = 0;
    convert_store(type, &x, &y, 1);
    return y;
}

static double load16(int type, uint16_t x)
{
    double y = 0;
    convert_load(type, &x, &y, 1);
    return y;
}

/* What neighbours a < b round to in between: the middle to the even one, a hair beside it to the nearer. */
static int middle_is_even(int type, uint16_t x, double a, double b)
{
    const double middle = a + (b - a) / 2;
    const uint16_t even = x & 1 ? (uint16_t)(x + 1) : x;
    return store16(type, middle) == even && store16(type, nextafter(middle, a)) == x
        && store16(type, nextafter(middle, b)) == (uint16_t)(x + 1) && store16(type, -middle) == (even | 0x8000);
}

static void check_format(const char *name, int type, int mantissa, int bias)
{
    const uint16_t infinity = (uint16_t)(0x7fff & ~((1 << mantissa) - 1));
    int value = 0, back = 0, nan = 0, tie = 0;
    for (unsigned x = 0; x < 0x10000; x++) {
        const double want = plain((uint16_t)x, mantissa, bias), got = load16(type, (uint16_t)x);
        if (isnan(want)) {
            const uint16_t y = store16(type, got);
            nan += !isnan(got) || (y & 0x7fff) <= infinity;
            continue;
        }
        value += got != want || !signbit(got) != !signbit(want);
        back += store16(type, want) != x;
        if (x + 1 < infinity)
            tie += !middle_is_even(type, (uint16_t)x, want, plain((uint16_t)(x + 1), mantissa, bias));
    }
    is_int(value, 0, "%s: every pattern loads as its value", name);
    is_int(back, 0, "%s: every value stores as its pattern", name);
    is_int(nan, 0, "%s: every NaN stays one", name);
    is_int(tie, 0, "%s: rounds to nearest, ties to even, between all neighbours", name);

    const double most = plain((uint16_t)(infinity - 1), mantissa, bias), least = plain(1, mantissa, bias);
    const double edge = most + (most - plain((uint16_t)(infinity - 2), mantissa, bias)) / 2;
    ok(store16(type, edge) == infinity && store16(type, -edge) == (infinity | 0x8000), "%s: overflow is infinite",
       name);
    ok(store16(type, nextafter(edge, 0)) == infinity - 1, "%s: what rounds to the largest value does not overflow",
       name);
    ok(store16(type, INFINITY) == infinity && store16(type, 1e300) == infinity, "%s: infinity and beyond", name);
    ok(store16(type, least / 2) == 0 && store16(type, -least / 2) == 0x8000 &&
           store16(type, nextafter(least / 2, 1)) == 1 && store16(type, 5e-324) == 0,
       "%s: underflow rounds to even, with its sign", name);
}

static void check_conversions(void)
{
    const double x[] = { 1.0 / 3, -0.0, INFINITY, 1e-45, 1e39 };
    float single[5];
    double y[5];
    check_format("f16", CLATTN_F16, 10, 15);
    check_format("bf16", CLATTN_BF16, 7, 127);
    convert_store(CLATTN_F32, x, single, 5);
    convert_load(CLATTN_F32, single, y, 5);
    ok(single[0] == 1.0f / 3 && y[0] == (double)single[0] && signbit(y[1]) && isinf(y[2]) && y[3] > 0 && isinf(y[4]),
       "f32 rounds as the compiler does");
    convert_store(CLATTN_F64, x, y, 5);
    ok(memcmp(x, y, sizeof x) == 0, "f64 is copied");
    ok(convert_size(CLATTN_F32) == 4 && convert_size(CLATTN_F16) == 2 && convert_size(CLATTN_BF16) == 2
           && convert_size(CLATTN_F64) == 8 && convert_size(0) == 0, "sizes");
    /* Rounding by way of float would see a tie where there is none. */
    ok(store16(CLATTN_F16, 1 + ldexp(1, -11) + ldexp(1, -40)) == 0x3c01, "f16 is rounded once");
    ok(store16(CLATTN_BF16, 1 + ldexp(1, -8) + ldexp(1, -40)) == 0x3f81, "bf16 is rounded once");
}

/* ---- The reference ---- */

static uint64_t state;

static double draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(state >> 11) / 4503599627370496.0 - 1; /* -1 to 1 */
}

static int kept(const struct reference *r, int64_t b, int64_t q, int64_t k)
{
    const int64_t nq = r->q_len ? r->q_len[b] : r->nq, nk = r->kv_len ? r->kv_len[b] : r->nk;
    const int64_t offset = r->align == CLATTN_ALIGN_TOP_LEFT ? 0 : r->align == CLATTN_ALIGN_OFFSET ? r->offset
        : r->align == CLATTN_ALIGN_OFFSETS ? r->offsets[b] : nk - nq;
    return q < nq && k < nk && k >= (r->kv_start ? r->kv_start[b] : 0) && (!r->causal || k <= q + offset);
}

/* One row by the formulas of SEMANTICS, without a maximum and without order: the logits are small. */
static void direct_row(const struct reference *r, int64_t b, int64_t h, int64_t q, const double *Q, const double *K,
                       const double *V, double *o, double *lse, double *a)
{
    const int64_t kv = b * r->hk + h / (r->h / r->hk);
    double sum = 0;
    for (int64_t c = 0; c < r->dv; c++)
        o[c] = 0;
    for (int64_t k = 0; k < r->nk; k++) {
        double s = 0, size = 0;
        if (!kept(r, b, q, k))
            continue;
        for (int64_t c = 0; c < r->d; c++) {
            s += Q[c] * K[(kv * r->nk + k) * r->d + c];
            size += fabs(Q[c] * K[(kv * r->nk + k) * r->d + c]);
        }
        *a = fmax(*a, fabs(r->scale) * size);
        sum += exp(r->scale * s);
        for (int64_t c = 0; c < r->dv; c++)
            o[c] += exp(r->scale * s) * V[(kv * r->nk + k) * r->dv + c];
    }
    *lse = log(sum); /* -inf for 0 */
    for (int64_t c = 0; c < r->dv && sum > 0; c++)
        o[c] /= sum;
}

enum { MOST = 3 * 4 * 90 * 20 };
static double Q[MOST], K[MOST], V[MOST], O[MOST], L[MOST];

/* What padding holds may be anything: fill it with NaN, and see that nothing changes. */
static void poison(const struct reference *r, double *x, int64_t h, int64_t n, int64_t w, const int32_t *from,
                   const int32_t *to)
{
    for (int64_t row = 0; row < r->b * h * n; row++) {
        const int64_t b = row / (h * n), at = row % n;
        if ((from && at < from[b]) || (to && at >= to[b]))
            for (int64_t c = 0; c < w; c++)
                x[row * w + c] = NAN;
    }
}

static void compare(const char *name, const struct reference *r)
{
    double a = 0, want_a = 0, worst = 0;
    int wrong = 0;
    for (int i = 0; i < MOST; i++) {
        Q[i] = 2 * draw();
        K[i] = 2 * draw();
        V[i] = draw();
        O[i] = L[i] = NAN;
    }
    poison(r, Q, r->h, r->nq, r->d, NULL, r->q_len);
    poison(r, K, r->hk, r->nk, r->d, r->kv_start, r->kv_len);
    poison(r, V, r->hk, r->nk, r->dv, r->kv_start, r->kv_len);
    const int status = reference_forward(r, Q, K, V, O, L, &a);
    for (int64_t row = 0; row < r->b * r->h * r->nq; row++) {
        double o[20], lse;
        direct_row(r, row / (r->h * r->nq), row / r->nq % r->h, row % r->nq, Q + row * r->d, K, V, o, &lse, &want_a);
        wrong += isinf(lse) ? L[row] != lse : !(fabs(L[row] - lse) < 1e-13);
        for (int64_t c = 0; c < r->dv; c++) {
            wrong += isinf(lse) && O[row * r->dv + c] != 0;
            worst = fabs(O[row * r->dv + c] - o[c]) <= worst ? worst : fabs(O[row * r->dv + c] - o[c]);
        }
    }
    ok(status == 0 && wrong == 0 && worst < 1e-14 && fabs(a - want_a) <= 1e-12 * want_a, "%s", name);
    if (wrong || !(worst < 1e-14) || !(fabs(a - want_a) <= 1e-12 * want_a))
        diag("wrong %d, worst %g, conditioning %.17g, want %.17g", wrong, worst, a, want_a);
}

static void check_against_direct(void)
{
    static const int32_t q_len[] = { 33, 0, 7 }, kv_len[] = { 70, 20, 0 }, kv_start[] = { 3, 0, 64 };
    static const int32_t offsets[] = { -5, 12, 400 };
    struct reference r = { 3, 4, 4, 33, 70, 17, 9, 0.5, 0, CLATTN_ALIGN_BOTTOM_RIGHT, 0, NULL, NULL, NULL, NULL };
    compare("no mask", &r);
    r.hk = 2;
    compare("grouped heads", &r);
    r.hk = 1;
    r.scale = -0.25;
    compare("one key head, negative scale", &r);
    r.causal = 1;
    compare("causal", &r);
    r.nk = 20;
    compare("causal, more queries than keys", &r);
    r.align = CLATTN_ALIGN_TOP_LEFT;
    compare("causal, top left", &r);
    r.align = CLATTN_ALIGN_OFFSET;
    r.offset = -7;
    compare("causal, offset -7", &r);
    r.nk = 70;
    r.align = CLATTN_ALIGN_OFFSETS;
    r.offsets = offsets;
    compare("causal, offsets", &r);
    r.q_len = q_len;
    r.kv_len = kv_len;
    r.kv_start = kv_start;
    compare("causal, offsets and all lengths", &r);
    r.align = CLATTN_ALIGN_BOTTOM_RIGHT;
    compare("causal and all lengths, NaN in the padding", &r);
    r.causal = 0;
    compare("all lengths, NaN in the padding", &r);
    r = (struct reference){ 1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, NULL, NULL, NULL, NULL };
    compare("one of everything", &r);
    r.nk = 0;
    compare("no keys", &r);
    r.nk = 3;
    r.nq = 0;
    compare("no queries", &r);
    r.b = 0;
    compare("no batch", &r);
    r = (struct reference){ 1, 1, 1, 5, 1030, 3, 2, 1, 1, 0, 0, NULL, NULL, NULL, NULL };
    compare("many keys", &r);
}

/* Offsets that no sum may overflow with. */
static void check_far_offsets(void)
{
    struct reference r = { 1, 1, 1, 5, 9, 3, 2, 1, 0, CLATTN_ALIGN_OFFSET, 0, NULL, NULL, NULL, NULL };
    double all_o[10], all_lse[5], a;
    int same = reference_forward(&r, Q, K, V, all_o, all_lse, &a) == 0, none = 1;
    r.causal = 1;
    r.offset = INT64_MAX;
    same = same && reference_forward(&r, Q, K, V, O, L, &a) == 0;
    ok(same && memcmp(O, all_o, sizeof all_o) == 0 && memcmp(L, all_lse, sizeof all_lse) == 0,
       "causal, the largest offset keeps all");
    r.offset = INT64_MIN;
    none = reference_forward(&r, Q, K, V, O, L, &a) == 0 && a == 0;
    for (int q = 0; q < 5; q++)
        none = none && L[q] == -(double)INFINITY && O[2 * q] == 0 && O[2 * q + 1] == 0;
    ok(none, "causal, the smallest offset keeps nothing");
}

/* What can be said by hand. */
static void check_by_hand(void)
{
    const struct reference r = { 1, 1, 1, 3, 3, 1, 1, 1, 1, CLATTN_ALIGN_BOTTOM_RIGHT, 0, NULL, NULL, NULL, NULL };
    const double q[] = { 0, 1, 1 }, k[] = { 5, 0, log(2) }, v[] = { 7, 1, 2 };
    double o[3], lse[3], a;
    ok(reference_forward(&r, q, k, v, o, lse, &a) == 0 && o[0] == 7 && lse[0] == 0, "a row of one key is its value");
    ok(fabs(o[1] - (7 * exp(5) + 1) / (exp(5) + 1)) < 1e-14 && fabs(lse[1] - log(exp(5) + 1)) < 1e-14, "a row of two");
    ok(fabs(o[2] - (7 * exp(5) + 5) / (exp(5) + 3)) < 1e-14 && a == 5, "a row of three, and the conditioning");

    const double big_k[] = { 1e5, 1e5 - 1, 0 };
    struct reference all = r;
    all.causal = 0;
    const int fine = reference_forward(&all, q, big_k, v, o, lse, &a) == 0;
    ok(fine && fabs(o[1] - (7 + exp(-1)) / (1 + exp(-1))) < 1e-12 && fabs(lse[1] - 1e5 - log(1 + exp(-1))) < 1e-9,
       "logits beyond the range of exp");
    ok(o[0] == 10.0 / 3 && fabs(lse[0] - log(3)) < 1e-15, "equal logits give the mean");

    const double bad_k[] = { 0, NAN, 0 }, bad_v[] = { 1, 2, INFINITY };
    const int done = reference_forward(&r, q, bad_k, bad_v, o, lse, &a) == 0;
    ok(done && o[0] == 1 && lse[0] == 0 && isnan(o[1]) && isnan(lse[1]),
       "NaN in a kept key shows, in a dropped one not");
}

static void check_bounds(void)
{
    const double e = ldexp(1, -24);
    ok(reference_bound_o(CLATTN_F32, 10, 2) == 8 * (e + 10 * e) && reference_bound_o(CLATTN_F16, 0, 1) == ldexp(1, -9)
           && reference_bound_o(CLATTN_BF16, 0, 1) == ldexp(1, -6)
           && reference_bound_o(CLATTN_F64, 3, 1) == 16 * ldexp(1, -53), "bounds of O");
    ok(reference_bound_lse(CLATTN_F16, 0) == 1e-5 && reference_bound_lse(CLATTN_F32, 1) == 1e-5 + 16 * e,
       "bounds of LSE");
}

int main(void)
{
    check_conversions();
    check_against_direct();
    check_far_offsets();
    check_by_hand();
    check_bounds();
    return done_testing();
}
