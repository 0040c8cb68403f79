/* faulty_driver.h - a driver that fails, lies, crashes and hangs on demand: what the files of the layer share
 * SPDX-License-Identifier: Apache-2.0
 *
 * A layer of the ICD loader (OPENCL_LAYERS=/path/evil.so). It hands every call on to the real driver, and misbehaves as
 * CLATTN_EVIL says, WORD[=VALUE] with commas between. A number may end in M or G.
 *
 *   fail=N  fail-from=N        the N-th of all calls that are counted (EVIL_CALLS) fails; and all after it
 *   round=N                    counting of these begins anew where N is another: a client may change CLATTN_EVIL
 *   fail:CALL=N                the N-th call of that function does
 *   crash:CALL=N               it raises SIGSEGV there
 *   build-fails=N              the N-th build from source; build-fails-all; build-fails-but-naive: of other engines
 *   build-only=OPTIONS         other builds from source fail, naive ones aside
 *   build-log=N|unended        the log of such a build: N bytes long; without NUL at its end
 *   build-slow=SECONDS         of each build from source
 *   binary-status              clCreateProgramWithBinary succeeds, its binary_status does not
 *   binary-build-fails  binary-kernel-missing  binary-group-shrinks (to 1)  binary-crash[=build|kernel|enqueue]
 *   binary-wrong               kernels of a program from a binary compute nothing
 *   binary-size=N              what CL_PROGRAM_BINARY_SIZES says; binaries-fail: CL_PROGRAM_BINARIES
 *   time=zero|equal|backwards|constant|10x|none     what profiling says
 *   result=OPTIONS:HOW         kernels with OPTIONS among their name and build options: see evil_damage()
 *   read-nan=N                 a read that waits, of N bytes, has a NaN of 4 bytes in front
 *   slow=OPTIONS               take 0.1 s longer
 *   hang=OPTIONS               are never enqueued: the call does not return; crash=OPTIONS: it raises SIGSEGV
 *   log=FILE                   a line for each build, log of a failed one, program from binary, kernel enqueued
 *   count=FILE                 at exit: calls of each function and of the last round, those made to fail, objects
 *                              and events not released
 *
 * OPTIONS is a part of " BUILD-OPTIONS ", !OPTIONS what is no part of it. result, slow, hang, crash and build-only may
 * be said several times. */
#ifndef FAULTY_DRIVER_H
#define FAULTY_DRIVER_H

#include <stdbool.h>
#include <stdint.h>

#include "tests/lib/layer.h"

enum { EVIL_VALUE_MAX = 512 };

/* What may fail, and is counted. */
#define EVIL_CALLS(X)                                                                                                  \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo) X(clCreateContext)                   \
    X(clGetContextInfo) X(clCreateCommandQueue) X(clGetCommandQueueInfo) X(clCreateBuffer) X(clCreateSubBuffer)        \
    X(clGetMemObjectInfo) X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram)                  \
    X(clGetProgramInfo) X(clGetProgramBuildInfo) X(clCreateKernel) X(clSetKernelArg) X(clGetKernelInfo)                \
    X(clGetKernelWorkGroupInfo) X(clEnqueueNDRangeKernel) X(clEnqueueReadBuffer) X(clEnqueueWriteBuffer)               \
    X(clEnqueueFillBuffer) X(clEnqueueCopyBuffer) X(clEnqueueMapBuffer) X(clEnqueueUnmapMemObject)                     \
    X(clEnqueueMarkerWithWaitList) X(clEnqueueBarrierWithWaitList) X(clFlush) X(clFinish) X(clWaitForEvents)           \
    X(clGetEventInfo) X(clGetEventProfilingInfo) X(clCreateUserEvent) X(clRetainContext) X(clRetainCommandQueue)       \
    X(clRetainMemObject) X(clRetainProgram) X(clRetainKernel) X(clRetainEvent)
#define EVIL_NAME(name) EVIL_##name,
enum evil_call { EVIL_CALLS(EVIL_NAME) EVIL_CALLS_N };
#undef EVIL_NAME

/* ---- faulty_words.c ---- */

/* The value of the next `word` after *at (NULL at first), "" where it has none. */
bool evil_next(const char **at, const char *word, char value[EVIL_VALUE_MAX]);
bool evil_has(const char *word);
bool evil_says(const char *word, const char *value);
double evil_number(const char *word); /* 0 where there is none */
bool evil_matches(const char *options, const char *pattern);
bool evil_any(const char *word, const char *options); /* whether a value of `word` matches */

