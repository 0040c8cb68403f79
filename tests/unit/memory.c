/* memory.c - what a problem of clattn-bench moves and needs, and what fits
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "bench/figures/memory.h"
#include "bench/figures/work.h"

static const uint64_t much = UINT64_MAX;

static void test_sums(void)
{
    ok(memory_add(2, 3) == 5 && memory_add(much, 1) == much && memory_add(much - 1, 1) == much, "sums");
    ok(memory_times(2, 3) == 6 && memory_times(0, much) == 0 && memory_times(much, 0) == 0, "products");
    ok(memory_times(UINT64_C(1) << 32, UINT64_C(1) << 32) == much, "one that overflows");
    ok(memory_times(UINT64_C(1) << 32, UINT64_C(1) << 31) == UINT64_C(1) << 63, "one that does not, just");
    ok(memory_size(2, 3, 5, 7) == 210 && memory_size(2, -3, 5, 7) == 0 && memory_size(2, 3, 0, 7) == 0, "sizes");
    ok(memory_size(INT64_MAX, INT64_MAX, 1, 1) == much, "and one that overflows");
    struct memory_need n = { 1, 0, 0 };
    memory_buffer(&n, 10);
    memory_buffer(&n, 5);
    ok(n.host == 1 && n.device == 15 && n.largest == 10, "buffers add up, and the largest is known");
    memory_buffer(&n, much);
    ok(n.device == much && n.largest == much, "too large a one is too much");
}

static void reads(const char *text, uint64_t want)
{
    uint64_t got = 0;
    const int status = memory_read(text, &got);
    ok(want ? !status && got == want : status != 0, "\"%s\": %.0f bytes", text, (double)got);
}

static void test_reading(void)
{
    static const char *const bad[] = { "", "G", "-1G", " 1G", "1X", "1GG", "1 G", "0", "0.5", "nan", "inf", "1e30",
                                       "0x10", "8e18G", "+1", "1Gi2", ".5G" };
    reads("1", 1);
    reads("1024", 1024);
    reads("1K", 1024);
    reads("512m", UINT64_C(512) << 20);
    reads("1.5GiB", UINT64_C(1536) << 20);
    reads("2GB", UINT64_C(2) << 30);
    reads("2T", UINT64_C(2) << 40);
    reads("100B", 100);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        reads(bad[i], 0);
}

static void test_words(void)
{
    char text[MEMORY_TEXT];
    is_str(memory_words(text, 999), "999 bytes", "bytes");
    is_str(memory_words(text, 262144), "256 KiB", "256 KiB");
    is_str(memory_words(text, UINT64_C(1) << 30), "1 GiB", "1 GiB");
    is_str(memory_words(text, UINT64_C(21797568512)), "20.3 GiB", "20.3 GiB");
    is_str(memory_words(text, much), "too much to count", "what overflowed");
}

static int fits(uint64_t host, uint64_t device, uint64_t largest, const struct memory_limits *l, const char *words)
{
    const struct memory_need n = { host, device, largest };
    char why[256] = "";
    const int status = memory_check(&n, l, why, sizeof why);
    if (status && !strstr(why, words))
        diag("%s", why);
    return !status || !strstr(why, words) ? !status : 0;
}

static void test_check(void)
{
    const struct memory_limits apart = { 100, 50, 20, 0 }, one = { 100, 50, 20, 1 }, open = { 0, 0, 0, 0 },
                               system = { 60, 0, 0, 1 },
                               device = { 0, 60, 0, 1 };
    ok(fits(100, 50, 20, &apart, ""), "as much as there is");
    ok(!fits(101, 50, 20, &apart, "limit of the former is 100 bytes"), "a byte more on the host");
    ok(!fits(100, 51, 20, &apart, "limit of the latter is 50 bytes"), "a byte more on the device");
    ok(!fits(1, 21, 21, &apart, "a buffer takes 21 bytes"), "a byte more in a buffer");
    ok(fits(30, 20, 20, &one, "") && !fits(31, 20, 20, &one, "51 bytes of memory, and the limit is 50 bytes"),
       "memory that both share: the smaller limit holds for both together");
    ok(fits(40, 20, 20, &system, "") && !fits(41, 20, 20, &system, "limit is 60"), "or the one that is known");
    ok(fits(40, 20, 20, &device, "") && !fits(41, 20, 20, &device, "limit is 60"), "whichever it is");
    ok(fits(1000, 1000, 1000, &open, ""), "no limit is known");
    ok(!fits(much, 1, 1, &open, "too much to count") && !fits(1, much, 1, &open, "too much"),
       "what overflowed fits nowhere");
}

/* ---- Problems ---- */

static clattn_workload parse(const char *text)
{
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    char why[256];
    if (clattn_workload_parse(text, &c, why, sizeof why))
        bail("%s: %s", text, why);
    return c;
}

static void moves(const char *text, double want)
{
    const clattn_workload c = parse(text);
    struct work w = { 0, 0, 0 };
    ok(!work_of(&c, &w) && w.bytes == want, "%s moves %.0f bytes, want %.0f", text, w.bytes, want);
}

