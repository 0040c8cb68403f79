/* reference.c - the float64 reference, judged by slower and plainer ways
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tap.h"

#include "../tools/reference.h"
#include <clattn.h>

#include <math.h>
#include <stdint.h>

static uint64_t state;

static double draw(void)
{
    state = state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(int64_t)(state >> 11) / 4503599627370496.0 - 1; /* -1 to 1 */
}

static struct reference sized(int64_t b, int64_t h, int64_t hk, int64_t nq, int64_t nk, int64_t d, int64_t dv)
{
    struct reference r;
    memset(&r, 0, sizeof r);
    r.b = b;
    r.h = h;
    r.hk = hk;
    r.nq = nq;
    r.nk = nk;
    r.d = d;
    r.dv = dv;
    r.scale = 1;
    return r;
}

static int64_t cell(const int64_t shape[4], int64_t b, int64_t h, int64_t q, int64_t k)
{
    return ((b % shape[0] * shape[1] + h % shape[1]) * shape[2] + q % shape[2]) * shape[3] + k % shape[3];
}

static int64_t offset_of(const struct reference *r, int64_t b)
{
    const int64_t nq = r->q_len ? r->q_len[b] : r->nq, nk = r->kv_len ? r->kv_len[b] : r->nk;
    return r->align == CLATTN_ALIGN_TOP_LEFT  ? 0
           : r->align == CLATTN_ALIGN_OFFSET  ? r->offset
           : r->align == CLATTN_ALIGN_OFFSETS ? r->offsets[b]
                                              : nk - nq;
}

static int kept(const struct reference *r, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const int64_t nq = r->q_len ? r->q_len[b] : r->nq, nk = r->kv_len ? r->kv_len[b] : r->nk;
    const int64_t behind = k - q - offset_of(r, b); /* by so much lies the key behind the query */
    if (q >= nq || k >= nk || k < (r->kv_start ? r->kv_start[b] : 0) || (r->causal && behind > 0))
        return 0;
    if (r->window && r->window_left >= 0 && behind < -r->window_left)
        return 0;
    if (r->window && r->window_right >= 0 && behind > r->window_right)
        return 0;
    if (r->block_map && !r->block_map[cell(r->block_shape, b, h, q / r->block_q, k / r->block_k)])
        return 0;
    return (!r->mask || r->mask[cell(r->mask_shape, b, h, q, k)]) &&
           (!r->bias || r->bias[cell(r->bias_shape, b, h, q, k)] != -INFINITY);
}

/* A score_mod that makes use of all that it is told. */
static double modified(double s, int64_t b, int64_t h, int64_t q, int64_t k)
{
    if ((q + 2 * k + h) % 7 == 3)
        return -INFINITY;
    return 0.25 * s * s - 0.25 * (double)(b + q % 3) + 0.125 * (double)(h * (k % 4));
}

static int mod_row(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk)
{
    for (int64_t k = 0; k < nk; k++)
        s[k] = keep[k] ? modified(s[k], b, h, q, k) : NAN;
    return *(const int *)user;
}

/* The score of a kept element, or -inf when the score_mod drops it. *a: the largest that rounding may hang on. */
static double score_of(const struct reference *r, int64_t b, int64_t h, int64_t q, int64_t k, double s, double *a)
{
    s *= r->scale;
    if (r->softcap > 0)
        s = r->softcap * tanh(s / r->softcap);
    if (r->mod && (s = modified(s, b, h, q, k)) == -INFINITY)
        return s;
    *a = fmax(*a, fabs(s));
    if (r->slopes)
        s -= r->slopes[b % r->slopes_b * r->h + h] * fabs((double)(q + offset_of(r, b) - k));
    *a = fmax(*a, fabs(s));
    if (r->bias)
        s += r->bias[cell(r->bias_shape, b, h, q, k)];
    *a = fmax(*a, fabs(s));
    return s;
}

