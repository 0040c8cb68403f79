/* random.h - bytes that nobody can guess; one file for each system
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef RANDOM_H
#define RANDOM_H

#include <stddef.h>

/* Fills `to` with n random bytes, at most 256. Returns 0 or an errno. */
int random_bytes(unsigned char *to, size_t n);

#endif
