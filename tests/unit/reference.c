/* reference.c - the float64 reference, judged by slower and plainer ways
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/oracle/reference.h"
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
    return r->p.align == CLATTN_ALIGN_TOP_LEFT  ? 0
           : r->p.align == CLATTN_ALIGN_OFFSET  ? r->p.sizes.offset
           : r->p.align == CLATTN_ALIGN_OFFSETS ? r->offsets[b]
                                              : nk - nq;
}

static int kept(const struct reference *r, int64_t b, int64_t h, int64_t q, int64_t k)
{
    const int64_t nq = r->q_len ? r->q_len[b] : r->nq, nk = r->kv_len ? r->kv_len[b] : r->nk;
    const int64_t behind = k - q - offset_of(r, b); /* by so much lies the key behind the query */
    if (q >= nq || k >= nk || k < (r->kv_start ? r->kv_start[b] : 0) || (r->p.causal && behind > 0))
        return 0;
    if (r->p.flags & CLATTN_WINDOW && r->p.window_left >= 0 && behind < -r->p.window_left)
        return 0;
    if (r->p.flags & CLATTN_WINDOW && r->p.window_right >= 0 && behind > r->p.window_right)
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

/* The score of a kept element, or -inf when the score_mod drops it. *y: the sizes that it had behind each step. */
static double score_of(const struct reference *r, int64_t b, int64_t h, int64_t q, int64_t k, double s, double *y)
{
    s *= r->scale;
    if (r->p.softcap > 0) {
        s = r->p.softcap * tanh(s / r->p.softcap);
        *y += fabs(s);
    }
    if (r->mod) {
        if ((s = modified(s, b, h, q, k)) == -INFINITY)
            return s;
        *y += fabs(s);
    }
    if (r->slopes) {
        s -= r->slopes[b % r->slopes_b * r->h + h] * fabs((double)(q + offset_of(r, b) - k));
        *y += fabs(s);
    }
    if (r->bias) {
        s += r->bias[cell(r->bias_shape, b, h, q, k)];
        *y += fabs(s);
    }
    return s;
}

enum { KEYS = 1030, WIDE = 20 };

/* What a row is, and how far off it may be. p, s, x, y: weight, score and sizes of key k; p < 0 is not kept. */
struct row {
    double o[WIDE], lse, o_bound[WIDE], lse_bound, p[KEYS], s[KEYS], x[KEYS], y[KEYS];
};

/* What the law and tests ask, from doc/semantics. */
struct law {
    double u, of_x, of_y, of_away, always, sums, narrow, flow;
};
static struct law law_of(const struct reference *r, double n)
{
    static const double eps[] = { 0, 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-53 };
    const int t = r->type ? r->type : CLATTN_F32;
    const double u = t == CLATTN_F64 ? 0x1p-53 : 0x1p-24, c = 32 + 8 * (n < 64 ? n : 64), usual = 32 * r->share;
    if (r->share > 0)
        return (struct law) { u, usual, usual, 0, usual, 16 + 2 * log2(1 + n), (1 + r->share) * eps[t], 0 };
    return (struct law) { u, r->narrow_p ? 96 + 2 * (double)r->d : 96, 16, 16, c, c, 2 * eps[t],
                          t == CLATTN_F64 ? 0x1p-1020 : 0x1p-124 };
}

static double off_of(const struct law *l, double x, double y, double away)
{
    return l->u * (l->always + l->of_x * x + l->of_y * y + l->of_away * away);
}

static double lse_rounding(const struct reference *r, const struct law *l, double n, double lse)
{
    const double stored = r->type == CLATTN_F64 ? 0x1p-24 * fabs(lse) : 0; /* none of these has CLATTN_LSE_F64 */
    if (r->share > 0)
        return r->share * 0x1p-24 * (16 + 2 * log2(1 + n) + 2 * fabs(lse)) + stored;
    return l->u * (l->sums + 4 * fabs(lse)) + stored + 0x1p-126;
}

