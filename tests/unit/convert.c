/* convert.c - storage types on the host, by the definitions of their formats
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include "tools/oracle/convert.h"
#include <clattn.h>

#include <math.h>
#include <stdint.h>

/* The value of a 16-bit pattern, by the definition of the format. */
static double plain(uint16_t x, int mantissa, int bias)
{
    const int field = (x & 0x7fff) >> mantissa, ones = 0x7fff >> mantissa, fraction = x & ((1 << mantissa) - 1);
    double value;
    if (field == ones)
        value = fraction ? (double)NAN : (double)INFINITY;
    else
        value = (field ? 1.0 : 0.0) + (double)fraction / (1 << mantissa);
    if (field != ones)
        value *= pow(2, (field ? field : 1) - bias);
    return x & 0x8000 ? -value : value;
}

static uint16_t store16(int type, double x)
{
    uint16_t y = 0;
    convert_store(type, &x, &y, 1);
    return y;
}

static double load16(int type, uint16_t x)
{
    double y = 0;
    convert_load(type, &x, &y, 1);
    return y;
}

/* What neighbours a < b round to in between: the middle to the even one, a hair beside it to the nearer. */
static int middle_is_even(int type, uint16_t x, double a, double b)
{
    const double middle = a + (b - a) / 2;
    const uint16_t even = x & 1 ? (uint16_t)(x + 1) : x;
    return store16(type, middle) == even && store16(type, nextafter(middle, a)) == x
        && store16(type, nextafter(middle, b)) == (uint16_t)(x + 1) && store16(type, -middle) == (even | 0x8000);
}

static void check_format(const char *name, int type, int mantissa, int bias)
{
    const uint16_t infinity = (uint16_t)(0x7fff & ~((1 << mantissa) - 1));
    int value = 0, back = 0, nan = 0, tie = 0;
    for (unsigned x = 0; x < 0x10000; x++) {
        const double want = plain((uint16_t)x, mantissa, bias), got = load16(type, (uint16_t)x);
        if (isnan(want)) {
            const uint16_t y = store16(type, got);
            nan += !isnan(got) || (y & 0x7fff) <= infinity;
            continue;
        }
        value += got != want || !signbit(got) != !signbit(want);
        back += store16(type, want) != x;
        if (x + 1 < infinity)
            tie += !middle_is_even(type, (uint16_t)x, want, plain((uint16_t)(x + 1), mantissa, bias));
    }
    is_int(value, 0, "%s: every pattern loads as its value", name);
    is_int(back, 0, "%s: every value stores as its pattern", name);
    is_int(nan, 0, "%s: every NaN stays one", name);
    is_int(tie, 0, "%s: rounds to nearest, ties to even, between all neighbours", name);

    const double most = plain((uint16_t)(infinity - 1), mantissa, bias), least = plain(1, mantissa, bias);
    const double edge = most + (most - plain((uint16_t)(infinity - 2), mantissa, bias)) / 2;
    ok(store16(type, edge) == infinity && store16(type, -edge) == (infinity | 0x8000), "%s: overflow is infinite",
       name);
    ok(store16(type, nextafter(edge, 0)) == infinity - 1, "%s: what rounds to the largest value does not overflow",
       name);
    ok(store16(type, INFINITY) == infinity && store16(type, 1e300) == infinity, "%s: infinity and beyond", name);
    ok(store16(type, least / 2) == 0 && store16(type, -least / 2) == 0x8000 &&
           store16(type, nextafter(least / 2, 1)) == 1 && store16(type, 5e-324) == 0,
       "%s: underflow rounds to even, with its sign", name);
}

static void check_conversions(void)
{
    const double x[] = { 1.0 / 3, -0.0, INFINITY, 1e-45, 1e39 };
    float single[5];
    double y[5];
    check_format("f16", CLATTN_F16, 10, 15);
    check_format("bf16", CLATTN_BF16, 7, 127);
    convert_store(CLATTN_F32, x, single, 5);
    convert_load(CLATTN_F32, single, y, 5);
    ok(single[0] == 1.0f / 3 && y[0] == (double)single[0] && signbit(y[1]) && isinf(y[2]) && y[3] > 0 && isinf(y[4]),
       "f32 rounds as the compiler does");
    convert_store(CLATTN_F64, x, y, 5);
    ok(memcmp(x, y, sizeof x) == 0, "f64 is copied");
    ok(convert_size(CLATTN_F32) == 4 && convert_size(CLATTN_F16) == 2 && convert_size(CLATTN_BF16) == 2
           && convert_size(CLATTN_F64) == 8 && convert_size(0) == 0, "sizes");
    /* Rounding by way of float would see a tie where there is none. */
    ok(store16(CLATTN_F16, 1 + ldexp(1, -11) + ldexp(1, -40)) == 0x3c01, "f16 is rounded once");
    ok(store16(CLATTN_BF16, 1 + ldexp(1, -8) + ldexp(1, -40)) == 0x3f81, "bf16 is rounded once");
}

int main(void)
{
    check_conversions();
    return done_testing();
}
