/* virtual.c - a device on paper: times from a table, told by clocks that lie as real ones do
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/search/virtual.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Chance ---- */

static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* 0 <= x < 1 */
static double uniform(uint64_t *state)
{
    return (double)(draw(state) >> 11) / 9007199254740992.0;
}

static double normal(uint64_t *state)
{
    const double x = 1 - uniform(state), angle = 2 * 3.14159265358979 * uniform(state);
    return sqrt(-2 * log(x)) * cos(angle);
}

/* ---- Spaces ---- */

const struct entry *space_find(const struct space *s, const struct config *config)
{
    for (int i = 0; i < s->n; i++)
        if (tile_is_same(&s->at[i].config, config))
            return &s->at[i];
    return NULL;
}

double space_best(const struct space *s)
{
    double best = INFINITY;
    for (int i = 0; i < s->n; i++)
        if (s->at[i].seconds > 0 && s->at[i].seconds < best)
            best = s->at[i].seconds;
    return best;
}

/* ---- Clocks ---- */

const char *clock_name(enum clock c)
{
    static const char *const names[] = { "exact",   "noise",   "cold", "drift", "outlier",
                                         "bimodal", "flicker", "load", "wild" };
    return names[c];
}

static double distortion(struct device *d, bool *warm)
{
    const double noise = d->clock == CLOCK_EXACT                                                ? 0
                         : d->clock == CLOCK_NOISE || (d->clock == CLOCK_LOAD && d->calls > d->event) ? 0.03
                                                                                                      : 0.01;
    double factor = exp(noise * normal(&d->random));
    switch (d->clock) {
    case CLOCK_COLD: factor *= d->since_build < 3 || !*warm ? 4 : 1; break;
    case CLOCK_DRIFT: factor *= 1 + 0.3 * fmin(1, (double)d->calls / (double)d->span); break;
    case CLOCK_OUTLIER: factor *= d->calls == d->event ? 100 : 1; break;
    case CLOCK_LOAD: factor *= d->calls > d->event ? 1.6 : 1; break;
    case CLOCK_BIMODAL:
        if (uniform(&d->random) < 1.0 / 500)
            d->factor = 2.25 - d->factor;
        factor *= d->factor;
        break;
    case CLOCK_WILD: factor *= 1 + uniform(&d->random); break;
    case CLOCK_FLICKER: factor *= uniform(&d->random) < 0.25 ? 1.25 : 1; break;
    default: break;
    }
    *warm = true;
    return factor;
}

/* ---- What the search calls ---- */

static int find_open(const struct device *d, const struct config *config)
{
    for (int i = 0; i < d->n_open; i++)
        if (tile_is_same(&d->open[i].entry->config, config))
            return i;
    return -1;
}

static cl_int device_open(void *user, const struct config *config, struct why *why)
{
    struct device *const d = user;
    const struct entry *const e = space_find(d->space, config);
    d->now += d->build_seconds;
    d->since_build = 0;
    d->opens++;
    if (!e || !(e->seconds > 0) || d->n_open == 64)
        return why_set(why, CLATTN_ERROR_BUILD, "not in the recording");
    d->open[d->n_open].entry = e;
    d->open[d->n_open++].warm = false;
    if (d->n_open > d->most_open)
        d->most_open = d->n_open;
    if (e->seconds < d->best_opened)
        d->best_opened = e->seconds;
    return CL_SUCCESS;
}

static cl_int device_run(void *user, const struct config *config, double *seconds)
{
    struct device *const d = user;
    const int i = find_open(d, config);
    if (i < 0)
        return CL_INVALID_OPERATION;
    *seconds = d->open[i].entry->seconds * distortion(d, &d->open[i].warm);
    d->now += *seconds;
    d->calls++;
    d->since_build++;
    return CL_SUCCESS;
}

static void device_close(void *user, const struct config *config)
{
    struct device *const d = user;
    const int i = find_open(d, config);
    d->closes++;
    if (i >= 0)
        d->open[i] = d->open[--d->n_open];
}

static double device_now(void *user)
{
    return ((const struct device *)user)->now;
}