/* The bound: of weights, values and what is computed from them. All weights are normal numbers. */
static void direct_bound(const struct reference *r, const double *V, double sink, struct row *row)
{
    static const double eps[] = { 0, 0x1p-24, 0x1p-11, 0x1p-8, 0x1p-53 };
    static const double tiny[] = { 0, 0x1p-126, 0x1p-14, 0x1p-126, 0x1p-1022 };
    const int t = r->type ? r->type : CLATTN_F32;
    const int has_sink = sink > -INFINITY;
    const double p_sink = has_sink ? exp(sink - row->lse) : 0;
    double n = has_sink;
    for (int64_t k = 0; k < r->nk; k++)
        n += row->p[k] >= 0;
    const struct law l = law_of(r, n);
    const double off_sink = has_sink ? off_of(&l, 0, fabs(sink), fabs(sink - row->lse)) : 0;
    double more = p_sink * expm1(off_sink), less = p_sink * exp(-off_sink);
    for (int64_t k = 0; k < r->nk; k++)
        if (row->p[k] >= 0) {
            const double off = off_of(&l, row->x[k], row->y[k], fabs(row->s[k] - row->lse));
            more += row->p[k] * expm1(off);
            less += row->p[k] * exp(-off);
        }
    row->lse_bound = n == 0 ? 0 : log1p(more) + lse_rounding(r, &l, n, row->lse);
    for (int64_t c = 0; c < r->dv; c++) {
        double away = has_sink ? p_sink * expm1(off_sink) * fabs(row->o[c]) : 0, far = has_sink ? fabs(row->o[c]) : 0;
        double size = 0, top = 0;
        for (int64_t k = 0; k < r->nk; k++)
            if (row->p[k] >= 0) {
                const double v = V[k * r->dv + c], off = off_of(&l, row->x[k], row->y[k], fabs(row->s[k] - row->lse));
                away += row->p[k] * expm1(off) * fabs(v - row->o[c]);
                size += row->p[k] * exp(off) * fabs(v);
                far = fmax(far, fabs(v - row->o[c]));
                top = fmax(top, fabs(v));
            }
        const double wrong = fmin(away / less, far), sum = fmin(size / less, top);
        const double lost = r->share > 0 ? 0 : eps[t] * wrong + n * l.flow;
        const double narrow_f16 = r->share > 0 || !r->narrow_p || t != CLATTN_F16 ? 0 : 0x1p-32 * n * top;
        row->o_bound[c] = n == has_sink ? 0
                                        : wrong + (l.u * l.sums + (r->narrow_p ? l.narrow : 0)) * sum +
                                              eps[t] * fabs(row->o[c]) + tiny[t] + lost + narrow_f16;
    }
}

/* One row by the formulas of SEMANTICS, without a maximum and without order: the logits are small. */
static void direct_row(const struct reference *r, int64_t b, int64_t h, int64_t q, const double *Q, const double *K,
                       const double *V, struct row *row, unsigned char *seen)
{
    const int64_t kv = b * r->hk + h / (r->h / r->hk);
    double sum = r->sinks ? exp(r->sinks[h]) : 0;
    memset(row, 0, sizeof *row);
    for (int64_t k = 0; k < r->nk; k++) {
        double s = 0, size = 0;
        row->p[k] = -1;
        if (!kept(r, b, h, q, k))
            continue;
        for (int64_t c = 0; c < r->d; c++) {
            s += Q[c] * K[(kv * r->nk + k) * r->d + c];
            size += fabs(Q[c] * K[(kv * r->nk + k) * r->d + c]);
        }
        row->x[k] = fabs(r->scale) * size;
        row->s[k] = s = score_of(r, b, h, q, k, s, &row->y[k]);
        if (s == -INFINITY)
            continue;
        seen[kv * r->nk + k] = 1;
        sum += row->p[k] = exp(s);
        for (int64_t c = 0; c < r->dv; c++)
            row->o[c] += exp(s) * V[(kv * r->nk + k) * r->dv + c];
    }
    row->lse = log(sum); /* -inf for 0 */
    for (int64_t c = 0; c < r->dv && sum > 0; c++)
        row->o[c] /= sum;
    for (int64_t k = 0; k < r->nk; k++)
        row->p[k] = row->p[k] < 0 ? -1 : row->p[k] / sum;
    direct_bound(r, V + kv * r->nk * r->dv, r->sinks ? r->sinks[h] : -INFINITY, row);
}

