/* why.c - the words of a failure
 * SPDX-License-Identifier: Apache-2.0 */
#include "offline/frame/why.h"

#include <stdarg.h>
#include <stdio.h>

void say_why(char *why, size_t size, const char *format, ...)
{
    va_list ap;
    if (!why || !size)
        return;
    va_start(ap, format);
    vsnprintf(why, size, format, ap);
    va_end(ap);
}
