/* digest.c - SHA-256 as text
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/digest.h"

void digest_hex(char out[DIGEST_HEX], const unsigned char digest[DIGEST_BYTES])
{
    static const char digits[] = "0123456789abcdef";
    for (int i = 0; i < DIGEST_BYTES; i++) {
        out[2 * i] = digits[digest[i] >> 4];
        out[2 * i + 1] = digits[digest[i] & 15];
    }
    out[2 * DIGEST_BYTES] = '\0';
}