enum { MOST = 3 * 4 * 90 * 20 };
static double Q[MOST], K[MOST], V[MOST], O[MOST], L[MOST], O_BOUND[MOST], L_BOUND[MOST];
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

/* Whether a bound is what was expected. */
static int same_bound(double got, double want)
{
    return fabs(got - want) <= 1e-12 * want;
}

/* The same to first order, as it is where all errors are small. */
static int near_bound(double got, double want)
{
    return fabs(got - want) <= 1e-4 * want;
}

static void compare(const char *name, const struct reference *r)
{
    static struct row row;
    double worst = 0;
    int wrong = 0, unfair = 0;
    for (int i = 0; i < MOST; i++) {
        Q[i] = 2 * draw();
        K[i] = 2 * draw();
        V[i] = draw();
        O[i] = L[i] = O_BOUND[i] = L_BOUND[i] = NAN;
    }
    poison(r, Q, r->h, r->nq, r->d, NULL, r->q_len);
    poison(r, K, r->hk, r->nk, r->d, r->kv_start, r->kv_len);
    poison(r, V, r->hk, r->nk, r->dv, r->kv_start, r->kv_len);
    memset(seen, 0, sizeof seen);
    memset(want_seen, 0, sizeof want_seen);
    const int status = reference_forward(r, Q, K, V, O, L, O_BOUND, L_BOUND, seen);
    for (int64_t at = 0; at < r->b * r->h * r->nq; at++) {
        direct_row(r, at / (r->h * r->nq), at / r->nq % r->h, at % r->nq, Q + at * r->d, K, V, &row, want_seen);
        wrong += isinf(row.lse) ? L[at] != row.lse : !(fabs(L[at] - row.lse) < 1e-13);
        unfair += !same_bound(L_BOUND[at], row.lse_bound);
        for (int64_t c = 0; c < r->dv; c++) {
            const double error = fabs(O[at * r->dv + c] - row.o[c]);
            wrong += isinf(row.lse) && O[at * r->dv + c] != 0;
            worst = error <= worst ? worst : error;
            unfair += !same_bound(O_BOUND[at * r->dv + c], row.o_bound[c]);
        }
    }
    wrong += memcmp(seen, want_seen, sizeof seen) != 0;
    if (!ok(status == 0 && wrong == 0 && unfair == 0 && worst < 1e-14, "%s", name))
        diag("wrong %d, worst %g, bounds wrong %d", wrong, worst, unfair);
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
    r.p.causal = 1;
    compare("causal", &r);
    r.nk = 20;
    compare("causal, more queries than keys", &r);
    r.p.align = CLATTN_ALIGN_TOP_LEFT;
    compare("causal, top left", &r);
    r.p.align = CLATTN_ALIGN_OFFSET;
    r.p.sizes.offset = -7;
    compare("causal, offset -7", &r);
    r.nk = 70;
    r.p.align = CLATTN_ALIGN_OFFSETS;
    r.offsets = offsets;
    compare("causal, offsets", &r);
    r.q_len = q_len;
    r.kv_len = kv_len;
    r.kv_start = kv_start;
    compare("causal, offsets and all lengths", &r);
    r.p.align = CLATTN_ALIGN_BOTTOM_RIGHT;
    compare("causal and all lengths, NaN in the padding", &r);
    r.p.causal = 0;
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
    r.p.causal = 1;
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
        const int64_t some = i == 1 && which % 3 == 0 && sizes[i] % 2 == 0 ? sizes[i] / 2 : sizes[i];
        r->bias_shape[i] = r->mask_shape[i] = which >> (8 + i) & 1 ? 1 : some;
        r->block_shape[i] = which >> (8 + i) & 1 ? 1 : i == 2 ? (r->nq + 2) / 3 : i == 3 ? (r->nk + 4) / 5 : sizes[i];
        sinks[i] = 2 * draw();
    }
    for (int i = 0; i < 12; i++)
        slopes[i] = 0.05 * draw();
    r->block_q = 3;
    r->block_k = 5;
    r->p.softcap = which & 1 ? 0.75 : 0;
    r->p.flags = which >> 1 & 1 ? CLATTN_WINDOW : 0;
    r->p.window_left = (int32_t)(which % 5) - 1;
    r->p.window_right = (int32_t)(which % 7) - 1;
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
        r.type = (int)(i % 5);
        r.narrow_p = (r.type == CLATTN_F16 || r.type == CLATTN_BF16) && i % 2;
        r.scale = 0.5;
        r.p.causal = i % 3 == 1;
        r.p.align = i % 4 == 3 ? CLATTN_ALIGN_OFFSET : i % 4 == 2 ? CLATTN_ALIGN_TOP_LEFT : CLATTN_ALIGN_BOTTOM_RIGHT;
        r.p.sizes.offset = (int64_t)(i % 11) - 4;
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
    r.mod = mod_row;
    r.user = &bad;
    is_int(reference_forward(&r, Q, K, V, O, L, NULL, NULL, NULL), -1, "a score_mod that fails ends it");
}

