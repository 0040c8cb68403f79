/* paged.c - K and V on pages: every engine and storage, every page size, tables of all kinds
 * SPDX-License-Identifier: Apache-2.0
 *
 * A plan serves every page size, so each combination is built once and called often. make check runs engines cpu, row
 * and naive, whose kernels are short, on some of them, and two problems on the device's own matrix units; splits.t has
 * pages on emulated ones; CLATTN_PART=1: all engines on all. Unused pages, rows past the lengths and entries past them
 * are NaN and numbers far outside. */
#include "config.h"

#include "tests/lib/each.h"
#include "tests/lib/emulations.h"
#include "tools/oracle/verify.h"

/* For Oclgrind, which takes ten seconds for a case: of each engine and problem one whose table has entries that name no
 * page. */
static int quick(void)
{
    return harness_flag("CLATTN_QUICK");
}

static int is_emulated(const char *engine)
{
    return verify_narrow_p(engine);
}

/* Kernels that take a second and more to compile. */
static int is_long(const char *engine)
{
    return is_emulated(engine) || !strcmp(engine, "simt");
}

/* Varlen sequences that are padded are of all rows, none, one and some. */
static void check(const struct device *d, const char *engine, clattn_plan plan, const clattn_workload *c, int padded,
                  const struct caching *how, const char *text)
{
    char why[512] = "";
    struct trial t;
    if (trial_make_caches(&t, d->cl.context, c, padded ? UNEVEN : PLAIN, how))
        bail("%s: no buffers", text);
    ok(harness_run(d, &t, plan, why, sizeof why), "%s, %s, pages of %d%s%s%s: %s %s", d->name, engine, (int)how->page,
       padded ? ", padded" : "", how->shared ? ", shared" : "", how->bad ? ", some missing" : "", text, why);
    trial_free(&t);
}

/* Sequences of different lengths, one that is empty, one beyond the capacity. */
static clattn_workload read_case(const char *text)
{
    static const int32_t lengths[] = { 37, 0, 61, 1000000 };
    clattn_workload c = each_case(text);
    c.seed = 11;
    if (quick())
        each_shorten(&c);
    memcpy(c.kv_len, lengths, sizeof lengths);
    return c;
}

/* ---- What is run ---- */

/* Every page size on one engine; n: which it is. */
static void test_sizes(const struct device *d, const char *engine, unsigned n, const char *text)
{
    clattn_workload c = read_case(text);
    const clattn_plan plan = each_plan(d, engine, &c.problem, text);
    for (int32_t page = 1; page <= 71 && plan; page++) {
        const int last = page == 71; /* one of 1000 has more than all keys */
        const struct caching how = {
            .page = last ? 1000 : page, .shared = page % 4 == 1, .bad = page % 5 == 2
        };
        const unsigned turn = (unsigned)how.page + n;
        c.seed = (uint64_t)page;
        if (quick() ? page == 7 : harness_turn(turn, last || turn % 4 == 0))
            check(d, engine, plan, &c, page % 3 == 0, &how, text);
    }
}

/* Tables of every kind, of some page sizes. */
static void test_tables(const struct device *d, const char *engine, unsigned n, const char *text)
{
    static const int32_t pages[] = { 1, 3, 8, 16, 50 };
    clattn_workload c = read_case(text);
    if (strstr(text, "varlen")) { /* of Q alone: pages take the place of K's */
        c.problem.flags = (c.problem.flags & ~(uint32_t)CLATTN_CU_K) | CLATTN_CU_Q | CLATTN_KV_LEN;
        c.problem.page = 8;
    }
    const clattn_plan plan = each_plan(d, engine, &c.problem, text);
    for (unsigned i = 0; i < 10 && plan; i++) {
        const struct caching how = { .page = pages[i % 5], .shared = i >> 1 & 1, .bad = i >> 2 & 1 };
        if (quick() ? i == 4 + n % 4 : harness_more() || (i + n) % 2 == 0)
            check(d, engine, plan, &c, i & 1, &how, text);
    }
}

/* The device's own matrix units, where it has some. */
static void test_units(const struct device *d, const char *f16, const char *bf16)
{
    char real[32];
    const char *engine = harness_real(d, CLATTN_F16, "mma_emu", real, sizeof real);
    if (engine == real && each_is_chosen(engine))
        test_sizes(d, engine, 0, f16);
    engine = harness_real(d, CLATTN_BF16, "mma_emu", real, sizeof real);
    if (engine == real && each_is_chosen(engine))
        test_tables(d, engine, 1, bf16);
}

static void test_device(const struct device *d)
{
    static const char *const texts[] = {
        "f32 b4 h4/2 q3 k64 d40 page16 kvlen:9,9,9,9 lse", "f32 b4 h2 q5 k64 d20/33 page16 kvlen:9,9,9,9 causal lse",
        "f16 b4 h2/1 q3 k64 d64 page16 kvlen:9,9,9,9 lse", "bf16 b4 h2/1 q3 k64 d72/40 page16 kvlen:9,9,9,9 causal lse",
        "f32 b4 h2/1 q2 k64 d40 k:f16 page16 kvlen:9,9,9,9 lse", "f32 b4 h2/1 q2 k64 d9 v:bf16 page4 kvlen:9,9,9,9 lse",
        "f16 b3 h2/1 q35 k80 d64 page16 softcap5 causal lse", "f64 b4 h2/1 q3 k64 d20 page16 kvlen:9,9,9,9 lse",
        "f32 b4 h2/1 q3 k64 d12 causal varlen lse", "f32 b2 h1 q3 k0 d8 page4 lse", "f32 b0 h1 q3 k5 d8 page4 lse",
    };
    enum { TEXTS = sizeof texts / sizeof *texts };
    harness_unoptimised();
    const char *engine;
    for (unsigned e = 0; (engine = e < 4 ? harness_engine(e) : emulation(e - 4, "")); e++) {
        if (!each_is_chosen(engine) || (is_long(engine) && !quick() && !harness_more()))
            continue;
        test_sizes(d, engine, e, is_emulated(engine) ? texts[2] : texts[0]);
        for (unsigned i = 1; i < TEXTS; i++)
            if (harness_turn(i + e, quick() ? (i + e) % 5 == 0 : i < 8 && (i + e) % 6 == 0) &&
                (!is_emulated(engine) || strstr(texts[i], "f16")))
                test_tables(d, engine, e, texts[i]);
    }
    test_units(d, texts[2], texts[3]);
}

int main(void)
{
    return each_device(test_device);
}
