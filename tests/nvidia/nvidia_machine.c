/* nvidia_machine.c - a pretended NVIDIA device: compiled for by NVIDIA's compilers, executed as PTX
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words of CLATTN_NVIDIA beside those of pretended.h:
 *   nvcl=FILE  compilers=DIR   the program that compiles, and what setup-nvidia-compilers.sh has made
 *   driver=470|535|550  cc=75|80|86|90                                                             [550, 90]
 *   pieces=N                   so many launches are made of one, as the driver may                 [1]
 *   ptxas=FILE                 has to take every program; work-groups are as large as the registers it counts allow
 *   registers=N                of which a multiprocessor has so many                               [65536] */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offline/ptx/ptx.h"

enum { LOCAL_BYTES = 48 << 10, REGISTERS = 65536, MOST_ITEMS = 1024 };

/* ---- Who they are ---- */

enum { COMPUTE_MAJOR_NV = 0x4000, COMPUTE_MINOR_NV = 0x4001, REGISTERS_PER_BLOCK_NV = 0x4002, WARP_SIZE_NV = 0x4003 };

static const struct answer platform[] = {
    { CL_PLATFORM_NAME, "NVIDIA CUDA", 0, 0 },
    { CL_PLATFORM_VENDOR, "NVIDIA Corporation", 0, 0 },
    { CL_PLATFORM_VERSION, "OpenCL 3.0 CUDA 12.4.131", 0, 0 },
    { 0, NULL, 0, 0 },
};

static bool device(cl_device_info what, struct answer *out, char room[PRETENDED_VALUE_MAX])
{
    const cl_ulong cc = (cl_ulong)pretended_number("cc", 90);
    const struct answer answers[] = {
        { CL_DEVICE_VENDOR, "NVIDIA Corporation", 0, 0 },
        { CL_DEVICE_VENDOR_ID, NULL, 0x10de, sizeof(cl_uint) },
        { CL_DEVICE_NAME, room, 0, 0 },
        { CL_DRIVER_VERSION, room, 0, 0 },
        { CL_DEVICE_VERSION, "OpenCL 3.0 CUDA", 0, 0 },
        { CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 ", 0, 0 },
        { CL_DEVICE_MAX_COMPUTE_UNITS, NULL, 132, sizeof(cl_uint) },
        { COMPUTE_MAJOR_NV, NULL, cc / 10, sizeof(cl_uint) },
        { COMPUTE_MINOR_NV, NULL, cc % 10, sizeof(cl_uint) },
        { REGISTERS_PER_BLOCK_NV, NULL, REGISTERS, sizeof(cl_uint) },
        { WARP_SIZE_NV, NULL, 32, sizeof(cl_uint) },
    };
    if (what == CL_DEVICE_NAME)
        snprintf(room, PRETENDED_VALUE_MAX, "pretended sm_%lu", (unsigned long)cc);
    if (what == CL_DRIVER_VERSION)
        snprintf(room, PRETENDED_VALUE_MAX, "%ld.0", pretended_number("driver", 550));
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].what == what) {
            *out = answers[i];
            return true;
        }
    return false;
}

/* ---- Programs: PTX ---- */

static void library_of(char to[PRETENDED_FILE_MAX])
{
    char dir[PRETENDED_VALUE_MAX];
    snprintf(to, PRETENDED_FILE_MAX, "%s/%ld/compiler.so", pretended_word("compilers", dir),
             pretended_number("driver", 550));
}

static void compiler(char to[PRETENDED_FILE_MAX])
{
    library_of(to);
    const size_t n = strlen(to);
    snprintf(to + n, PRETENDED_FILE_MAX - n, " %ld", pretended_number("cc", 90));
}

/* The options that the driver adds to its callers', who ask for a version of the language in OpenCL's words. */
static void write_options(const struct program *p, char *to, size_t room)
{
    size_t n = (size_t)snprintf(to, room, "-nv-m64 -cl-nv-arch sm_%ld -cl-nv-cstd=CL1.2", pretended_number("cc", 90));
    for (const char *at = p->options + strspn(p->options, " "); *at && n < room; at += strspn(at, " ")) {
        const size_t length = strcspn(at, " ");
        if (strncmp(at, "-cl-std=", 8))
            n += (size_t)snprintf(to + n, room - n, " %.*s", (int)length, at);
        at += length;
    }
}

static int compile(const struct program *p, const char *in, const char *out, const char *log)
{
    char nvcl[PRETENDED_VALUE_MAX], library[PRETENDED_FILE_MAX], options[16384];
    pretended_word("nvcl", nvcl);
    library_of(library);
    write_options(p, options, sizeof options);
    char *const argv[] = { nvcl, library, (char *)in, (char *)out, options, NULL };
    return pretended_run(argv, log, NULL);
}

/* As the driver does with what its compiler made: false where ptxas refuses it, and the log says why. */
static bool assemble(struct program *p, const char *name)
{
    char ptxas[PRETENDED_VALUE_MAX], target[32], in[PRETENDED_FILE_MAX], kept[PRETENDED_FILE_MAX];
    char log[PRETENDED_FILE_MAX];
    if (!*pretended_word("ptxas", ptxas))
        return true;
    pretended_path(in, name, machine.ending);
    pretended_path(log, name, ".new-registers");
    pretended_path(kept, name, ".registers");
    snprintf(target, sizeof target, "-arch=sm_%ld", pretended_number("cc", 90));
    char *const argv[] = { ptxas, "-v", target, "-o", "/dev/null", in, NULL };
    const int status = access(kept, R_OK) ? pretended_run(argv, log, NULL) : 0;
    if (status < 0)
        pretended_tell("ptxas cannot be run");
    if (status || (access(kept, R_OK) && rename(log, kept))) {
        free(p->log);
        p->log = pretended_read(log, NULL);
        return false;
    }
    p->more = pretended_read(kept, NULL);
    return true;
}