/* One batch entry out of several, and rows of heads that are far apart. */
static void check_parts(void)
{
    struct reference all = sized(3, 4, 2, 13, 21, 3, 2), part;
    static double o[MOST], lse[MOST], o_bound[MOST], lse_bound[MOST];
    int wrong = 0;
    give(&all, 0x3ff & ~0x300u);
    wrong += reference_forward(&all, Q, K, V, O, L, O_BOUND, L_BOUND, NULL);
    for (int64_t b = 0; b < 3; b++) {
        const int64_t row = b * 4 * 13;
        part = all;
        part.b = 1;
        part.b0 = b;
        wrong += reference_forward(&part, Q + row * 3, K + b * 2 * 21 * 3, V + b * 2 * 21 * 2, o, lse, o_bound,
                                   lse_bound, NULL);
        wrong += memcmp(o, O + row * 2, 4 * 13 * 2 * sizeof *o) != 0;
        wrong += memcmp(lse, L + row, 4 * 13 * sizeof *lse) != 0;
        wrong += memcmp(o_bound, O_BOUND + row * 2, 4 * 13 * 2 * sizeof *o) != 0;
        wrong += memcmp(lse_bound, L_BOUND + row, 4 * 13 * sizeof *lse) != 0;
    }
    is_int(wrong, 0, "entries one by one are the entries of the whole");

    part = sized(2, 2, 1, 5, 7, 3, 2);
    part.q_pitch = 5;
    part.k_pitch = 7;
    wrong = reference_forward(&part, Q, K, V, O, L, O_BOUND, L_BOUND, NULL);
    for (int i = 0; i < MOST; i++)
        o[i] = lse[i] = o_bound[i] = lse_bound[i] = 77;
    for (int64_t at = 4; at-- > 0;) { /* [4,5,..] becomes [4,11,..] */
        memmove(Q + at * 11 * 3, Q + at * 5 * 3, 5 * 3 * sizeof *Q);
        memmove(K + at * 9 * 3, K + at * 7 * 3, (at < 2) * 7 * 3 * sizeof *K);
        memmove(V + at * 9 * 2, V + at * 7 * 2, (at < 2) * 7 * 2 * sizeof *V);
    }
    part.q_pitch = 11;
    part.k_pitch = 9;
    wrong += reference_forward(&part, Q, K, V, o, lse, o_bound, lse_bound, NULL);
    for (int64_t at = 0; at < 4; at++) {
        wrong += memcmp(o + at * 11 * 2, O + at * 5 * 2, 5 * 2 * sizeof *o) != 0 || o[(at * 11 + 5) * 2] != 77;
        wrong += memcmp(lse + at * 11, L + at * 5, 5 * sizeof *o) != 0 || lse[at * 11 + 5] != 77;
        wrong += memcmp(o_bound + at * 11 * 2, O_BOUND + at * 5 * 2, 5 * 2 * sizeof *o) != 0;
        wrong += memcmp(lse_bound + at * 11, L_BOUND + at * 5, 5 * sizeof *o) != 0;
        wrong += o_bound[(at * 11 + 5) * 2] != 77 || lse_bound[at * 11 + 5] != 77;
    }
    is_int(wrong, 0, "heads may be farther apart than their rows reach");
}

