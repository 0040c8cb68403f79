/* amd_machine.c - a pretended AMD device: compiled for by AMD's drivers, executed as AMD's machine code
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words of CLATTN_AMD beside those of pretended.h:
 *   amdcl=FILE  drivers=DIR    the program that compiles, and what setup-amd-drivers.sh has made
 *   driver=5|6  gfx=NUMBER     that of ROCm 5.7 or 6.4; 908, 90a, 942, 1030, 1100, 1151, 1201, ..  [6, 1100] */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "offline/amdgpu/amdgpu.h"

enum { LOCAL_BYTES = 64 << 10, MOST_ITEMS = 256 };

/* ---- Who they are: as ROCm's driver answers ---- */

enum { BOARD_NAME_AMD = 0x4038, WAVEFRONT_WIDTH_AMD = 0x4043 };

static const struct answer platform[] = {
    { CL_PLATFORM_NAME, "AMD Accelerated Parallel Processing", 0, 0 },
    { CL_PLATFORM_VENDOR, "Advanced Micro Devices, Inc.", 0, 0 },
    { CL_PLATFORM_VERSION, "OpenCL 2.1 AMD-APP (3649.0)", 0, 0 },
    { 0, NULL, 0, 0 },
};

/* "gfx1100"; of GPUs for servers with what their memory is like, too. */
static const char *target(char room[PRETENDED_VALUE_MAX])
{
    char gfx[PRETENDED_VALUE_MAX];
    if (!*pretended_word("gfx", gfx))
        strcpy(gfx, "1100");
    snprintf(room, PRETENDED_VALUE_MAX, "gfx%.16s%s", gfx, *gfx == '9' ? ":sramecc+:xnack-" : "");
    return room;
}

static bool device(cl_device_info what, struct answer *out, char room[PRETENDED_VALUE_MAX])
{
    const bool is_gfx9 = target(room)[3] == '9';
    const char *const version = pretended_number("driver", 6) == 5 ? "3590.0 (HSA1.1,LC)" : "3649.0 (HSA1.1,LC)";
    const struct answer answers[] = {
        { CL_DEVICE_VENDOR, "Advanced Micro Devices, Inc.", 0, 0 },
        { CL_DEVICE_VENDOR_ID, NULL, 0x1002, sizeof(cl_uint) },
        { CL_DEVICE_NAME, room, 0, 0 },
        { CL_DRIVER_VERSION, version, 0, 0 },
        { CL_DEVICE_VERSION, "OpenCL 2.0 ", 0, 0 },
        { CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 2.0 ", 0, 0 },
        { CL_DEVICE_MAX_COMPUTE_UNITS, NULL, is_gfx9 ? 104 : 48, sizeof(cl_uint) },
        { BOARD_NAME_AMD, "pretended AMD GPU", 0, 0 },
        { WAVEFRONT_WIDTH_AMD, NULL, is_gfx9 ? 64 : 32, sizeof(cl_uint) },
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].what == what) {
            *out = answers[i];
            return true;
        }
    return false;
}

/* ---- Programs: code objects ---- */

/* By its version, since a root may be made anew. */
static void compiler(char to[PRETENDED_FILE_MAX])
{
    char dir[PRETENDED_VALUE_MAX], name[PRETENDED_VALUE_MAX], file[PRETENDED_FILE_MAX];
    const long driver = pretended_number("driver", 6);
    snprintf(file, sizeof file, "%s/rocm%ld/ready", pretended_word("drivers", dir), driver);
    char *const version = pretended_read(file, NULL);
    snprintf(to, PRETENDED_FILE_MAX, "rocm%ld %.64s %.32s", driver, version ? version : "", target(name));
    free(version);
}

/* amdcl takes each option as a word. */
static int compile(const struct program *p, const char *in, const char *out, const char *log)
{
    enum { WORDS = 256 };
    char amdcl[PRETENDED_VALUE_MAX], dir[PRETENDED_VALUE_MAX], root[PRETENDED_FILE_MAX], name[PRETENDED_VALUE_MAX];
    char *const options = strdup(p->options), *rest = options, *argv[WORDS];
    int n = 0;
    if (!options)
        return -1;
    snprintf(root, sizeof root, "%s/rocm%ld", pretended_word("drivers", dir), pretended_number("driver", 6));
    argv[n++] = (char *)pretended_word("amdcl", amdcl);
    argv[n++] = root;
    argv[n++] = (char *)target(name);
    argv[n++] = (char *)in;
    argv[n++] = (char *)out;
    char *word = strtok_r(rest, " ", &rest);
    for (; word && n < WORDS - 1; word = strtok_r(NULL, " ", &rest))
        argv[n++] = word;
    argv[n] = NULL;
    const int status = word ? -1 : pretended_run(argv, log, NULL);
    free(options);
    return status;
}

static bool is_binary(const char *binary, size_t size)
{
    return size > 4 && !memcmp(binary, "\177ELF", 4);
}

