/* nvidia_program.c - a pretended NVIDIA device: programs, whose binaries are PTX
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/nvidia/nvidia_device.h"

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

enum { FILE_MAX = 3 * NVIDIA_VALUE_MAX };

/* ---- Objects ---- */

static cl_program object(cl_context context, cl_device_id device, struct nvidia_program **out)
{
    struct nvidia_program *const p = calloc(1, sizeof *p);
    *out = p;
    if (!p)
        return NULL;
    p->dispatch = nvidia_below;
    p->references = 1;
    p->context = context;
    p->device = device;
    p->status = CL_BUILD_NONE;
    if (!device && nvidia_below->clGetContextInfo(context, CL_CONTEXT_DEVICES, sizeof p->device, &p->device, NULL))
        p->device = NULL; /* several devices: PoCL has one */
    nvidia_below->clRetainContext(context);
    return (cl_program)p;
}

void nvidia_retain(struct nvidia_program *p)
{
    __atomic_add_fetch(&p->references, 1, __ATOMIC_RELAXED);
}

void nvidia_release(struct nvidia_program *p)
{
    if (__atomic_sub_fetch(&p->references, 1, __ATOMIC_ACQ_REL))
        return;
    nvidia_below->clReleaseContext(p->context);
    ptx_module_free(p->module);
    free(p->text);
    free(p->options);
    free(p->log);
    free(p->ptx);
    free(p->registers);
    free(p);
}

cl_int nvidia_clRetainProgram(cl_program program)
{
    nvidia_retain((struct nvidia_program *)program);
    return CL_SUCCESS;
}

cl_int nvidia_clReleaseProgram(cl_program program)
{
    nvidia_release((struct nvidia_program *)program);
    return CL_SUCCESS;
}

static char *read_file(const char *name)
{
    FILE *const f = fopen(name, "rb");
    char *text = NULL;
    long size;
    if (f && !fseek(f, 0, SEEK_END) && (size = ftell(f)) >= 0 && !fseek(f, 0, SEEK_SET) &&
        (text = calloc(1, (size_t)size + 1)) && fread(text, 1, (size_t)size, f) != (size_t)size) {
        free(text);
        text = NULL;
    }
    if (f)
        fclose(f);
    return text;
}

