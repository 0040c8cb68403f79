/* ceilings.c - ceilings of a device, by numbers as a busy machine and broken clocks give them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "bench/figures/ceilings.h"

#include <math.h>
#include <stdint.h>

static const double hostile[] = { 0, -0.0, -1, -1e300, 1e-320, 1e300, NAN, INFINITY, -INFINITY };
enum { HOSTILE = sizeof hostile / sizeof *hostile, F32 = 0, F16 = 1 };

static double random_of(uint64_t *state) /* 0 to 1 */
{
    *state = *state * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (double)(*state >> 11) / 9007199254740992.0;
}

static void test_rates(void)
{
    int bad = 0;
    ok(ceilings_rate(3e9, 1000) == 3, "3e9 in a second are 3 G");
    ok(fabs(ceilings_rate(1e6, 1e-4) - 1e4) < 1e-6 && isnan(ceilings_rate(1e6, 0.99e-4)),
       "shorter than 100 ns is no time");
    for (int i = 0; i < HOSTILE; i++) {
        bad += !isnan(ceilings_rate(hostile[i], 1)) != (hostile[i] > 0 && isfinite(hostile[i]));
        bad += !isnan(ceilings_rate(1, hostile[i])) != (hostile[i] == 1e300);
    }
    is_int(bad, 0, "of what is no number nothing follows");
}

static void test_raise(void)
{
    double best = 5;
    int fell = 0;
    for (int i = 0; i < HOSTILE; i++)
        if (hostile[i] != 1e300) {
            ceilings_raise(&best, hostile[i]);
            fell += best != 5;
        }
    is_int(fell, 0, "zeros, NaN, infinities and what is negative change no ceiling");
    ceilings_raise(&best, 4.9);
    ok(best == 5, "nor does less");
    ceilings_raise(&best, 5.1);
    ok(best == 5.1, "more does");
}

static void test_classes(void)
{
    is_int(ceilings_class(0), 0, "class of no bytes");
    is_int(ceilings_class(NAN), 0, "class of NaN");
    is_int(ceilings_class((double)ceilings_bytes[1] - 1), 0, "a byte less than a size");
    is_int(ceilings_class((double)ceilings_bytes[1]), 1, "a size");
    is_int(ceilings_class(1e300), CEILINGS_SIZES - 1, "class of more than there is");
    int steps = 0;
    for (int i = 1; i < CEILINGS_SIZES; i++)
        steps += ceilings_bytes[i] == 4 * ceilings_bytes[i - 1];
    is_int(steps, CEILINGS_SIZES - 1, "each size is four times the one before");
}

static struct ceilings probed(void)
{
    const struct ceilings c = { { { 100, 0 }, { 100, 0 }, { 0, 0 }, { 50, 0 } },
                                { { 60, 0 }, { 80, 0 }, { 0, 0 }, { 20, 0 }, { 14, 0 }, { 10, 0 } } };
    return c;
}

static void test_moved(void)
{
    struct ceilings c = probed();
    enum ceilings_by by;
    ok(ceilings_moved(&c, 0, &by) == 80 && by == BY_PROBE, "a small working set is read as fast as a larger one");
    ok(ceilings_moved(&c, 2, &by) == 20, "one that was not probed has the rate of the next larger one");
    ok(ceilings_moved(&c, 5, &by) == 10, "the largest has its own");
    ok(ceilings_is_cached(&c, 3) && !ceilings_is_cached(&c, 4) && !ceilings_is_cached(&c, 5),
       "what is well above memory is a cache");
    is_int(ceilings_memory(&c), 5, "the largest that was probed is memory");
    c.moved[3].probed = c.moved[4].probed = c.moved[5].probed = 0;
    is_int(ceilings_memory(&c), 1, "which may be a smaller one");
    ok(!ceilings_is_cached(&c, 1) && !ceilings_is_cached(&c, 0), "and nothing is known of caches then");
    ok(ceilings_moved(&c, 4, &by) == 80 && by == BY_PROBE, "without a larger one, the next smaller one counts");
    c.moved[4].reached = 90;
    ok(ceilings_moved(&c, 0, &by) == 90 && by == BY_KERNEL, "what a kernel reached holds for smaller sets");
    ok(ceilings_moved(&c, 5, &by) == 80 && by == BY_PROBE, "and not for larger ones");
    c.moved[1].probed = 0;
    ok(ceilings_moved(&c, 5, &by) == 60, "or the first");
    for (int i = 0; i < CEILINGS_SIZES; i++)
        c.moved[i].probed = 0;
    is_int(ceilings_memory(&c), CEILINGS_SIZES - 1, "without a probe the last one is memory");
    ok(isnan(ceilings_moved(&c, 4, &by)) && by == BY_NOTHING, "without a probe nothing is known");
}

