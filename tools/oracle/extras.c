/* extras.c - what scores of one call are changed with, by seed
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/extras.h"

#include "tools/oracle/inputs.h"
#include "tools/oracle/score_mods.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Streams of a seed; 1 to 3 are Q, K and V. */
enum { BIAS = 4, MASK, SLOPES, SINKS, AUX, DROPOUT };

static int failed(const char **why, const char *text)
{
    *why = text;
    return -1;
}

/* Room for n elements, at least one, or NULL. */
static void *room(size_t n, size_t size)
{
    return calloc(n ? n : 1, size);
}

/* The shape of what has those of the four axes, and its elements. Returns 0, or -1 when it is too large, or when an
 * axis has a number that does not divide the call's. */
static int shape_of(const clattn_sizes *z, const int32_t axes[4], int64_t shape[4], size_t *count)
{
    const int64_t sizes[4] = { z->b, z->h, z->nq, z->nk };
    const size_t most = SIZE_MAX / 64;
    *count = 1;
    for (int i = 0; i < 4; i++) {
        shape[i] = axes[i] > 1 ? axes[i] : axes[i] ? sizes[i] : 1;
        if (axes[i] > 1 && (sizes[i] % axes[i] || !sizes[i]))
            return -1;
        if (shape[i] < 0 || (shape[i] > 0 && *count > most / (uint64_t)shape[i]))
            return -1;
        *count *= (size_t)shape[i];
    }
    return 0;
}

static int fill_bias(const clattn_workload *c, struct extras *x, const char **why)
{
    size_t n;
    uint64_t state = inputs_stream(c->seed, BIAS);
    if (c->problem.bias_type == 0)
        return 0;
    if (shape_of(&c->problem.sizes, c->bias_axes, x->bias_shape, &n) != 0)
        return failed(why, "its bias is too large, or has a number of entries or heads that divides no whole");
    x->bias = room(n, sizeof *x->bias);
    if (!x->bias)
        return failed(why, "there is no memory for its bias");
    for (size_t i = 0; i < n; i++)
        x->bias[i] = 2 * inputs_normal(&state);
    for (size_t i = 0; i < n; i++)
        if (inputs_bits(&state) % 64 == 0)
            x->bias[i] = -INFINITY;
    inputs_round(c->problem.bias_type, x->bias, n);
    return 0;
}

/* ---- Masks and blocks ---- */

enum block { EMPTY, THINNED, WHOLE };

/* One block of eight in each row and column of blocks is not empty, and the first one always. */
static enum block block_at(uint64_t seed, int64_t b, int64_t h, int64_t q, int64_t k)
{
    uint64_t state = inputs_stream(seed, (uint64_t)(((b * 61 + h) * 8191 + q) * 8191 + k) + 1000);
    if ((b + 5 * h + 3 * q + k) % 8 != 0)
        return EMPTY;
    return inputs_bits(&state) & 1 ? THINNED : WHOLE;
}

/* A row of a mask, n keys. A byte that keeps is any but 0. */
static void fill_row(const clattn_workload *c, const int64_t at[3], unsigned char *row, int64_t n, uint64_t *state)
{
    const int blocks = (c->problem.flags & CLATTN_BLOCK_MAP) != 0;
    const int none = !blocks && c->mask_axes[2] && inputs_bits(state) % 16 == 0;
    enum block block = THINNED;
    for (int64_t k = 0; k < n; k++) {
        const uint64_t bits = inputs_bits(state);
        if (blocks && k % c->block_k == 0)
            block = block_at(c->seed, at[0], at[1], at[2] / c->block_q, k / c->block_k);
        const int keep = !none && block != EMPTY && (block == WHOLE || bits % 4 != 0);
        row[k] = keep ? (unsigned char)(1 + (bits >> 8) % 255) : 0;
    }
}

