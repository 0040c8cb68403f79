/* program.c - pretended GPUs: programs
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <fcntl.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Objects ---- */

static cl_program object(cl_context context, cl_device_id device, struct program **out)
{
    struct program *const p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return NULL;
    p->dispatch = pretended_below;
    p->references = 1;
    p->context = context;
    p->device = device;
    p->status = CL_BUILD_NONE;
    if (!device && pretended_below->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof p->device, &p->device, NULL))
        p->device = NULL; /* several devices: PoCL has one */
    pretended_below->clRetainContext(context);
    return (cl_program)p;
}

void pretended_retain(struct program *p)
{
    __atomic_add_fetch(&p->references, 1, __ATOMIC_RELAXED);
}

void pretended_release(struct program *p)
{
    if (__atomic_sub_fetch(&p->references, 1, __ATOMIC_ACQ_REL))
        return;
    pretended_below->clReleaseContext(p->context);
    machine.free_module(p->module);
    free(p->text);
    free(p->options);
    free(p->log);
    free(p->binary);
    free(p->more);
    free(p);
}

cl_int pretended_clRetainProgram(cl_program program)
{
    pretended_retain((struct program *)program);
    return CL_SUCCESS;
}

cl_int pretended_clReleaseProgram(cl_program program)
{
    pretended_release((struct program *)program);
    return CL_SUCCESS;
}

char *pretended_read(const char *name, size_t *size)
{
    FILE *const f = fopen(name, "rb");
    char *text = NULL;
    long n = 0;
    if (f && !fseek(f, 0, SEEK_END) && (n = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET) &&
        (text = calloc(1, (size_t)n + 1)) && fread(text, 1, (size_t)n, f) != (size_t)n) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    if (size)
        *size = (size_t)n;
    return text;
}

/* The fault that is asked for: FROM, TO and N, a line each; the N-th FROM of a text becomes TO. NULL: no memory. */
static char *change(char *text)
{
    char name[PRETENDED_VALUE_MAX], *lines[3] = { NULL };
    if (!text || !*pretended_word("change", name))
        return text;
    char *const all = pretended_read(name, NULL), *rest = all, *changed = NULL;
    for (int i = 0; i < 3; i++)
        lines[i] = strtok_r(i ? NULL : all, "\n", &rest);
    long left = lines[2] ? strtol(lines[2], NULL, 10) : 0;
    const char *at = lines[2] ? strstr(text, lines[0]) : NULL;
    while (at && --left > 0)
        at = strstr(at + 1, lines[0]);
    if (at && (changed = malloc(strlen(text) + strlen(lines[1]) + 1)))
        sprintf(changed, "%.*s%s%s", (int)(at - text), text, lines[1], at + strlen(lines[0]));
    free(all);
    if (at)
        free(text);
    return at ? changed : text;
}

cl_program pretended_clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *status)
{
    struct program *p;
    cl_program program = object(context, NULL, &p);
    if (p && !(p->text = change(layer_join(n, (const char *const *)texts, lengths)))) {
        pretended_release(p);
        program = NULL;
    }
    if (status)
        *status = program ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return program;
}

/* What is no binary of the machine's is refused here, as by the driver. */
cl_program pretended_clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *devices,
                                               const size_t *lengths, const unsigned char **binaries,
                                               cl_int *binary_status, cl_int *status)
{
    struct program *p;
    cl_program program = NULL;
    const char *const binary = (const char *)binaries[0];
    cl_int e = n == 1 && machine.is_binary(binary, lengths[0]) ? CL_SUCCESS : CL_INVALID_BINARY;
    if (binary_status)
        *binary_status = e;
    if (!e && (!(program = object(context, devices[0], &p)) || !(p->binary = calloc(1, lengths[0] + 1)))) {
        if (p)
            pretended_release(p);
        program = NULL;
        e = CL_OUT_OF_HOST_MEMORY;
    }
    if (!e) {
        memcpy(p->binary, binary, lengths[0]);
        p->size = lengths[0];
    }
    if (status)
        *status = e;
    return program;
}

/* ---- Compiling ---- */

/* Two digests of 64 bits: of what a binary depends on. */
static void name_of(const struct program *p, char name[33])
{
    char compiler[PRETENDED_FILE_MAX];
    machine.compiler(compiler);
    const char *const parts[] = { p->text, p->options, compiler };
    uint64_t a = 14695981039346656037u, b = 0;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        for (const char *at = parts[i];; at++) {
            a = (a ^ (unsigned char)*at) * 1099511628211u;
            b = (b + (unsigned char)*at + 1) * 0x9e3779b97f4a7c15u;
            b ^= b >> 29;
            if (!*at)
                break;
        }
    snprintf(name, 33, "%016llx%016llx", (unsigned long long)a, (unsigned long long)b);
}

static bool write_file(const char *name, const char *text)
{
    FILE *const f = fopen(name, "wb");
    const bool good = f && fputs(text, f) >= 0;
    return f && !fclose(f) && good;
}

