/* quantise.c - quantised storage on the host, by the definitions of its formats; and pages
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/oracle/convert.h"
#include "tools/oracle/quantise.h"
#include "tools/oracle/stored.h"
#include "tests/lib/trial.h"
#include <clattn.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 32 };

static double any(uint64_t which, uint64_t i)
{
    return trial_normal(21, which, i);
}

/* ---- Reading ---- */

static void test_sizes(void)
{
    ok(quantise_bytes(CLATTN_INT8, 41) == 41 && quantise_bytes(CLATTN_INT4, 42) == 21 &&
           quantise_bytes(CLATTN_Q8_0, 64) == 68 && quantise_bytes(CLATTN_Q4_0, 64) == 36 &&
           quantise_bytes(CLATTN_Q4_1, 64) == 40 && quantise_bytes(CLATTN_Q5_0, 64) == 44 &&
           quantise_bytes(CLATTN_Q5_1, 64) == 48 && quantise_bytes(CLATTN_F16, 3) == 6, "bytes of rows");
    ok(quantise_block(CLATTN_INT8) == 1 && quantise_block(CLATTN_INT4) == 2 && quantise_block(CLATTN_Q8_0) == 32 &&
           quantise_block(CLATTN_Q4_0) == 32 && quantise_block(CLATTN_Q5_1) == 32 && quantise_block(CLATTN_F32) == 1,
       "elements of a block");
    ok(quantise_is_scaled(CLATTN_INT4) && !quantise_is_scaled(CLATTN_Q4_0) && !quantise_is(CLATTN_F64),
       "which have scales of their own");
}

/* Every byte of int8 and int4, with a scale and a zero point for each of three groups. */
static void test_scaled_bytes(void)
{
    const double scale[3] = { 0.5, 0.25, 3 }, zero[3] = { 0, 1.5, -100 };
    const struct quantise_row row = { scale, zero, 100, 1, 1 }, one = { scale + 1, zero + 2, 100, 0, 0 };
    unsigned char bytes[256];
    double x[512];
    int good = 1;
    for (int i = 0; i < 256; i++)
        bytes[i] = (unsigned char)i;
    quantise_load(CLATTN_INT8, &row, bytes, x, 256);
    for (int i = 0; i < 256; i++)
        good = good && x[i] == ((i < 128 ? i : i - 256) - zero[i / 100]) * scale[i / 100];
    ok(good, "int8: every byte");
    quantise_load(CLATTN_INT8, &one, bytes, x, 256);
    for (int i = 0; i < 256; i++)
        good = good && x[i] == ((i < 128 ? i : i - 256) + 100) * 0.25;
    ok(good, "one scale and one zero point for all groups");
    const struct quantise_row halves = { scale, NULL, 200, 1, 1 };
    quantise_load(CLATTN_INT4, &halves, bytes, x, 512);
    for (int c = 0; c < 512; c++) {
        const int half = c % 2 ? c / 2 / 16 : c / 2 % 16;
        good = good && x[c] == (half < 8 ? half : half - 16) * scale[c / 200];
    }
    ok(good, "int4: every byte, the low half first");
}

/* A block of each of the others: scale 1.5, f16 0x3e00. */
static void test_blocks(void)
{
    unsigned char bytes[34] = { 0x00, 0x3e };
    double x[BLOCK];
    int good = 1;
    for (int i = 0; i < BLOCK; i++)
        bytes[2 + i] = (unsigned char)(8 * i);
    quantise_load(CLATTN_Q8_0, NULL, bytes, x, BLOCK);
    for (int i = 0; i < BLOCK; i++)
        good = good && x[i] == 1.5 * (8 * i < 128 ? 8 * i : 8 * i - 256);
    ok(good, "q8_0: a scale and 32 bytes");
    for (int i = 0; i < 16; i++)
        bytes[2 + i] = (unsigned char)(i | (15 - i) << 4);
    quantise_load(CLATTN_Q4_0, NULL, bytes, x, BLOCK);
    for (int i = 0; i < 16; i++)
        good = good && x[i] == 1.5 * (i - 8) && x[16 + i] == 1.5 * (15 - i - 8);
    ok(good, "q4_0: a scale, and elements i and i + 16 in byte i");
}

