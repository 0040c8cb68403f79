/* json.c - numbers and strings as JSON, whatever the locale
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/json.h"

#include <math.h>
#include <string.h>

const char *json_number(char text[JSON_NUMBER], double x, int digits)
{
    char local[JSON_NUMBER];
    size_t n = 0;
    if (isnan(x) || isinf(x))
        return strcpy(text, "null");
    snprintf(local, sizeof local, "%.*g", digits > 17 ? 17 : digits, x);
    /* A driver may have set a locale; its point may be several bytes. */
    for (const char *c = local; *c; c++) {
        if (strchr("0123456789+-e", *c))
            text[n++] = *c;
        else if (n == 0 || text[n - 1] != '.')
            text[n++] = '.';
    }
    text[n] = '\0';
    return text;
}

/* Bytes of the UTF-8 sequence at `s`, or 0 when it is none: too short, overlong, a surrogate, beyond U+10FFFF. */
static size_t utf8(const unsigned char *s)
{
    const size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xc2 && s[0] < 0xe0 ? 2 : s[0] >= 0xe0 && s[0] < 0xf0 ? 3
        : s[0] >= 0xf0 && s[0] < 0xf5 ? 4 : 0;
    for (size_t i = 1; i < n; i++)
        if ((s[i] & 0xc0) != 0x80)
            return 0;
    if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90)
        || (s[0] == 0xf4 && s[1] > 0x8f))
        return 0;
    return n;
}

void json_string(FILE *f, const char *x)
{
    if (!x) {
        fputs("null", f);
        return;
    }
    putc('"', f);
    for (const unsigned char *s = (const unsigned char *)x; *s;) {
        const size_t n = utf8(s);
        if (n == 0)
            fputs("\\ufffd", f);
        else if (*s < 0x20 || *s == 0x7f)
            fprintf(f, "\\u%04x", *s);
        else if (*s == '"' || *s == '\\')
            fprintf(f, "\\%c", *s);
        else
            fwrite(s, 1, n, f);
        s += n ? n : 1;
    }
    putc('"', f);
}
