/* bad.c - the promised bound where it is hardest to keep: every engine, every type, one key to a million
 * SPDX-License-Identifier: Apache-2.0
 *
 * make check runs each engine in one type, with up to 1000 keys, engine cpu with up to 5000 for some kinds, of the
 * kinds those that share a kernel; one cache; and once 65536 keys. Engine simt is splits.t's, which has keys in one
 * part, too. CLATTN_PART=1: all pairs, and f32 with 65536 keys and 2^20. CLATTN_FULL=1: all. CLATTN_QUICK=1: two kinds
 * on the device's first choice. bad.t NAME ENGINE TYPE KEYS [CACHE]: one. */
#include "config.h"

#include "tests/lib/bad.h"
#include "tests/lib/each.h"
#include "tests/lib/emulations.h"
#include "tools/oracle/verify.h"

#include <math.h>

enum { EMULATED_MOST = 1000, LONG = 65536 };
static const int64_t counts[] = { 1, 64, 1000, 5000, LONG, 1 << 20 };
static const char *const types[] = { "f32", "f16", "bf16", "f64" };
static const char *const engines[] = { "cpu", "row", "simt", "naive" };
enum { N_COUNTS = sizeof counts / sizeof *counts, N_TYPES = sizeof types / sizeof *types,
       N_ENGINES = sizeof engines / sizeof *engines };

/* Behind those the emulations; NULL behind the last. */
static const char *engine_of(size_t e)
{
    return e < N_ENGINES ? engines[e] : emulation(e - N_ENGINES, "nw1,rt1,bk16,qreg0");
}

static int is_emulated(const char *engine)
{
    return engine && verify_narrow_p(engine);
}

/* Words of caches; of rows as short as those of LONG keys, no blocks of 32. */
static const char *const caches[] = { "", "page16 k:int8 v:int8z splits7", "k:int4:16z v:int4 splits2",
                                      "page48 k:int4 v:int8:1 splits64 o:f32", "k:q8_0 v:q4_0 splits3",
                                      "page5 k:q4_0 v:q8_0 o:bf16" };
enum { N_CACHES = sizeof caches / sizeof *caches, LONG_CACHES = 4 };

/* 1 right, 0 wrong, -1 not supported here. `cache` is one of the above, or other words. part: of its bound that the
 * farthest element is off, or NULL. */
static int run(const struct device *d, const struct bad *bad, const char *cache, const char *engine, const char *type,
               int64_t keys, double *part, char *why, size_t len)
{
    char text[256];
    const int width = bad->d ? bad->d : keys >= LONG ? 8 : 64;
    snprintf(text, sizeof text, "%s b1 h2/1 q2 k%lld d%d/%d %s %s", type, (long long)keys, width,
             keys >= LONG ? 8 : *cache ? 32 : 40, cache, bad->words);
    const clattn_workload c = each_case(text);
    struct trial t;
    clattn_plan plan = NULL;
    cl_int e = trial_make(&t, d->cl.context, &c, PADDED);
    e = e ? e : bad_fill(bad, &t, d->queue);
    e = e ? e : harness_plan(d, &t.c.problem, engine, &plan, why, len);
    const int unsupported = e == CLATTN_ERROR_NOT_SUPPORTED;
    e = e ? e : trial_run(&t, plan, d->queue);
    if (e && !*why)
        harness_words(d->handle, e, why, len);
    const int good = !e && trial_verify(&t, d->queue, why, len);
    if (part)
        *part = e ? INFINITY : trial_own_part(&t, why, len);
    trial_free(&t);
    return unsupported ? -1 : good;
}

/* 0 when this engine does not do this type here. */
static int test(const struct device *d, const struct bad *bad, const char *cache, const char *engine, const char *type,
                int64_t most)
{
    char why[1024] = "";
    int64_t keys = 0;
    int verdict = 1;
    for (size_t i = 0; i < N_COUNTS && verdict > 0 && counts[i] <= most; i++)
        verdict = run(d, bad, cache, engine, type, keys = counts[i], NULL, why, sizeof why);
    if (verdict < 0) {
        skip("%s, %s: %s", engine, type, why);
        return 0;
    }
    if (!ok(verdict, "%s, %s, %s%s%s: %s, 1 to %lld keys", d->name, engine ? engine : "default", type,
            *cache ? " " : "", cache, bad->name, (long long)keys))
        diag("%s\nagain: tests/kernel/bad.t '%s' '%s' %s %lld '%s'", why, bad->name, engine ? engine : "", type,
             (long long)keys, cache);
    return 1;
}

/* Engines and types take turns: every fifth pair is make check's, one of each engine that runs anywhere; and each of
 * four shares has another type of each engine. */
