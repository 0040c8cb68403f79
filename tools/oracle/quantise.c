/* quantise.c - quantised storage of K and V on the host
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/quantise.h"

#include "tools/oracle/convert.h"

#include <clattn.h>

#include <math.h>
#include <string.h>

enum { SCALE = 2, BLOCK = 32 }; /* bytes of a block's scale; elements of q8_0 and q4_0 */

int quantise_is(int type)
{
    const struct convert_type *const t = convert_type(type);
    return t && !t->store;
}

int quantise_is_scaled(int type)
{
    return quantise_is(type) && convert_type(type)->scaled;
}

int64_t quantise_block(int type)
{
    return quantise_is(type) ? convert_type(type)->elements : 1;
}

size_t quantise_bytes(int type, size_t n)
{
    const struct convert_type *const t = convert_type(type);
    return t ? n / (size_t)t->elements * t->bytes : 0;
}

void quantise_fit(int type, double least, double most, double *scale, double *zero)
{
    const struct convert_type *b = convert_type(type);
    const double low = fmin(least, 0), high = fmax(most, 0);
    const double step = zero ? (high - low) / (b->most - b->least) : fmax(high, -low) / b->most;
    *scale = (double)(float)step;
    if (zero)
        *zero = *scale > 0 ? rint(b->least - low / *scale) : 0;
}

/* ---- int8 and int4 ---- */

/* Four bits of a byte, the low ones for even elements. */
static int nibble(const unsigned char *row, size_t c)
{
    const int bits = row[c / 2] >> (c % 2 * 4) & 15;
    return bits < 8 ? bits : bits - 16;
}

static void set_nibble(unsigned char *row, size_t c, int x)
{
    const int shift = (int)(c % 2 * 4);
    row[c / 2] = (unsigned char)((row[c / 2] & ~(15 << shift)) | (x & 15) << shift);
}

static double zero_of(const struct quantise_row *row, size_t group)
{
    return row->zero ? row->zero[group * (size_t)row->zero_step] : 0;
}

static void store_scaled(int type, const struct quantise_row *row, const double *from, unsigned char *to, size_t n)
{
    const struct convert_type *b = convert_type(type);
    for (size_t c = 0; c < n; c++) {
        const size_t group = c / (size_t)row->group;
        const double scale = row->scale[group * (size_t)row->scale_step];
        const double exact = scale != 0 ? rint(from[c] / scale + zero_of(row, group)) : 0;
        const int x = (int)fmin(fmax(exact, b->least), b->most);
        if (type == CLATTN_INT8)
            to[c] = (unsigned char)x;
        else
            set_nibble(to, c, x);
    }
}

static void load_scaled(int type, const struct quantise_row *row, const unsigned char *from, double *to, size_t n)
{
    for (size_t c = 0; c < n; c++) {
        const size_t group = c / (size_t)row->group;
        const float scale = (float)row->scale[group * (size_t)row->scale_step];
        const int x = type == CLATTN_INT4 ? nibble(from, c) : from[c] < 128 ? from[c] : from[c] - 256;
        const float distance = (float)x - (float)zero_of(row, group);
        const float value = distance * scale;
        to[c] = (double)value;
    }
}

/* ---- q8_0 and q4_0 ---- */

/* The element that is the largest in size, the first of several. */
static float largest(const double *x)
{
    float most = 0;
    for (int c = 0; c < BLOCK; c++)
        most = fabsf((float)x[c]) > fabsf(most) ? (float)x[c] : most;
    return most;
}

static void store_scale(float scale, unsigned char *to)
{
    const double exact = (double)scale;
    uint16_t half;
    convert_store(CLATTN_F16, &exact, &half, 1);
    to[0] = (unsigned char)half;
    to[1] = (unsigned char)(half >> 8);
}

static float load_scale(const unsigned char *from)
{
    const uint16_t half = (uint16_t)(from[0] | from[1] << 8);
    double scale;
    convert_load(CLATTN_F16, &half, &scale, 1);
    return (float)scale;
}

/* NaN has no nearest element. */
static int whole(float x)
{
    return isnan(x) ? 0 : (int)fminf(fmaxf(x, -128), 127);
}

/* Elements are divided by the scale in float, not by what f16 makes of it. */
static void store_q8_0(const double *from, unsigned char *to)
{
    const float scale = fabsf(largest(from)) / 127, inverse = scale != 0 ? 1 / scale : 0;
    store_scale(scale, to);
    for (int c = 0; c < BLOCK; c++)
        to[SCALE + c] = (unsigned char)whole(roundf((float)from[c] * inverse));
}

/* The largest becomes -8, so that the scale has its sign turned. */
static void store_q4_0(const double *from, unsigned char *to)
{
    const float scale = largest(from) / -8, inverse = scale != 0 ? 1 / scale : 0;
    store_scale(scale, to);
    memset(to + SCALE, 0, BLOCK / 2);
    for (int c = 0; c < BLOCK; c++) {
        const float product = (float)from[c] * inverse;
        const int x = whole(floorf(product + 8.5f));
        to[SCALE + c % 16] |= (unsigned char)((x < 15 ? x : 15) << (c < 16 ? 0 : 4));
    }
}

static void load_block(int type, const unsigned char *from, double *to)
{
    const float scale = load_scale(from);
    for (int c = 0; c < BLOCK; c++) {
        const unsigned char byte = from[SCALE + (type == CLATTN_Q8_0 ? c : c % 16)];
        const int x = type == CLATTN_Q8_0 ? (byte < 128 ? byte : byte - 256) : (byte >> (c < 16 ? 0 : 4) & 15) - 8;
        const float value = (float)x * scale;
        to[c] = (double)value;
    }
}

/* ---- Rows ---- */

void quantise_store(int type, const struct quantise_row *row, const double *from, unsigned char *to, size_t n)
{
    if (quantise_is_scaled(type)) {
        store_scaled(type, row, from, to, n);
        return;
    }
    for (; n >= BLOCK; n -= BLOCK, from += BLOCK, to += quantise_bytes(type, BLOCK))
        (type == CLATTN_Q8_0 ? store_q8_0 : store_q4_0)(from, to);
}

void quantise_load(int type, const struct quantise_row *row, const unsigned char *from, double *to, size_t n)
{
    if (quantise_is_scaled(type)) {
        load_scaled(type, row, from, to, n);
        return;
    }
    for (; n >= BLOCK; n -= BLOCK, to += BLOCK, from += quantise_bytes(type, BLOCK))
        load_block(type, from, to);
}

void quantise_poison(int type, unsigned char *to, size_t n)
{
    const size_t bytes = quantise_bytes(type, n);
    memset(to, type == CLATTN_INT4 ? 0x88 : 0x80, bytes);
    for (size_t at = 0; at + SCALE <= bytes && !quantise_is_scaled(type); at += quantise_bytes(type, BLOCK))
        store_scale(NAN, to + at);
}