/* Minimums, -0.5, and fifth bits: those of elements 0, 9, 18 and 31. */
static void test_other_blocks(void)
{
    static const unsigned char four_1[4] = { 0x00, 0x3e, 0x00, 0xb8 }, fifths[4] = { 0x01, 0x02, 0x04, 0x80 };
    unsigned char bytes[24];
    double x[3][BLOCK];
    int good[3] = { 1, 1, 1 };
    for (int type = CLATTN_Q4_1; type <= CLATTN_Q5_1; type++) {
        const int head = type == CLATTN_Q5_0 ? 2 : 4, codes = head + (type == CLATTN_Q4_1 ? 0 : 4);
        memcpy(bytes, four_1, (size_t)head);
        if (type != CLATTN_Q4_1)
            memcpy(bytes + head, fifths, 4);
        for (int i = 0; i < 16; i++)
            bytes[codes + i] = (unsigned char)(i | (15 - i) << 4);
        quantise_load(type, NULL, bytes, x[type - CLATTN_Q4_1], BLOCK);
    }
    for (int i = 0; i < BLOCK; i++) {
        const int low = i < 16 ? i : 31 - i, fifth = i == 0 || i == 9 || i == 18 || i == 31 ? 16 : 0;
        good[0] = good[0] && x[0][i] == 1.5 * low - 0.5;
        good[1] = good[1] && x[1][i] == 1.5 * (low + fifth - 16);
        good[2] = good[2] && x[2][i] == 1.5 * (low + fifth) - 0.5;
    }
    ok(good[0], "q4_1: a scale and a minimum");
    ok(good[1], "q5_0: a scale, and the fifth bits in four bytes");
    ok(good[2], "q5_1: all of them");
}

/* ---- Writing ---- */

/* Elements are within half a step of what they were, as stored, and no other element is nearer. */
static int is_nearest(double exact, double stored, double step)
{
    return fabs(exact - stored) <= 0.5 * step * (1 + 1e-6);
}

static void test_fit(int type, const char *name, double most)
{
    int good = 1;
    for (uint64_t i = 0; i < 200; i++) {
        const double a = any(1, i), b = any(2, i), low = fmin(fmin(a, b), 0), high = fmax(fmax(a, b), 0);
        double scale, zero, only;
        quantise_fit(type, fmin(a, b), fmax(a, b), &only, NULL);
        quantise_fit(type, fmin(a, b), fmax(a, b), &scale, &zero);
        good = good && only == (double)(float)(fmax(high, -low) / most) &&
               scale == (double)(float)((high - low) / (2 * most + 1)) && zero == rint(zero) && zero >= -most - 1 &&
               zero <= most && is_nearest(-most - 1, low / scale + zero, 1);
    }
    ok(good, "%s: scales and zero points of a range", name);
}

static void test_scaled(int type, const char *name, int has_zero, double most)
{
    enum { N = 96, GROUP = 32 };
    double x[N], back[N], scale[3], zero[3];
    const struct quantise_row row = { scale, has_zero ? zero : NULL, GROUP, 1, 1 };
    unsigned char bytes[N];
    int good = 1, extremes = 0;
    for (uint64_t i = 0; i < N; i++)
        x[i] = any(3, i) * (1 + (double)(i / GROUP)) + (has_zero ? 1 : 0);
    for (int g = 0; g < 3; g++) {
        double low = 0, high = 0;
        for (int c = g * GROUP; c < (g + 1) * GROUP; c++) {
            low = fmin(low, x[c]);
            high = fmax(high, x[c]);
        }
        quantise_fit(type, low, high, &scale[g], has_zero ? &zero[g] : NULL);
    }
    quantise_store(type, &row, x, bytes, N);
    quantise_load(type, &row, bytes, back, N);
    for (int c = 0; c < N; c++) {
        const double stored = back[c] / scale[c / GROUP] + (has_zero ? zero[c / GROUP] : 0);
        good = good && (is_nearest(x[c], back[c], scale[c / GROUP]) || (has_zero && fabs(stored) >= most - 1));
        extremes += fabs(stored) > most - 0.01;
    }
    ok(good && extremes >= 3, "%s%s: each element the nearest, and all of the range is used", name,
       has_zero ? " with zero points" : "");
    const double ties[4] = { 0.5, 1.5, -0.5, -2.5 }, want[4] = { 0, 2, 0, -2 }, unit = 1;
    const struct quantise_row plain = { &unit, NULL, N, 1, 1 };
    quantise_store(type, &plain, ties, bytes, 4);
    quantise_load(type, &plain, bytes, back, 4);
    ok(!memcmp(back, want, sizeof want), "%s: ties go to even", name);
    const double far[4] = { 1e30, -1e30, NAN, 0 };
    quantise_store(type, &plain, far, bytes, 4);
    quantise_load(type, &plain, bytes, back, 4);
    ok(back[0] == most && back[1] == -most - 1 && back[3] == 0, "%s: what is beyond becomes the least or greatest",
       name);
}