/* The fault that is asked for: FROM, TO and N, a line each; the N-th FROM of a text becomes TO. NULL: no memory. */
static char *change(char *text)
{
    char name[NVIDIA_VALUE_MAX], *lines[3] = { NULL };
    if (!text || !*nvidia_word("change", name))
        return text;
    char *const all = read_file(name), *rest = all, *changed = NULL;
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

cl_program nvidia_clCreateProgramWithSource(cl_context context, cl_uint n, const char **texts, const size_t *lengths,
                                            cl_int *status)
{
    struct nvidia_program *p;
    cl_program program = object(context, NULL, &p);
    if (p && !(p->text = change(layer_join(n, (const char *const *)texts, lengths)))) {
        nvidia_release(p);
        program = NULL;
    }
    if (status)
        *status = program ? CL_SUCCESS : CL_OUT_OF_HOST_MEMORY;
    return program;
}

/* A binary is PTX, and a NUL. What is none is refused here, as by the driver. */
cl_program nvidia_clCreateProgramWithBinary(cl_context context, cl_uint n, const cl_device_id *devices,
                                            const size_t *lengths, const unsigned char **binaries,
                                            cl_int *binary_status, cl_int *status)
{
    struct nvidia_program *p;
    cl_program program = NULL;
    const size_t length = n == 1 ? strnlen((const char *)binaries[0], lengths[0]) : 0;
    const char *const text = (const char *)binaries[0];
    cl_int e = length && length < lengths[0] && strstr(text, ".version") ? CL_SUCCESS : CL_INVALID_BINARY;
    if (binary_status)
        *binary_status = e;
    if (!e && (!(program = object(context, devices[0], &p)) || !(p->ptx = layer_join(1, &text, &length)))) {
        if (p)
            nvidia_release(p);
        program = NULL;
        e = CL_OUT_OF_HOST_MEMORY;
    }
    if (status)
        *status = e;
    return program;
}

/* ---- Compiling ---- */

/* Two digests of 64 bits: of what PTX depends on. */
static void name_of(const struct nvidia_program *p, const char *library, char name[33])
{
    char target[32];
    snprintf(target, sizeof target, "%ld", nvidia_number("cc", 90));
    const char *const parts[] = { p->text, p->options, library, target };
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

/* Runs a program whose output goes to `log`. Its exit status, -1 where there is none. */
static int run(char *const *argv, const char *log)
{
    extern char **environ;
    posix_spawn_file_actions_t actions;
    pid_t child;
    int status = -1;
    if (posix_spawn_file_actions_init(&actions))
        return -1;
    if (!posix_spawn_file_actions_addopen(&actions, 1, log, O_WRONLY | O_CREAT | O_TRUNC, 0666) &&
        !posix_spawn_file_actions_adddup2(&actions, 1, 2) &&
        !posix_spawn(&child, argv[0], &actions, NULL, argv, environ) && waitpid(child, &status, 0) == child)
        status = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    posix_spawn_file_actions_destroy(&actions);
    return status;
}

/* The options that the driver adds to its callers', who ask for a version of the language in OpenCL's words. */
static void write_options(const struct nvidia_program *p, char *to, size_t room)
{
    size_t n = (size_t)snprintf(to, room, "-nv-m64 -cl-nv-arch sm_%ld -cl-nv-cstd=CL1.2", nvidia_number("cc", 90));
    for (const char *at = p->options + strspn(p->options, " "); *at && n < room; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (strncmp(at, "-cl-std=", 8))
            n += (size_t)snprintf(to + n, room - n, " %.*s", (int)length, at);
        at += length;
    }
}

static void path(char to[FILE_MAX], const char *name, const char *ending)
{
    char dir[NVIDIA_VALUE_MAX];
    snprintf(to, FILE_MAX, "%s/%s%s", nvidia_word("cache", dir), name, ending);
}

/* PTX of the program's text, which is kept under a name of its own until it is whole. */
static void compile(struct nvidia_program *p, const char *library, const char *name)
{
    char nvcl[NVIDIA_VALUE_MAX], options[16384], own[64], in[FILE_MAX], out[FILE_MAX], log[FILE_MAX], kept[FILE_MAX];
    static int count;
    snprintf(own, sizeof own, "%s-%ld-%d", name, (long)getpid(), __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    path(in, own, ".cl");
    path(out, own, ".new");
    path(log, own, ".log");
    path(kept, name, ".ptx");
    nvidia_word("nvcl", nvcl);
    write_options(p, options, sizeof options);
    char *const argv[] = { nvcl, (char *)library, in, out, options, NULL };
    const int status = write_file(in, p->text) ? run(argv, log) : -1;
    p->log = read_file(log);
    if (!status && !rename(out, kept))
        p->ptx = read_file(kept);
    remove(in);
    remove(log);
}

/* As the driver does with what its compiler made: false where ptxas refuses it, and the log says why. */
static bool assemble(struct nvidia_program *p, const char *name)
{
    char ptxas[NVIDIA_VALUE_MAX], target[32], in[FILE_MAX], kept[FILE_MAX], log[FILE_MAX];
    if (!*nvidia_word("ptxas", ptxas))
        return true;
    path(in, name, ".ptx");
    path(log, name, ".new-registers");
    path(kept, name, ".registers");
    snprintf(target, sizeof target, "-arch=sm_%ld", nvidia_number("cc", 90));
    char *const argv[] = { ptxas, "-v", target, "-o", "/dev/null", in, NULL };
    const int status = access(kept, R_OK) ? run(argv, log) : 0;
    if (status < 0)
        nvidia_tell("ptxas cannot be run");
    if (status || (access(kept, R_OK) && rename(log, kept))) {
        free(p->log);
        p->log = read_file(log);
        return false;
    }
    p->registers = read_file(kept);
    return true;
}

/* "Function properties for K" or "Compiling entry function 'K'", and then "Used N registers". */
int nvidia_registers(const struct nvidia_program *p, const char *kernel)
{
    char what[256];
    int n = 0;
    snprintf(what, sizeof what, "'%s'", kernel);
    const char *at = p->registers ? strstr(p->registers, what) : NULL;
    at = at ? strstr(at, "Used ") : NULL;
    return at && sscanf(at, "Used %d registers", &n) == 1 ? n : 0;
}

/* What ptxas refuses: more shared memory than an array of the language can have. */
static bool is_too_large(const struct ptx_module *m)
{
    for (size_t i = 0; i < ptx_module_kernels(m); i++)
        if (ptx_kernel_info(ptx_kernel_at(m, i))->shared > NVIDIA_LOCAL_BYTES)
            return true;
    return false;
}

static cl_int read_module(struct nvidia_program *p)
{
    char why[512] = "";
    if (p->ptx && !(p->module = ptx_module_read(p->ptx, strlen(p->ptx), why, sizeof why))) {
        char line[1024];
        snprintf(line, sizeof line, "the interpreter refuses a program: %s", why);
        nvidia_tell(line);
    }
    return p->module && !is_too_large(p->module) ? CL_SUCCESS : CL_BUILD_PROGRAM_FAILURE;
}

cl_int nvidia_clBuildProgram(cl_program program, cl_uint n, const cl_device_id *devices, const char *options,
                             void(CL_CALLBACK *told)(cl_program, void *), void *user)
{
    struct nvidia_program *const p = (struct nvidia_program *)program;
    char name[33], dir[NVIDIA_VALUE_MAX], kept[FILE_MAX], library[FILE_MAX];
    bool is_assembled = true;
    (void)n, (void)devices;
    if (p->module || p->options)
        return CL_INVALID_OPERATION; /* once is enough here */
    if (!(p->options = strdup(options ? options : "")))
        return CL_OUT_OF_HOST_MEMORY;
    if (p->text) {
        snprintf(library, sizeof library, "%s/%ld/compiler.so", nvidia_word("compilers", dir),
                 nvidia_number("driver", 550));
        name_of(p, library, name);
        path(kept, name, ".ptx");
        p->ptx = read_file(kept);
        if (!p->ptx)
            compile(p, library, name);
        is_assembled = !p->ptx || assemble(p, name);
    }
    const cl_int status = is_assembled ? read_module(p) : CL_BUILD_PROGRAM_FAILURE;
    p->status = status ? CL_BUILD_ERROR : CL_BUILD_SUCCESS;
    if (told)
        told(program, user);
    return status;
}

/* ---- Questions ---- */

cl_int nvidia_clGetProgramInfo(cl_program program, cl_program_info what, size_t room, void *to, size_t *got)
{
    const struct nvidia_program *const p = (const struct nvidia_program *)program;
    const size_t size = p->ptx ? strlen(p->ptx) + 1 : 0;
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
            memcpy(*binaries, p->ptx ? p->ptx : "", size);
        if (got)
            *got = sizeof *binaries;
        return CL_SUCCESS;
    default: return CL_INVALID_VALUE;
    }
}

cl_int nvidia_clGetProgramBuildInfo(cl_program program, cl_device_id device, cl_program_build_info what, size_t room,
                                    void *to, size_t *got)
{
    const struct nvidia_program *const p = (const struct nvidia_program *)program;
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
typedef int nvidiaprogram_nothing_here;
#endif
