/* digest.h - SHA-256
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef DIGEST_H
#define DIGEST_H

#include "base/why.h"

enum { DIGEST_BYTES = 32, DIGEST_HEX = 65 };

/* Of plain bytes. */
void digest_of(unsigned char out[DIGEST_BYTES], const void *bytes, size_t n);

/* 64 hex digits and NUL. */
void digest_hex(char out[DIGEST_HEX], const unsigned char digest[DIGEST_BYTES]);

#endif