/* The formulas of ggml's reference quantisation, in float: the element of largest size becomes 127, or -8. */
static int q8_0_is_right(const double *x, const unsigned char *bytes)
{
    float most = 0;
    double scale;
    uint16_t half = (uint16_t)(bytes[0] | bytes[1] << 8), want;
    for (int c = 0; c < BLOCK; c++)
        most = fmaxf(most, fabsf((float)x[c]));
    scale = (double)(most / 127.0f);
    convert_store(CLATTN_F16, &scale, &want, 1);
    int good = half == want;
    for (int c = 0; c < BLOCK; c++) {
        const double exact = most > 0 ? x[c] * 127 / (double)most : 0;
        const int got = bytes[2 + c] < 128 ? bytes[2 + c] : bytes[2 + c] - 256;
        good = good && fabs(exact - got) <= 0.5 + 1e-4;
    }
    return good;
}

static int q4_0_is_right(const double *x, const unsigned char *bytes)
{
    int largest = 0;
    double scale;
    uint16_t half = (uint16_t)(bytes[0] | bytes[1] << 8), want;
    for (int c = 1; c < BLOCK; c++)
        largest = fabs(x[c]) > fabs(x[largest]) ? c : largest;
    scale = x[largest] / -8;
    convert_store(CLATTN_F16, &scale, &want, 1);
    int good = half == want;
    for (int c = 0; c < BLOCK; c++) {
        const double exact = scale != 0 ? x[c] / scale + 8 : 8;
        const int got = bytes[2 + c % 16] >> (c < 16 ? 0 : 4) & 15;
        good = good && fabs(fmin(exact, 15) - got) <= 0.5 + 1e-4;
    }
    return good && (scale == 0 || (bytes[2 + largest % 16] >> (largest < 16 ? 0 : 4) & 15) == 0);
}

/* q4_1 and q5_1: the least element becomes 0, and the greatest 15 or 31. */
static int is_spread(int type, int most, const double *x, const unsigned char *bytes)
{
    double least = x[0], greatest = x[0], scale, back[BLOCK];
    uint16_t halves[2] = { (uint16_t)(bytes[0] | bytes[1] << 8), (uint16_t)(bytes[2] | bytes[3] << 8) }, want[2];
    for (int c = 1; c < BLOCK; c++) {
        least = fmin(least, x[c]);
        greatest = fmax(greatest, x[c]);
    }
    scale = (double)(((float)greatest - (float)least) / (float)most);
    convert_store(CLATTN_F16, &scale, &want[0], 1);
    convert_store(CLATTN_F16, &least, &want[1], 1);
    int good = halves[0] == want[0] && halves[1] == want[1];
    quantise_load(type, NULL, bytes, back, BLOCK);
    for (int c = 0; c < BLOCK; c++) { /* the stored scale and minimum are rounded to 11 bits */
        const double rounding = (double)most * scale * 0x1p-11 + fabs(least) * 0x1p-11 + 0x1p-25;
        good = good && fabs(back[c] - x[c]) <= 0.5 * scale * 1.0001 + rounding;
    }
    return good;
}

