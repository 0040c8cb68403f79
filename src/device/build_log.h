/* build_log.h - what a driver's compiler says of a program
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef BUILD_LOG_H
#define BUILD_LOG_H

#include "base/text.h"

#include <CL/cl.h>

/* All of it, without white space at the end; the caller frees it. NULL: nothing was said, or there is no memory. */
char *build_log_read(cl_program program, cl_device_id device);

/* Adds a log from its first error on, which mostly is a line of the caller's own text, and then what comes before. */
void build_log_add_errors(struct text *to, const char *log);

#endif
