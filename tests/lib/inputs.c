/* inputs.c - seeded values, lengths, poison and canaries
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/trial.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/quantise.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t trial_hash(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = seed + 0x9e3779b97f4a7c15u * (a + 1) + 0xd1b54a32d192ed03u * (b + 1);
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/* Nearly normal, variance 1: a sum of four uniform numbers needs no libm, so every machine gets the same. */
double trial_normal(uint64_t seed, uint64_t a, uint64_t b)
{
    uint64_t x = trial_hash(seed, a, b);
    double sum = 0;
    int i;
    for (i = 0; i < 4; i++, x >>= 16)
        sum += (double)(x & 0xffff) / 32768 - 1;
    return sum * 0.86602540378443865;
}

/* ---- Values ---- */

/* What storage makes of a row; of one that is quantised when all are known, by their scales. */
static void round_row(int type, double *row, int64_t width)
{
    if (quantise_is(type))
        type = CLATTN_F32;
    double stored[576];
    convert_store(type, row, stored, (size_t)width);
    convert_load(type, stored, row, (size_t)width);
}

/* Random rows; rows that share memory get the same numbers. */
static void fill(struct tensor *x, uint64_t seed, unsigned which, double sigma)
{
    int64_t b, h, n, i;
    for (b = 0; b < x->n[0]; b++)
        for (h = 0; h < x->n[1]; h++)
            for (n = 0; n < x->n[2]; n++) {
                double *row = tensor_row(x, b, h, n);
                size_t at = tensor_at(x, b, h, n);
                for (i = 0; i < x->width && at != NOWHERE; i++)
                    row[i] = sigma * trial_normal(seed, which, at + (size_t)i);
                round_row(x->type, row, x->width);
            }
}

/* The key that a query is turned to. Mostly another one in each row; at the ends of a tile, where masks go wrong, the
 * first or the last key that the row keeps, or the one beside it that it must not see. */
static int64_t target(const struct trial *t, int64_t b, int64_t h, int64_t q)
{
    const int64_t nk = t->k.n[2];
    int64_t first = 0, last = nk - 1, k;
    unsigned char *const keep = q % 16 && q % 16 != 15 ? NULL : malloc((size_t)nk + 1);
    const uint64_t kind = trial_hash(t->c.seed, 95, (uint64_t)((b * t->sizes.h + h) * t->sizes.nq + q)) % 4;
    if (!keep)
        return (q * 7 + b * 3 + h) % nk;
    trial_keep_row(t, b, h, q, keep);
    while (first < nk && !keep[first])
        first++;
    while (last > first && !keep[last])
        last--;
    free(keep);
    k = kind == 0 ? first : kind == 1 ? last : kind == 2 ? first - 1 : last + 1;
    return k < 0 || k >= nk ? (q * 7 + b * 3 + h) % nk : k;
}

/* Sooner or later losing any key, or seeing one that is masked, shows even where the bound is as wide as bfloat16's. */
static void aim(struct trial *t, double pull)
{
    int64_t b, h, q, i, group = t->sizes.hk ? t->sizes.h / t->sizes.hk : 1;
    for (b = 0; b < t->q.n[0]; b++)
        for (h = 0; h < t->q.n[1] && t->k.n[2]; h++)
            for (q = 0; q < t->q.n[2]; q++) {
                double *row = tensor_row(&t->q, b, h, q);
                const double *key = tensor_row(&t->k, b, h / group, target(t, b, h, q));
                for (i = 0; i < t->d; i++)
                    row[i] += pull * key[i];
                round_row(t->q.type, row, t->d);
            }
}

/* Logits of standard deviation 2 to 4 (by the seed) with the default scale. */
cl_int trial_fill_inputs(struct trial *t)
{
    cl_int e;
    uint64_t seed = t->c.seed;
    double deviation = 2 + 2 * (double)(trial_hash(seed, 99, 0) >> 11) * 0x1p-53, sigma = sqrt(deviation);
    fill(&t->k, seed, 1, sigma);
    fill(&t->v, seed, 2, 1);
    fill(&t->q, seed, 0, sigma);
    if ((e = keys_round(t, &t->k)) || (e = keys_round(t, &t->v)))
        return e;
    aim(t, deviation / (deviation * sqrt((double)t->d)));
    return CL_SUCCESS;
}

/* ---- Lengths ---- */

/* Rows of the i-th sequence: all, none, one and some, in turn. */
static int64_t uneven(int64_t i, int64_t most, uint64_t seed)
{
    int64_t some[4] = { most, 0, most > 0, 0 };
    some[3] = (int64_t)(trial_hash(seed, 97, (uint64_t)i) % (uint64_t)(most + 1));
    return some[i % 4];
}

/* Where sequences begin in layout UNEVEN, and rows of no sequence behind the last one. Q and K take different turns. */
static void lay_unevenly(struct trial *t)
{
    enum { BEHIND = 3 };
    const uint64_t seed = t->c.seed;
    int64_t b;
    for (b = 0; b < t->sizes.b; b++) {
        if (t->x.cu_q)
            t->x.cu_q[b + 1] = t->x.cu_q[b] + (int32_t)uneven(b, t->sizes.nq, seed);
        if (t->x.cu_k)
            t->x.cu_k[b + 1] = t->x.cu_k[b] + (int32_t)uneven(b + 1 + (int64_t)(seed % 3), t->sizes.nk, seed + 1);
    }
    t->sizes.total_q = t->x.cu_q ? t->x.cu_q[b] + BEHIND : 0;
    t->sizes.total_k = t->x.cu_k ? t->x.cu_k[b] + BEHIND : 0;
}

