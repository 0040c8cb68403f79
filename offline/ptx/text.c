/* text.c - words, numbers and punctuation of PTX text
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "reader.h"
#include "offline/frame/small.h"

void fail(struct reader *r, const char *format, ...)
{
    char text[256];
    va_list ap;
    va_start(ap, format);
    vsnprintf(text, sizeof text, format, ap);
    va_end(ap);
    say_why(r->why, r->why_size, "line %u: %s", (unsigned)r->at.line, text);
    longjmp(r->bail, 1);
}

void *reader_alloc(struct reader *r, size_t n, size_t size)
{
    void *p = size && n > SIZE_MAX / 2 / size ? NULL : arena_alloc(&r->module->arena, n * size);
    if (!p)
        fail(r, "out of memory");
    return p;
}

void *reader_grow(struct reader *r, void *array, size_t n, size_t size, size_t most, const char *what)
{
    if (n >= most)
        fail(r, "more than %zu %s", most, what);
    if (n & (n - 1))
        return array;
    void *larger = reader_alloc(r, n ? 2 * n : 1, size);
    if (n)
        memcpy(larger, array, n * size);
    return larger;
}

/* ---- characters ---- */

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_word(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || is_digit(c) || c == '_' || c == '$' || c == '%' ||
           c == '.';
}

static void skip_comment(struct reader *r)
{
    while (r->at.p < r->end && !(r->at.p[0] == '*' && r->at.p[1] == '/'))
        r->at.line += *r->at.p++ == '\n';
    if (r->at.p >= r->end)
        fail(r, "a comment has no end");
    r->at.p += 2;
}

void skip_space(struct reader *r)
{
    for (;;) {
        const char *p = r->at.p; /* the text ends with a zero */
        if (*p == '\n' || *p == ' ' || *p == '\t' || *p == '\r' || *p == '\f' || *p == '\v') {
            r->at.line += *p == '\n';
            r->at.p++;
        } else if (p[0] == '/' && p[1] == '/') {
            while (*r->at.p && *r->at.p != '\n')
                r->at.p++;
        } else if (p[0] == '/' && p[1] == '*') {
            r->at.p += 2;
            skip_comment(r);
        } else {
            return;
        }
    }
}

int next_is(struct reader *r, char c)
{
    skip_space(r);
    return *r->at.p == c && r->at.p < r->end;
}

int take(struct reader *r, char c)
{
    if (!next_is(r, c))
        return 0;
    r->at.p++;
    return 1;
}

void expect(struct reader *r, char c)
{
    if (take(r, c))
        return;
    if (r->at.p >= r->end)
        fail(r, "the text ends where '%c' should be", c);
    fail(r, "'%c' expected before \"%.20s\"", c, r->at.p);
}

void skip_line(struct reader *r)
{
    while (r->at.p < r->end && *r->at.p != '\n')
        r->at.p++;
}

void skip_braces(struct reader *r)
{
    int depth = 0;
    do {
        skip_space(r);
        if (r->at.p >= r->end)
            fail(r, "the text ends within braces");
        if (*r->at.p == '"') {
            take_string(r);
            continue;
        }
        depth += *r->at.p == '{';
        depth -= *r->at.p == '}';
        r->at.p++;
    } while (depth > 0);
}

/* ---- words ---- */

struct word take_word(struct reader *r)
{
    skip_space(r);
    struct word w = { r->at.p, 0 };
    if (is_digit(*r->at.p))
        return w;
    while (is_word(*r->at.p) || (r->at.p[0] == ':' && r->at.p[1] == ':')) /* .shared::cta */
        r->at.p += *r->at.p == ':' ? 2 : 1;
    w.length = (size_t)(r->at.p - w.at);
    return w;
}

struct word take_string(struct reader *r)
{
    expect(r, '"');
    struct word w = { r->at.p, 0 };
    while (r->at.p < r->end && *r->at.p != '"' && *r->at.p != '\n')
        r->at.p++;
    w.length = (size_t)(r->at.p - w.at);
    expect(r, '"');
    return w;
}

char *word_copy(struct reader *r, struct word w)
{
    char *to = reader_alloc(r, w.length + 1, 1);
    memcpy(to, w.at, w.length);
    return to;
}

/* ---- numbers ---- */

int at_number(struct reader *r)
{
    skip_space(r);
    return is_digit(*r->at.p) || (*r->at.p == '-' && is_digit(r->at.p[1]));
}