static unsigned index_of(size_t engine, size_t type)
{
    return (unsigned)(type + 9 * engine);
}

/* Kernels are what takes long: make check leaves out the kinds that need one of their own. */
static int has_kernel(const struct bad *bad, size_t engine)
{
    return bad->d <= 64 && !strcmp(bad->words, bads[0].words) && engine != 2;
}

static int is_due(const struct bad *bad, size_t engine, size_t type)
{
    const unsigned i = index_of(engine, type);
    return harness_turn(i, i % 5 == 0 && has_kernel(bad, engine));
}

/* Emulated matrix units are slow, and widths that are asked for are not those of long rows. make check has the sums of
 * one sign, which the first kinds are, over several segments. */
enum { SUMS = 4 };
static int64_t most_keys(const struct bad *bad, const char *engine, size_t e, size_t type)
{
    const int long_too = harness_flag("CLATTN_FULL") || (type == 0 && harness_shares(index_of(e, 0)));
    if (!harness_more() && (e > 0 || bad >= bads + SUMS))
        return 1000;
    return is_emulated(engine) ? EMULATED_MOST : long_too && !bad->d ? counts[N_COUNTS - 1] : 5000;
}

static void test_pair(const struct device *d, size_t e, size_t t)
{
    int able = 1;
    for (const struct bad *bad = bads; bad->name && able; bad++) {
        const int64_t most = most_keys(bad, engine_of(e), e, t);
        if (bad_suits(bad, types[t], "") && (is_due(bad, e, t) || most > 5000))
            able = test(d, bad, "", engine_of(e), types[t], most);
    }
}

/* On matrix units K and V are of the type of Q. Nothing is quantised in f64. */
static int takes_caches(size_t e, size_t t)
{
    return !is_emulated(engine_of(e)) && strcmp(types[t], "f64") != 0;
}

/* The caches take turns. make check has that of the first engine, without what needs a kernel more: widths that are
 * asked for, and sinks. */
static void test_caches(const struct device *d, size_t e, size_t t)
{
    const unsigned i = index_of(e, t), turn = (unsigned)(e + t) % (N_CACHES - 1);
    const char *const cache = caches[1 + turn];
    for (const struct bad *bad = bads; bad->name && takes_caches(e, t); bad++) {
        const int plain = !bad->d && !strcmp(bad->words, bads[0].words);
        const int64_t most = !harness_more()           ? 1000
                             : 1 + turn < LONG_CACHES ? most_keys(bad, engine_of(e), e, t)
                                                      : 5000;
        if (bad_suits(bad, types[t], cache) && harness_turn(i, i % 5 == 0 && plain && !e))
            test(d, bad, cache, engine_of(e), types[t], most);
    }
}

/* What rescales the total of all segments is rounded once in each: short tiles have the most. */
static void test_short_tiles(const struct device *d)
{
    for (const struct bad *bad = bads; bad->name; bad++)
        if (!strcmp(bad->name, "evenly rising scores") && harness_turn(0, 1))
            test(d, bad, "", "naive wg8,bk8", "f32", harness_more() ? counts[N_COUNTS - 1] : LONG);
}

static void test_device(const struct device *d)
{
    for (size_t e = 0; engine_of(e); e++)
        for (size_t t = 0; t < N_TYPES; t++) {
            test_pair(d, e, t);
            test_caches(d, e, t);
        }
    test_short_tiles(d);
}

static void test_quick(const struct device *d)
{
    test(d, &bads[0], "", NULL, "f32", 64);
    test(d, &bads[1], caches[1], NULL, "f32", 64);
}

/* One, as a failing line prints it. */
static void test_one(const struct device *d, int argc, char *const *argv)
{
    char why[1024] = "";
    for (const struct bad *bad = bads; bad->name; bad++)
        if (!strcmp(bad->name, argv[1])) {
            const int64_t keys = strtoll(argv[4], NULL, 10);
            const char *const engine = *argv[2] ? argv[2] : NULL;
            double part = 0;
            const int verdict = run(d, bad, argc > 5 ? argv[5] : "", engine, argv[3], keys, &part, why, sizeof why);
            ok(verdict == 1, "%s: %s: %s (%.3f of the bound)", d->name, bad->name, why, part);
        }
}

int main(int argc, char **argv)
{
    const struct device *devices;
    const char *none;
    if (argc != 5 && argc != 6)
        return each_device(harness_flag("CLATTN_QUICK") ? test_quick : test_device);
    const unsigned n = harness_open(&devices, &none);
    for (unsigned i = 0; i < n; i++)
        test_one(&devices[i], argc, argv);
    harness_close();
    return done_testing();
}
