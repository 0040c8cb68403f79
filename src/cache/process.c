/* process.c - who this process is, and whether another one is gone
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "cache/process.h"

bool process_is_same_time(uint64_t a, uint64_t b)
{
    return !a || !b || a == b;
}
