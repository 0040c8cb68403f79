/* convert.c - storage types on the host
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/convert.h"

#include <clattn.h>

#include <math.h>
#include <stdint.h>
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

size_t convert_size(int type)
{
    switch (type) {
    case CLATTN_F32: return 4;
    case CLATTN_F16:
    case CLATTN_BF16: return 2;
    case CLATTN_F64: return 8;
    default: return 0;
    }
}

void convert_store(int type, const double *from, void *to, size_t n)
{
    const struct small f = type == CLATTN_F16 ? half : bfloat;
    float *singles = to;
    uint16_t *smalls = to;
    switch (type) {
    case CLATTN_F32:
        for (size_t i = 0; i < n; i++)
            singles[i] = (float)from[i];
        break;
    case CLATTN_F16:
    case CLATTN_BF16:
        for (size_t i = 0; i < n; i++)
            smalls[i] = encode(f, from[i]);
        break;
    case CLATTN_F64:
        if (n)
            memcpy(to, from, n * sizeof *from);
        break;
    default: break;
    }
}

void convert_load(int type, const void *from, double *to, size_t n)
{
    const struct small f = type == CLATTN_F16 ? half : bfloat;
    const float *singles = from;
    const uint16_t *smalls = from;
    switch (type) {
    case CLATTN_F32:
        for (size_t i = 0; i < n; i++)
            to[i] = singles[i];
        break;
    case CLATTN_F16:
    case CLATTN_BF16:
        for (size_t i = 0; i < n; i++)
            to[i] = decode(f, smalls[i]);
        break;
    case CLATTN_F64:
        if (n)
            memcpy(to, from, n * sizeof *to);
        break;
    default: break;
    }
}
