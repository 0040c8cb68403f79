/* ceilings.c - what a device does at best, by all that was seen of it
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/figures/ceilings.h"

#include <math.h>

const uint64_t ceilings_bytes[CEILINGS_SIZES] = {
    UINT64_C(1) << 18, UINT64_C(1) << 20, UINT64_C(1) << 22, UINT64_C(1) << 24, UINT64_C(1) << 26, UINT64_C(1) << 28,
};

/* Shorter times are those of a clock that was set, or of a call that did nothing. */
#define LEAST_MS 1e-4
/* A cache is at least so many times as fast as memory; two probes of memory differ by less. */
#define CACHE_FACTOR 1.5

static int is_number(double x)
{
    return isfinite(x) && x > 0;
}

int ceilings_class(double bytes)
{
    int i = 0;
    while (i + 1 < CEILINGS_SIZES && bytes >= (double)ceilings_bytes[i + 1])
        i++;
    return i;
}

double ceilings_rate(double amount, double ms)
{
    return is_number(amount) && is_number(ms) && ms >= LEAST_MS ? amount / ms * 1e-6 : NAN;
}

void ceilings_raise(double *best, double rate)
{
    if (is_number(rate) && rate > *best)
        *best = rate;
}

double ceilings_of(const struct ceiling *c, enum ceilings_by *by)
{
    *by = !is_number(c->probed) ? BY_NOTHING : c->reached > c->probed ? BY_KERNEL : BY_PROBE;
    return *by == BY_NOTHING ? NAN : *by == BY_KERNEL ? c->reached : c->probed;
}

double ceilings_moved(const struct ceilings *c, int size, enum ceilings_by *by)
{
    struct ceiling most = { 0, 0 };
    for (int i = size; i < CEILINGS_SIZES; i++) {
        ceilings_raise(&most.probed, c->moved[i].probed);
        ceilings_raise(&most.reached, c->moved[i].reached);
    }
    for (int i = size; i >= 0 && most.probed == 0; i--)
        ceilings_raise(&most.probed, c->moved[i].probed);
    return ceilings_of(&most, by);
}

int ceilings_memory(const struct ceilings *c)
{
    for (int i = CEILINGS_SIZES - 1; i > 0; i--)
        if (is_number(c->moved[i].probed))
            return i;
    return c->moved[0].probed > 0 ? 0 : CEILINGS_SIZES - 1;
}

int ceilings_is_cached(const struct ceilings *c, int size)
{
    enum ceilings_by by;
    return ceilings_moved(c, size, &by) > CACHE_FACTOR * ceilings_moved(c, ceilings_memory(c), &by);
}

void ceilings_reach(struct ceilings *c, int type, double flops, double bytes, double ms)
{
    ceilings_raise(&c->peak[type].reached, ceilings_rate(flops, ms));
    ceilings_raise(&c->moved[ceilings_class(bytes)].reached, ceilings_rate(bytes, ms));
}

struct roof ceilings_roof(const struct ceilings *c, int type, double flops, double bytes)
{
    struct roof r = { .size = ceilings_class(bytes), .gflops = NAN };
    r.peak = ceilings_of(&c->peak[type], &r.peak_by);
    r.moved = ceilings_moved(c, r.size, &r.moved_by);
    r.cached = ceilings_is_cached(c, r.size);
    if (!is_number(flops) || !is_number(bytes) || r.peak_by == BY_NOTHING || r.moved_by == BY_NOTHING)
        return r;
    const double by_memory = r.moved * (flops / bytes);
    r.by_memory = by_memory < r.peak;
    r.gflops = r.by_memory ? by_memory : r.peak;
    return r;
}

/* Where ceilings_reach() has seen the time, only the last bit of a division is above 1. */
double ceilings_share(const struct roof *r, double flops, double ms)
{
    const double rate = ceilings_rate(flops, ms);
    return isnan(rate) || isnan(r->gflops) ? NAN : fmin(rate / r->gflops, 1);
}