/* One row by the formulas of SEMANTICS, without a maximum and without order: the logits are small. */
static void direct_row(const struct reference *r, int64_t b, int64_t h, int64_t q, const double *Q, const double *K,
                       const double *V, double *o, double *lse, double *a, unsigned char *seen)
{
    const int64_t kv = b * r->hk + h / (r->h / r->hk);
    double sum = r->sinks ? exp(r->sinks[h]) : 0;
    for (int64_t c = 0; c < r->dv; c++)
        o[c] = 0;
    for (int64_t k = 0; k < r->nk; k++) {
        double s = 0, size = 0;
        if (!kept(r, b, h, q, k))
            continue;
        for (int64_t c = 0; c < r->d; c++) {
            s += Q[c] * K[(kv * r->nk + k) * r->d + c];
            size += fabs(Q[c] * K[(kv * r->nk + k) * r->d + c]);
        }
        s = score_of(r, b, h, q, k, s, a);
        if (s == -INFINITY)
            continue;
        seen[kv * r->nk + k] = 1;
        *a = fmax(*a, fabs(r->scale) * size);
        sum += exp(s);
        for (int64_t c = 0; c < r->dv; c++)
            o[c] += exp(s) * V[(kv * r->nk + k) * r->dv + c];
    }
    *lse = log(sum); /* -inf for 0 */
    for (int64_t c = 0; c < r->dv && sum > 0; c++)
        o[c] /= sum;
}

enum { MOST = 3 * 4 * 90 * 20 };
static double Q[MOST], K[MOST], V[MOST], O[MOST], L[MOST];
static unsigned char seen[MOST], want_seen[MOST];

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
    memset(seen, 0, sizeof seen);
    memset(want_seen, 0, sizeof want_seen);
    const int status = reference_forward(r, Q, K, V, O, L, &a, seen);
    for (int64_t row = 0; row < r->b * r->h * r->nq; row++) {
        double o[20], lse;
        direct_row(r, row / (r->h * r->nq), row / r->nq % r->h, row % r->nq, Q + row * r->d, K, V, o, &lse, &want_a,
                   want_seen);
        wrong += isinf(lse) ? L[row] != lse : !(fabs(L[row] - lse) < 1e-13);
        for (int64_t c = 0; c < r->dv; c++) {
            wrong += isinf(lse) && O[row * r->dv + c] != 0;
            worst = fabs(O[row * r->dv + c] - o[c]) <= worst ? worst : fabs(O[row * r->dv + c] - o[c]);
        }
    }
    wrong += memcmp(seen, want_seen, sizeof seen) != 0;
    if (!ok(status == 0 && wrong == 0 && worst < 1e-14 && fabs(a - want_a) <= 1e-12 * want_a, "%s", name))
        diag("wrong %d, worst %g, conditioning %.17g, want %.17g", wrong, worst, a, want_a);
}

static void check_against_direct(void)
{
    static const int32_t q_len[] = { 33, 0, 7 }, kv_len[] = { 70, 20, 0 }, kv_start[] = { 3, 0, 64 };
    static const int32_t offsets[] = { -5, 12, 400 };
    struct reference r = sized(3, 4, 4, 33, 70, 17, 9);
    r.scale = 0.5;
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
    r = sized(1, 1, 1, 1, 1, 1, 1);
    compare("one of everything", &r);
    r.nk = 0;
    compare("no keys", &r);
    r.nk = 3;
    r.nq = 0;
    compare("no queries", &r);
    r.b = 0;
    compare("no batch", &r);
    r = sized(1, 1, 1, 5, 1030, 3, 2);
    r.causal = 1;
    compare("many keys", &r);
}

enum { CELLS = 3 * 4 * 13 * 21 };
static double bias[CELLS], slopes[3 * 4], sinks[4];
static unsigned char mask[CELLS], map[CELLS];