static int32_t clamped(int32_t x, int64_t most)
{
    return x < 0 ? 0 : x > most ? (int32_t)most : x;
}

/* Rows of a sequence, of which those beyond the longest are cut off. */
static int32_t rows_of(const int32_t *cu, int64_t b, int64_t most)
{
    return cu ? clamped(cu[b + 1] - cu[b], most) : (int32_t)most;
}

void trial_fill_lengths(struct trial *t)
{
    uint32_t flags = t->c.problem.flags;
    int64_t b, span = t->sizes.nq + t->sizes.nk + 1;
    for (b = 0; b < t->sizes.b && b < CLATTN_LIST_MAX; b++) {
        int32_t nq = rows_of(t->x.cu_q, b, t->sizes.nq), nk = rows_of(t->x.cu_k, b, t->sizes.nk);
        t->q_rows[b] = nq;
        t->k_rows[b] = nk;
        t->q_len[b] = flags & CLATTN_Q_LEN ? clamped(t->c.q_len[b], nq) : nq;
        t->kv_len[b] = flags & CLATTN_KV_LEN ? clamped(t->c.kv_len[b], nk) : nk;
        t->kv_start[b] = flags & CLATTN_KV_START ? clamped(t->c.kv_start[b], nk) : 0;
        t->offsets[b] = (int32_t)((int64_t)(trial_hash(t->c.seed, 98, (uint64_t)b) % (uint64_t)span) - t->sizes.nq);
    }
}

/* ---- Extras ---- */

/* Elements of all axes but the last. */
static int64_t rows(const int64_t shape[4])
{
    return shape[0] * shape[1] * shape[2];
}

/* Some keys that no query sees at all: what K and V hold there is poison. With blocks the last one of a few, so that
 * others stay whole. */
static void drop_columns(struct trial *t)
{
    struct extras *x = &t->x;
    const int64_t period = x->block_k ? 3 * (int64_t)x->block_k : 11, first = x->block_k ? x->block_k - 1 : 4;
    int64_t i, k;
    for (i = 0; x->mask && x->mask_shape[3] > 1 && i < rows(x->mask_shape); i++)
        for (k = first; k < x->mask_shape[3]; k += period)
            x->mask[i * x->mask_shape[3] + k] = 0;
    for (i = 0; x->bias && x->bias_shape[3] > 1 && i < rows(x->bias_shape); i++)
        for (k = 5; k < x->bias_shape[3]; k += 13)
            x->bias[i * x->bias_shape[3] + k] = -INFINITY;
}

cl_int trial_fill_extras(struct trial *t)
{
    if (extras_fill(&t->c, &t->x, &t->why))
        return CL_INVALID_VALUE;
    drop_columns(t);
    t->sizes.total_q = t->x.cu_q ? t->x.cu_q[t->sizes.b] : 0;
    t->sizes.total_k = t->x.cu_k ? t->x.cu_k[t->sizes.b] : 0;
    if (t->layout == UNEVEN)
        lay_unevenly(t);
    return CL_SUCCESS;
}

/* ---- Images ---- */

/* A row of Q that keeps no key is never looked at, nor is a key that no query keeps. */
int trial_stores(const struct trial *t, const struct tensor *x, int64_t b, int64_t h, int64_t n)
{
    if (x == &t->k || x == &t->v)
        return t->seen[(b * t->sizes.hk + h) * t->sizes.nk + n];
    if (x == &t->q)
        return t->sees[(b * t->sizes.h + h) * t->sizes.nq + n];
    return n < t->q_rows[b];
}

void trial_store(const struct trial *t, const struct tensor *x)
{
    int64_t b, h, n;
    for (b = 0; b < x->n[0]; b++)
        for (h = 0; h < x->n[1]; h++)
            for (n = 0; n < x->n[2]; n++)
                if (!trial_stores(t, x, b, h, n) || tensor_at(x, b, h, n) == NOWHERE)
                    continue;
                else if (quantise_is(x->type))
                    keys_store_row(x, b, h, n);
                else
                    convert_store(x->type, tensor_row(x, b, h, n),
                                  x->image->byte + tensor_at(x, b, h, n) * convert_size(x->type), (size_t)x->width);
}

/* What must not be read stays poison: rows that no score needs, and every gap. */
void trial_store_inputs(struct trial *t)
{
    int i;
    for (i = 0; i < 3; i++)
        image_poison(&t->image[i], i == 0 ? t->q.type : i == 1 ? t->k.type : t->v.type);
    trial_store(t, &t->q);
    trial_store(t, &t->k);
    trial_store(t, &t->v);
}

/* O and LSE: canaries everywhere, NaN where results belong. */
void trial_store_outputs(struct trial *t)
{
    struct tensor *x[2] = { &t->o, &t->lse };
    int i;
    for (i = 0; i < 2; i++) {
        int64_t n = tensor_count(x[i]), j;
        image_canaries(x[i]->image);
        for (j = 0; j < n; j++)
            x[i]->value[j] = NAN;
        trial_store(t, x[i]);
    }
}

int trial_is_blank(const struct trial *t)
{
    const struct tensor *const x[2] = { &t->o, &t->lse };
    for (int i = 0; i < (t->c.lse ? 2 : 1); i++)
        for (int64_t at = 0; at < tensor_count(x[i]); at++)
            if (!isnan(x[i]->value[at]))
                return 0;
    return 1;
}
