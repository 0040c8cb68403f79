/* caller_struct.h - structs of the caller's, which may be of an older or a newer version of the interface
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLER_STRUCT_H
#define CALLER_STRUCT_H

#include "base/why.h"

/* Returns how many bytes of the struct `name`, which has `size` bytes in this version, a caller's struct provides whose
 * struct_size is `given`: all of them, or those that an older version had. 0: no version had that size. */
size_t caller_struct_members(const char *name, size_t given, size_t size);
#define STRUCT_SIZE_WORDS "%s.struct_size is %zu, which no version of it had: set it to sizeof(%s)"

/* Copies a caller's struct `from`, which begins with its struct_size, to `to` of `size` bytes. Members that it lacks
 * become zero; bytes that this version does not know must be zero, else CLATTN_ERROR_UNKNOWN_FIELD, and `to` holds the
 * known members all the same. After any other error `to` is all zeros. */
cl_int caller_struct_read(void *to, size_t size, const void *from, const char *name, struct why *why);

#endif
