/* heard.h - what tests of the interpreters share: findings of a launch, numbers by chance
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_HEARD_H
#define TEST_HEARD_H

#include "offline/frame/finding.h"
#include "tests/lib/tap.h"

/* The findings of a launch, by kind, and the first of them: names that its pointers had are copies. */
struct heard {
    int n[FOUND_KINDS], all;
    struct finding first;
    char text[400], variable[64], file[64];
};

TAP_UNUSED static int hear(const struct finding *f, void *context)
{
    struct heard *h = context;
    h->n[f->kind]++;
    if (!h->all++) {
        h->first = *f;
        h->first.text = h->first.kernel = h->first.variable = h->first.file = NULL;
        snprintf(h->variable, sizeof h->variable, "%s", f->variable ? f->variable : "");
        snprintf(h->file, sizeof h->file, "%s", f->file ? f->file : "");
        finding_print(f, h->text, sizeof h->text);
    }
    return 0;
}

/* The same numbers everywhere. */
TAP_UNUSED static uint32_t dice(uint32_t *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Registers and memory are kept as little-endian machines do. */
TAP_UNUSED static int skips_big_endian(void)
{
    const uint16_t one = 1;
    return !*(const unsigned char *)&one;
}
#define SKIP_BIG_ENDIAN                                                                                                \
    if (skips_big_endian())                                                                                            \
    return skip_all("the interpreter keeps registers and memory as little-endian machines do")

#endif
