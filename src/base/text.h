/* text.h - text that grows inside a fixed room
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEXT_H
#define TEXT_H

#include <stddef.h>

/* Text that grows inside a fixed room, always ended by NUL where there is room for one; `length` is what the whole text
 * would take. */
struct text {
    char *to;
    size_t room, length;
};
void text_add(struct text *t, const char *format, ...) PRINTF_LIKE(2, 3);
void text_add_n(struct text *t, const char *bytes, size_t n);

#endif
