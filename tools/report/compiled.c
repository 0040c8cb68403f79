/* compiled.c - what a driver's compiler made of a kernel, as far as anything tells
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/compiled.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static void raise(double *most, double x)
{
    if (isnan(*most) || x > *most)
        *most = x;
}

void compiled_read_log(struct compiled *c, const char *log)
{
    static const char used[] = "Used ", spill[] = " bytes spill ";
    for (const char *at = log; (at = strstr(at, used)); at += strlen(used)) {
        char *end;
        const long n = strtol(at + strlen(used), &end, 10);
        if (end != at + strlen(used) && !strncmp(end, " registers", strlen(" registers")))
            raise(&c->registers, (double)n);
    }
    double bytes = NAN; /* of one kernel: stores and loads */
    for (const char *at = log; (at = strstr(at, spill)); at += strlen(spill)) {
        const char *number = at;
        while (number > log && number[-1] >= '0' && number[-1] <= '9')
            number--;
        if (number < at)
            raise(&bytes, (double)strtol(number, NULL, 10));
    }
    if (!isnan(bytes))
        raise(&c->spill_bytes, bytes);
}

/* An unsigned integer of MessagePack at `at`, of which `left` bytes are there; NaN where it is something else. */
static double integer(const unsigned char *at, size_t left)
{
    enum { SMALL = 0x80, UINT8 = 0xcc, UINT16, UINT32 };
    const int first = left ? at[0] : -1;
    const int bytes = first < 0 ? -1 : first < SMALL ? 0 : first == UINT8 ? 1 : first == UINT16 ? 2
                      : first == UINT32 ? 4 : -1;
    double x = 0;
    if (bytes < 0 || (size_t)bytes >= left)
        return NAN;
    for (int i = 1; i <= bytes; i++)
        x = 256 * x + at[i];
    return bytes ? x : at[0];
}

/* The largest value of a key; NaN where it is not there. */
static double largest(const unsigned char *bytes, size_t n, const char *key)
{
    const size_t length = strlen(key);
    double most = NAN;
    for (size_t i = 1; i + length < n; i++) {
        const int is_text = bytes[i - 1] == (0xa0 | length) || bytes[i - 1] == length; /* of up to 31 bytes; str8 */
        if (!is_text || memcmp(bytes + i, key, length) != 0)
            continue;
        const double x = integer(bytes + i + length, n - i - length);
        if (!isnan(x))
            raise(&most, x);
    }
    return most;
}

void compiled_read_binary(struct compiled *c, const unsigned char *bytes, size_t n)
{
    enum { REGISTER_BYTES = 4 };
    const double vgprs = largest(bytes, n, ".vgpr_count");
    const double spills = largest(bytes, n, ".vgpr_spill_count"), scalars = largest(bytes, n, ".sgpr_spill_count");
    if (isnan(vgprs))
        return;
    raise(&c->registers, vgprs);
    if (!isnan(spills))
        raise(&c->spill_bytes, REGISTER_BYTES * (spills + (isnan(scalars) ? 0 : scalars)));
}
