/* npy_header.c - the text header of a .npy file: a Python dictionary of three keys
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/npy/npy.h"

#include <string.h>

/* The header text, a Python dict literal, as it is read. */
struct cursor {
    const char *at, *end;
    const char *why; /* the first thing that is wrong */
};

static int wrong(struct cursor *c, const char *why)
{
    if (!c->why)
        c->why = why;
    return -1;
}

static void skip_space(struct cursor *c)
{
    while (c->at < c->end && (*c->at == ' ' || *c->at == '\t' || *c->at == '\n'))
        c->at++;
}

/* Takes the character `x` and the space around it, if it comes next. */
static int take(struct cursor *c, char x)
{
    skip_space(c);
    if (c->at == c->end || *c->at != x)
        return 0;
    c->at++;
    skip_space(c);
    return 1;
}

static int take_word(struct cursor *c, const char *word)
{
    const size_t n = strlen(word);
    if ((size_t)(c->end - c->at) < n || memcmp(c->at, word, n) != 0)
        return 0;
    c->at += n;
    return 1;
}

/* A string literal into `text`. There is nothing in a header that needs an escape or more than `len`. */
static int take_string(struct cursor *c, char *text, size_t len)
{
    size_t n = 0;
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return wrong(c, "the header has something else where a string must stand");
    const char quote = *c->at++;
    while (c->at < c->end && *c->at != quote) {
        if (n + 1 >= len || *c->at == '\\' || (unsigned char)*c->at < 0x20)
            return wrong(c, "the header has a string that is too long or has an escape");
        text[n++] = *c->at++;
    }
    if (c->at == c->end)
        return wrong(c, "the header has a string without an end");
    c->at++;
    text[n] = '\0';
    return 0;
}

static int take_type(struct cursor *c, struct npy *a)
{
    char text[32];
    if (c->at < c->end && *c->at == '[')
        return wrong(c, "records are not supported (want a plain type such as <f4)");
    if (take_string(c, text, sizeof text) != 0)
        return -1;
    if (npy_type(text, a) == 0)
        return 0;
    return wrong(c, "its type is not supported (want f2 f4 f8 b1 i1 i2 i4 i8 u1 u2 u4 or u8, with < or >)");
}

static int take_size(struct cursor *c, int64_t *size)
{
    const char *from = c->at;
    int64_t x = 0;
    for (; c->at < c->end && *c->at >= '0' && *c->at <= '9'; c->at++) {
        if (x > (INT64_MAX - 9) / 10)
            return wrong(c, "an axis is too long");
        x = x * 10 + (*c->at - '0');
    }
    if (c->at == from || (c->at - from > 1 && *from == '0'))
        return wrong(c, "its shape is not a tuple of plain numbers");
    *size = x;
    return 0;
}

static int take_shape(struct cursor *c, struct npy *a)
{
    int comma = 1;
    if (!take(c, '('))
        return wrong(c, "its shape is not a tuple");
    a->ndim = 0;
    while (!take(c, ')')) {
        if (!comma)
            return wrong(c, "its shape lacks a comma");
        if (a->ndim == NPY_DIMS)
            return wrong(c, "it has more than 8 axes");
        if (take_size(c, &a->shape[a->ndim++]) != 0)
            return -1;
        comma = take(c, ',');
    }
    return a->ndim == 1 && !comma ? wrong(c, "its shape is a number, not a tuple") : 0;
}

static int take_order(struct cursor *c, struct npy *a)
{
    a->fortran = take_word(c, "True");
    return a->fortran || take_word(c, "False") ? 0 : wrong(c, "fortran_order is neither True nor False");
}

/* One `key: value` of the dict. `seen` has a bit for each key met. */
static int take_item(struct cursor *c, struct npy *a, unsigned *seen)
{
    static const char *const keys[] = { "descr", "fortran_order", "shape" };
    char key[32];
    int i = 0;
    if (take_string(c, key, sizeof key) != 0)
        return -1;
    while (i < 3 && strcmp(key, keys[i]) != 0)
        i++;
    if (i == 3)
        return wrong(c, "the header has an unknown key");
    if (*seen & 1u << i)
        return wrong(c, "the header has a key twice");
    *seen |= 1u << i;
    if (!take(c, ':'))
        return wrong(c, "the header lacks a colon");
    return i == 0 ? take_type(c, a) : i == 1 ? take_order(c, a) : take_shape(c, a);
}

static int take_header(struct cursor *c, struct npy *a)
{
    unsigned seen = 0;
    int comma = 1;
    if (c->at == c->end || c->end[-1] != '\n')
        return wrong(c, "the header does not end in a newline");
    if (*c->at != '{')
        return wrong(c, "the header is not a dictionary");
    (void)take(c, '{');
    while (!take(c, '}')) {
        if (!comma)
            return wrong(c, "the header lacks a comma");
        if (take_item(c, a, &seen) != 0)
            return -1;
        comma = take(c, ',');
    }
    if (c->at != c->end)
        return wrong(c, "the header has text after the dictionary");
    return seen == 7 ? 0 : wrong(c, "the header lacks one of descr, fortran_order and shape");
}

const char *npy_header(const char *text, size_t n, struct npy *a)
{
    struct cursor c = { text, text + n, NULL };
    return take_header(&c, a) == 0 ? NULL : c.why;
}