void device_init(struct device *d, struct search_ops *ops, const struct space *space, enum clock clock, long span,
                 uint64_t seed)
{
    memset(d, 0, sizeof *d);
    d->space = space;
    d->clock = clock;
    d->build_seconds = 0.2;
    d->random = seed;
    d->factor = 1;
    d->span = span;
    d->event = (long)((double)span * uniform(&d->random));
    d->best_opened = INFINITY;
    *ops = (struct search_ops){ d, device_open, device_run, device_close, device_now, NULL, NULL };
}

/* ---- A space made up ---- */

/* What differs from machine to machine. */
struct machine {
    double registers, spill, per_load, per_scalar, latency, cache, cache_miss, fixed, rough;
};

static double between(double low, double high, uint64_t *random)
{
    return low + (high - low) * uniform(random);
}

static struct machine machine_make(uint64_t *random)
{
    struct machine m;
    m.registers = between(16, 34, random);
    m.spill = between(0.02, 0.12, random);
    m.per_load = between(0.2, 0.8, random);
    m.per_scalar = between(0.2, 0.8, random);
    m.latency = between(4, 12, random);
    m.cache = between(24e3, 200e3, random);
    m.cache_miss = between(0.03, 0.2, random);
    m.fixed = between(5, 40, random);
    m.rough = between(0.015, 0.03, random);
    return m;
}

/* Cycles per multiply-add of a register tile: nv vectors by `rows` scalars, `length` of those in all. */
static double product(const struct machine *m, int nv, int rows, int length)
{
    const double registers = nv * rows + nv + 1, loads = 1 + m->per_load / rows + m->per_scalar / nv;
    const double spill = registers > m->registers ? 1 + m->spill * (registers - m->registers) : 1;
    return fmax(m->latency / (nv * rows), loads * spill) * ((length + rows - 1) / rows * rows) / length;
}

static double made_up(const struct machine *m, const struct config *c, const struct caps *caps,
                      const clattn_problem *p, uint64_t *random)
{
    const int *const n = c->tile.n, w = n[0], nv = n[1], rk = n[2], rd = n[3], bk = n[4], nq = 512;
    const double width = (double)caps->float_width;
    const double lanes = w < width ? pow(width / w, 0.95) : 1 + 0.1 * log2(w / width);
    const double qk = product(m, nv, rk, bk) * p->d, pv = product(m, nv, rd, p->dv) * p->dv;
    const double bytes = 4.0 * w * nv * (p->d + p->dv + bk) + 4.0 * bk * (p->d + p->dv);
    const double cache = 1 + m->cache_miss * fmax(0, log2(bytes / m->cache));
    const double per_key = m->fixed + (2.0 * p->dv / nv + m->fixed) * 8 / bk;
    const double idle = (double)((nq + w * nv - 1) / (w * nv) * (w * nv)) / nq;
    return 1e-5 * lanes * idle * (cache * (qk + pv) + per_key) * exp(m->rough * normal(random)) *
           (uniform(random) < 0.1 ? 1.15 : 1);
}

/* The whole space of engine cpu, and the rows of the others, which are no match for it on a CPU where rows are many. */
bool space_make(struct space *s, const struct caps *caps, const clattn_problem *p, uint64_t seed)
{
    const struct engine *const cpu = engine_find("cpu", 3);
    const struct machine m = machine_make(&seed);
    struct tile_cursor row = { 0 };
    struct config c;
    size_t at = 0;
    int n = 0, rows = 0;
    while (tile_space_next(&c, caps, p, cpu, &at))
        n++;
    while (tile_config_next(&c, caps, p, NULL, &row))
        rows++;
    row = (struct tile_cursor){ 0 };
    *s = (struct space){ calloc((size_t)(n + rows), sizeof *s->at), 0 };
    if (!s->at)
        return false;
    for (at = 0; tile_space_next(&c, caps, p, cpu, &at);)
        s->at[s->n++] = (struct entry){ c, made_up(&m, &c, caps, p, &seed) };
    while (tile_config_next(&c, caps, p, NULL, &row))
        if (c.engine != cpu)
            s->at[s->n++] = (struct entry){ c, 10 * s->at[0].seconds * (1 + uniform(&seed)) };
    return true;
}
