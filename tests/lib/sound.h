/* sound.h - a problem that every device can do, and the statuses of what nobody can
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef SOUND_H
#define SOUND_H

#include <clattn.h>

static inline clattn_problem sound(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_sizes s = { 1, 2, 2, 5, 7, 0, 0, 0 };
    p.d = 8;
    p.sizes = s;
    return p;
}

/* A refusal by the library itself, not by OpenCL. */
static inline int ours(cl_int e)
{
    return e == CLATTN_ERROR_INVALID_ARGUMENT || e == CLATTN_ERROR_UNKNOWN_FIELD || e == CLATTN_ERROR_NOT_SUPPORTED ||
           e == CLATTN_ERROR_SYNTAX;
}

#endif