/* q5_0: as q4_0, the largest becomes -16. */
static int q5_0_is_right(const double *x, const unsigned char *bytes)
{
    int largest = 0, good = 1;
    double scale, back[BLOCK];
    uint16_t half = (uint16_t)(bytes[0] | bytes[1] << 8), want;
    for (int c = 1; c < BLOCK; c++)
        largest = fabs(x[c]) > fabs(x[largest]) ? c : largest;
    scale = x[largest] / -16;
    convert_store(CLATTN_F16, &scale, &want, 1);
    quantise_load(CLATTN_Q5_0, NULL, bytes, back, BLOCK);
    for (int c = 0; c < BLOCK; c++) {
        const double most = 15 * fabs(scale), to = x[c] * -x[largest] > 0 ? fmin(fabs(x[c]), most) : fabs(x[c]);
        good = good && fabs(fabs(back[c]) - to) <= 0.5 * fabs(scale) * 1.0001 + fabs(x[largest]) * 0x1p-11 + 0x1p-20;
    }
    return good && half == want && (scale == 0 || (bytes[6 + largest % 16] >> (largest < 16 ? 0 : 4) & 15) == 0);
}

static void test_written_blocks(void)
{
    int q8 = 1, q4 = 1, q4_1 = 1, q5_0 = 1, q5_1 = 1;
    for (uint64_t i = 0; i < 1000; i++) {
        double x[BLOCK];
        unsigned char bytes[34];
        for (uint64_t c = 0; c < BLOCK; c++)
            x[c] = (double)(float)(i % 10 == 0 ? 0 : any(4, i * BLOCK + c) * ldexp(1, (int)(i % 20) - 10));
        quantise_store(CLATTN_Q8_0, NULL, x, bytes, BLOCK);
        q8 = q8 && q8_0_is_right(x, bytes);
        quantise_store(CLATTN_Q4_0, NULL, x, bytes, BLOCK);
        q4 = q4 && q4_0_is_right(x, bytes);
        quantise_store(CLATTN_Q4_1, NULL, x, bytes, BLOCK);
        q4_1 = q4_1 && is_spread(CLATTN_Q4_1, 15, x, bytes);
        quantise_store(CLATTN_Q5_0, NULL, x, bytes, BLOCK);
        q5_0 = q5_0 && q5_0_is_right(x, bytes);
        quantise_store(CLATTN_Q5_1, NULL, x, bytes, BLOCK);
        q5_1 = q5_1 && is_spread(CLATTN_Q5_1, 31, x, bytes);
    }
    ok(q4_1, "q4_1: from the least element to the greatest, and each the nearest");
    ok(q5_0, "q5_0: the largest becomes -16, and each element the nearest");
    ok(q5_1, "q5_1: from the least element to the greatest, and each the nearest");
    ok(q8, "q8_0: the scale of the largest, and each element the nearest");
    ok(q4, "q4_0: the largest becomes -8, and each element the nearest");
    const double equal[BLOCK] = { 0, -2, 2 };
    unsigned char bytes[18];
    quantise_store(CLATTN_Q4_0, NULL, equal, bytes, BLOCK);
    ok(bytes[1] == 0x34 && (bytes[3] & 15) == 0 && (bytes[4] & 15) == 15 && bytes[2] == 0x88,
       "q4_0: of two that are the largest the first decides");
    double tie[BLOCK] = { 127, 0.5, 1.5, -0.5, -1.5 };
    unsigned char eight[34];
    quantise_store(CLATTN_Q8_0, NULL, tie, eight, BLOCK);
    ok(eight[3] == 1 && eight[4] == 2 && eight[5] == 0xff && eight[6] == 0xfe, "q8_0: ties go away from 0");
}

static void test_poison(void)
{
    unsigned char bytes[68];
    double x[64];
    quantise_poison(CLATTN_Q8_0, bytes, 64);
    quantise_load(CLATTN_Q8_0, NULL, bytes, x, 64);
    ok(isnan(x[0]) && isnan(x[63]), "q8_0: what nobody may use is NaN");
    for (int type = CLATTN_Q4_0; type <= CLATTN_Q5_1; type++) {
        quantise_poison(type, bytes, 64);
        quantise_load(type, NULL, bytes, x, 64);
        ok(isnan(x[0]) && isnan(x[63]), "and %s", convert_type(type)->name);
    }
}