int pretended_run(char *const *argv, const char *output, const char *errors)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (!posix_spawn_file_actions_addopen(&actions, 1, output, O_WRONLY | O_CREAT | O_TRUNC, 0666) &&
        (errors ? !posix_spawn_file_actions_addopen(&actions, 2, errors, O_WRONLY | O_CREAT | O_TRUNC, 0666)
                : !posix_spawn_file_actions_adddup2(&actions, 1, 2)) &&
        !posix_spawn(&child, argv[0], &actions, NULL, argv, environ) && waitpid(child, &status, 0) == child)
        status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

void pretended_path(char to[PRETENDED_FILE_MAX], const char *name, const char *ending)
{
    char dir[PRETENDED_VALUE_MAX];
    snprintf(to, PRETENDED_FILE_MAX, "%s/%s%s", pretended_word("cache", dir), name, ending);
}

/* What the compiler makes of the program's text, which is kept under a name of its own until it is whole. */
static void compile(struct program *p, const char *name)
{
    char own[64], in[PRETENDED_FILE_MAX], out[PRETENDED_FILE_MAX], log[PRETENDED_FILE_MAX], kept[PRETENDED_FILE_MAX];
    static int count;
    snprintf(own, sizeof own, "%s-%ld-%d", name, (long)getpid(), __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    pretended_path(in, own, ".cl");
    pretended_path(out, own, ".new");
    pretended_path(log, own, ".log");
    pretended_path(kept, name, machine.ending);
    const int status = write_file(in, p->text) ? machine.compile(p, in, out, log) : -1;
    p->log = pretended_read(log, NULL);
    if (!status && !rename(out, kept))
        p->binary = pretended_read(kept, &p->size);
    remove(in);
    remove(out);
    remove(log);
}

static cl_int read_module(struct program *p)
{
    char why[512] = "";
    if (p->binary && !(p->module = machine.read(p, why, sizeof why)) && *why) {
        char line[1024];
        snprintf(line, sizeof line, "the interpreter refuses a program: %s", why);
        pretended_tell(line);
    }
    return p->module ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

cl_int pretended_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *told)(cl_program, void *), void *user)
{
    struct program *const p = (struct program *)program;
    char name[33], kept[PRETENDED_FILE_MAX];
    bool is_accepted = true;
    (void)n, (void)devices;
    if (p->module || p->options)
        return CL_INVALID_OPERATION; /* once is enough here */
    if (!(p->options = strdup(options ? options : "")))
        return CL_OUT_OF_HOST_MEMORY;
    if (p->text) {
        name_of(p, name);
        pretended_path(kept, name, machine.ending);
        p->binary = pretended_read(kept, &p->size);
        if (!p->binary)
            compile(p, name);
        is_accepted = !p->binary || !machine.accept || machine.accept(p, name);
    }
    const cl_int status = is_accepted ? read_module(p) : CL_BUILD_PROGRAM_FAILURE;
    p->status = status ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
    if (status) /* tests that plant faults look for it: that is none */
        fprintf(stderr, "%s: a program is not built\n", machine.name);
    if (told)
        told(program, user);
    return status;
}

/* ---- Questions ---- */

cl_int pretended_clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *to, size_t *got)
{
    const struct program *const p = (const struct program *)program;
    const size_t size = p->binary ? p->size : 0;
    const cl_uint one = 1, references = (cl_uint)p->references;
    const char *const text = p->text ? p->text : "";
    unsigned char **const binaries = to;
    switch (what) {
    case CL_PROGRAM_REFERENCE_COUNT: return layer_give(&references, sizeof references, room, to, got);
    case CL_PROGRAM_CONTEXT: return layer_give(&p->context, sizeof p->context, room, to, got);
    case CL_PROGRAM_NUM_DEVICES: return layer_give(&one, sizeof one, room, to, got);
    case CL_PROGRAM_DEVICES: return layer_give(&p->device, sizeof p->device, room, to, got);
    case CL_PROGRAM_SOURCE: return layer_give(text, strlen(text) + 1, room, to, got);
    case CL_PROGRAM_BINARY_SIZES: return layer_give(&size, sizeof size, room, to, got);
    case CL_PROGRAM_BINARIES:
        if (binaries && room < sizeof *binaries)
            return CL_INVALID_VALUE;
        if (binaries && *binaries)
            memcpy(*binaries, p->binary ? p->binary : "", size);
        if (got)
            *got = sizeof *binaries;
        return CL_SUCCESS;
    default: return CL_INVALID_VALUE;
    }
}

cl_int pretended_clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                                    void *to, size_t *got)
{
    const struct program *const p = (const struct program *)program;
    const char *const text = what == CL_PROGRAM_BUILD_LOG ? p->log : p->options;
    (void)device;
    switch (what) {
    case CL_PROGRAM_BUILD_STATUS: return layer_give(&p->status, sizeof p->status, room, to, got);
    case CL_PROGRAM_BUILD_LOG:
    case CL_PROGRAM_BUILD_OPTIONS: return layer_give(text ? text : "", text ? strlen(text) + 1 : 1, room, to, got);
    default: return CL_INVALID_VALUE;
    }
}

#else
typedef int pretended_program_nothing_here;
#endif
