/* split.c - into how many parts a call splits its keys, by the rule, and who merges them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cl/passes/args.h"
#include "cl/passes/parts.h"
#include "src/engine/pass.h"
#include "src/engine/split.h"
#include "src/engine/target.h"
#include "src/problem/workload.h"
#include "tests/lib/tap.h"

/* Engine naive asks for 1 wave, simt for 4. */
static const struct {
    const char *problem, *config;
    int units, parts, least;
    const char *why;
} rules[] = {
    { "f32 b1 h1 q1 k8192 d8", "naive wg32,bk16", 2, 2, 256, "one work-group for two units" },
    { "f32 b1 h1 q1 k8192 d8", "naive wg32,bk16", 7, 7, 256, "for seven" },
    { "f32 b1 h1 q1 k8192 d8", "naive wg32,bk16", 1, 1, 256, "for one" },
    { "f32 b1 h1 q1 k8192 d8", "naive wg32,bk16 waves3", 7, 21, 256, "three waves of it" },
    { "f32 b1 h1 q1 k65536 d8", "naive wg32,bk16", 1000, 64, 256, "never more than 64" },
    { "f32 b1 h1 q1 k8192 d8", "naive wg32,bk16", 1000, 32, 256, "256 keys to a part" },
    { "f32 b1 h1 q1 k8191 d8", "naive wg32,bk16", 1000, 31, 256, "at least" },
    { "f32 b1 h1 q1 k8192 d8", "simt tx16,ty4,tm4,tn8,ch8,cv4,qres0", 1000, 16, 512, "and four tiles" },
    { "f32 b1 h1 q1 k511 d8", "naive wg32,bk16", 1000, 1, 256, "too few keys for two parts" },
    { "f32 b2 h3 q1 k8192 d8", "naive wg32,bk16", 12, 2, 256, "six work-groups for twelve units" },
    { "f32 b2 h3 q1 k8192 d8", "naive wg32,bk16", 13, 3, 256, "for thirteen" },
    { "f32 b2 h3 q33 k8192 d8", "naive wg32,bk16", 13, 2, 256, "two blocks of rows each" },
    { "f32 b1 h8/2 q3 k8192 d8", "naive wg32,bk16", 10, 5, 256, "heads that are packed" },
    { "f32 b1 h8/2 q9 k8192 d8", "naive wg32,bk16", 10, 3, 256, "that are more than a block of rows" },
    { "f32 b4 h1 q1 k8192 d8 kvlen:1,1,1,9", "naive wg32,bk16", 8, 8, 256, "one entry may have all the keys" },
    { "f32 b4 h2 q1 k8192 d8 varlen", "naive wg32,bk16", 8, 4, 256, "or one sequence" },
    { "f32 b4 h2 q1 k16384 d8", "row", 8, 2, 256, "two waves of a CPU for even entries" },
    { "f32 b4 h2 q1 k16384 d8 kvlen:1,1,1,9", "row", 8, 16, 256, "twice as many where one may have all the keys" },
    { "f32 b4 h2 q1 k16384 d8 varlen", "row", 8, 16, 256, "or one sequence" },
    { "f32 b1 h2 q1 k16384 d8 kvlen:9", "row", 8, 8, 256, "but not where there is one entry" },
    { "f32 b4 h2 q1 k16384 d8 varlen", "cpu", 8, 16, 256, "engine cpu as well" },
    { "f32 b4 h2 q1 k65536 d8 varlen", "simt", 8, 16, 256, "a GPU deals work-groups out one by one" },
    { "f32 b1 h1 q1 k8192 d8 window600,100", "naive wg32,bk16", 8, 2, 256, "a window has 700 keys, 31 of other rows" },
    { "f32 b1 h1 q1 k8192 d8 window700,50", "naive wg32,bk16", 8, 3, 256, "with which there are enough for three" },
    { "f32 b1 h1 q1 k8192 d8 window600,-1", "naive wg32,bk16", 8, 8, 256, "one that is open may have all" },
    { "f32 b1 h1 q1 k8192 d8 causal window600,-1", "naive wg32,bk16", 8, 2, 256, "unless a diagonal ends it" },
    { "f32 b0 h1 q1 k8192 d8", "naive wg32,bk16", 8, 1, 256, "no entry" },
    { "f32 b0 h1 q1 k8192 d8 varlen", "naive wg32,bk16", 8, 1, 256, "no sequence" },
    { "f32 b1 h1 q1 k8192 d8 invariant", "naive wg32,bk16", 1, 8, 1024, "1024 keys each, whoever needs them" },
    { "f32 b1 h1 q1 k8193 d8 invariant", "naive wg32,bk16", 1000, 9, 1024, "however large the device" },
    { "f32 b7 h8/2 q999 k1025 d8 invariant", "cpu", 2, 2, 1024, "however many rows" },
    { "f32 b4 h2 q1 k1024 d8 varlen invariant", "row", 8, 1, 1024, "or sequences" },
    { "f32 b1 h1 q1 k32768 d8 invariant", "naive wg32,bk16", 8, 32, 1024, "up to 32 parts" },
    { "f32 b1 h1 q1 k1073741824 d8 invariant", "naive wg32,bk16", 8, 32, 1024, "which grow from there on" },
    { "f32 b1 h1 q1 k0 d8 invariant", "naive wg32,bk16", 8, 1, 1024, "no key either" },
    { "f32 b1 h1 q0 k8192 d8", "naive wg32,bk16", 8, 1, 256, "no row" },
    { "f32 b1 h1 q1 k0 d8", "naive wg32,bk16", 8, 1, 256, "no key" },
    { "f32 b1 h1 q1 k1073741824 d8", "simt tx4,ty4,tm4,tn4,ch4,cv4,qres0", 16, 64, 256, "the most keys there may be" },
    { "f32 b1073741824 h1 q1073741824 k8192 d8", "naive wg32,bk16", 1000, 1, 256, "more rows than there are numbers" },
};

