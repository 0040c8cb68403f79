/* scrub.h - words of drivers without what tells whose machine it is; needs no device
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SCRUB_H
#define SCRUB_H

#include <stddef.h>

enum { SCRUB_NAMES = 8, SCRUB_NAME = 128 };

/* Names that nobody has to know. Those that are shorter than three letters would be found everywhere. */
struct scrub {
    int n;
    char names[SCRUB_NAMES][SCRUB_NAME];
};

/* Those of this machine and of who uses it. */
void scrub_begin(struct scrub *s);
void scrub_name(struct scrub *s, const char *name);

/* Copies a text, at most len bytes with a NUL: "(path)" in place of each path, but for the place in a file that may
 * follow it, "(id)" for UUIDs and addresses on buses, "(name)" for whole words that are names. Control characters
 * become blanks. */
void scrub_text(const struct scrub *s, const char *from, char *to, size_t len);

#endif
