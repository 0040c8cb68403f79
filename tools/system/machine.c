/* machine.c - the processor's kind, by its own word
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/machine.h"
#include "tools/system/machine_steps.h"

#include <stdio.h>
#include <string.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#endif

#if defined __x86_64__ || defined __i386__
/* Its name in 48 characters, which has blanks in front and in rows. */
static void brand(char name[49])
{
    enum { FIRST = 0x80000002, LAST = 0x80000004 };
    memset(name, 0, 49);
    for (unsigned leaf = FIRST; leaf <= (unsigned)LAST; leaf++) {
        unsigned r[4];
        if (!__get_cpuid(leaf, &r[0], &r[1], &r[2], &r[3]))
            return;
        memcpy(name + 16 * (leaf - FIRST), r, sizeof r);
    }
}
#else
static void brand(char name[49])
{
    name[0] = '\0';
}
#endif

void machine_cpu(char *text, size_t len)
{
    char name[49];
    size_t n = 0;
    brand(name);
    for (const char *c = name + strspn(name, " "); *c && n + 1 < len; c++)
        if (*c != ' ' || (c[1] != ' ' && c[1]))
            text[n++] = *c;
    text[n] = '\0';
    if (!n)
        machine_cpu_elsewhere(text, len);
}
