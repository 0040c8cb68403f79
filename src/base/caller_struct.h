/* caller_struct.h - structs of the caller's, which may be of an older or a newer version of the interface
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CALLER_STRUCT_H
#define CALLER_STRUCT_H

#include "base/why.h"

/* How many bytes of our struct `name` of `size` bytes a caller's has whose struct_size is `given`: all of them, or those that
 * an older version had. 0: there was no version of that size. */
size_t caller_struct_members(const char *name, size_t given, size_t size);
#define STRUCT_SIZE_WORDS "%s.struct_size is %zu, which no version of it had: set it to sizeof(%s)"

/* How a struct of the caller is read: `from` (its struct_size first) into our `to` of `size` bytes, what it lacks zero,
 * what it has beyond must be zero. `to` holds what we know of also with CLATTN_ERROR_UNKNOWN_FIELD; zeros with every other
 * error. */
cl_int caller_struct_read(void *to, size_t size, const void *from, const char *name, struct why *why);

#endif
