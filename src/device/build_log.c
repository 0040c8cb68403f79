/* build_log.c - what a driver's compiler says of a program
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device/build_log.h"

#include <stdlib.h>
#include <string.h>

enum { LOG_MAX = 64 << 20 };

char *build_log_read(cl_program program, cl_device_id device)
{
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &size) || size < 2 || size > LOG_MAX)
        return NULL;
    char *const log = calloc(1, size + 1);
    if (!log)
        return NULL;
    size_t n = clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log, NULL) ? 0 : strlen(log);
    while (n && (unsigned char)log[n - 1] <= ' ') /* some drivers end an empty log with a newline */
        n--;
    log[n] = '\0';
    if (n)
        return log;
    free(log);
    return NULL;
}

void build_log_add_errors(struct text *to, const char *log)
{
    const char *from = strstr(log, "error:");
    while (from && from > log && from[-1] != '\n')
        from--;
    from = from ? from : log;
    text_add_n(to, from, strlen(from));
    if (from > log)
        text_add(to, "\n%.*s", (int)(from - log) - 1, log);
}