/* Counts a call. Its status: CL_SUCCESS, or what it fails with. */
cl_int evil_call(enum evil_call which);
void evil_crash(void);

enum evil_kind { EVIL_CONTEXT, EVIL_QUEUE, EVIL_MEMORY, EVIL_PROGRAM, EVIL_KERNEL, EVIL_EVENT, EVIL_KINDS };
void evil_objects(enum evil_kind kind, int by);
void evil_log(const char *format, ...) PRINTF_LIKE(1, 2);

/* ---- faulty_results.c ---- */

enum { EVIL_ARGS = 48 };
struct evil_program {
    struct evil_program *next;
    cl_program program;
    bool from_binary, failed; /* a build that was made to fail */
    char *options, *text;
    struct evil_written {
        cl_mem out;
        uint64_t hash;
        size_t first, last, largest; /* bytes of `out` that the last call wrote; last 0: none yet */
    } written;
};
struct evil_kernel {
    struct evil_kernel *next;
    cl_kernel kernel;
    struct evil_program *program;
    char name[32];
    bool is_mem[EVIL_ARGS];
    cl_mem mem[EVIL_ARGS];
    uint64_t hash[EVIL_ARGS]; /* of arguments that are none */
};

/* A kernel's output before it runs, and what is done to it after. HOW: right (nothing) wrong (the largest value has the
 * other sign) lse (that of LSE has) last (that of the kernel's last buffer has, of floats) nan (it is NaN) overrun (one
 * element past the end) half (the second one is not written) inputs (an element of Q is the next number) second (wrong
 * from the second call with the same sizes on). */
struct evil_shot {
    struct evil_program *program;
    cl_mem q, out;
    size_t size, element;
    unsigned char *before, *after;
    uint64_t hash;
    char how[16];
};
bool evil_aim(struct evil_shot *s, const struct evil_kernel *k, cl_command_queue queue);
void evil_damage(struct evil_shot *s, cl_command_queue queue); /* ends the shot */
void evil_lower(struct evil_shot *s);                          /* ends it without */

/* ---- faulty_driver.c, faulty_programs.c, faulty_kernels.c ---- */

/* The driver's own, for faulty_results.c. */
cl_int evil_transfer(cl_command_queue queue, cl_mem mem, size_t offset, size_t size, void *to, const void *from);
size_t evil_size(cl_mem mem);

#ifdef CL_LAYER_API_VERSION
extern const cl_icd_dispatch *evil_real; /* what lies below */
struct evil_program *evil_find_program(cl_program program);
struct evil_kernel *evil_find_kernel(cl_kernel kernel);

/* The one in the list, or a new one in front of it. */
#define EVIL_FINDER(type, list)                                                                                        \
    struct evil_##type *evil_find_##type(cl_##type handle)                                                             \
    {                                                                                                                  \
        pthread_mutex_lock(&lock);                                                                                     \
        struct evil_##type *x = list;                                                                                  \
        while (x && x->type != handle)                                                                                 \
            x = x->next;                                                                                               \
        if (!x && (x = calloc(1, sizeof *x))) {                                                                        \
            x->type = handle;                                                                                          \
            x->next = list;                                                                                            \
            list = x;                                                                                                  \
        }                                                                                                              \
        pthread_mutex_unlock(&lock);                                                                                   \
        if (!x)                                                                                                        \
            abort();                                                                                                   \
        return x;                                                                                                      \
    }

#define EVIL_DECLARE(name) extern CL_API_ENTRY __typeof__(*(cl_api_##name)NULL) my_##name;
EVIL_CALLS(EVIL_DECLARE)
#undef EVIL_DECLARE

#define RETURN_IF_FAILS(name)                                                                                          \
    const cl_int evil_status = evil_call(EVIL_##name);                                                                 \
    if (evil_status)                                                                                                   \
        return evil_status
/* For calls that have `e` for their status. */
#define NULL_IF_FAILS(name)                                                                                            \
    const cl_int evil_status = evil_call(EVIL_##name);                                                                 \
    if (evil_status) {                                                                                                 \
        if (e)                                                                                                         \
            *e = evil_status;                                                                                          \
        return NULL;                                                                                                   \
    }
#define WAITS cl_uint n_wait, const cl_event *list, cl_event *event
#endif

#endif