static int fill_mask(const clattn_workload *c, struct extras *x, const char **why)
{
    size_t n;
    uint64_t state = inputs_stream(c->seed, MASK);
    if (!(c->problem.flags & CLATTN_MASK))
        return 0;
    if (shape_of(&c->problem.sizes, c->mask_axes, x->mask_shape, &n) != 0)
        return failed(why, "its mask is too large, or has a number of entries or heads that divides no whole");
    unsigned char *row = x->mask = room(n, sizeof *x->mask);
    if (!x->mask)
        return failed(why, "there is no memory for its mask");
    int64_t at[3];
    for (at[0] = 0; n > 0 && at[0] < x->mask_shape[0]; at[0]++)
        for (at[1] = 0; at[1] < x->mask_shape[1]; at[1]++)
            for (at[2] = 0; at[2] < x->mask_shape[2]; at[2]++, row += x->mask_shape[3])
                fill_row(c, at, row, x->mask_shape[3], &state);
    return 0;
}

/* A map of its own only where there is no mask to make it from; it has the axes of the mask, or all. */
static int fill_blocks(const clattn_workload *c, struct extras *x, const char **why)
{
    int32_t axes[4];
    clattn_sizes z = c->problem.sizes;
    size_t n, i = 0;
    if (!(c->problem.flags & CLATTN_BLOCK_MAP))
        return 0;
    x->block_q = c->block_q;
    x->block_k = c->block_k;
    z.nq = (z.nq + c->block_q - 1) / c->block_q;
    z.nk = (z.nk + c->block_k - 1) / c->block_k;
    for (int axis = 0; axis < 4; axis++)
        axes[axis] = !x->mask || c->mask_axes[axis];
    if (shape_of(&z, axes, x->block_shape, &n) != 0)
        return failed(why, "its block map is too large");
    if (x->mask)
        return 0;
    x->block_map = room(n, sizeof *x->block_map);
    if (!x->block_map)
        return failed(why, "there is no memory for its block map");
    for (int64_t b = 0; n > 0 && b < z.b; b++)
        for (int64_t h = 0; h < z.h; h++)
            for (int64_t q = 0; q < z.nq; q++)
                for (int64_t k = 0; k < z.nk; k++) /* without a mask, thinned is whole */
                    x->block_map[i++] = (unsigned char)block_at(c->seed, b, h, q, k);
    return 0;
}

/* ---- Short lists ---- */

static int fill_lists(const clattn_workload *c, struct extras *x, const char **why)
{
    const clattn_sizes *z = &c->problem.sizes;
    const uint32_t flags = c->problem.flags;
    const int sloped = (flags & (CLATTN_ALIBI | CLATTN_BIAS_SLOPES)) != 0;
    uint64_t slope = inputs_stream(c->seed, SLOPES), sink = inputs_stream(c->seed, SINKS);
    uint64_t dropout = inputs_stream(c->seed, DROPOUT);
    x->dropout_seed = inputs_bits(&dropout);
    x->dropout_offset = inputs_bits(&dropout) >> 32;
    x->slopes_b = c->seed % 2 == 1 && z->b > 0 ? z->b : 1;
    const size_t n = (size_t)(x->slopes_b * z->h);
    x->slopes = sloped ? room(n, sizeof *x->slopes) : NULL;
    x->sinks = flags & CLATTN_SINKS ? room((size_t)z->h, sizeof *x->sinks) : NULL;
    if ((sloped && !x->slopes) || (flags & CLATTN_SINKS && !x->sinks))
        return failed(why, "there is no memory");
    for (size_t i = 0; i < n && x->slopes; i++) /* 1/16 to 5/16 */
        x->slopes[i] = 0.0625 + 0.25 * (double)(inputs_bits(&slope) >> 48) / 65536;
    for (int64_t h = 0; h < z->h && x->sinks; h++)
        x->sinks[h] = 2 * inputs_normal(&sink);
    if (x->sinks)
        inputs_round(CLATTN_F32, x->sinks, (size_t)z->h);
    return 0;
}

/* Sequence i is ceil(n (i + 1) / b) rows long. */
static int32_t *cumulative(int64_t b, int64_t n)
{
    int32_t *list = room((size_t)b + 1, sizeof *list);
    for (int64_t i = 0; list && i < b; i++)
        list[i + 1] = list[i] + (int32_t)((n * (i + 1) + b - 1) / b);
    return list;
}