static void test_bytes(void)
{
    const double row = 4 * 64;
    moves("f32 b2 h4/2 q3 k10 d64", (2 * 24 + 2 * 40) * row);
    moves("f32 b2 h4/2 q3 k10 d64 lse", (2 * 24 + 2 * 40) * row + 24 * 4);
    moves("f32 b1 h1 q1 k4096 d64 kvlen:100", (2 + 2 * 100) * row);
    moves("f32 b3 h1 q1 k4096 d64 kvlen:100,4096,1", (6 + 2 * 4197) * row);
    moves("f32 b1 h1 q1 k4096 d64 kvlen:100 kvstart:90", (2 + 2 * 10) * row);
    moves("f32 b1 h1 q1 k4096 d64 kvlen:100 kvstart:100", 2 * row);
    moves("f32 b1 h1 q4 k100 d64 causal", (8 + 200) * row);
    moves("f32 b1 h1 q4 k100 d64 causal-tl", (8 + 8) * row);
    moves("f32 b1 h1 q4 k100 d64 causal off10", (8 + 28) * row);
    moves("f32 b1 h1 q4 k100 d64 causal off-4", 8 * row);
    moves("f32 b1 h1 q4 k100 d64 causal window7,0", (8 + 2 * 11) * row);
    moves("f32 b1 h1 q4 k100 d64 window7,5 off20", (8 + 2 * 16) * row);
    moves("f32 b1 h1 q1 k100 d64 qlen:0", 2 * row);
    moves("f16 b1 h1 q2 k10 d64 o:f32", 2 * 128 + 2 * 256 + 20 * 128);
    moves("f32 b1 h1 q4 k100 d64 causal window7,0 bwd", (4 * 4 + 2 * 11 + 200) * row + 16);
    moves("f32 b0 h1 q4 k100 d64", 0);
    struct work w;
    const clattn_workload c = parse("f32 b1 h1 q64 k64 d64 blocks:8,8");
    ok(!work_of(&c, &w) && w.at_most, "empty blocks are not counted");
    const clattn_workload plain = parse("f32 b1 h1 q64 k64 d64");
    ok(!work_of(&plain, &w) && !w.at_most && w.flops == 4.0 * 64 * 64 * 64, "without blocks all is");
}

static void needs(const char *text, uint64_t host, uint64_t device, uint64_t largest)
{
    const clattn_workload c = parse(text);
    struct memory_need n;
    work_need(&c, &n);
    if (!ok(n.host == host && n.device == device && n.largest == largest, "%s", text))
        diag("host %.0f of %.0f, device %.0f of %.0f, largest %.0f of %.0f", (double)n.host, (double)host,
             (double)n.device, (double)device, (double)n.largest, (double)largest);
}

static void test_needs(void)
{
    /* b 2, h 4, hk 2, q 3, k 10, d 64: q and o have 24 rows, k and v 40 */
    needs("f32 b2 h4/2 q3 k10 d64", 8 * 64 * (24 + 80) + 4 * 64 * 40, 4 * 64 * (48 + 80), 4 * 64 * 40);
    needs("f16 b2 h4/2 q3 k10 d64 lse o:f32", 8 * 64 * (24 + 80) + 4 * 64 * 24,
          64 * (2 * 24 + 4 * 24 + 2 * 80) + 4 * 24, 4 * 64 * 24);
    needs("f32 b2 h4/2 q300 k1 d64", 8 * 64 * 2 * 2400 + 4 * 64 * 2400, 4 * 64 * (4800 + 8), 4 * 64 * 2400);
    /* a pool of 2 * 3 + 3 pages of 4 rows, two heads: 72 rows */
    needs("f32 b2 h4/2 q3 k10 d64 page4", 8 * 64 * (24 + 80 + 2 * 72) + 4 * 64 * 72, 4 * 64 * (48 + 2 * 72),
          4 * 64 * 72);
    /* K int8 by groups of 32, with zero points: bytes, 2 scales and 2 zeros a row */
    needs("f32 b2 h4/2 q3 k10 d64 k:int8:32z", 8 * 64 * (24 + 80) + 64 * 40 + 2 * 8 * 80 + 4 * 64 * 40,
          4 * 64 * (48 + 40) + 64 * 40 + 2 * 4 * 80, 4 * 64 * 40);
    /* a bias of [1,4,3,10] in f16, a mask of [2,1,1,10] */
    needs("f32 b2 h4/2 q3 k10 d64 bias:1hqk:f16 mask:b11k", 8 * 64 * (24 + 80) + 4 * 64 * 40 + 8 * 120 + 20,
          4 * 64 * (48 + 80) + 2 * 120 + 20, 4 * 64 * 40);
    /* backward: dO and all gradients in double, beside two of O */
    needs("f32 b2 h4/2 q3 k10 d64 bwd", 8 * 64 * (2 * 24 + 80) + 8 * 64 * 48 + 4 * 64 * 24,
          4 * 64 * (96 + 160) + 4 * 24, 4 * 64 * 40);
    const clattn_workload c = parse("f32 b1 h8 q16384 k16384 d64");
    ok(work_scores(&c) == (UINT64_C(8) << 28) * 4, "a matrix of scores");
    clattn_workload huge = parse("f32 b1 h1 q1 k1 d576");
    struct memory_need n;
    huge.problem.sizes.nk = INT64_MAX / 2;
    huge.problem.sizes.b = INT64_MAX / 2;
    work_need(&huge, &n);
    ok(n.host == much && n.device == much && n.largest == much, "sizes that overflow need too much");
    ok(work_scores(&huge) == much, "and so do their scores");
}

int main(void)
{
    test_sums();
    test_reading();
    test_words();
    test_check();
    test_bytes();
    test_needs();
    return done_testing();
}
