/* environment_windows.c - what surrounds the process, on Windows, where no program has other rights than its user
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/environment.h"

#include <stdlib.h>

const struct environment_home environment_homes[ENVIRONMENT_HOMES] = { { "LOCALAPPDATA", "\\clattn" },
                                                                       { NULL, NULL } };

bool environment_is_borrowed(void)
{
    return false;
}

const char *environment_get(const char *name)
{
    return getenv(name);
}

char *const *environment_all(void)
{
    return _environ;
}