static int digit_of(char c)
{
    return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

static uint64_t take_digits(struct reader *r, int base, int least, int most)
{
    uint64_t value = 0;
    int n = 0;
    for (; digit_of(*r->at.p) < base; n++, r->at.p++) {
        const uint64_t digit = (uint64_t)digit_of(*r->at.p);
        if (value > (UINT64_MAX - digit) / (uint64_t)base)
            fail(r, "a number is too large");
        value = value * (uint64_t)base + digit;
    }
    if (n < least || (most && n > most))
        fail(r, "a number has %d digits", n);
    return value;
}

static uint64_t take_whole(struct reader *r)
{
    const char *p = r->at.p;
    int base = 10;
    if (p[0] == '0' && (p[1] == 'x' || p[1] == 'X'))
        base = 16, r->at.p += 2;
    else if (p[0] == '0' && (p[1] == 'b' || p[1] == 'B'))
        base = 2, r->at.p += 2;
    else if (p[0] == '0' && is_digit(p[1]))
        base = 8;
    const uint64_t value = take_digits(r, base, 1, 0);
    if (*r->at.p == 'U')
        r->at.p++;
    if (*r->at.p == '.' || *r->at.p == 'e' || *r->at.p == 'E' || is_word(*r->at.p))
        fail(r, "a number is neither whole nor hexadecimal (0f.., 0d..) before \"%.20s\"", r->at.p);
    return value;
}

uint64_t take_count(struct reader *r, uint64_t most)
{
    skip_space(r);
    if (!is_digit(*r->at.p))
        fail(r, "a number expected before \"%.20s\"", r->at.p);
    const uint64_t value = take_whole(r);
    if (value > most)
        fail(r, "a number is larger than %llu", (unsigned long long)most);
    return value;
}

static uint64_t real_bits(double x, uint64_t raw, enum ptx_type type)
{
    switch (type) {
    case T_F64: return bits64_of(x);
    case T_F32: return bits_of((float)x);
    default: return raw;
    }
}

uint64_t take_literal(struct reader *r, enum ptx_type type)
{
    skip_space(r);
    const int negative = *r->at.p == '-';
    if (negative)
        r->at.p++;
    const char *p = r->at.p;
    if (p[0] == '0' && (p[1] == 'f' || p[1] == 'F')) {
        r->at.p += 2;
        const uint32_t bits = (uint32_t)take_digits(r, 16, 8, 8) ^ (negative ? 0x80000000u : 0);
        return type == T_F32 ? bits : real_bits(float_of(bits), bits, type);
    }
    if (p[0] == '0' && (p[1] == 'd' || p[1] == 'D')) {
        r->at.p += 2;
        const uint64_t bits = take_digits(r, 16, 16, 16) ^ (negative ? (uint64_t)1 << 63 : 0);
        return real_bits(double_of(bits), bits, type);
    }
    if (!is_digit(*p))
        fail(r, "a number expected before \"%.20s\"", p);
    const uint64_t value = take_whole(r);
    return negative ? 0 - value : value;
}

/* ---- types ---- */

static const struct {
    const char *name;
    int bytes;
    char class;
} types[T_TYPES] = {
    [T_PRED] = { "pred", 0, 'p' },   [T_B8] = { "b8", 1, 'h' },       [T_U8] = { "u8", 1, 'h' },
    [T_S8] = { "s8", 1, 'h' },       [T_B16] = { "b16", 2, 'h' },     [T_U16] = { "u16", 2, 'h' },
    [T_S16] = { "s16", 2, 'h' },     [T_F16] = { "f16", 2, 'h' },     [T_BF16] = { "bf16", 2, 'h' },
    [T_B32] = { "b32", 4, 'w' },     [T_U32] = { "u32", 4, 'w' },     [T_S32] = { "s32", 4, 'w' },
    [T_F32] = { "f32", 4, 'w' },     [T_F16X2] = { "f16x2", 4, 'w' }, [T_BF16X2] = { "bf16x2", 4, 'w' },
    [T_B64] = { "b64", 8, 'l' },     [T_U64] = { "u64", 8, 'l' },     [T_S64] = { "s64", 8, 'l' },
    [T_F64] = { "f64", 8, 'l' },
};

enum ptx_type type_named(struct word w)
{
    for (int t = T_NONE + 1; t < T_TYPES; t++)
        if (types[t].name && word_is(w, types[t].name))
            return (enum ptx_type)t;
    return T_NONE;
}

int ptx_type_bytes(enum ptx_type type)
{
    return types[type].bytes;
}

char type_class(enum ptx_type type)
{
    return types[type].class;
}