/* Offsets that no sum may overflow with. */
static void check_far_offsets(void)
{
    struct reference r = sized(1, 1, 1, 5, 9, 3, 2);
    double all_o[10], all_lse[5];
    r.p.align = CLATTN_ALIGN_OFFSET;
    int same = reference_forward(&r, Q, K, V, all_o, all_lse, NULL, NULL, NULL) == 0, none = 1;
    r.p.causal = 1;
    r.p.flags = CLATTN_WINDOW;
    r.p.window_left = -1;
    r.p.window_right = INT32_MAX;
    r.p.sizes.offset = INT64_MAX;
    same = same && reference_forward(&r, Q, K, V, O, L, NULL, NULL, NULL) == 0;
    ok(same && memcmp(O, all_o, sizeof all_o) == 0 && memcmp(L, all_lse, sizeof all_lse) == 0,
       "causal, the largest offset and window keep all");
    r.p.sizes.offset = INT64_MIN;
    none = reference_forward(&r, Q, K, V, O, L, O_BOUND, L_BOUND, NULL) == 0;
    for (int q = 0; q < 5; q++)
        none = none && L[q] == -(double)INFINITY && O[2 * q] == 0 && O[2 * q + 1] == 0 && L_BOUND[q] == 0 &&
               O_BOUND[2 * q] == 0 && O_BOUND[2 * q + 1] == 0;
    ok(none, "causal, the smallest offset keeps nothing");
}

/* What can be said by hand. */
static void check_by_hand(void)
{
    struct reference r = sized(1, 1, 1, 3, 3, 1, 1);
    const double q[] = { 0, 1, 1 }, k[] = { 5, 0, log(2) }, v[] = { 7, 1, 2 };
    double o[3], lse[3];
    r.p.causal = 1;
    const int right = reference_forward(&r, q, k, v, o, lse, NULL, NULL, NULL) == 0;
    ok(right && o[0] == 7 && lse[0] == 0, "a row of one key is its value");
    ok(fabs(o[1] - (7 * exp(5) + 1) / (exp(5) + 1)) < 1e-14 && fabs(lse[1] - log(exp(5) + 1)) < 1e-14, "a row of two");
    ok(fabs(o[2] - (7 * exp(5) + 5) / (exp(5) + 3)) < 1e-14, "a row of three");

    const double big_k[] = { 1e5, 1e5 - 1, 0 };
    struct reference all = r;
    all.p.causal = 0;
    const int fine = reference_forward(&all, q, big_k, v, o, lse, NULL, NULL, NULL) == 0;
    ok(fine && fabs(o[1] - (7 + exp(-1)) / (1 + exp(-1))) < 1e-12 && fabs(lse[1] - 1e5 - log(1 + exp(-1))) < 1e-9,
       "logits beyond the range of exp");
    ok(o[0] == 10.0 / 3 && fabs(lse[0] - log(3)) < 1e-15, "equal logits give the mean");

    const double bad_k[] = { 0, NAN, 0 }, bad_v[] = { 1, 2, INFINITY };
    const int done = reference_forward(&r, q, bad_k, bad_v, o, lse, NULL, NULL, NULL) == 0;
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
    double o, lse;
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
        r.p.flags = i == 3 ? CLATTN_WINDOW : 0; /* of the last key alone */
        r.mod = i == 4 ? drop_nan : NULL;
        const int good = reference_forward(&r, q, k, v, &o, &lse, NULL, NULL, seen_keys) == 0;
        ok(good && (i == 3 ? o == 2 && lse == 0 : o == 1.5 && fabs(lse - log(2)) < 1e-15) && !seen_keys[1],
           "NaN in what %s drops does not show", name[i]);
    }
    struct reference r = sized(1, 1, 1, 1, 3, 1, 1);
    r.q_len = (const int32_t[]) { 0 };
    r.sinks = sink;
    ok(reference_forward(&r, q, k, v, &o, &lse, NULL, NULL, NULL) == 0 && o == 0 && lse == 3,
       "a row that keeps nothing has its sink");
    r.q_len = NULL;
    ok(reference_forward(&r, q, v, v, &o, &lse, NULL, NULL, NULL) == 0 && isnan(o) && isnan(lse), "NaN passes a sink");
    r.sinks = drop + 1;
    r.nk = 1;
    ok(reference_forward(&r, q, k, v, &o, &lse, NULL, NULL, NULL) == 0 && o == 1 && lse == 0, "a sink of -inf is none");
}

