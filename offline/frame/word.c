/* word.c - words of a text
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/word.h"

#include <string.h>

int word_is(struct word w, const char *text)
{
    return strlen(text) == w.length && !memcmp(w.at, text, w.length);
}

int words_equal(struct word a, struct word b)
{
    return a.length == b.length && !memcmp(a.at, b.at, a.length);
}

int word_begins(struct word w, const char *text)
{
    const size_t n = strlen(text);
    return w.length >= n && !memcmp(w.at, text, n);
}

struct word word_trim(struct word w)
{
    while (w.length && (unsigned char)*w.at <= ' ') {
        w.at++;
        w.length--;
    }
    while (w.length && (unsigned char)w.at[w.length - 1] <= ' ')
        w.length--;
    return w;
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 :
           c >= 'A' && c <= 'F' ? c - 'A' + 10 : 99;
}

int word_number(struct word w, int64_t *value)
{
    const int negative = w.length && *w.at == '-';
    uint64_t x = 0;
    size_t i = (size_t)negative;
    const int base = w.length > i + 2 && w.at[i] == '0' && (w.at[i + 1] == 'x' || w.at[i + 1] == 'X') ? 16 : 10;
    if (base == 16)
        i += 2;
    if (i >= w.length || w.length - i > 20)
        return 0;
    for (; i < w.length; i++) {
        const int d = digit(w.at[i]);
        if (d >= base)
            return 0;
        x = x * (unsigned)base + (unsigned)d;
    }
    *value = (int64_t)(negative ? 0 - x : x);
    return 1;
}
