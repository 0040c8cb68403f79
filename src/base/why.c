/* why.c - the words that tell a caller why a call failed
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/why.h"

#include <stdarg.h>
#include <stdio.h>

cl_int why_set(struct why *why, cl_int status, const char *format, ...)
{
    va_list ap;
    va_start(ap, format);
    if (vsnprintf(why->text, sizeof why->text, format, ap) < 0)
        why->text[0] = '\0';
    va_end(ap);
    return status;
}

cl_int why_cl(struct why *why, cl_int status, const char *call)
{
    return why_set(why, status, "%s: %s (%d)", call, clattn_status_string(status), (int)status);
}