/* ---- Rows and pages ---- */

static void test_rows(int type, const char *name, int64_t group, int has_zero)
{
    enum { B = 2, H = 3, N = 5, WIDTH = 64, ALL = B * H * N * WIDTH };
    struct stored s = { .type = type, .b = B, .h = H, .n = N, .width = WIDTH, .group = group };
    double x[ALL], back[ALL];
    int good = 1;
    for (uint64_t i = 0; i < ALL; i++)
        x[i] = (double)(float)any(5, i);
    x[7 * WIDTH + 3] = NAN;
    if (stored_quantise(&s, has_zero, x) != 0)
        bail("no memory");
    stored_values(&s, back);
    for (int i = 0; i < ALL; i++)
        good = good && (i / WIDTH == 7 ? isnan(back[i]) : fabs(x[i] - back[i]) < 0.5 && back[i] == back[i]);
    ok(good, "%s, groups of %d%s: rows keep their values, and one with a NaN has none", name, (int)group,
       has_zero ? " with zero points" : "");
    stored_free(&s);
}

static void test_pages(void)
{
    enum { B = 3, H = 2, NK = 10, PAGE = 4, WIDTH = 2, ALL = B * H * NK * WIDTH };
    const int32_t kv_len[B] = { 10, 3, 0 };
    struct pages p = { 0 };
    double x[ALL], back[ALL], *pool;
    int good = 1, used = 0, spare = 0;
    for (int i = 0; i < ALL; i++)
        x[i] = 1 + i;
    if (pages_make(&p, B, NK, PAGE, kv_len, 5) != 0 ||
        !(pool = malloc((size_t)(p.n * H * PAGE * WIDTH) * sizeof *pool)))
        bail("no memory");
    for (int i = 0; i < B * p.slots; i++) {
        const int is_read = i % p.slots * PAGE < kv_len[i / p.slots];
        good = good && is_read == (p.table[i] >= 0 && p.table[i] < p.n);
        for (int j = 0; j < i && is_read; j++)
            good = good && p.table[i] != p.table[j];
    }
    ok(p.slots == 3 && good, "a table has a page of its own for each slot that is read, and none for the others");
    pages_scatter(&p, H, NK, WIDTH, x, pool);
    pages_gather(&p, H, NK, WIDTH, pool, back);
    for (int i = 0; i < ALL; i++) {
        const int b = i / WIDTH / NK / H, k = i / WIDTH % NK;
        good = good && back[i] == (k / PAGE * PAGE < kv_len[b] ? x[i] : 0);
    }
    for (int64_t i = 0; i < p.n * H * PAGE * WIDTH; i++)
        *(isnan(pool[i]) ? &spare : &used) += 1;
    ok(good && used == (10 + 4) * H * WIDTH && spare > 0, "rows find their way into pages and back");
    free(pool);
    free(p.table);
}

int main(void)
{
    test_sizes();
    test_scaled_bytes();
    test_blocks();
    test_other_blocks();
    test_fit(CLATTN_INT8, "int8", 127);
    test_fit(CLATTN_INT4, "int4", 7);
    for (int has_zero = 0; has_zero < 2; has_zero++) {
        test_scaled(CLATTN_INT8, "int8", has_zero, 127);
        test_scaled(CLATTN_INT4, "int4", has_zero, 7);
    }
    test_written_blocks();
    test_poison();
    for (int has_zero = 0; has_zero < 2; has_zero++) {
        test_rows(CLATTN_INT8, "int8", 32, has_zero);
        test_rows(CLATTN_INT4, "int4", 48, has_zero);
        test_rows(CLATTN_INT8, "int8", 1, has_zero);
    }
    test_rows(CLATTN_Q8_0, "q8_0", 32, 0);
    test_rows(CLATTN_Q4_0, "q4_0", 32, 0);
    test_rows(CLATTN_Q4_1, "q4_1", 32, 0);
    test_rows(CLATTN_Q5_0, "q5_0", 32, 0);
    test_rows(CLATTN_Q5_1, "q5_1", 32, 0);
    test_pages();
    return done_testing();
}
