/* random_windows.c - bytes that nobody can guess, of Windows' CNG
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/random.h"

#include <errno.h>
#include <windows.h>

#include <bcrypt.h>

int random_bytes(unsigned char *to, size_t n)
{
    return BCryptGenRandom(NULL, to, (ULONG)n, BCRYPT_USE_SYSTEM_PREFERRED_RNG) ? EIO : 0;
}
