/* sizes.c - every length and every width, not only the round ones
 * SPDX-License-Identifier: Apache-2.0
 *
 * CLATTN_FULL=1 runs the whole matrix, else a seeded part of it. CLATTN_TYPES, joined by commas, says in which types.
 */
#include "config.h"

#include "tests/lib/harness.h"
#include "tests/lib/tap.h"

/* Lengths that other attention libraries test, mostly because they once failed there. */
static const short odd[][2] = {
    { 1, 3 },       { 1, 128 },    { 1, 147 },    { 1, 239 },     { 1, 339 },     { 1, 385 },    { 1, 444 },
    { 1, 512 },     { 1, 513 },    { 1, 1024 },   { 1, 1025 },    { 1, 2048 },    { 1, 4096 },   { 1, 8192 },
    { 2, 1 },       { 3, 3 },      { 3, 128 },    { 3, 513 },     { 3, 799 },     { 3, 1024 },   { 4, 4 },
    { 4, 256 },     { 17, 96 },    { 17, 1025 },  { 64, 1 },      { 64, 32 },     { 64, 128 },   { 64, 512 },
    { 64, 800 },    { 64, 2048 },  { 77, 77 },    { 97, 97 },     { 103, 203 },   { 108, 256 },  { 113, 128 },
    { 113, 203 },   { 113, 211 },  { 127, 512 },  { 127, 513 },   { 128, 3 },     { 128, 192 },  { 128, 217 },
    { 128, 256 },   { 129, 129 },  { 177, 177 },  { 192, 128 },   { 197, 197 },   { 200, 200 },  { 203, 103 },
    { 203, 113 },   { 211, 113 },  { 217, 128 },  { 239, 1 },     { 255, 255 },   { 255, 256 },  { 255, 1025 },
    { 256, 108 },   { 256, 128 },  { 256, 512 },  { 257, 257 },   { 267, 267 },   { 267, 514 },  { 300, 1000 },
    { 307, 256 },   { 333, 444 },  { 383, 769 },  { 384, 256 },   { 387, 387 },   { 500, 512 },  { 511, 1 },
    { 511, 1025 },  { 512, 127 },  { 512, 256 },  { 512, 500 },   { 513, 127 },   { 640, 128 },  { 641, 512 },
    { 799, 3 },     { 990, 1 },    { 990, 128 },  { 1023, 384 },  { 1023, 1024 }, { 1024, 512 }, { 1024, 1023 },
    { 1024, 1024 }, { 1025, 255 }, { 1025, 511 }, { 1025, 1025 }, { 1089, 512 },  { 1152, 384 }, { 2304, 77 }
};
enum { N_ODD = sizeof odd / sizeof *odd, MOST = 300, WIDEST = 576 };
static const short partner[] = { 1, 64, 257 };

static void check(const struct device *d, const char *type, int q, int k, int width, int value_width, const char *words)
{
    char problem[256], why[1024];
    int verdict;
    snprintf(problem, sizeof problem, "%s b1 h1 q%d k%d d%d/%d%s seed%d lse", type, q, k, width, value_width, words,
             q * 1000 + k);
    verdict = harness_check_text(d, problem, NULL, (enum layout)((q + k) % 2), why, sizeof why);
    if (verdict < 0)
        skip("%s: %s", problem, why);
    else if (!ok(verdict, "%s: %s", d->name, problem))
        diag("%s\nagain: tests/kernel/forward.t '%s' '' %s", why, problem, layout_name((enum layout)((q + k) % 2)));
}

/* One length of 1 to 300 as q and as k, against each partner. */
static void check_length(const struct device *d, const char *type, int n)
{
    unsigned i;
    for (i = 0; i < 3; i++) {
        check(d, type, n, partner[i], 64, 64, n % 2 ? "" : " causal");
        check(d, type, partner[i], n, 64, 64, n % 2 ? " causal" : "");
    }
}

static int dv_of(int width)
{
    return 1 + (int)(trial_hash(3, (uint64_t)width, 0) % WIDEST);
}

static void run(const struct device *d, const char *type, int full)
{
    int n, i;
    for (n = 1; n <= MOST; n++)
        if (full || trial_hash(2, (uint64_t)n, 0) % 10 == 0)
            check_length(d, type, n);
    for (i = 0; i < N_ODD; i++)
        if (full || odd[i][0] * odd[i][1] < 100000)
            check(d, type, odd[i][0], odd[i][1], 64, 64, i % 2 ? " causal" : "");
    for (n = 1; n <= WIDEST; n++)
        if (full || trial_hash(2, (uint64_t)n, 1) % 72 == 0)
            check(d, type, 33, 70, n, dv_of(n), "");
}

int main(void)
{
    const struct device *devices;
    const char *why, *types = getenv("CLATTN_TYPES");
    unsigned n = harness_open(&devices, &why), i;
    if (!n)
        return skip_all("%s", why);
    types = types && *types ? types : "f32";
    while (*types) {
        char type[16];
        size_t len = strcspn(types, ",");
        snprintf(type, sizeof type, "%.*s", (int)len, types);
        for (i = 0; i < n; i++)
            run(&devices[i], type, harness_flag("CLATTN_FULL"));
        types += len + (types[len] == ',');
    }
    harness_close();
    return done_testing();
}
