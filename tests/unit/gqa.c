/* gqa.c - when heads that share keys are packed into one tile
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/engine/split.h"
#include "tests/lib/tap.h"

/* Tiles of `rows` rows, and what a call of such sizes packs. */
static const struct {
    int64_t h, hk, nq;
    int rows, want;
    const char *why;
} calls[] = {
    { 8, 2, 1, 64, 4, "one query each" },
    { 8, 1, 1, 4, 8, "all heads, and more tiles than one" },
    { 8, 8, 1, 64, 1, "heads of their own" },
    { 8, 4, 64, 64, 1, "full tiles" },
    { 8, 4, 65, 64, 2, "a second tile that is nearly empty: 3 for 4" },
    { 4, 2, 577, 64, 1, "19 tiles for 20" },
    { 10, 1, 9, 10, 1, "9 tiles for 10 are not enough" },
    { 10, 1, 80, 100, 10, "8 tiles for 10 are" },
    { 64, 1, 1024, 4096, 64, "as many rows as may be" },
    { 64, 1, 1025, 4096, 1, "one more" },
    { 1 << 20, 1, 1, 64, 1, "more heads than that" },
    { INT64_C(1) << 31, 1, ROWS_MAX, 64, 1, "more than fits" },
    { 8, 2, 0, 64, 1, "no query" },
    { 0, 0, 5, 64, 1, "no head" },
};

/* What keeps a kernel from packing at all. */
static const struct {
    uint32_t flags;
    bool bias, mods, want;
    const char *what;
} problems[] = {
    { 0, false, false, true, "nothing" },
    { CLATTN_SINKS, false, false, true, "sinks" },
    { CLATTN_WINDOW, false, false, true, "a window" },
    { CLATTN_CU_Q | CLATTN_CU_K, false, false, true, "varlen sequences" },
    { CLATTN_Q_LEN | CLATTN_KV_LEN | CLATTN_KV_START, false, false, true, "lengths" },
    { CLATTN_ALIBI, false, false, false, "ALiBi" },
    { CLATTN_MASK, false, false, false, "a mask" },
    { CLATTN_BLOCK_MAP, false, false, false, "a block map" },
    { 0, true, false, false, "a bias" },
    { 0, false, true, false, "a score_mod" },
};

/* What kernels do in float, for the rows of a tile behind the last one too. */
static void test_division(void)
{
    enum { TILE = 4096 };
    long wrong = 0;
    for (int pack = 2; pack <= SPLIT_ROWS_MAX; pack++) {
        const float per_packed_head = 1 / (float)pack;
        for (int row = pack; row <= SPLIT_ROWS_MAX + TILE; row += pack) {
            wrong += (int)(((float)row + 0.5f) * per_packed_head) != row / pack;
            wrong += (int)(((float)(row - 1) + 0.5f) * per_packed_head) != row / pack - 1;
        }
    }
    ok(!wrong, "every row finds its query: %ld do not", wrong);
}

int main(void)
{
    test_division();
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        const struct rows rows = { calls[i].rows, true }, fixed = { calls[i].rows, false };
        const clattn_sizes s = { 1, calls[i].h, calls[i].hk, calls[i].nq, 100, 0, 0, 0 };
        const int got = split_heads(&rows, &s);
        ok(got == calls[i].want && split_heads(&fixed, &s) == 1, "h%lld/%lld q%lld, tiles of %d: %d, %s",
           (long long)s.h, (long long)s.hk, (long long)s.nq, rows.per_group, got, calls[i].why);
    }
    for (size_t i = 0; i < sizeof problems / sizeof *problems; i++) {
        clattn_problem p = CLATTN_PROBLEM_INIT;
        p.sizes = (clattn_sizes){ 1, 8, 2, 5, 100, 0, 0, 0 };
        p.flags = problems[i].flags;
        p.bias_type = problems[i].bias ? CLATTN_F32 : 0;
        p.n_mods = problems[i].mods;
        const struct rows rows = split_rows(&p, 64);
        const int64_t shared = split_shared_rows(&p);
        ok(shared == (problems[i].want ? 20 : 5), "with %s: %lld rows share keys", problems[i].what, (long long)shared);
        p.sizes = (clattn_sizes){ 0, 0, 0, 0, 0, 0, 0, 0 };
        ok(rows.per_group == 64 && rows.packs_heads == problems[i].want && !split_rows(&p, 64).packs_heads &&
               !split_shared_rows(&p),
           "with %s: %s, of unknown sizes: apart", problems[i].what, rows.packs_heads ? "packed" : "apart");
    }
    return done_testing();
}
