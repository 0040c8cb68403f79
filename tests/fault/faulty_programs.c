/* faulty_programs.c - programs that do not build, binaries that are none
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/fault/faulty_driver.h"

#ifdef CL_LAYER_API_VERSION

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct evil_program *programs;
static long builds;

EVIL_FINDER(program, programs)

/* A handle may be that of an object which is gone: forgets what is known of it. */
static struct evil_program *new_program(cl_program program, bool from_binary, char *text)
{
    struct evil_program *const p = evil_find_program(program);
    free(p->options);
    free(p->text);
    *p = (struct evil_program){ .next = p->next, .program = program, .from_binary = from_binary, .text = text };
    return p;
}

/* ---- Programs ---- */

CL_API_ENTRY cl_program CL_API_CALL my_clCreateProgramWithSource(cl_context c, cl_uint n, const char **text,
                                                                 const size_t *len, cl_int *e)
{
    NULL_IF_FAILS(clCreateProgramWithSource)
    const cl_program p = evil_real->clCreateProgramWithSource(c, n, text, len, e);
    if (p) {
        new_program(p, false, layer_join(n, (const char *const *)text, len));
        evil_objects(EVIL_PROGRAM, 1);
    }
    return p;
}

CL_API_ENTRY cl_program CL_API_CALL my_clCreateProgramWithBinary(cl_context c, cl_uint n, const cl_device_id *d,
                                                                 const size_t *len, const unsigned char **bytes,
                                                                 cl_int *each, cl_int *e)
{
    evil_log("clCreateProgramWithBinary %zu\n", n ? len[0] : 0);
    if (evil_says("binary-crash", ""))
        evil_crash();
    NULL_IF_FAILS(clCreateProgramWithBinary)
    const cl_program p = evil_real->clCreateProgramWithBinary(c, n, d, len, bytes, each, e);
    if (p) {
        new_program(p, true, NULL);
        evil_objects(EVIL_PROGRAM, 1);
    }
    for (cl_uint i = 0; i < n && p && each && evil_has("binary-status"); i++)
        each[i] = CL_INVALID_BINARY;
    return p;
}

static bool other_than_naive(const char *text)
{
    return text && strstr(text, "#line 1 \"engine_") && !strstr(text, "#line 1 \"engine_naive.cl\"");
}

/* Whether this build is to fail; takes its time. */
static bool build_fails(const struct evil_program *p)
{
    if (p->from_binary)
        return evil_has("binary-build-fails");
    const double seconds = evil_number("build-slow");
    const struct timespec t = { (time_t)seconds, (long)((seconds - (double)(time_t)seconds) * 1e9) };
    nanosleep(&t, NULL);
    pthread_mutex_lock(&lock);
    const long n = ++builds;
    pthread_mutex_unlock(&lock);
    return n == (long)evil_number("build-fails") || evil_has("build-fails-all") ||
           (evil_has("build-fails-but-naive") && other_than_naive(p->text)) ||
           (evil_has("build-only") && other_than_naive(p->text) && !evil_any("build-only", p->options));
}

CL_API_ENTRY cl_int CL_API_CALL my_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *d,
                                                  const char *options, void(CL_CALLBACK *notify)(cl_program, void *),
                                                  void *user)
{
    struct evil_program *const p = evil_find_program(program);
    evil_log("clBuildProgram %s %s\n", p->from_binary ? "binary" : "source", options ? options : "");
    if (p->from_binary && evil_says("binary-crash", "build"))
        evil_crash();
    RETURN_IF_FAILS(clBuildProgram);
    free(p->options);
    p->options = options ? strdup(options) : NULL;
    p->failed = build_fails(p);
    return p->failed ? CL_BUILD_PROGRAM_FAILURE : evil_real->clBuildProgram(program, n, d, options, notify, user);
}

static cl_int give_log(size_t n, char *to, size_t *got)
{
    const bool unended = evil_says("build-log", "unended");
    const double wanted = unended ? 300 : evil_number("build-log");
    const size_t size = wanted > 0 ? (size_t)wanted : 40;
    if (to && n < size)
        return CL_INVALID_VALUE;
    evil_log("build-log %zu %s\n", size, unended ? "unended" : "ended");
    if (to) {
        memset(to, 'e', size);
        memcpy(to, "evil: no\n", size < 9 ? size : 9);
        if (!unended)
            to[size - 1] = '\0';
    }
    if (got)
        *got = size;
    return CL_SUCCESS;
}

CL_API_ENTRY cl_int CL_API_CALL my_clGetProgramBuildInfo(cl_program o, cl_device_id d, cl_program_build_info w,
                                                         size_t n, void *to, size_t *got)
{
    RETURN_IF_FAILS(clGetProgramBuildInfo);
    return w == CL_PROGRAM_BUILD_LOG && evil_find_program(o)->failed
               ? give_log(n, to, got)
               : evil_real->clGetProgramBuildInfo(o, d, w, n, to, got);
}

CL_API_ENTRY cl_int CL_API_CALL my_clGetProgramInfo(cl_program o, cl_program_info w, size_t n, void *to, size_t *got)
{
    RETURN_IF_FAILS(clGetProgramInfo);
    if (w == CL_PROGRAM_BINARIES && to && evil_has("binaries-fail"))
        return CL_OUT_OF_HOST_MEMORY;
    const cl_int status = evil_real->clGetProgramInfo(o, w, n, to, got);
    for (size_t i = 0;
         !status && to && w == CL_PROGRAM_BINARY_SIZES && evil_has("binary-size") && i < n / sizeof(size_t); i++)
        ((size_t *)to)[i] = (size_t)evil_number("binary-size");
    return status;
}

#else
typedef int evil_no_programs;
#endif