/* A problem and a configuration of it, on a device that nothing is known of but its compute units. */
static void read_case(struct config *config, struct caps *caps, clattn_problem *p, const char *problem,
                      const char *text, int units)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    struct why why = { "" };
    caps_generic(caps);
    caps->compute_units = (unsigned)units;
    if (workload_parse(&c, problem, &why) || problem_read(p, &c.problem, &why) ||
        tile_config_read(config, text, caps, p, &why))
        bail("%s: %s", problem, why.text);
}

/* Those of a call of the problem's own sizes. */
static struct split parts_of(const struct config *config, const struct caps *caps, const clattn_problem *p)
{
    const struct split_rule rule = split_rule(p, caps, config);
    return split_by_rule(&rule, &p->sizes, split_heads(&rule.rows, &p->sizes));
}

static void test_rules(void)
{
    for (size_t i = 0; i < sizeof rules / sizeof *rules; i++) {
        clattn_problem p;
        struct config config;
        struct caps caps;
        read_case(&config, &caps, &p, rules[i].problem, rules[i].config, rules[i].units);
        const struct split s = parts_of(&config, &caps, &p);
        if (!ok(s.parts == rules[i].parts && s.least == rules[i].least, "%s: %d parts of at least %d: %s", rules[i].why,
                rules[i].parts, rules[i].least, rules[i].problem))
            diag("got %d of %d", s.parts, s.least);
    }
}

/* All keys are in some part, no part is longer than it may be, and each is whole tiles. */
static void test_keys(void)
{
    static const int leasts[] = { 1, 16, 256, 1000 }, tiles[] = { 1, 16, 48, 64 };
    int short_ones = 0, ragged = 0, small = 0, more = 0;
    for (int64_t keys = 0; keys < 2000; keys += 7)
        for (int parts = 1; parts <= 1024; parts = parts * 3 / 2 + 1)
            for (int i = 0; i < 16; i++) {
                const int least = leasts[i / 4], tile = tiles[i % 4];
                const int64_t n = split_keys(keys, parts, least, tile);
                short_ones += n * parts < keys;
                ragged += parts > 1 && n % tile;
                small += parts > 1 && n < least;
                more += parts > 1 && n >= least + tile && (n - tile) * parts >= keys;
            }
    ok(!short_ones && !ragged && !small && !more,
       "parts have all keys, in whole tiles, as few as do: %d, %d, %d, %d are too short, ragged, below the least, "
       "longer than they must be",
       short_ones, ragged, small, more);
    is_int(split_keys(77, 1, 1, 64), 77, "one part is all there is");
    is_int(split_keys(1 << 30, 1024, 1, 64), 1 << 20, "the most keys in the most parts");
}

