/* object.c - a kernel binary: the sections of an ELF file
 * SPDX-License-Identifier: Apache-2.0 */
#include "reader.h"

enum { HEADER = 64, SECTION = 64 };

/* Numbers of the file, little-endian; `at` has been checked. */
static uint64_t number(const struct reader *r, uint64_t at, unsigned bytes)
{
    uint64_t x = 0;
    for (unsigned i = bytes; i-- > 0;)
        x = x << 8 | r->object[at + i];
    return x;
}

static struct word bytes(struct reader *r, uint64_t at, uint64_t size)
{
    if (at > r->object_size || size > r->object_size - at)
        fail(r, "the binary is cut off");
    const struct word w = { (const char *)r->object + at, (size_t)size };
    return w;
}

static void check_header(struct reader *r)
{
    if (r->object_size < HEADER || memcmp(r->object, "\177ELF\2\1", 6))
        fail(r, "the binary is no ELF file of 64 bits");
    if (number(r, 58, 2) != SECTION)
        fail(r, "the binary's sections have another size");
}

static struct word section_at(struct reader *r, uint64_t header)
{
    return bytes(r, number(r, header + 24, 8), number(r, header + 32, 8));
}

struct word object_section(struct reader *r, const char *name)
{
    const struct word none = { "", 0 };
    check_header(r);
    const uint64_t table = number(r, 40, 8), n = number(r, 60, 2), names_at = number(r, 62, 2);
    bytes(r, table, n * SECTION);
    if (names_at >= n)
        fail(r, "the binary has no names of sections");
    const struct word names = section_at(r, table + names_at * SECTION);
    for (uint64_t i = 0; i < n; i++) {
        const uint64_t at = number(r, table + i * SECTION, 4);
        const size_t length = strlen(name);
        if (at < names.length && names.length - at > length && !memcmp(names.at + at, name, length + 1))
            return section_at(r, table + i * SECTION);
    }
    return none;
}
