/* fault.c - an error on its way to main(): one line of text and the exit status it leads to
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/system/fault.h"

#include <stdarg.h>
#include <stdio.h>

int fault_set(struct fault *f, int status, const char *format, ...)
{
    va_list list;
    if (f->status != 0)
        return -1;
    f->status = status;
    va_start(list, format);
    vsnprintf(f->text, sizeof f->text, format, list);
    va_end(list);
    return -1;
}

void fault_print(const struct fault *f, const char *program)
{
    fprintf(stderr, "%s: ", program);
    for (const char *c = f->text; *c; c++)
        putc(*c == '\n' ? ' ' : (unsigned char)*c < 0x20 || *c == 0x7f ? '?' : *c, stderr);
    putc('\n', stderr);
}