/* PTX, and a NUL. */
static bool is_binary(const char *binary, size_t size)
{
    const size_t length = strnlen(binary, size);
    return length && length < size && strstr(binary, ".version");
}

/* What ptxas refuses: more shared memory than an array of the language can have. */
static bool is_too_large(const struct ptx_module *m)
{
    for (size_t i = 0; i < ptx_module_kernels(m); i++)
        if (ptx_kernel_info(ptx_kernel_at(m, i))->shared > LOCAL_BYTES)
            return true;
    return false;
}

static void *read_module(struct program *p, char *why, size_t why_size)
{
    struct ptx_module *const m = ptx_module_read(p->binary, strlen(p->binary), why, why_size);
    p->size = strlen(p->binary) + 1;
    if (m && is_too_large(m)) {
        ptx_module_free(m);
        return NULL;
    }
    return m;
}

static void free_module(void *module)
{
    ptx_module_free(module);
}

/* ---- Kernels ---- */

static const void *kernel_named(const void *module, const char *name)
{
    return ptx_kernel_named(module, name);
}

/* "Function properties for K" or "Compiling entry function 'K'", and then "Used N registers". 0: not known. */
static int registers(const struct program *p, const char *kernel)
{
    char what[256];
    int n = 0;
    snprintf(what, sizeof what, "'%s'", kernel);
    const char *at = p->more ? strstr(p->more, what) : NULL;
    at = at ? strstr(at, "Used ") : NULL;
    return at && sscanf(at, "Used %d registers", &n) == 1 ? n : 0;
}

/* Threads that a group may have: all of their registers have to be there, of each warp's a multiple of 256. */
static size_t largest_group(const struct ptx_info *info, int registers_of_one)
{
    size_t most = MOST_ITEMS;
    if (info->reqntid[0])
        most = (size_t)info->reqntid[0] * info->reqntid[1] * info->reqntid[2];
    if (registers_of_one) {
        const size_t of_warp = ((size_t)registers_of_one * 32 + 255) / 256 * 256,
                     all = (size_t)pretended_number("registers", REGISTERS), fit = all / of_warp * 32;
        most = most < fit ? most : fit;
    }
    return most;
}

static void facts(const struct program *p, const void *kernel, struct kernel_facts *out)
{
    const struct ptx_info *const info = ptx_kernel_info(kernel);
    const char *const name = ptx_kernel_name(kernel);
    *out = (struct kernel_facts){ .name = name, .n_params = info->n_params, .wave = 32, .local = info->shared,
                                  .own = info->local, .most_items = largest_group(info, registers(p, name)) };
    memcpy(out->required, info->reqntid, sizeof out->required);
}

static void param(const void *kernel, size_t i, enum param_kind *kind, size_t *size)
{
    const struct ptx_param *const p = &ptx_kernel_info(kernel)->params[i];
    *kind = p->kind;
    *size = p->size;
}

/* ---- Launches ---- */

/* The driver may execute a launch in pieces: here along its first dimension that is long enough. */
static bool run_pieces(const struct ptx_kernel *code, struct ptx_launch l, char *why, size_t why_size)
{
    const long asked = pretended_number("pieces", 1);
    const uint32_t pieces = asked > 1 ? (uint32_t)asked : 1;
    const int dim = l.grid[0] >= pieces || l.grid[1] < pieces ? 0 : 1;
    const uint32_t whole = l.grid[dim], long_one = (whole + pieces - 1) / pieces;
    for (int i = 0; i < 3; i++)
        l.total_grid[i] = l.grid[i];
    for (uint32_t at = 0; at < whole; at += long_one) {
        l.group_offset[dim] = at;
        l.grid[dim] = whole - at < long_one ? whole - at : long_one;
        if (ptx_run(code, &l, why, why_size) != PTX_OK)
            return false;
    }
    return true;
}

static bool run(const void *kernel, const struct launch *l, unsigned long long *count, char *why, size_t why_size)
{
    struct ptx_launch to = PTX_LAUNCH_INIT;
    struct ptx_stats stats = { 0 };
    memcpy(to.grid, l->grid, sizeof to.grid);
    memcpy(to.block, l->block, sizeof to.block);
    memcpy(to.global_offset, l->global_offset, sizeof to.global_offset);
    to.work_dim = l->work_dim;
    to.args = l->args, to.n_args = l->n_args, to.buffers = l->buffers, to.n_buffers = l->n_buffers;
    to.schedule = l->schedule, to.seed = l->seed, to.approximate = l->approximate, to.unchecked = l->unchecked;
    to.report = l->report, to.stats = &stats;
    const bool ended = run_pieces(kernel, to, why, why_size);
    *count += stats.thread_instructions;
    return ended;
}

const struct machine machine = {
    .name = "nvidia",
    .variable = "CLATTN_NVIDIA",
    .ending = ".ptx",
    .platform = platform,
    .local_bytes = LOCAL_BYTES,
    .most_items = MOST_ITEMS,
    .device = device,
    .extensions = "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
                  "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_fp64 "
                  "cl_khr_byte_addressable_store cl_khr_icd cl_nv_compiler_options cl_nv_device_attribute_query "
                  "cl_nv_pragma_unroll",
    .compiler = compiler,
    .compile = compile,
    .accept = assemble,
    .is_binary = is_binary,
    .read = read_module,
    .free_module = free_module,
    .kernel = kernel_named,
    .facts = facts,
    .param = param,
    .run = run,
};

#else
typedef int nvidia_nothing_here;
#endif
