/* setenv.h - setenv() and unsetenv(), which Windows lacks; there "" means that a variable is not set
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SETENV_H
#define SETENV_H

#include <stdlib.h>

#ifdef _WIN32
__attribute__((unused)) static int setenv(const char *name, const char *value, int replace)
{
    return replace || !getenv(name) ? _putenv_s(name, value) : 0;
}

__attribute__((unused)) static int unsetenv(const char *name)
{
    return _putenv_s(name, "");
}
#endif

#endif
