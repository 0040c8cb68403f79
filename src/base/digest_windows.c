/* digest_windows.c - SHA-256, by Windows' CNG
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/digest.h"

#include <string.h>
#include <windows.h>

#include <bcrypt.h>

#ifndef BCRYPT_SHA256_ALG_HANDLE
#define BCRYPT_SHA256_ALG_HANDLE ((BCRYPT_ALG_HANDLE)0x41) /* MinGW's headers of 2022 lack it */
#endif
enum { PIECE = 1 << 30 }; /* it counts in 32 bits */

static bool hash(unsigned char out[DIGEST_BYTES], const unsigned char *at, size_t n)
{
    BCRYPT_HASH_HANDLE h;
    if (BCryptCreateHash(BCRYPT_SHA256_ALG_HANDLE, &h, NULL, 0, NULL, 0, 0))
        return false;
    bool good = true;
    for (; good && n > PIECE; at += PIECE, n -= PIECE)
        good = !BCryptHashData(h, (unsigned char *)(uintptr_t)at, PIECE, 0);
    good = good && !BCryptHashData(h, (unsigned char *)(uintptr_t)at, (ULONG)n, 0) &&
           !BCryptFinishHash(h, out, DIGEST_BYTES, 0);
    BCryptDestroyHash(h);
    return good;
}

/* It fails only without memory. The answer then equals no other, so that nothing is found under it. */
void digest_of(unsigned char out[DIGEST_BYTES], const void *bytes, size_t n)
{
    struct {
        LARGE_INTEGER now;
        DWORD process, thread;
    } unique;
    if (hash(out, bytes, n))
        return;
    memset(&unique, 0, sizeof unique);
    (void)QueryPerformanceCounter(&unique.now);
    unique.process = GetCurrentProcessId();
    unique.thread = GetCurrentThreadId();
    memset(out, 0, DIGEST_BYTES);
    memcpy(out, &unique, sizeof unique);
}
