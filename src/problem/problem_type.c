/* problem_type.c - the storage types: one table, of which all else that tells them apart is made. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "problem/problem_type.h"

#include "base/text.h"

#include <clattn.h>

#include <math.h>
#include <stdint.h>
#include <string.h>

/* ---- Elements ---- */

static uint32_t bits_of(float x)
{
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    return bits;
}

static void store_f32(double x, void *to)
{
    const float f = (float)x;
    memcpy(to, &f, sizeof f);
}

static double load_f32(const void *from)
{
    float f;
    memcpy(&f, from, sizeof f);
    return f;
}

static void store_f64(double x, void *to)
{
    memcpy(to, &x, sizeof x);
}

static double load_f64(const void *from)
{
    double x;
    memcpy(&x, from, sizeof x);
    return x;
}

static void store_bf16(double x, void *to)
{
    const uint16_t half = (uint16_t)(bits_of((float)x) >> 16);
    memcpy(to, &half, sizeof half);
}

static double load_bf16(const void *from)
{
    uint16_t half;
    memcpy(&half, from, sizeof half);
    const uint32_t bits = (uint32_t)half << 16;
    return load_f32(&bits);
}

static void store_f16(double x, void *to)
{
    const uint32_t bits = bits_of((float)x);
    uint16_t half = (uint16_t)(bits >> 16 & 0x8000);
    if (isnan(x))
        half = 0xffff;
    else if (isinf(x))
        half |= 0x7c00;
    else if (x != 0)
        half |= (uint16_t)(((bits >> 23 & 255) - 112) << 10 | (bits >> 13 & 1023));
    memcpy(to, &half, sizeof half);
}

static double load_f16(const void *from)
{
    uint16_t x;
    memcpy(&x, from, sizeof x);
    const int e = x >> 10 & 31, m = x & 1023;
    const double size = e == 31 ? (m ? (double)NAN : (double)INFINITY) : ldexp(e ? m + 1024 : m, (e ? e : 1) - 25);
    return x & 0x8000 ? -size : size;
}

static void store_i32(double x, void *to)
{
    const int32_t n = (int32_t)x;
    memcpy(to, &n, sizeof n);
}

static void store_u8(double x, void *to)
{
    *(unsigned char *)to = (unsigned char)x;
}

/* ---- The table ---- */

enum { ALL = PROBLEM_ROWS | PROBLEM_KEYS | PROBLEM_CAPTURED };

const struct problem_type problem_types[] = {
    [0] = { .elements = 1 }, /* none: there is no bias */
    [CLATTN_F32] = { "f32", PROBLEM_PLAIN, ALL, 1, 4, 0, false,
                     store_f32, load_f32, 0x1p-24, 0x1p-126, "const __global float" },
    [CLATTN_F16] = { "f16", PROBLEM_PLAIN, ALL, 1, 2, 0, false,
                     store_f16, load_f16, 0x1p-11, 0x1p-14, "const __global half" },
    [CLATTN_BF16] = { "bf16", PROBLEM_PLAIN, ALL, 1, 2, 0, false,
                      store_bf16, load_bf16, 0x1p-8, 0x1p-126, "const __global ushort" },
    [CLATTN_F64] = { "f64", PROBLEM_PLAIN, ALL, 1, 8, 0, false,
                     store_f64, load_f64, 0x1p-53, 0x1p-1022, "const __global double" },
    [CLATTN_I32] = { "i32", PROBLEM_PLAIN, PROBLEM_CAPTURED, 1, 4, 0, false,
                     store_i32, NULL, 0, 0, "const __global int" },
    [CLATTN_U8] = { "u8", PROBLEM_PLAIN, PROBLEM_CAPTURED, 1, 1, 0, false,
                    store_u8, NULL, 0, 0, "const __global uchar" },
    [CLATTN_INT8] = { "int8", PROBLEM_SCALED, PROBLEM_KEYS, 1, 1, 8, false, NULL, NULL, 0, 0, NULL },
    [CLATTN_INT4] = { "int4", PROBLEM_SCALED, PROBLEM_KEYS, 2, 1, 4, false, NULL, NULL, 0, 0, NULL },
    [CLATTN_Q8_0] = { "q8_0", PROBLEM_BLOCKS, PROBLEM_KEYS, 32, 34, 8, false, NULL, NULL, 0, 0, NULL },
    [CLATTN_Q4_0] = { "q4_0", PROBLEM_BLOCKS, PROBLEM_KEYS, 32, 18, 4, false, NULL, NULL, 0, 0, NULL },
    [CLATTN_Q4_1] = { "q4_1", PROBLEM_BLOCKS, PROBLEM_KEYS, 32, 20, 4, true, NULL, NULL, 0, 0, NULL },
    [CLATTN_Q5_0] = { "q5_0", PROBLEM_BLOCKS, PROBLEM_KEYS, 32, 22, 5, false, NULL, NULL, 0, 0, NULL },
    [CLATTN_Q5_1] = { "q5_1", PROBLEM_BLOCKS, PROBLEM_KEYS, 32, 24, 5, true, NULL, NULL, 0, 0, NULL },
};
enum { TYPES = sizeof problem_types / sizeof *problem_types };

bool problem_type_may(int type, unsigned roles)
{
    return type > 0 && type < TYPES && problem_types[type].roles & roles;
}

int problem_type_find(const char *name)
{
    for (int t = 1; t < TYPES; t++)
        if (problem_type_may(t, PROBLEM_ROWS | PROBLEM_KEYS) && !strcmp(name, problem_types[t].name))
            return t;
    return 0;
}

/* ---- Words ---- */

const char *problem_type_names(char to[PROBLEM_TYPE_WORDS], unsigned roles)
{
    struct text text = { to, PROBLEM_TYPE_WORDS, 0 };
    int last = TYPES;
    while (last > 0 && !problem_type_may(last, roles))
        last--;
    for (int t = 1; t <= last; t++)
        if (problem_type_may(t, roles))
            text_add(&text, "%s%s", !text.length ? "" : t < last ? ", " : " or ", problem_types[t].name);
    return to;
}

static void add_constant(struct text *to, const char *before, int type)
{
    text_add(to, "%sCLATTN_", before);
    for (const char *s = problem_types[type].name; *s; s++)
        text_add(to, "%c", *s >= 'a' && *s <= 'z' ? *s - 'a' + 'A' : *s);
}

const char *problem_type_ranges(char to[PROBLEM_TYPE_WORDS], unsigned roles)
{
    struct text text = { to, PROBLEM_TYPE_WORDS, 0 };
    for (int first = 1, last; first < TYPES; first = last + 1) {
        last = first;
        if (!problem_type_may(first, roles))
            continue;
        while (problem_type_may(last + 1, roles))
            last++;
        add_constant(&text, text.length ? ", " : "", first);
        if (last > first)
            add_constant(&text, " .. ", last);
    }
    return to;
}
