/* nv-at.c - a device that is asked something
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/nvidia/nv-at.h"

#include "tools/system/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int at_say(const struct at *a, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    printf("%c: ", a->letter);
    vprintf(format, list);
    putchar('\n');
    fflush(stdout);
    va_end(list);
    return -1;
}

void at_info(const struct at *a, cl_device_info what, char *to, size_t len)
{
    if (clGetDeviceInfo(a->where.device, what, len, to, NULL))
        snprintf(to, len, "?");
    to[len - 1] = '\0';
}

int at_lists(const struct at *a, const char *extension)
{
    static char all[1 << 14];
    const size_t n = strlen(extension);
    at_info(a, CL_DEVICE_EXTENSIONS, all, sizeof all);
    for (const char *s = all; (s = strstr(s, extension)); s += n)
        if ((s == all || s[-1] == ' ') && (!s[n] || s[n] == ' '))
            return 1;
    return 0;
}

static const char *first_line(const char *log, int *n)
{
    log += strspn(log, " \t\r\n");
    *n = (int)strcspn(log, "\r\n");
    return log;
}

int at_build(struct at *a, const char *what, const char *text, const char *options)
{
    cl_int status;
    int n;
    a->log[0] = '\0';
    a->program = clCreateProgramWithSource(a->where.context, 1, &text, NULL, &status);
    if (!status) {
        status = clBuildProgram(a->program, 1, &a->where.device, options, NULL, NULL);
        (void)clGetProgramBuildInfo(a->program, a->where.device, CL_PROGRAM_BUILD_LOG, sizeof a->log, a->log, NULL);
    }
    a->log[sizeof a->log - 1] = '\0';
    const char *const line = first_line(a->log, &n);
    if (status)
        return at_say(a, "%s: does not build (%d)%s%.*s", what, status, n ? ": " : "", n, line);
    a->kernel = clCreateKernel(a->program, "probe", &status);
    return status ? at_say(a, "%s: built, but has no kernel (%d)", what, status) : 0;
}

int at_set_words(struct at *a, const char *what, size_t n)
{
    cl_int status;
    a->n = n;
    a->words = calloc(n, sizeof *a->words);
    a->io = clCreateBuffer(a->where.context, CL_MEM_READ_WRITE, n * sizeof *a->words, NULL, &status);
    if (!a->words || status)
        return at_say(a, "%s: no memory (%d)", what, status);
    return 0;
}

int at_run(struct at *a, const char *what, size_t items, size_t local)
{
    const size_t bytes = a->n * sizeof *a->words;
    cl_int status = clEnqueueWriteBuffer(a->queue, a->io, CL_TRUE, 0, bytes, a->words, 0, NULL, NULL);
    if (!status)
        status = clSetKernelArg(a->kernel, 0, sizeof a->io, &a->io);
    if (status)
        return at_say(a, "%s: cannot be set up (%d)", what, status);
    if ((status = clEnqueueNDRangeKernel(a->queue, a->kernel, 1, NULL, &items, &local, 0, NULL, NULL)))
        return at_say(a, "%s: builds, does not launch (%d)", what, status);
    if ((status = clFinish(a->queue)) ||
        (status = clEnqueueReadBuffer(a->queue, a->io, CL_TRUE, 0, bytes, a->words, 0, NULL, NULL)))
        return at_say(a, "%s: builds, fails when it runs (%d)", what, status);
    return 0;
}

cl_int at_time_once(struct at *a, size_t items, size_t local, struct times *t)
{
    cl_ulong queued = 0, began = 0, ended = 0;
    cl_event event;
    const double start = clock_ms();
    cl_int status = clEnqueueNDRangeKernel(a->queue, a->kernel, 1, NULL, &items, &local, 0, NULL, &event);
    if (status || (status = clFinish(a->queue)))
        return status;
    t->host = clock_ms() - start;
    (void)clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof queued, &queued, NULL);
    (void)clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof began, &began, NULL);
    status = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof ended, &ended, NULL);
    t->event = (double)(ended - began) * 1e-6;
    t->waited = (double)(began - queued) * 1e-6;
    (void)clReleaseEvent(event);
    return status;
}

cl_int at_time_loop(struct at *a, size_t items, size_t local, cl_uint *times, struct times *t)
{
    double host[ROUNDS], event[ROUNDS], waited[ROUNDS];
    cl_int status = clSetKernelArg(a->kernel, 0, sizeof a->io, &a->io);
    for (*times = 16; !status; *times *= 2) {
        status = clEnqueueWriteBuffer(a->queue, a->io, CL_TRUE, 0, sizeof *times, times, 0, NULL, NULL);
        if (status || (status = at_time_once(a, items, local, t)) || (t->host > 8 && *times > 16) || *times > 1u << 28)
            break;
    }
    for (int i = 0; i < ROUNDS && !status; i++) {
        status = at_time_once(a, items, local, t);
        host[i] = t->host;
        event[i] = t->event;
        waited[i] = t->waited;
    }
    if (!status)
        *t = (struct times){ clock_median(host, ROUNDS), clock_median(event, ROUNDS), clock_median(waited, ROUNDS) };
    return status;
}
