/* tile.c - choosing, reading and printing the numbers of an engine's tile. Knows no device API.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/tile.h"

#include "engine/split.h"

#include <string.h>

/* Work-items per group of the tiles that a device is to begin with, 0 for any. */
static int first_group(const struct caps *caps)
{
    return caps->sub_group ? 0 : caps->quirk->first_group;
}

static bool row_meant_for(const struct row *r, const struct caps *caps, const clattn_problem *p)
{
    const int width = (int)caps->float_width, small = first_group(caps);
    return p->d <= r->widest && p->dv <= r->widest && (!r->most_rows || (p->sizes.nq && p->sizes.nq <= r->most_rows)) &&
           (!r->most_shared || (p->sizes.nq && split_shared_rows(p) <= r->most_shared)) &&
           (!r->narrowest || width >= r->narrowest) && (!r->broadest || width <= r->broadest) &&
           (!r->sub_group || r->sub_group == caps->sub_group) && (!r->large || !small) && (!r->causal || p->causal) &&
           r->backward == !!(p->flags & CLATTN_BACKWARD) &&
           (!r->converted || p->k_type == CLATTN_F16 || p->k_type == CLATTN_BF16) &&
           (!r->plain || !(problem_changes_scores(p) || problem_has_holes(p)));
}

/* The tile of a row on this device, when it is meant for the problem. */
static bool row_tile(struct tile *out, const struct engine *e, const struct row *r, const struct caps *caps,
                     const clattn_problem *p)
{
    if (!row_meant_for(r, caps, p))
        return false;
    *out = r->tile;
    if (!e->width && !out->n[e->width_at])
        out->n[e->width_at] = engine_lanes(caps, p);
    return true;
}

static bool group_is_small(const struct engine *e, const struct tile *t, int most)
{
    return !most || e->items_per_group(e, t) <= most;
}

static bool same_tile(const struct tile *a, const struct tile *b)
{
    return !memcmp(a, b, sizeof *a);
}

static bool is_repeated(const struct tile *t, const struct engine *e, const struct row *r, const struct caps *caps,
                        const clattn_problem *p)
{
    struct tile before;
    for (const struct row *x = e->rows; x < r; x++)
        if (row_tile(&before, e, x, caps, p) && same_tile(&before, t))
            return true;
    return false;
}

/* The next tile of an engine that can run: rows that keep to the device's quirks first, each tile once. Where there is
 * none, *why says what the last one lacks, if any was meant for the problem. */
static bool next_tile(struct tile *out, const struct engine *e, const struct caps *caps, const clattn_problem *p,
                      struct tile_cursor *at, struct why *why)
{
    const int most = first_group(caps);
    for (;; at->large = true, at->row = 0) {
        while (e->rows[at->row].widest) {
            const struct row *const r = &e->rows[at->row++];
            if (row_tile(out, e, r, caps, p) && group_is_small(e, out, most) != at->large &&
                !is_repeated(out, e, r, caps, p) && !engine_fits(e, out, caps, p, why))
                return true;
        }
        if (at->large)
            return false;
    }
}

bool tile_config_next(struct config *out, const struct caps *caps, const clattn_problem *p, const struct engine *only,
                      struct tile_cursor *at)
{
    struct why why;
    out->waves = 0;
    while ((out->engine = only ? only : engine_ranked(caps, p, at->engine))) {
        if (next_tile(&out->tile, out->engine, caps, p, at, &why))
            return true;
        if (only)
            return false;
        *at = (struct tile_cursor){ .engine = at->engine + 1 };
    }
    return false;
}

bool tile_config_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct engine *only,
                    size_t index)
{
    struct tile_cursor at = { 0 };
    while (tile_config_next(out, caps, p, only, &at))
        if (!index--)
            return true;
    return false;
}

bool tile_is_same(const struct config *a, const struct config *b)
{
    return a->engine == b->engine && same_tile(&a->tile, &b->tile) && tile_waves(a) == tile_waves(b);
}

/* ---- Waves ---- */

enum { WAVES_MOST = 64 };
static const struct values waves = TRY(1, 2, 4, 8, 16);

int tile_waves(const struct config *config)
{
    return config->waves ? config->waves : config->engine->waves;
}

int tile_waves_listed(int i)
{
    return i < waves.n ? waves.at[i] : 0;
}

/* ---- The space of a search ---- */

static bool is_listed(const struct values *v, int x)
{
    for (int i = 0; i < v->n; i++)
        if (v->at[i] == x)
            return true;
    return false;
}

static bool is_row(const struct row *r, const struct engine *e, const struct tile *t)
{
    struct tile filled = r->tile;
    const int at = e->width_at;
    if (!e->width && !filled.n[at] && is_listed(&e->numbers[at].values, t->n[at]))
        filled.n[at] = t->n[at];
    return same_tile(&filled, t);
}

bool tile_is_candidate(const struct config *c)
{
    const struct engine *const e = c->engine;
    bool listed = true;
    for (int i = 0; e->numbers[i].name; i++)
        listed = listed && is_listed(&e->numbers[i].values, c->tile.n[i]);
    for (const struct row *r = e->rows; r->widest && !listed; r++)
        listed = is_row(r, e, &c->tile);
    return listed && (!c->waves || is_listed(&waves, c->waves));
}

bool tile_suits(const struct config *c, const struct caps *caps)
{
    return (c->engine->width || !caps->quirk->compiles_vectors_slowly) &&
           group_is_small(c->engine, &c->tile, caps->quirk->largest_group);
}

