/* digest_posix.c - SHA-256, by libmd
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/digest.h"

#include <sys/types.h>

#include <sha256.h>

void digest_of(unsigned char out[DIGEST_BYTES], const void *bytes, size_t n)
{
    SHA256_CTX c;
    SHA256_Init(&c);
    SHA256_Update(&c, bytes, n);
    SHA256_Final(out, &c);
}
