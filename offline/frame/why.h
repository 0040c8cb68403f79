/* why.h - the words of a failure, in a text that the caller provides
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef FRAME_WHY_H
#define FRAME_WHY_H

#include <stddef.h>

#if defined(__GNUC__)
#define FRAME_PRINTF(f, a) __attribute__((format(printf, f, a)))
#else
#define FRAME_PRINTF(f, a)
#endif

/* why may be NULL with size 0. */
void say_why(char *why, size_t size, const char *format, ...) FRAME_PRINTF(3, 4);

#endif
