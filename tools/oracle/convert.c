/* convert.c - storage types on the host: what there are, and what numbers become in them
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/convert.h"

#include <clattn.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

/* A 16-bit format: mantissa bits and exponent bias. The exponent takes what the sign and the mantissa leave. */
struct small { int mantissa, bias; };
static const struct small half = { 10, 15 }, bfloat = { 7, 127 };

/* Rounds once, from the double itself: going through float would round twice and miss ties. */
static uint16_t encode(struct small f, double x)
{
    uint64_t bits;
    memcpy(&bits, &x, sizeof bits);
    const uint16_t sign = (uint16_t)(bits >> 63 << 15);
    const uint16_t infinity = (uint16_t)(0x7fff & ~((1u << f.mantissa) - 1));
    const int field = (int)(bits >> 52 & 0x7ff), exponent = field - 1023, least = 1 - f.bias;
    const uint64_t fraction = bits & ((UINT64_C(1) << 52) - 1);

    if (field == 0x7ff) {
        const uint16_t quiet = (uint16_t)(1u << (f.mantissa - 1));
        return (uint16_t)(sign | infinity | (fraction ? quiet | fraction >> (52 - f.mantissa) : 0));
    }
    int shift = 52 - f.mantissa;
    if (exponent < least)
        shift += least - exponent; /* a subnormal keeps fewer bits */
    if (field == 0 || shift > 53)
        return sign; /* below half of the smallest subnormal */
    const uint64_t whole = fraction | UINT64_C(1) << 52;
    const uint64_t rest = whole & ((UINT64_C(1) << shift) - 1), tie = UINT64_C(1) << (shift - 1);
    uint64_t kept = whole >> shift;
    if (rest > tie || (rest == tie && (kept & 1)))
        kept++;
    /* `kept` holds the implicit one, so adding it below the exponent carries a rounding overflow upwards by itself. */
    uint64_t magnitude = kept;
    if (exponent >= least)
        magnitude += (uint64_t)(exponent + f.bias - 1) << f.mantissa;
    return (uint16_t)(sign | (magnitude < infinity ? magnitude : infinity));
}

static double decode(struct small f, uint16_t x)
{
    const int ones = 0x7fff >> f.mantissa, field = x >> f.mantissa & ones;
    const int fraction = x & ((1 << f.mantissa) - 1), implicit = 1 << f.mantissa;
    double value;
    if (field == ones)
        value = fraction ? (double)NAN : (double)INFINITY;
    else if (field == 0)
        value = ldexp(fraction, 1 - f.bias - f.mantissa);
    else
        value = ldexp(fraction + implicit, field - f.bias - f.mantissa);
    return x >> 15 ? -value : value;
}

static void store_f32(const double *from, void *to, size_t n)
{
    float *const x = to;
    for (size_t i = 0; i < n; i++)
        x[i] = (float)from[i];
}

static void load_f32(const void *from, double *to, size_t n)
{
    const float *const x = from;
    for (size_t i = 0; i < n; i++)
        to[i] = x[i];
}

static void store_f64(const double *from, void *to, size_t n)
{
    if (n)
        memcpy(to, from, n * sizeof *from);
}

static void load_f64(const void *from, double *to, size_t n)
{
    if (n)
        memcpy(to, from, n * sizeof *to);
}

static void store_small(struct small f, const double *from, uint16_t *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = encode(f, from[i]);
}

static void load_small(struct small f, const uint16_t *from, double *to, size_t n)
{
    for (size_t i = 0; i < n; i++)
        to[i] = decode(f, from[i]);
}

static void store_f16(const double *from, void *to, size_t n) { store_small(half, from, to, n); }
static void load_f16(const void *from, double *to, size_t n) { load_small(half, from, to, n); }
static void store_bf16(const double *from, void *to, size_t n) { store_small(bfloat, from, to, n); }
static void load_bf16(const void *from, double *to, size_t n) { load_small(bfloat, from, to, n); }

static const struct convert_type types[] = {
    [CLATTN_F32] = { "f32", 0, 1, 4, store_f32, load_f32, 0x1p-24, 0x1p-126, 0, 0, 0 },
    [CLATTN_F16] = { "f16", 0, 1, 2, store_f16, load_f16, 0x1p-11, 0x1p-14, 0, 0, 0 },
    [CLATTN_BF16] = { "bf16", 0, 1, 2, store_bf16, load_bf16, 0x1p-8, 0x1p-126, 0, 0, 0 },
    [CLATTN_F64] = { "f64", 0, 1, 8, store_f64, load_f64, 0x1p-53, 0x1p-1022, 0, 0, 0 },
    [CLATTN_INT8] = { "int8", 1, 1, 1, NULL, NULL, 0, 0, 1, -128, 127 },
    [CLATTN_INT4] = { "int4", 1, 2, 1, NULL, NULL, 0, 0, 1, -8, 7 },
    [CLATTN_Q8_0] = { "q8_0", 1, 32, 34, NULL, NULL, 0, 0, 0, -128, 127 },
    [CLATTN_Q4_0] = { "q4_0", 1, 32, 18, NULL, NULL, 0, 0, 0, -8, 7 },
    [CLATTN_Q4_1] = { "q4_1", 1, 32, 20, NULL, NULL, 0, 0, 0, 0, 15 },
    [CLATTN_Q5_0] = { "q5_0", 1, 32, 22, NULL, NULL, 0, 0, 0, -16, 15 },
    [CLATTN_Q5_1] = { "q5_1", 1, 32, 24, NULL, NULL, 0, 0, 0, 0, 31 },
};
enum { TYPES = sizeof types / sizeof *types };

const struct convert_type *convert_type(int type)
{
    return type > 0 && type < TYPES && types[type].name ? &types[type] : NULL;
}

int convert_next(int type, int keys_only)
{
    while (++type < TYPES)
        if (types[type].name && types[type].keys_only == keys_only)
            return type;
    return 0;
}

int convert_find(const char *name, int keys_only)
{
    int type = convert_next(0, keys_only);
    while (type && strcmp(name, types[type].name) != 0)
        type = convert_next(type, keys_only);
    return type;
}

const char *convert_names(char to[CONVERT_NAMES], int keys_only, const char *between, const char *before_last)
{
    size_t n = 0;
    for (int type = convert_next(0, keys_only); type && n < CONVERT_NAMES; type = convert_next(type, keys_only))
        n += (size_t)snprintf(to + n, CONVERT_NAMES - n, "%s%s",
                              n == 0 ? "" : convert_next(type, keys_only) ? between : before_last, types[type].name);
    return to;
}

size_t convert_size(int type)
{
    const struct convert_type *const t = convert_type(type);
    return t && t->store ? t->bytes : 0;
}

void convert_store(int type, const double *from, void *to, size_t n)
{
    if (convert_size(type))
        types[type].store(from, to, n);
}

void convert_load(int type, const void *from, double *to, size_t n)
{
    if (convert_size(type))
        types[type].load(from, to, n);
}