static int fill_packed(const clattn_workload *c, struct extras *x, const char **why)
{
    const clattn_sizes *z = &c->problem.sizes;
    x->cu_q = c->problem.flags & CLATTN_CU_Q ? cumulative(z->b, z->nq) : NULL;
    x->cu_k = c->problem.flags & CLATTN_CU_K ? cumulative(z->b, z->nk) : NULL;
    if ((c->problem.flags & CLATTN_CU_Q && !x->cu_q) || (c->problem.flags & CLATTN_CU_K && !x->cu_k))
        return failed(why, "there is no memory");
    if ((x->cu_q && x->cu_q[z->b] != z->total_q) || (x->cu_k && x->cu_k[z->b] != z->total_k))
        return failed(why, "its total of rows is not that of its sequences");
    return 0;
}

/* ---- Score_mods ---- */

struct aux *extras_aux(struct extras *x, const char *name, int32_t type, size_t n, const char **why)
{
    size_t i = 0;
    const size_t size = type == CLATTN_U8 ? 1 : 4;
    while (i < x->n_aux && strcmp(x->aux[i].name, name) != 0)
        i++;
    struct aux *a = &x->aux[i];
    if (i == CLATTN_AUX_MAX || strlen(name) >= sizeof a->name) {
        *why = "there are too many captured buffers, or one has too long a name";
        return NULL;
    }
    if (i < x->n_aux && a->type != type) {
        *why = "two score_mods declare one buffer with different types";
        return NULL;
    }
    if (i < x->n_aux && a->count >= n)
        return a;
    void *data = realloc(a->data, (n ? n : 1) * size);
    if (!data) {
        *why = "there is no memory for a captured buffer";
        return NULL;
    }
    a->data = data;
    a->count = n;
    a->type = type;
    strcpy(a->name, name);
    x->aux_names[i].name = a->name;
    x->aux_names[i].type = type;
    x->n_aux += i == x->n_aux;
    return a;
}

static void fill_aux(const clattn_workload *c, struct extras *x)
{
    for (size_t i = 0; i < x->n_aux; i++) {
        uint64_t state = inputs_stream(c->seed, AUX + i);
        for (size_t at = 0; at < x->aux[i].count; at++) {
            const double normal = inputs_normal(&state);
            const unsigned whole = (unsigned)(inputs_bits(&state) >> 62);
            if (x->aux[i].type == CLATTN_F32)
                ((float *)x->aux[i].data)[at] = (float)normal;
            else if (x->aux[i].type == CLATTN_I32)
                ((int32_t *)x->aux[i].data)[at] = (int32_t)whole;
            else
                ((unsigned char *)x->aux[i].data)[at] = (unsigned char)whole;
        }
    }
}

void extras_set_mods(clattn_problem *p, const struct extras *x)
{
    p->mods = x->mods;
    p->n_mods = (int32_t)x->n_mods;
    p->mod_grads = x->mod_grads;
    p->aux = x->aux_names;
    p->n_aux = (int32_t)x->n_aux;
}

int extras_mods(clattn_workload *c, struct extras *x, const char **why)
{
    clattn_problem *p = &c->problem;
    if (score_mods_add(c->mods, &p->sizes, x, why) != 0)
        return -1;
    fill_aux(c, x);
    extras_set_mods(p, x);
    return 0;
}

/* ---- All of it ---- */

int extras_fill(clattn_workload *c, struct extras *x, const char **why)
{
    memset(x, 0, sizeof *x);
    return fill_bias(c, x, why) || fill_mask(c, x, why) || fill_blocks(c, x, why) || fill_lists(c, x, why) ||
                   fill_packed(c, x, why) || extras_mods(c, x, why)
               ? -1
               : 0;
}

void extras_free(struct extras *x)
{
    free(x->bias);
    free(x->mask);
    free(x->block_map);
    free(x->slopes);
    free(x->sinks);
    free(x->cu_q);
    free(x->cu_k);
    for (size_t i = 0; i < x->n_aux; i++)
        free(x->aux[i].data);
    for (size_t i = 0; i < sizeof x->owned / sizeof *x->owned; i++)
        free(x->owned[i]);
    memset(x, 0, sizeof *x);
}
