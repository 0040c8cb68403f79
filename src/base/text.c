/* text.c - text that grows inside a fixed room
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/text.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void text_add(struct text *t, const char *format, ...)
{
    const size_t left = t->length < t->room ? t->room - t->length : 0;
    va_list ap;
    va_start(ap, format);
    const int n = vsnprintf(left ? t->to + t->length : NULL, left, format, ap);
    va_end(ap);
    if (n > 0)
        t->length += (size_t)n;
}

void text_add_n(struct text *t, const char *bytes, size_t n)
{
    if (t->length < t->room) {
        const size_t left = t->room - t->length - 1, copied = n < left ? n : left;
        memcpy(t->to + t->length, bytes, copied);
        t->to[t->length + copied] = '\0';
    }
    t->length += n;
}
