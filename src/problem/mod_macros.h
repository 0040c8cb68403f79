/* mod_macros.h - macros that a caller's text defines, which must not reach the next one. Knows no device.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef MOD_MACROS_H
#define MOD_MACROS_H

#include "base/text.h"

#include <stdbool.h>

/* What goes before a text, or after it. */
void mod_macros_write(struct text *to, const char *text, bool after);

#endif