static bool may_try(const struct config *c, const struct caps *caps, const clattn_problem *p)
{
    struct why why;
    return tile_suits(c, caps) && (c->engine->width || engine_width(c->engine, &c->tile) >= engine_least_lanes(p)) &&
           engine_fits(c->engine, &c->tile, caps, p, &why) == CL_SUCCESS;
}

/* The listed value next to *x above it or below it. */
static bool step(int *x, const struct values *v, bool up)
{
    for (int i = 0; i < v->n; i++) {
        const int value = v->at[up ? i : v->n - 1 - i];
        if (up ? value > *x : value < *x) {
            *x = value;
            return true;
        }
    }
    return false;
}

bool tile_neighbour_at(struct config *out, const struct caps *caps, const clattn_problem *p, const struct config *from,
                       size_t index)
{
    for (int i = 0; from->engine->numbers[i].name; i++)
        for (int up = 0; up <= 1; up++) {
            *out = *from;
            if (step(&out->tile.n[i], &from->engine->numbers[i].values, up) && tile_is_candidate(out) &&
                may_try(out, caps, p) && !index--)
                return true;
        }
    return false;
}

bool tile_is_neighbour(const struct config *a, const struct config *b)
{
    struct tile t = a->tile;
    int i = 0;
    while (a->engine->numbers[i].name && a->tile.n[i] == b->tile.n[i])
        i++;
    return a->engine == b->engine && a->engine->numbers[i].name &&
           step(&t.n[i], &a->engine->numbers[i].values, b->tile.n[i] > a->tile.n[i]) && same_tile(&t, &b->tile) &&
           tile_waves(a) == tile_waves(b);
}

/* The n-th combination, the last number running fastest. */
static bool combination(struct tile *out, const struct engine *e, size_t n)
{
    int last = 0;
    memset(out, 0, sizeof *out);
    while (e->numbers[last].name)
        last++;
    while (last--) {
        const struct values *const v = &e->numbers[last].values;
        out->n[last] = v->at[n % (size_t)v->n];
        n /= (size_t)v->n;
    }
    return !n;
}

bool tile_space_next(struct config *out, const struct caps *caps, const clattn_problem *p, const struct engine *engine,
                     size_t *at)
{
    out->engine = engine;
    out->waves = 0;
    while (combination(&out->tile, engine, (*at)++))
        if (may_try(out, caps, p))
            return true;
    return false;
}

/* ---- As text ---- */

bool tile_config_is_pinned(const char *text)
{
    return text && strchr(text, ' ');
}

static const char *read_number(const char *at, int *x)
{
    const char *const from = at;
    for (*x = 0; *at >= '0' && *at <= '9'; at++)
        if ((*x = *x * 10 + (*at - '0')) > 99999)
            return NULL;
    return at == from ? NULL : at;
}

/* What the engine says is the same whether it is written or not. */
static cl_int read_waves(int *out, const struct engine *e, const char *text, struct why *why)
{
    static const char word[] = "waves";
    const size_t n = sizeof word - 1;
    const char *const end = strncmp(text, word, n) ? NULL : read_number(text + n, out);
    if (!end || *end || *out < 1 || *out > WAVES_MOST)
        SYNTAX("\"%.40s\" behind a tile: only wavesN may be there, 1 to %d", text, WAVES_MOST);
    *out = *out == e->waves ? 0 : *out;
    return CL_SUCCESS;
}

static cl_int read_tile(struct config *c, const char *at, struct why *why)
{
    const struct engine *const e = c->engine;
    struct tile *const out = &c->tile;
    const char *const text = at;
    memset(out, 0, sizeof *out);
    for (int i = 0; at && e->numbers[i].name; i++) {
        const size_t n = strlen(e->numbers[i].name);
        if ((i && *at++ != ',') || strncmp(at, e->numbers[i].name, n))
            at = NULL;
        else
            at = read_number(at + n, &out->n[i]);
    }
    if (at && *at == ' ')
        return read_waves(&c->waves, e, at + 1, why);
    if (at && !*at)
        return CL_SUCCESS;
    struct why form;
    struct text t = { form.text, sizeof form.text, 0 };
    for (int i = 0; e->numbers[i].name; i++)
        text_add(&t, "%s%sN", i ? "," : "", e->numbers[i].name);
    SYNTAX("tile \"%.60s\": engine %s takes %.200s", text, e->name, form.text);
}

cl_int tile_config_read(struct config *out, const char *text, const struct caps *caps, const clattn_problem *p,
                        struct why *why)
{
    if (!text || !*text) {
        if (tile_config_at(out, caps, p, NULL, 0))
            return CL_SUCCESS;
        REFUSE("no engine can run this here");
    }
    const size_t name = strcspn(text, " ");
    out->waves = 0;
    if (!(out->engine = engine_find(text, name))) {
        char names[256];
        struct text t = { names, sizeof names, 0 };
        engine_names(&t);
        SYNTAX("engine \"%.40s\" is none of %s", text, names);
    }
    if (!text[name]) {
        struct tile_cursor first = { 0 };
        why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "engine %s has no tile for this problem here", out->engine->name);
        return next_tile(&out->tile, out->engine, caps, p, &first, why) ? CL_SUCCESS : CLATTN_ERROR_NOT_SUPPORTED;
    }
    cl_int status = read_tile(out, text + name + 1, why);
    return status ? status : engine_fits(out->engine, &out->tile, caps, p, why);
}

void tile_config_print(const struct config *c, struct text *to)
{
    text_add(to, "%s ", c->engine->name);
    for (int i = 0; c->engine->numbers[i].name; i++)
        text_add(to, "%s%s%d", i ? "," : "", c->engine->numbers[i].name, c->tile.n[i]);
    if (tile_waves(c) != c->engine->waves)
        text_add(to, " waves%d", tile_waves(c));
}
