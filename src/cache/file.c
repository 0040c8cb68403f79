/* file.c - whole files in an open folder: read, replaced, named at random
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/file.h"
#include "base/random.h"

#include <string.h>

#define TEMP ".tmp-" /* no blob has a name that begins like this */
enum { TEMP_BEGIN = sizeof TEMP - 1, TEMP_DIGITS = 32, RANDOM_MAX = 32 };

int64_t file_now(void)
{
    struct timespec t;
    return clock_gettime(CLOCK_REALTIME, &t) ? 0 : (int64_t)t.tv_sec;
}

int file_random(char *hex, size_t digits)
{
    static const char digit[] = "0123456789abcdef";
    unsigned char bytes[RANDOM_MAX];
    const int status = random_bytes(bytes, digits / 2);
    if (status)
        return status;
    for (size_t i = 0; i < digits; i++)
        hex[i] = digit[bytes[i / 2] >> (i % 2 ? 0 : 4) & 15];
    hex[digits] = '\0';
    return 0;
}

bool file_is_hex(const char *text, size_t digits)
{
    return strspn(text, "0123456789abcdef") == digits && !text[digits];
}

bool file_is_temp(const char *leaf)
{
    return !strncmp(leaf, TEMP, TEMP_BEGIN) && file_is_hex(leaf + TEMP_BEGIN, TEMP_DIGITS);
}

int file_read(struct file *out, const struct folder *f, const char *leaf, size_t most)
{
    return file_read_as(out, f, leaf, most, false);
}

int file_read_shared(struct file *out, const struct folder *f, const char *leaf, size_t most)
{
    return file_read_as(out, f, leaf, most, true);
}

int file_write(const struct folder *f, const char *leaf, const void *bytes, size_t n, bool durable)
{
    char temp[TEMP_BEGIN + TEMP_DIGITS + 1] = TEMP;
    int status = file_random(temp + TEMP_BEGIN, TEMP_DIGITS);
    if (!status)
        status = file_create(f, temp, bytes, n, durable);
    return status ? status : file_replace(f, temp, leaf, durable);
}

int file_touch(const struct folder *f, const char *leaf)
{
    return file_set_time(f, leaf, file_now());
}