/* Gives `r` what the bits of `which` say; the axes that bits 8 to 11 name are broadcast. */
static void give(struct reference *r, unsigned which)
{
    const int64_t sizes[4] = { r->b, r->h, r->nq, r->nk };
    static int status;
    for (int i = 0; i < CELLS; i++) {
        bias[i] = draw() > 0.9 ? -INFINITY : draw();
        mask[i] = (unsigned char)(draw() > -0.5 ? 1 + i % 255 : 0);
        map[i] = (unsigned char)(draw() > 0 ? 1 + i % 2 : 0);
    }
    for (int i = 0; i < 4; i++) {
        r->bias_shape[i] = r->mask_shape[i] = which >> (8 + i) & 1 ? 1 : sizes[i];
        r->block_shape[i] = which >> (8 + i) & 1 ? 1 : i == 2 ? (r->nq + 2) / 3 : i == 3 ? (r->nk + 4) / 5 : sizes[i];
        sinks[i] = 2 * draw();
    }
    for (int i = 0; i < 12; i++)
        slopes[i] = 0.05 * draw();
    r->block_q = 3;
    r->block_k = 5;
    r->softcap = which & 1 ? 0.75 : 0;
    r->window = which >> 1 & 1;
    r->window_left = (int64_t)(which % 5) - 1;
    r->window_right = (int64_t)(which % 7) - 1;
    r->bias = which & 4 ? bias : NULL;
    r->mask = which & 8 ? mask : NULL;
    r->block_map = which & 16 ? map : NULL;
    r->slopes = which & 32 ? slopes : NULL;
    r->slopes_b = which & 256 ? 1 : r->b;
    r->sinks = which & 64 ? sinks : NULL;
    r->mod = which & 128 ? mod_row : NULL;
    r->user = &status;
}

/* Every feature alone, and many combinations. */
static void check_changes(void)
{
    static const int32_t q_len[] = { 13, 2, 9 }, kv_len[] = { 20, 21, 0 }, kv_start[] = { 1, 0, 0 };
    static const char *const name[] = { "softcap", "window", "bias",  "mask",
                                        "blocks",  "ALiBi",  "sinks", "score_mod" };
    for (unsigned i = 0; i < 8 + 40; i++) {
        struct reference r = sized(3, 4, i % 2 ? 4 : 2, 13, 21, 3, 2);
        const unsigned which = i < 8 ? 1u << i : (unsigned)(draw() * 2047 + 2048);
        char text[80];
        give(&r, which);
        r.scale = 0.5;
        r.causal = i % 3 == 1;
        r.align = i % 4 == 3 ? CLATTN_ALIGN_OFFSET : i % 4 == 2 ? CLATTN_ALIGN_TOP_LEFT : CLATTN_ALIGN_BOTTOM_RIGHT;
        r.offset = (int64_t)(i % 11) - 4;
        if (i >= 8 && i % 5 == 0) {
            r.q_len = q_len;
            r.kv_len = kv_len;
            r.kv_start = kv_start;
        }
        snprintf(text, sizeof text, "combination 0x%x", which);
        compare(i < 8 ? name[i] : text, &r);
    }
    struct reference r = sized(1, 1, 1, 3, 4, 2, 2);
    int bad = -1;
    double a;
    r.mod = mod_row;
    r.user = &bad;
    is_int(reference_forward(&r, Q, K, V, O, L, &a, NULL), -1, "a score_mod that fails ends it");
}