/* The disassembly of a code object, which goes by files. NULL: there is none. */
static char *disassemble(const struct program *p, const char *processor, size_t *size)
{
    char own[64], in[PRETENDED_FILE_MAX], out[PRETENDED_FILE_MAX], log[PRETENDED_FILE_MAX];
    char dir[PRETENDED_VALUE_MAX], tool[PRETENDED_FILE_MAX], mcpu[64];
    static int count;
    snprintf(own, sizeof own, "%ld-%d", (long)getpid(), __atomic_add_fetch(&count, 1, __ATOMIC_RELAXED));
    pretended_path(in, own, ".elf");
    pretended_path(out, own, ".lst");
    pretended_path(log, own, ".log");
    snprintf(tool, sizeof tool, "%s/rocm6/wrap/llvm-objdump", pretended_word("drivers", dir));
    snprintf(mcpu, sizeof mcpu, "--mcpu=%.40s", processor);
    char *const argv[] = { tool, "-d", mcpu, in, NULL };
    FILE *const f = fopen(in, "wb");
    bool good = f && fwrite(p->binary, 1, p->size, f) == p->size;
    if (f)
        good = !fclose(f) && good;
    char *const listing = good && !pretended_run(argv, out, log) ? pretended_read(out, size) : NULL;
    remove(in);
    remove(out);
    remove(log);
    return listing;
}

/* A code object of another GPU the driver does not load. */
static bool is_mine(const char *processor)
{
    char name[PRETENDED_VALUE_MAX];
    const size_t n = strcspn(target(name), ":");
    return strlen(processor) == n && !strncmp(processor, name, n);
}

static void *read_module(struct program *p, char *why, size_t why_size)
{
    char processor[64];
    size_t length = 0;
    if (!amdgpu_object_target(p->binary, p->size, processor, sizeof processor, why, why_size) || !is_mine(processor))
        return NULL;
    char *const listing = disassemble(p, processor, &length);
    void *const module = listing ? amdgpu_module_read(p->binary, p->size, listing, length, why, why_size) : NULL;
    if (!listing)
        snprintf(why, why_size, "there is no disassembly");
    free(p->more);
    p->more = listing;
    return module;
}

static void free_module(void *module)
{
    amdgpu_module_free(module);
}

/* ---- Kernels ---- */

static const void *kernel_named(const void *module, const char *name)
{
    return amdgpu_kernel_named(module, name);
}

static void facts(const struct program *p, const void *kernel, struct kernel_facts *out)
{
    const struct amdgpu_info *const info = amdgpu_kernel_info(kernel);
    (void)p;
    *out = (struct kernel_facts){ .name = amdgpu_kernel_name(kernel), .n_params = info->n_params, .wave = info->wave,
                                  .local = info->shared, .own = info->scratch,
                                  .most_items = info->max_work_group ? info->max_work_group : MOST_ITEMS };
    memcpy(out->required, info->required, sizeof out->required);
}

static void param(const void *kernel, size_t i, enum param_kind *kind, size_t *size)
{
    const struct amdgpu_param *const p = &amdgpu_kernel_info(kernel)->params[i];
    *kind = p->kind;
    *size = p->size;
}

/* ---- Launches ---- */

static const char *listing(const struct program *p, const void *kernel)
{
    (void)kernel;
    return p->more; /* of all kernels */
}

static bool run(const void *kernel, const struct launch *l, unsigned long long *count, char *why, size_t why_size)
{
    struct amdgpu_launch to = AMDGPU_LAUNCH_INIT;
    struct amdgpu_stats stats = { 0 };
    memcpy(to.grid, l->grid, sizeof to.grid);
    memcpy(to.block, l->block, sizeof to.block);
    for (int i = 0; i < 3; i++)
        to.global_offset[i] = l->global_offset[i];
    to.work_dim = l->work_dim;
    to.args = l->args, to.n_args = l->n_args, to.buffers = l->buffers, to.n_buffers = l->n_buffers;
    to.schedule = l->schedule, to.seed = l->seed, to.approximate = l->approximate, to.unchecked = l->unchecked;
    to.report = l->report, to.stats = &stats;
    to.per_line = l->per_line, to.n_lines = l->n_lines;
    const bool ended = amdgpu_run(kernel, &to, why, why_size) == AMDGPU_OK;
    *count += stats.lane_instructions;
    return ended;
}

const struct machine machine = {
    .name = "amd",
    .variable = "CLATTN_AMD",
    .ending = ".elf",
    .platform = platform,
    .local_bytes = LOCAL_BYTES,
    .most_items = MOST_ITEMS,
    .device = device,
    .extensions = "cl_khr_fp64 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics "
                  "cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics "
                  "cl_khr_int64_extended_atomics cl_khr_3d_image_writes cl_khr_byte_addressable_store cl_khr_fp16 "
                  "cl_khr_gl_sharing cl_amd_device_attribute_query cl_amd_media_ops cl_amd_media_ops2 "
                  "cl_khr_image2d_from_buffer cl_khr_subgroups cl_khr_depth_images cl_amd_copy_buffer_p2p "
                  "cl_amd_assembly_program",
    .compiler = compiler,
    .compile = compile,
    .is_binary = is_binary,
    .read = read_module,
    .free_module = free_module,
    .kernel = kernel_named,
    .facts = facts,
    .param = param,
    .listing = listing,
    .run = run,
};

#else
typedef int amd_nothing_here;
#endif
