/* environment.c - what surrounds the process
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/environment.h"

bool environment_is_set(const char *value)
{
    return value && *value;
}