/* One batch entry out of several, and rows of heads that are far apart. */
static void check_parts(void)
{
    struct reference all = sized(3, 4, 2, 13, 21, 3, 2), part;
    double o[MOST], lse[MOST], a;
    int wrong = 0;
    give(&all, 0x3ff & ~0x300u);
    wrong += reference_forward(&all, Q, K, V, O, L, &a, NULL);
    for (int64_t b = 0; b < 3; b++) {
        part = all;
        part.b = 1;
        part.b0 = b;
        wrong += reference_forward(&part, Q + b * 4 * 13 * 3, K + b * 2 * 21 * 3, V + b * 2 * 21 * 2, o, lse, &a, NULL);
        wrong += memcmp(o, O + b * 4 * 13 * 2, 4 * 13 * 2 * sizeof *o) != 0;
        wrong += memcmp(lse, L + b * 4 * 13, 4 * 13 * sizeof *lse) != 0;
    }
    is_int(wrong, 0, "entries one by one are the entries of the whole");

    part = sized(2, 2, 1, 5, 7, 3, 2);
    part.q_pitch = 5;
    part.k_pitch = 7;
    wrong = reference_forward(&part, Q, K, V, O, L, &a, NULL);
    for (int i = 0; i < MOST; i++)
        o[i] = lse[i] = 77;
    for (int64_t at = 4; at-- > 0;) { /* [4,5,..] becomes [4,11,..] */
        memmove(Q + at * 11 * 3, Q + at * 5 * 3, 5 * 3 * sizeof *Q);
        memmove(K + at * 9 * 3, K + at * 7 * 3, (at < 2) * 7 * 3 * sizeof *K);
        memmove(V + at * 9 * 2, V + at * 7 * 2, (at < 2) * 7 * 2 * sizeof *V);
    }
    part.q_pitch = 11;
    part.k_pitch = 9;
    wrong += reference_forward(&part, Q, K, V, o, lse, &a, NULL);
    for (int64_t at = 0; at < 4; at++) {
        wrong += memcmp(o + at * 11 * 2, O + at * 5 * 2, 5 * 2 * sizeof *o) != 0 || o[(at * 11 + 5) * 2] != 77;
        wrong += memcmp(lse + at * 11, L + at * 5, 5 * sizeof *o) != 0 || lse[at * 11 + 5] != 77;
    }
    is_int(wrong, 0, "heads may be farther apart than their rows reach");
}

/* Offsets that no sum may overflow with. */
static void check_far_offsets(void)
{
    struct reference r = sized(1, 1, 1, 5, 9, 3, 2);
    double all_o[10], all_lse[5], a;
    r.align = CLATTN_ALIGN_OFFSET;
    int same = reference_forward(&r, Q, K, V, all_o, all_lse, &a, NULL) == 0, none = 1;
    r.causal = r.window = 1;
    r.window_left = -1;
    r.window_right = INT64_MAX;
    r.offset = INT64_MAX;
    same = same && reference_forward(&r, Q, K, V, O, L, &a, NULL) == 0;
    ok(same && memcmp(O, all_o, sizeof all_o) == 0 && memcmp(L, all_lse, sizeof all_lse) == 0,
       "causal, the largest offset and window keep all");
    r.offset = INT64_MIN;
    none = reference_forward(&r, Q, K, V, O, L, &a, NULL) == 0 && a == 0;
    for (int q = 0; q < 5; q++)
        none = none && L[q] == -(double)INFINITY && O[2 * q] == 0 && O[2 * q + 1] == 0;
    ok(none, "causal, the smallest offset keeps nothing");
}