/* Configurations that differ in waves alone, each with another number of parts: so many beside its own. */
static void test_waves(const char *problem, const char *config, int want)
{
    clattn_problem p;
    struct config from, x;
    struct caps caps;
    int seen[9], n = 1, same = 0, engine = 0;
    read_case(&from, &caps, &p, problem, config, 4);
    seen[0] = parts_of(&from, &caps, &p).parts;
    for (size_t i = 0; i < 8 && split_waves_at(&x, &caps, &p, &from, i); i++) {
        seen[n++] = parts_of(&x, &caps, &p).parts;
        engine += x.engine != from.engine || memcmp(&x.tile, &from.tile, sizeof x.tile);
        for (int j = 0; j < n - 1; j++)
            same += seen[j] == seen[n - 1];
    }
    ok(n - 1 == want && !same && !engine, "%d other numbers of waves, each with parts of its own", n - 1);
    p.splits = 3;
    ok(!split_waves_at(&x, &caps, &p, &from, 0), "none where the problem says how many parts");
}

/* Whatever nk a call has, an entry with `keys` of them has parts of the same length. */
static void test_invariant(void)
{
    enum { LEAST = 1024, MOST = 32, TILE = 48 };
    int differ = 0;
    for (int64_t keys = 1; keys < 200000; keys = keys * 5 / 4 + 1) {
        const int64_t alone = split_keys(keys, MOST, LEAST, TILE);
        for (int64_t nk = keys; nk < 400000; nk = nk * 3 / 2 + 1) {
            const int64_t parts = (nk + LEAST - 1) / LEAST < MOST ? (nk + LEAST - 1) / LEAST : MOST;
            const int64_t n = split_keys(keys, (int)parts, LEAST, TILE);
            differ += (n < keys ? n : keys) != (alone < keys ? alone : keys);
        }
    }
    ok(!differ, "parts follow from an entry's own keys: %d do not", differ);
}

/* Work-items of pass merge: as many as a group may have, a power of two, eight times 32 at most, 32 of them side by
 * side on columns; one item that goes along a row by vectors where groups have one. */
static void test_merging(void)
{
    static const struct {
        const char *problem, *config;
        size_t max_group;
        int items, column_items, chunks;
    } rows[] = {
        { "f32 b1 h1 q1 k1024 d33", "naive wg32,bk16", 1024, 256, 32, 2 },
        { "f32 b1 h1 q1 k1024 d33", "naive wg32,bk16", 256, 256, 32, 2 },
        { "f32 b1 h1 q1 k1024 d64", "naive wg32,bk16", 255, 128, 32, 2 },
        { "f32 b1 h1 q1 k1024 d33", "naive wg32,bk16", 33, 32, 32, 2 },
        { "f32 b1 h1 q1 k1024 d32", "naive wg16,bk16", 16, 16, 16, 2 },
        { "f32 b1 h1 q1 k1024 d64", "row w4,nr2,rk2,rd2,bk16", 256, 1, 1, 4 },
        { "f32 b1 h1 q1 k1024 d65", "row w4,nr2,rk2,rd2,bk16", 256, 1, 1, 5 },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        clattn_problem p;
        struct config config;
        struct caps caps;
        read_case(&config, &caps, &p, rows[i].problem, rows[i].config, 1);
        caps.max_group = rows[i].max_group;
        const struct merge_shape s = target_make(PASS_MERGE, &p, &caps, &config).shape.merge;
        ok(s.items == rows[i].items && s.column_items == rows[i].column_items && s.chunks == rows[i].chunks,
           "%s, %s, groups of %zu: %d items merge, %d on columns, in %d chunks", rows[i].problem,
           rows[i].config, rows[i].max_group, s.items, s.column_items, s.chunks);
    }
}

/* Items of pass merge that share the parts of a row. */
static void test_lanes(void)
{
    static const int rows[][3] = { /* parts, the most lanes, how many there are */
        { 0, 8, 1 }, { 1, 8, 1 }, { 3, 8, 1 }, { 4, 8, 2 }, { 7, 8, 2 }, { 8, 8, 4 },
        { 15, 8, 4 }, { 16, 8, 8 }, { 1000, 8, 8 }, { 1000, 2, 2 }, { 1000, 1, 1 }
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        is_int(cla_lanes(rows[i][0], rows[i][1]), rows[i][2], "of %d parts, by %d lanes at most", rows[i][0],
               rows[i][1]);
}

int main(void)
{
    test_rules();
    test_lanes();
    test_merging();
    test_invariant();
    test_keys();
    test_waves("f32 b1 h2 q1 k16384 d8", "row", 4);
    test_waves("f32 b1 h2 q1 k1024 d8", "naive wg32,bk16 waves1", 1); /* never more than four parts */
    return done_testing();
}
