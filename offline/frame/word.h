/* word.h - words of a text: bytes that are not terminated
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_WORD_H
#define FRAME_WORD_H

#include <stddef.h>
#include <stdint.h>

struct word {
    const char *at;
    size_t length;
};
#define WORD(w) (int)((w).length < 100 ? (w).length : 100), (w).at /* for %.*s */

int word_is(struct word w, const char *text);
int words_equal(struct word a, struct word b);
int word_begins(struct word w, const char *text);
struct word word_trim(struct word w);           /* without blanks at its ends */
int word_number(struct word w, int64_t *value); /* true: all of it is a whole number, 0x.. too */

#endif
