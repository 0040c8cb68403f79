/* quantise.c - quantised storage of K and V on the host
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/oracle/quantise.h"

#include "tools/oracle/convert.h"

#include <clattn.h>

#include <math.h>
#include <string.h>

enum { HALF = 2, BLOCK = 32 }; /* bytes of a block's scale; elements of GGUF's types */

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

/* ---- GGUF's blocks ---- */

/* Where a block has what: its scale at 0, and its least element, fifth bits and codes. 0: it has none. */
struct block {
    int least, fifths, codes, bytes;
};

static struct block block_of(int type)
{
    switch (type) {
    case CLATTN_Q4_0: return (struct block){ 0, 0, 2, 18 };
    case CLATTN_Q4_1: return (struct block){ 2, 0, 4, 20 };
    case CLATTN_Q5_0: return (struct block){ 0, 2, 6, 22 };
    case CLATTN_Q5_1: return (struct block){ 2, 4, 8, 24 };
    default: return (struct block){ 0, 0, 2, 34 };
    }
}

static void store_half(float x, unsigned char *to)
{
    const double exact = (double)x;
    uint16_t half;
    convert_store(CLATTN_F16, &exact, &half, 1);
    to[0] = (unsigned char)half;
    to[1] = (unsigned char)(half >> 8);
}

static float load_half(const unsigned char *from)
{
    const uint16_t half = (uint16_t)(from[0] | from[1] << 8);
    double x;
    convert_load(CLATTN_F16, &half, &x, 1);
    return (float)x;
}

/* Element c as it is stored: from 0 on, or q8_0's byte. */
static int code_at(struct block at, const unsigned char *from, int c)
{
    if (at.bytes == 34)
        return from[at.codes + c];
    const int fifth = at.fifths ? from[at.fifths + c / 8] >> c % 8 & 1 : 0;
    return (from[at.codes + c % 16] >> (c < 16 ? 0 : 4) & 15) | fifth << 4;
}

/* Into a block whose codes are 0. */
static void put_code(struct block at, unsigned char *to, int c, int code)
{
    if (at.bytes == 34) {
        to[at.codes + c] = (unsigned char)code;
        return;
    }
    to[at.codes + c % 16] |= (unsigned char)((code & 15) << (c < 16 ? 0 : 4));
    if (at.fifths)
        to[at.fifths + c / 8] |= (unsigned char)((code >> 4) << c % 8);
}

/* NaN has no nearest element. */
static int whole(float x)
{
    return isnan(x) ? 0 : (int)fminf(fmaxf(x, -128), 127);
}

static float inverse_of(float scale)
{
    return scale != 0 && isfinite(1 / scale) ? 1 / scale : 0;
}

/* The element that is the largest in size, the first of several. */
static float largest(const double *x)
{
    float most = 0;
    for (int c = 0; c < BLOCK; c++)
        most = fabsf((float)x[c]) > fabsf(most) ? (float)x[c] : most;
    return most;
}

/* Elements are divided by the scale in float, not by what f16 makes of it. */
static void store_q8_0(const double *from, unsigned char *to)
{
    const float scale = fabsf(largest(from)) / 127, inverse = inverse_of(scale);
    store_half(scale, to);
    for (int c = 0; c < BLOCK; c++)
        put_code(block_of(CLATTN_Q8_0), to, c, whole(roundf((float)from[c] * inverse)));
}

/* q4_0 and q5_0: the largest becomes the least code, so that the scale has its sign turned. */
static void store_signed(int type, const double *from, unsigned char *to)
{
    const int half = (int)-convert_type(type)->least;
    const float scale = largest(from) / (float)-half, inverse = inverse_of(scale);
    store_half(scale, to);
    for (int c = 0; c < BLOCK; c++) {
        const float product = (float)from[c] * inverse;
        const int x = whole(floorf(product + ((float)half + 0.5f)));
        put_code(block_of(type), to, c, x < 2 * half - 1 ? x : 2 * half - 1);
    }
}

/* q4_1 and q5_1: from the least to the greatest. */
static void store_above(int type, const double *from, unsigned char *to)
{
    const struct block at = block_of(type);
    const int top = (int)convert_type(type)->most;
    float least = INFINITY, most = -INFINITY;
    for (int c = 0; c < BLOCK; c++) {
        least = (float)from[c] < least ? (float)from[c] : least;
        most = (float)from[c] > most ? (float)from[c] : most;
    }
    const float scale = (most - least) / (float)top, inverse = inverse_of(scale);
    store_half(scale, to);
    store_half(least, to + at.least);
    for (int c = 0; c < BLOCK; c++) {
        const float above = (float)from[c] - least, product = above * inverse;
        const int x = whole(floorf(product + 0.5f));
        put_code(at, to, c, x < top ? x : top);
    }
}

static void store_block(int type, const double *from, unsigned char *to)
{
    memset(to, 0, (size_t)block_of(type).bytes);
    if (type == CLATTN_Q8_0)
        store_q8_0(from, to);
    else if (block_of(type).least)
        store_above(type, from, to);
    else
        store_signed(type, from, to);
}

static void load_block(int type, const unsigned char *from, double *to)
{
    const struct block at = block_of(type);
    const float scale = load_half(from), least = at.least ? load_half(from + at.least) : 0;
    for (int c = 0; c < BLOCK; c++) {
        const int code = code_at(at, from, c);
        const int x = type == CLATTN_Q8_0 ? (code < 128 ? code : code - 256) : code + (int)convert_type(type)->least;
        const float product = (float)x * scale;
        const float value = at.least ? product + least : product;
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
        store_block(type, from, to);
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
    for (size_t at = 0; at + HALF <= bytes && !quantise_is_scaled(type); at += quantise_bytes(type, BLOCK))
        store_half(NAN, to + at);
}
