/* wrap.h - the library's calls of malloc, for mutexes and of OpenCL, counted and made to fail
 * SPDX-License-Identifier: Apache-2.0
 *
 * Works by ld --wrap (WRAPPED in Makefile.am names every symbol), so only what is linked statically is seen: the
 * library and the test, never the driver. One thread only. */
#ifndef WRAP_H
#define WRAP_H

#include <CL/cl.h>

enum { WRAP_NAMES = 4096 };
struct wrap {
    int armed;           /* counts and fails only while set: around calls of the library */
    long calls;          /* that could fail, since wrap_arm() */
    long fail_at;        /* the call that fails, from 1; 0: none */
    int sticky;          /* every later one fails too */
    long failed;         /* how many did */
    int optional;        /* the call that failed last is one to do without: doubles, extensions */
    long memory;         /* blocks allocated and not freed */
    long objects;        /* OpenCL references and mutexes held */
    int builds;          /* so many of the next clBuildProgram fail */
    cl_int build_status; /* with this, 0: CL_BUILD_PROGRAM_FAILURE */
    int no_compiler;     /* CL_DEVICE_COMPILER_AVAILABLE is false */
    char last[64];       /* name of the call that failed last */
    const char *name[WRAP_NAMES]; /* of the first calls since wrap_arm(); those behind them are of earlier runs */
};
extern struct wrap wrap;

/* From here on calls count; the fail_at-th fails. */
void wrap_arm(long fail_at, int sticky);
void wrap_disarm(void);

#endif