static void test_roof(void)
{
    struct ceilings c = probed();
    struct roof r = ceilings_roof(&c, F32, 1e9, 1e6);
    ok(r.gflops == 100 && !r.by_memory && r.peak_by == BY_PROBE, "much work on few bytes: multiply-adds");
    ok(ceilings_share(&r, 1e9, 20) == 0.5, "half of it");
    r = ceilings_roof(&c, F32, 3e8, 3e8);
    ok(r.gflops == 10 && r.by_memory && r.size == 5 && !r.cached, "little work on many bytes: memory");
    ok(fabs(ceilings_share(&r, 3e8, 60) - 0.5) < 1e-12, "half of it");
    r = ceilings_roof(&c, F32, 1e6, 2e6);
    ok(r.gflops == 40 && r.by_memory && r.size == 1 && r.cached, "the same in a cache: its bandwidth");
    ok(isnan(ceilings_roof(&c, 2, 1e9, 1e6).gflops), "no peak, no roof");
    int bad = 0;
    for (int i = 0; i < HOSTILE; i++) {
        const double x = hostile[i];
        bad += x != 1e300 && x != 1e-320 &&
               (!isnan(ceilings_roof(&c, F32, x, 1e6).gflops) || !isnan(ceilings_roof(&c, F32, 1e6, x).gflops));
        r = ceilings_roof(&c, F32, 1e9, 1e6);
        const double share = ceilings_share(&r, 1e9, x);
        bad += !(isnan(share) || (share >= 0 && share <= 1));
    }
    is_int(bad, 0, "of hostile numbers no roof, and no share above 1");
}

static void test_reached(void)
{
    struct ceilings c = probed();
    for (int i = 0; i < HOSTILE; i++) {
        ceilings_reach(&c, F32, 1e9, 1e6, hostile[i] == 1e300 ? NAN : hostile[i]);
        ceilings_reach(&c, F32, hostile[i] == 1e300 ? NAN : hostile[i], NAN, 1);
    }
    ok(c.peak[F32].reached < 1 && c.moved[0].reached < 1, "hostile times raise nothing");
    ceilings_reach(&c, F16, 1e9, 1e6, 5);
    struct roof r = ceilings_roof(&c, F16, 1e9, 1e6);
    ok(r.peak == 200 && r.peak_by == BY_KERNEL && ceilings_share(&r, 1e9, 5) == 1,
       "a kernel above the probe is the roof");
    r = ceilings_roof(&c, F32, 1e9, 1e6);
    ok(r.peak == 100 && r.peak_by == BY_PROBE, "of its own type only");
    ok(fabs(c.moved[0].reached - 0.2) < 1e-12 && c.moved[1].reached == 0, "its bytes count in their class");
    ceilings_reach(&c, F16, 1, 5e6, 1);
    ok(fabs(c.moved[2].reached - 5) < 1e-12 && c.moved[0].reached < 1, "those of a larger problem in another");
}

/* A machine with neighbours: each measurement takes up to 20 times as long as it would, the first ones always. Its
 * clock fails now and then. */
static void test_busy(uint64_t seed)
{
    const double peak = 100, moved[CEILINGS_SIZES] = { 90, 80, 60, 30, 12, 10 };
    struct ceilings c = { { { 0, 0 } }, { { 0, 0 } } };
    uint64_t state = seed;
    int above = 0, known = 0, fell = 0;
    double before = 0;
    for (int n = 0; n < 2000; n++) {
        const double slow = n < 20 ? 20 : 1 + 19 * random_of(&state) * random_of(&state);
        const int size = (int)(random_of(&state) * CEILINGS_SIZES), broken = random_of(&state) < 0.05;
        const double bytes = (double)ceilings_bytes[size] * (1 + 2 * random_of(&state)),
                     flops = bytes * pow(2, 12 * random_of(&state) - 3);
        const double best = fmax(flops / peak, bytes / moved[size]) * 1e-6;
        const double ms = broken ? hostile[n % HOSTILE] : best * (1 + 3 * random_of(&state)) * (n % 3 ? 1 : slow);
        ceilings_raise(&c.peak[F32].probed, ceilings_rate(peak * 1e6, slow));
        ceilings_raise(&c.moved[size].probed, ceilings_rate(moved[size] * 1e6, broken ? NAN : slow * 1.3));
        if (!broken)
            ceilings_reach(&c, F32, flops, bytes, ms);
        const struct roof r = ceilings_roof(&c, F32, flops, bytes);
        const double share = ceilings_share(&r, flops, broken ? best : ms);
        above += share > 1;
        known += share > 0;
        fell += ceilings_of(&c.peak[F32], &(enum ceilings_by){ 0 }) < before;
        before = ceilings_of(&c.peak[F32], &(enum ceilings_by){ 0 });
    }
    ok(!above && known > 1900, "busy machine %d: %d of 2000 shares known, %d above 1", (int)seed, known, above);
    is_int(fell, 0, "and the ceiling never falls");
}

int main(void)
{
    test_rates();
    test_raise();
    test_classes();
    test_moved();
    test_roof();
    test_reached();
    for (uint64_t seed = 1; seed <= 4; seed++)
        test_busy(seed);
    return done_testing();
}
