/* verify_taint.c - which gradients NaN and inf may have reached
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/verify_taint.h"

#include "tools/oracle/reference_rules.h"

#include <math.h>
#include <stdlib.h>

int taint_strange(double x)
{
    return isnan(x) || isinf(x);
}

/* The marks of n numbers. */
static unsigned char marks_of(const double *x, int64_t n)
{
    int found = 0;
    for (int64_t i = 0; i < n; i++)
        found |= (taint_strange(x[i]) ? TAINT_NAN : 0) | (isinf(x[i]) ? TAINT_ALL : 0);
    return (unsigned char)found;
}

/* What is the same for all rows of an entry: the marks of each key, and room for a row. */
struct keys {
    unsigned char *k, *v, *keep;
};

static int64_t q_pitch(const struct reference *r) { return r->q_pitch ? r->q_pitch : r->nq; }
static int64_t k_pitch(const struct reference *r) { return r->k_pitch ? r->k_pitch : r->nk; }

/* ---- From a row to the keys beside those that it keeps ---- */

static void mark_cell(const struct taint *t, const struct reference_line *at, int64_t k, unsigned char mark)
{
    int64_t step;
    const int64_t cells = reference_cells(t->r->bias_shape, at->b, at->h, at->q, &step);
    t->dbias[cells + k * step] |= mark;
}

/* ds, weights: the marks of all of the row's ds and p. */
static void mark_keys(const struct taint *t, const struct reference_line *at, int64_t first, int64_t end, int64_t row,
                      unsigned char ds, unsigned char weights)
{
    const struct reference *const r = t->r;
    const int64_t keys = at->h / (r->h / r->hk) * k_pitch(r);
    first = first < TAINT_TILE ? 0 : first - TAINT_TILE + 1;
    end = end + TAINT_TILE - 1 < r->nk ? end + TAINT_TILE - 1 : r->nk;
    for (int64_t k = first; k < end; k++) {
        for (int64_t c = 0; c < r->d; c++)
            t->dk[(keys + k) * r->d + c] |= ds | marks_of(t->q + row * r->d + c, 1);
        for (int64_t c = 0; c < r->dv; c++)
            t->dv[(keys + k) * r->dv + c] |= weights | marks_of(t->dout + row * r->dv + c, 1);
        if (t->dbias)
            mark_cell(t, at, k, ds);
    }
    for (int64_t c = 0; c < r->d; c++)
        t->dq[row * r->d + c] |= ds;
    if (t->dslopes)
        t->dslopes[(r->slopes_b == 1 ? 0 : at->b) * r->h + at->h] |= ds & TAINT_ALL;
}

/* ---- From a key to the rows beside those that keep it ---- */

static void mark_rows(const struct taint *t, const struct reference_line *at, const double *key)
{
    const struct reference *const r = t->r;
    const int64_t share = r->h / r->hk, head = at->h / share * share, q = at->q;
    const int64_t first = q < TAINT_TILE ? 0 : q - TAINT_TILE + 1;
    const int64_t end = q + TAINT_TILE < r->nq ? q + TAINT_TILE : r->nq;
    for (int64_t other = head; other < head + share; other++)
        for (int64_t row = other * q_pitch(r) + first; row < other * q_pitch(r) + end; row++)
            for (int64_t c = 0; c < r->d; c++)
                t->dq[row * r->d + c] |= marks_of(key + c, 1);
}

/* ---- Rows ---- */

static void mark_row(const struct taint *t, const struct keys *keys, int64_t h, int64_t q)
{
    const struct reference *const r = t->r;
    const int64_t row = h * q_pitch(r) + q, first_key = h / (r->h / r->hk) * k_pitch(r);
    const struct reference_line at = reference_line_of(r, 0, h, q);
    int64_t first = -1, end = 0;
    unsigned char seen = 0;
    reference_keep(r, &at, keys->keep);
    for (int64_t k = at.lo; k < at.hi; k++)
        if (keys->keep[k]) {
            first = first < 0 ? k : first;
            end = k + 1;
            seen |= keys->k[first_key + k] | keys->v[first_key + k];
            if (keys->k[first_key + k])
                mark_rows(t, &at, t->k + (first_key + k) * r->d);
        }
    const unsigned char own = marks_of(t->q + row * r->d, r->d);
    const unsigned char out = marks_of(t->dout + row * r->dv, r->dv) | (t->dlse ? marks_of(t->dlse + row, 1) : 0);
    const unsigned char inf = (seen | own) & TAINT_ALL, weights = inf | (isnan(t->lse[row]) ? TAINT_NAN : 0);
    const unsigned char ds = weights | out | marks_of(t->o + row * r->dv, r->dv);
    if (first >= 0 && (ds | own))
        mark_keys(t, &at, first, end, row, ds, weights);
    if (t->dsinks)
        t->dsinks[h] |= ds & TAINT_ALL;
}

int taint_mark(const struct taint *t)
{
    const struct reference *const r = t->r;
    const int64_t all = r->hk * k_pitch(r);
    unsigned char *const room = calloc((size_t)(2 * all + r->nk) + 1, 1);
    const struct keys keys = { room, room + all, room + 2 * all };
    if (!room)
        return -1;
    for (int64_t h = 0; h < r->hk; h++)
        for (int64_t k = h * k_pitch(r); k < h * k_pitch(r) + r->nk; k++) {
            keys.k[k] = marks_of(t->k + k * r->d, r->d);
            keys.v[k] = marks_of(t->v + k * r->dv, r->dv);
        }
    for (int64_t i = 0; i < r->h * r->nq; i++)
        mark_row(t, &keys, i / r->nq, i % r->nq);
    free(room);
    return 0;
}
