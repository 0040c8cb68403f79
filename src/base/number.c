/* number.c - numbers in text, the same in every locale
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/number.h"
#include "base/text.h"
#include "base/checked.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { REAL_MAX = 128 }; /* bytes of a real, a locale's separator included */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

const char *number_read_integer(const char *at, int64_t *value)
{
    const bool negative = *at == '-';
    int64_t x = 0;
    at += negative;
    if (!is_digit(*at))
        return NULL;
    for (; is_digit(*at); at++)
        if (!checked_mul(x, 10, &x) || !checked_add(x, negative ? '0' - *at : *at - '0', &x))
            return NULL;
    *value = x;
    return at;
}

static const char *skip_digits(const char *at)
{
    while (is_digit(*at))
        at++;
    return at;
}

/* Adds this locale's decimal separator: whatever stands between the zeros of 0.0. */
static void add_separator(struct text *to)
{
    char zero[32] = "0.0";
    const int n = snprintf(zero, sizeof zero, "%.1f", 0.0);
    if (n >= 3 && n < (int)sizeof zero)
        text_add_n(to, zero + 1, (size_t)n - 2);
}

const char *number_read_real(const char *at, double *value)
{
    char copy[REAL_MAX], *end;
    struct text t = { copy, sizeof copy, 0 };
    const char *const whole = at + (*at == '-'), *to = skip_digits(whole);
    size_t digits = (size_t)(to - whole);
    text_add_n(&t, at, (size_t)(to - at));
    if (*to == '.') {
        const char *const fraction = to + 1;
        to = skip_digits(fraction);
        digits += (size_t)(to - fraction);
        add_separator(&t);
        text_add_n(&t, fraction, (size_t)(to - fraction));
    }
    if (!digits)
        return NULL;
    if (*to == 'e' || *to == 'E') {
        const char *const power = to + 1 + (to[1] == '+' || to[1] == '-'), *const from = to;
        to = skip_digits(power);
        if (to == power)
            return NULL;
        text_add_n(&t, from, (size_t)(to - from));
    }
    if (t.length >= sizeof copy)
        return NULL;
    *value = strtod(copy, &end);
    return *end || !isfinite(*value) ? NULL : to;
}

/* Puts a point where snprintf() put this locale's separator. */
static void add_with_point(struct text *to, const char *digits)
{
    bool separator = false;
    for (; *digits; digits++)
        if (strchr("0123456789+-e", *digits))
            text_add_n(to, digits, 1), separator = false;
        else if (!separator)
            text_add_n(to, ".", 1), separator = true;
}

void number_print_real(struct text *to, double x)
{
    char digits[64];
    for (int n = 15; n <= 17; n++) {
        snprintf(digits, sizeof digits, "%.*g", n, x);
        if (strtod(digits, NULL) == x)
            break;
    }
    add_with_point(to, digits);
}
