/* status.h - names of statuses, words for failures, checked arithmetic
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef STATUS_H
#define STATUS_H

#include <clattn.h>
#include <stdbool.h>

/* Words for a failure, on their way from where it was found to the caller. */
enum { WHY_MAX = 4096 };
struct why {
    char text[WHY_MAX];
};

/* Sets the words and returns `status`, so that a check reads: return why_set(why, STATUS, "...", ...). */
cl_int why_set(struct why *why, cl_int status, const char *format, ...) __attribute__((format(printf, 3, 4)));

/* A call of OpenCL that failed: "clFoo: CL_BAR". Returns status. */
cl_int why_cl(struct why *why, cl_int status, const char *call);

/* Text growing inside a fixed room, always ended by NUL once there is room for one; `length` is what it would take. */
struct text {
    char *to;
    size_t room, length;
};
void text_add(struct text *t, const char *format, ...) __attribute__((format(printf, 2, 3)));
void text_add_n(struct text *t, const char *bytes, size_t n);

/* a op b into *r; false when the result does not fit. */
bool mul_i64(int64_t a, int64_t b, int64_t *r);
bool add_i64(int64_t a, int64_t b, int64_t *r);

/* How many bytes of our struct `name` of `size` bytes a caller's has whose struct_size is `given`: all of them, or those that
 * an older version had. 0: there was no version of that size. */
size_t struct_members(const char *name, size_t given, size_t size);
#define STRUCT_SIZE_WORDS "%s.struct_size is %zu, which no version of it had: set it to sizeof(%s)"

/* How a struct of the caller is read: `from` (its struct_size first) into our `to` of `size` bytes, what it lacks zero,
 * what it has beyond must be zero. `to` holds what we know of also with CLATTN_ERROR_UNKNOWN_FIELD; zeros with every other
 * error. */
cl_int struct_read(void *to, size_t size, const void *from, const char *name, struct why *why);

#endif
