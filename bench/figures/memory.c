/* memory.c - how many bytes a problem needs, and whether they are there
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/figures/memory.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

uint64_t memory_add(uint64_t a, uint64_t b)
{
    return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

uint64_t memory_times(uint64_t a, uint64_t b)
{
    return b != 0 && a > UINT64_MAX / b ? UINT64_MAX : a * b;
}

uint64_t memory_size(int64_t a, int64_t b, int64_t c, int64_t d)
{
    if (a <= 0 || b <= 0 || c <= 0 || d <= 0)
        return 0;
    return memory_times(memory_times((uint64_t)a, (uint64_t)b), memory_times((uint64_t)c, (uint64_t)d));
}

void memory_buffer(struct memory_need *n, uint64_t bytes)
{
    n->device = memory_add(n->device, bytes);
    n->largest = bytes > n->largest ? bytes : n->largest;
}

static const char units[] = "KMGT";

int memory_read(const char *text, uint64_t *bytes)
{
    char *end;
    const double x = strtod(text, &end);
    const char *const unit = *end ? strchr(units, *end >= 'a' ? *end - 'a' + 'A' : *end) : NULL;
    const double scaled = ldexp(x, unit ? 10 * (int)(unit - units + 1) : 0);
    if (end == text || *text < '0' || *text > '9' || text[1] == 'x' || text[1] == 'X') /* no sign, blank, "inf", hex */
        return -1;
    end += unit != NULL;
    if (unit && *end == 'i')
        end++;
    if (*end == 'B' || *end == 'b')
        end++;
    if (*end || !(scaled >= 1) || scaled >= 9.2e18)
        return -1;
    *bytes = (uint64_t)scaled;
    return 0;
}

const char *memory_words(char text[MEMORY_TEXT], uint64_t bytes)
{
    double x = (double)bytes;
    int i = -1;
    while (x >= 1000 && i + 1 < (int)strlen(units)) {
        x /= 1024;
        i++;
    }
    if (bytes == UINT64_MAX)
        snprintf(text, MEMORY_TEXT, "too much to count");
    else if (i < 0)
        snprintf(text, MEMORY_TEXT, "%d bytes", (int)x);
    else
        snprintf(text, MEMORY_TEXT, "%.3g %ciB", x, units[i]);
    return text;
}

static int is_above(uint64_t bytes, uint64_t limit)
{
    return bytes == UINT64_MAX || (limit != 0 && bytes > limit);
}

static uint64_t smaller(uint64_t a, uint64_t b)
{
    return a == 0 || (b != 0 && b < a) ? b : a;
}

int memory_check(const struct memory_need *n, const struct memory_limits *l, char *why, size_t len)
{
    const uint64_t all = memory_add(n->host, n->device), both = smaller(l->host, l->device);
    char a[MEMORY_TEXT], b[MEMORY_TEXT], c[MEMORY_TEXT];
    if (is_above(n->largest, l->largest)) {
        snprintf(why, len, "a buffer takes %s, and the device has at most %s for one", memory_words(a, n->largest),
                 memory_words(b, l->largest));
        return -1;
    }
    if (l->unified && is_above(all, both)) {
        snprintf(why, len, "it needs %s of memory, and the limit is %s (--memory SIZE changes it)",
                 memory_words(a, all), memory_words(b, both));
        return -1;
    }
    if (is_above(n->host, l->host) || is_above(n->device, l->device)) {
        const int host = is_above(n->host, l->host);
        snprintf(why, len, "it needs %s of memory and %s of the device's, and the limit of the %s is %s (--memory SIZE "
                 "changes it)", memory_words(a, n->host), memory_words(b, n->device), host ? "former" : "latter",
                 memory_words(c, host ? l->host : l->device));
        return -1;
    }
    return 0;
}