/* Scores whose rounding is no longer small: what weights may do is no first order, and is capped. */
static void check_large_scores(void)
{
    static const double q[] = { 1, 1 }, k[] = { 0x1p29, 10, 0x1p29, -10 }, v[] = { 0, 1 }, high[] = { 3, 3 };
    struct reference r = sized(1, 1, 1, 1, 2, 2, 1);
    double o, lse, bound, lse_bound;
    int right = !reference_forward(&r, q, k, v, &o, &lse, &bound, &lse_bound, NULL) && o < 3e-9;
    ok(right && bound > 0.5 && bound < 1.0001, "scores of 2^29: O may be any mean of the values (%g)", bound);
    ok(lse_bound > 96 * 32 && lse_bound < 130 * 32, "and LSE off by what scores are (%g)", lse_bound);
    right = !reference_forward(&r, q, k, high, &o, &lse, &bound, &lse_bound, NULL) && o == 3;
    ok(right && bound < 3 * 60 * 0x1p-24, "equal values leave little to be off (%g)", bound);
    r.share = 1;
    right = !reference_forward(&r, q, k, v, &o, &lse, &bound, &lse_bound, NULL);
    ok(right && bound > 0.5 && bound < 1.0001, "nor is what is usual larger (%g)", bound);
    r.share = 0;
    r.type = CLATTN_F64;
    right = !reference_forward(&r, q, k, v, &o, &lse, &bound, &lse_bound, NULL);
    ok(right && bound < 1e-13, "in f64 they are exact to their bits (%g)", bound);
    /* e^E of the middle: neither first order nor the cap */
    static const double third[] = { 0x1p12, 0.25, 0x1p12, -0.25 };
    r.type = CLATTN_F32;
    right = !reference_forward(&r, q, third, v, &o, &lse, &bound, &lse_bound, NULL);
    const double e = 0x1p-24 * (48 + 96 * (0x1p12 + 0.25)), p = 1 / (1 + exp(0.5));
    const double e0 = e + 0x1p-20 * fabs(log(1 - p)), e1 = e + 0x1p-20 * fabs(log(p));
    const double more = (1 - p) * p * expm1(e0) + p * (1 - p) * expm1(e1), least = (1 - p) * exp(-e0) + p * exp(-e1);
    ok(right && fabs(o - p) < 1e-12 && fabs(bound - more / least) < 1e-5 && more / least > 0.011,
       "scores of 4096 (%g, %g)", bound, more / least);
}

/* Numbers of a type, as doc/semantics has them. */
struct numbers {
    int type, narrow_p;
    double u, eps, tiny, flow;
};

/* What the law says of a row of two keys of equal weight, `away` from its O of 2, whose scores have the sizes x and y
 * and are `from_lse` from their LSE: n = 2, and V is 3 or 4 at most. */
