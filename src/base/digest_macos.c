/* digest_macos.c - SHA-256, by macOS
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/digest.h"

#include <CommonCrypto/CommonDigest.h>

void digest_of(unsigned char out[DIGEST_BYTES], const void *bytes, size_t n)
{
    enum { PIECE = 1 << 30 }; /* it counts in 32 bits */
    const unsigned char *at = bytes;
    CC_SHA256_CTX c;
    (void)CC_SHA256_Init(&c);
    for (; n > PIECE; at += PIECE, n -= PIECE)
        (void)CC_SHA256_Update(&c, at, PIECE);
    (void)CC_SHA256_Update(&c, at, (CC_LONG)n);
    (void)CC_SHA256_Final(out, &c);
}
