/* unsaved.h - a driver that has no binaries, for tests of directories that are not about them
 * SPDX-License-Identifier: Apache-2.0
 *
 * PoCL compiles every kernel once more, for groups of any size, where a program's binary is asked for: what is saved
 * takes twice as long. Who includes this is linked with --wrap=clGetProgramInfo and $(INTERNAL). */
#ifndef UNSAVED_H
#define UNSAVED_H

#include "tests/lib/deals.h"

#include <CL/cl.h>
#include <string.h>

cl_int __real_clGetProgramInfo(cl_program, cl_program_info, size_t, void *, size_t *);
cl_int __wrap_clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void *to, size_t *got);

/* With CLATTN_PART or CLATTN_FULL binaries are saved as ever. */
cl_int __wrap_clGetProgramInfo(cl_program program, cl_program_info what, size_t size, void *to, size_t *got)
{
    if (what != CL_PROGRAM_BINARY_SIZES || !to || harness_more())
        return __real_clGetProgramInfo(program, what, size, to, got);
    memset(to, 0, size);
    return CL_SUCCESS;
}

#endif