/* What can be said by hand. */
static void check_by_hand(void)
{
    struct reference r = sized(1, 1, 1, 3, 3, 1, 1);
    const double q[] = { 0, 1, 1 }, k[] = { 5, 0, log(2) }, v[] = { 7, 1, 2 };
    double o[3], lse[3], a;
    r.causal = 1;
    const int right = reference_forward(&r, q, k, v, o, lse, &a, NULL) == 0;
    ok(right && o[0] == 7 && lse[0] == 0, "a row of one key is its value");
    ok(fabs(o[1] - (7 * exp(5) + 1) / (exp(5) + 1)) < 1e-14 && fabs(lse[1] - log(exp(5) + 1)) < 1e-14, "a row of two");
    ok(fabs(o[2] - (7 * exp(5) + 5) / (exp(5) + 3)) < 1e-14 && a == 5, "a row of three, and the conditioning");

    const double big_k[] = { 1e5, 1e5 - 1, 0 };
    struct reference all = r;
    all.causal = 0;
    const int fine = reference_forward(&all, q, big_k, v, o, lse, &a, NULL) == 0;
    ok(fine && fabs(o[1] - (7 + exp(-1)) / (1 + exp(-1))) < 1e-12 && fabs(lse[1] - 1e5 - log(1 + exp(-1))) < 1e-9,
       "logits beyond the range of exp");
    ok(o[0] == 10.0 / 3 && fabs(lse[0] - log(3)) < 1e-15, "equal logits give the mean");

    const double bad_k[] = { 0, NAN, 0 }, bad_v[] = { 1, 2, INFINITY };
    const int done = reference_forward(&r, q, bad_k, bad_v, o, lse, &a, NULL) == 0;
    ok(done && o[0] == 1 && lse[0] == 0 && isnan(o[1]) && isnan(lse[1]),
       "NaN in a kept key shows, in a dropped one not");
}

/* However a key is dropped, NaN in it and in its value does not show; and what is left of a row that keeps none. */
static int drop_nan(void *user, double *s, const unsigned char *keep, int64_t b, int64_t h, int64_t q, int64_t nk)
{
    (void)user, (void)b, (void)h, (void)q;
    for (int64_t k = 0; k < nk; k++)
        s[k] = k == 1 || !keep[k] ? -INFINITY : s[k];
    return 0;
}

static void check_dropped(void)
{
    static const char *const name[] = { "a mask", "a bias", "a block map", "a window", "a score_mod" };
    const double q[] = { 1 }, k[] = { 0, NAN, 0 }, v[] = { 1, NAN, 2 }, drop[] = { 0, -INFINITY, 0 }, sink[] = { 3 };
    const unsigned char keep[] = { 1, 0, 2 };
    double o, lse, a;
    for (int i = 0; i < 5; i++) {
        struct reference r = sized(1, 1, 1, 1, 3, 1, 1);
        const int64_t shape[4] = { 1, 1, 1, 3 };
        unsigned char seen_keys[3] = { 0 };
        memcpy(r.mask_shape, shape, sizeof shape);
        memcpy(r.bias_shape, shape, sizeof shape);
        memcpy(r.block_shape, shape, sizeof shape);
        r.block_q = r.block_k = 1;
        r.mask = i == 0 ? keep : NULL;
        r.bias = i == 1 ? drop : NULL;
        r.block_map = i == 2 ? keep : NULL;
        r.window = i == 3; /* of the last key alone */
        r.mod = i == 4 ? drop_nan : NULL;
        const int good = reference_forward(&r, q, k, v, &o, &lse, &a, seen_keys) == 0;
        ok(good && (i == 3 ? o == 2 && lse == 0 : o == 1.5 && fabs(lse - log(2)) < 1e-15) && !seen_keys[1],
           "NaN in what %s drops does not show", name[i]);
    }
    struct reference r = sized(1, 1, 1, 1, 3, 1, 1);
    r.q_len = (const int32_t[]) { 0 };
    r.sinks = sink;
    ok(reference_forward(&r, q, k, v, &o, &lse, &a, NULL) == 0 && o == 0 && lse == 3 && a == 0,
       "a row that keeps nothing has its sink");
    r.q_len = NULL;
    ok(reference_forward(&r, q, v, v, &o, &lse, &a, NULL) == 0 && isnan(o) && isnan(lse), "NaN passes a sink");
    r.sinks = drop + 1;
    r.nk = 1;
    ok(reference_forward(&r, q, k, v, &o, &lse, &a, NULL) == 0 && o == 1 && lse == 0, "a sink of -inf is none");
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
    check_against_direct();
    check_changes();
    check_parts();
    check_far_offsets();
    check_by_hand();
    check_dropped();
    check_bounds();
    return done_testing();
}
