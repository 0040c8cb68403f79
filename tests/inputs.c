/* inputs.c - seeded values, lengths, poison and canaries
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "trial.h"

#include "../tools/convert.h"

#include <math.h>
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

/* What storage makes of a row. */
static void round_row(int type, double *row, int64_t width)
{
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
                for (i = 0; i < x->width; i++)
                    row[i] = sigma * trial_normal(seed, which, at + (size_t)i);
                round_row(x->type, row, x->width);
            }
}

/* Turns each query towards one key, another one in each row, so that sooner or later losing any key, or seeing one that
 * is masked, shows even where the bound is as wide as bfloat16's. */
static void aim(struct trial *t, double pull)
{
    int64_t b, h, q, i, group = t->sizes.hk ? t->sizes.h / t->sizes.hk : 1;
    for (b = 0; b < t->q.n[0]; b++)
        for (h = 0; h < t->q.n[1] && t->k.n[2]; h++)
            for (q = 0; q < t->q.n[2]; q++) {
                double *row = tensor_row(&t->q, b, h, q);
                const double *key = tensor_row(&t->k, b, h / group, (q * 7 + b * 3 + h) % t->k.n[2]);
                for (i = 0; i < t->d; i++)
                    row[i] += pull * key[i];
                round_row(t->q.type, row, t->d);
            }
}

/* Logits of standard deviation 2 to 4 (by the seed) with the default scale. */
void trial_fill_inputs(struct trial *t)
{
    uint64_t seed = t->c.seed;
    double deviation = 2 + 2 * (double)(trial_hash(seed, 99, 0) >> 11) * 0x1p-53, sigma = sqrt(deviation);
    fill(&t->k, seed, 1, sigma);
    fill(&t->v, seed, 2, 1);
    fill(&t->q, seed, 0, sigma);
    aim(t, deviation / (deviation * sqrt((double)t->d)));
}

/* ---- Lengths ---- */

static int32_t clamped(int32_t x, int64_t most)
{
    return x < 0 ? 0 : x > most ? (int32_t)most : x;
}

void trial_fill_lengths(struct trial *t)
{
    uint32_t flags = t->c.problem.flags;
    int64_t b, span = t->sizes.nq + t->sizes.nk + 1;
    for (b = 0; b < t->sizes.b && b < CLATTN_LIST_MAX; b++) {
        t->q_len[b] = flags & CLATTN_Q_LEN ? clamped(t->c.q_len[b], t->sizes.nq) : (int32_t)t->sizes.nq;
        t->kv_len[b] = flags & CLATTN_KV_LEN ? clamped(t->c.kv_len[b], t->sizes.nk) : (int32_t)t->sizes.nk;
        t->kv_start[b] = flags & CLATTN_KV_START ? clamped(t->c.kv_start[b], t->sizes.nk) : 0;
        t->offsets[b] = (int32_t)((int64_t)(trial_hash(t->c.seed, 98, (uint64_t)b) % (uint64_t)span) - t->sizes.nq);
    }
}

/* ---- Images ---- */

/* Not zero, not a number: what a kernel must never take in. */
static void poison(struct image *im, int type)
{
    static const double bad[3] = { NAN, INFINITY, -INFINITY };
    size_t size = convert_size(type), i;
    for (i = 0; i < im->size / size; i++)
        convert_store(type, &bad[i % 3], im->byte + i * size, 1);
}

static void canaries(struct image *im)
{
    size_t i;
    for (i = 0; i < im->size; i++)
        im->byte[i] = (unsigned char)(trial_hash(7, 7, i / 8) >> (i % 8 * 8));
}

void tensor_store(const struct tensor *x, const int32_t *first, const int32_t *last)
{
    int64_t b, h, n;
    for (b = 0; b < x->n[0]; b++)
        for (h = 0; h < x->n[1]; h++)
            for (n = first ? first[b] : 0; n < (last ? last[b] : x->n[2]); n++)
                convert_store(x->type, tensor_row(x, b, h, n),
                              x->image->byte + tensor_at(x, b, h, n) * convert_size(x->type), (size_t)x->width);
}

/* What must not be read stays poison: rows behind q_len, keys outside [kv_start, kv_len), every gap. */
void trial_store_inputs(struct trial *t)
{
    int i;
    for (i = 0; i < 3; i++)
        poison(&t->image[i], i == 0 ? t->q.type : i == 1 ? t->k.type : t->v.type);
    tensor_store(&t->q, NULL, t->q_len);
    tensor_store(&t->k, t->kv_start, t->kv_len);
    tensor_store(&t->v, t->kv_start, t->kv_len);
}

/* O and LSE: canaries everywhere, NaN where results belong. */
void trial_store_outputs(struct trial *t)
{
    struct tensor *x[2] = { &t->o, &t->lse };
    int i;
    for (i = 0; i < 2; i++) {
        int64_t n = tensor_count(x[i]), j;
        canaries(x[i]->image);
        for (j = 0; j < n; j++)
            x[i]->value[j] = NAN;
        tensor_store(x[i], NULL, NULL);
    }
}