static double of_two(const struct numbers *t, double away, double x, double y, double top)
{
    const double e = t->u * (48 + (t->narrow_p ? 98 : 96) * x + 16 * (y + log(2)));
    const double wrong = away * expm1(e) * exp(e), size = 2 * exp(2 * e);
    return wrong + (48 * t->u + (t->narrow_p ? 2 * t->eps : 0)) * size + t->eps * (2 + wrong) + t->tiny + 2 * t->flow +
           (t->narrow_p && t->type == CLATTN_F16 ? 0x1p-31 * top : 0);
}
static double lse_of_two(const struct numbers *t, double x, double y, double lse)
{
    const double stored = t->type == CLATTN_F64 ? 0x1p-24 * lse : 0;
    return t->u * (48 + (t->narrow_p ? 98 : 96) * x + 16 * (y + log(2)) + 48 + 4 * lse) + stored + 0x1p-126;
}

static void check_bounds(void)
{
    static const struct numbers types[] = { { CLATTN_F32, 0, 0x1p-24, 0x1p-24, 0x1p-126, 0x1p-124 },
                                            { CLATTN_F64, 0, 0x1p-53, 0x1p-53, 0x1p-1022, 0x1p-1020 },
                                            { CLATTN_F16, 0, 0x1p-24, 0x1p-11, 0x1p-14, 0x1p-124 },
                                            { CLATTN_F16, 1, 0x1p-24, 0x1p-11, 0x1p-14, 0x1p-124 },
                                            { CLATTN_BF16, 0, 0x1p-24, 0x1p-8, 0x1p-126, 0x1p-124 },
                                            { CLATTN_BF16, 1, 0x1p-24, 0x1p-8, 0x1p-126, 0x1p-124 } };
    static const double none[] = { 0, 0 }, one[] = { 1, 1 }, v[] = { 1, 3 }, four[] = { 4 }, far[] = { 0, -90 };
    static const double huge[] = { 1, 1e38 }, far_inf[] = { INFINITY, 1 };
    static const double all_inf[] = { INFINITY, INFINITY };
    double o, lse, bound, lse_bound;
    for (size_t i = 0; i < sizeof types / sizeof *types; i++) {
        const struct numbers *const t = &types[i];
        const double u = t->u, eps = t->eps, tiny = t->tiny;
        struct reference r = sized(1, 1, 1, 1, 2, 1, 1);
        r.type = t->type;
        r.narrow_p = t->narrow_p;
        /* two equal keys: o = 2, both values 1 away */
        int right = !reference_forward(&r, none, one, v, &o, &lse, &bound, &lse_bound, NULL) && o == 2;
        right = right && same_bound(bound, of_two(t, 1, 0, 0, 3)) && near_bound(lse_bound, lse_of_two(t, 0, 0, log(2)));
        ok(right, "type %d%s: two equal keys", r.type, r.narrow_p ? ", P in it" : "");
        ok(reference_rounding(r.type, -2) == 2 * eps + tiny && reference_rounding(r.type, 0) == tiny,
           "what storing 2 may do, and 0");
        r.share = 0.25;
        right = !reference_forward(&r, none, one, v, &o, &lse, &bound, &lse_bound, NULL);
        const double usual = u * (8 + (16 + 2 * log2(3)) * 2) + (r.narrow_p ? 2.5 * eps : 0) + 2 * eps + tiny;
        right = right && near_bound(bound, usual);
        ok(right && near_bound(lse_bound, 8 * u + 0x1p-26 * (16 + 2 * log2(3) + 2 * log(2)) +
                                              (r.type == CLATTN_F64 ? 0x1p-24 * log(2) : 0)),
           "a quarter of what is usual");
        r.share = 0;
        /* the scale is taken without its sign, scores of -1 are as doubtful as those of 1 */
        r.scale = -1;
        right = !reference_forward(&r, one, one, v, &o, &lse, &bound, &lse_bound, NULL) && o == 2;
        ok(right && same_bound(bound, of_two(t, 1, 1, 0, 3)), "scores of -1");
        /* a sink as heavy as the one key: o = 2, both 2 away, and both scores are 1 */
        r.scale = 1;
        r.nk = 1;
        r.sinks = one;
        right = !reference_forward(&r, one, one, four, &o, &lse, &bound, &lse_bound, NULL) && fabs(o - 2) < 1e-15;
        const double of_key = u * (48 + (r.narrow_p ? 98 : 96) + 16 * log(2)), of_sink = u * (48 + 16 + 16 * log(2));
        ok(right && bound > of_two(t, 2, 0, 1, 4) && bound < of_two(t, 2, 1, 0, 4), "a sink is a key whose value is 0");
        ok(near_bound(lse_bound, (of_key + of_sink) / 2 + u * (48 + 4 * (1 + log(2))) + 0x1p-126 +
                                     (r.type == CLATTN_F64 ? 0x1p-24 * (1 + log(2)) : 0)),
           "and doubtful as its size says");
        /* nothing else kept: O is 0 and nothing else, LSE is the sink's */
        r.nk = 0;
        right = !reference_forward(&r, one, one, four, &o, &lse, &bound, &lse_bound, NULL) && o == 0 && bound == 0;
        ok(right && near_bound(lse_bound, u * (40 + 16 + 40 + 4) + 0x1p-126 + (r.type == CLATTN_F64 ? 0x1p-24 : 0)),
           "a sink alone");
    }
    check_large_scores();
    /* A weight of e^-90, below 2^-126, may count as 0 in f32, whatever its value is. */
    struct reference r = sized(1, 1, 1, 1, 2, 1, 1);
    const double lost = 1e38 * exp(-90);
    int right = !reference_forward(&r, one, far, huge, &o, &lse, &bound, &lse_bound, NULL);
    ok(right && bound > lost && bound < 1.001 * lost + 1e-3, "f32: a weight that may be lost counts (%g)", bound);
    r.type = CLATTN_F64;
    right = !reference_forward(&r, one, far, huge, &o, &lse, &bound, &lse_bound, NULL);
    ok(right && bound > 0x1p-53 * 96 * 90 * lost && bound < 1e-11, "f64 keeps it (%g)", bound);
    /* Beside eight keys of weight 1 one of 2^-125 is less than 2^-126 of all: a merge of parts may drop it. */
    static const double ones[10] = { 1, 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    double beside[10] = { 0 }, of_last[10] = { 0 };
    beside[9] = -125 * log(2);
    of_last[9] = 0x1p120;
    r = sized(1, 1, 1, 1, 10, 1, 1);
    right = !reference_forward(&r, ones, beside, of_last, &o, &lse, &bound, &lse_bound, NULL);
    ok(right && bound > o && bound < 1.01 * o, "and so is one that all together outweigh (%g, %g)", o, bound);
    /* What underflows before a large factor: an element that is scaled, times one of the other operand. */
    static const double small[] = { 0x1p-75 }, large[] = { 0x1p127, 0x1p126 };
    r = sized(1, 1, 1, 1, 2, 1, 1);
    r.scale = 0x1p-74;
    right = !reference_forward(&r, small, large, v, &o, &lse, &bound, &lse_bound, NULL);
    ok(right && lse_bound > 0x1p-124 * 0x1p126, "elements that are scaled may underflow (%g)", lse_bound);
    /* What is not finite has no bound, nor has what nothing weighs for. */
    right = !reference_forward(&r, one, one, far_inf, &o, &lse, &bound, &lse_bound, NULL) && isinf(o);
    ok(right && bound == 0 && lse_bound > 0, "O that is infinite is to be so");
    r.scale = -1;
    right = !reference_forward(&r, one, all_inf, v, &o, &lse, &bound, &lse_bound, NULL) && o == 0 && isinf(lse);
    ok(right && bound == 0 && lse_bound == 0, "and O is to be 0 where all scores are -inf");
    /* A score of inf that softcap makes finite excuses nothing */
    r = sized(1, 1, 1, 1, 2, 1, 1);
    r.p.softcap = 5;
    right = !reference_forward(&r, one, far_inf, v, &o, &lse, &bound, &lse_bound, NULL) && lse > 5 && lse < 5.1;
    ok(right && bound > 0 && bound < 1e-4 && lse_bound < 1e-4, "infinite dots excuse nothing");
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
