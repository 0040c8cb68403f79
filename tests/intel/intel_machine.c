/* intel_machine.c - a pretended Intel GPU: compiled for by Intel's compiler, executed as Intel's machine code
 * SPDX-License-Identifier: Apache-2.0
 *
 * Words of CLATTN_INTEL beside those of pretended.h:
 *   intelcl=FILE  root=DIR     offline/compilers/intelcl.sh, and what setup-newer-compilers.sh has made
 *   driver=1  clbuild=FILE     programs are built by Intel's driver, not by ocloc: by offline/compilers/clbuild.c
 *   gpu=NAME                   bmg, pvc, acm-g10 (the driver's dg2), lnl, ptl, arl-h, mtl  [bmg]
 *   blocks_2d=0                it does not say that it reads blocks of two dimensions
 *   sub_groups=N               the shortest sub-groups that it names, whatever it compiles for
 * A program's binary is what intelcl.sh makes: the driver's, with the listings behind it. */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "offline/gen/gen.h"

enum { LOCAL_BYTES = 64 << 10, MOST_ITEMS = 256, LISTINGS = 64 };

/* ---- Who they are: as Intel's driver answers ---- */

enum { SUB_GROUP_SIZES_INTEL = 0x4108 };

static const struct answer platform[] = {
    { CL_PLATFORM_NAME, "Intel(R) OpenCL Graphics", 0, 0 },
    { CL_PLATFORM_VENDOR, "Intel(R) Corporation", 0, 0 },
    { CL_PLATFORM_VERSION, "OpenCL 3.0 ", 0, 0 },
    { 0, NULL, 0, 0 },
};

static const char *gpu(char room[PRETENDED_VALUE_MAX])
{
    if (!*pretended_word("gpu", room))
        strcpy(room, "bmg");
    return room;
}

/* Sub-groups have at least 8 items on the older ones, else 16. */
static bool is_older(void)
{
    char room[PRETENDED_VALUE_MAX];
    static const char *const newer[] = { "pvc", "bmg", "lnl", "ptl" };
    gpu(room);
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++)
        if (!strcmp(room, newer[i]))
            return false;
    return true;
}

#define EXTENSIONS                                                                                                     \
    "cl_khr_byte_addressable_store cl_khr_fp16 cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics " \
    "cl_khr_icd cl_khr_local_int32_base_atomics cl_khr_local_int32_extended_atomics cl_intel_command_queue_families "  \
    "cl_intel_subgroups cl_intel_required_subgroup_size cl_intel_subgroups_short cl_khr_spir cl_intel_accelerator "    \
    "cl_intel_driver_diagnostics cl_khr_priority_hints cl_khr_throttle_hints cl_khr_create_command_queue "             \
    "cl_intel_subgroups_char cl_intel_subgroups_long cl_khr_il_program cl_khr_subgroups "                              \
    "cl_intel_subgroup_local_block_io"

static bool device(cl_device_info what, struct answer *out, char room[PRETENDED_VALUE_MAX])
{
    char name[PRETENDED_VALUE_MAX];
    snprintf(room, PRETENDED_VALUE_MAX, "Intel(R) Graphics [%.32s]", gpu(name));
#define MATRIX " cl_intel_subgroup_matrix_multiply_accumulate"
    const bool blocks_2d = pretended_number("blocks_2d", !is_older());
    const char *const extensions = blocks_2d ? EXTENSIONS MATRIX " cl_intel_subgroup_2d_block_io" :
                                   strcmp(name, "mtl") ? EXTENSIONS MATRIX : EXTENSIONS;
    const struct answer answers[] = {
        { CL_DEVICE_VENDOR, "Intel(R) Corporation", 0, 0 },
        { CL_DEVICE_VENDOR_ID, NULL, 0x8086, sizeof(cl_uint) },
        { CL_DEVICE_NAME, room, 0, 0 },
        { CL_DRIVER_VERSION, "26.27.39122", 0, 0 },
        { CL_DEVICE_VERSION, "OpenCL 3.0 NEO ", 0, 0 },
        { CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 ", 0, 0 },
        { CL_DEVICE_MAX_COMPUTE_UNITS, NULL, 160, sizeof(cl_uint) },
        { CL_DEVICE_DOUBLE_FP_CONFIG, NULL, 0, sizeof(cl_device_fp_config) }, /* its divisions are not executed */
        { CL_DEVICE_EXTENSIONS, extensions, 0, 0 },
        { SUB_GROUP_SIZES_INTEL, NULL, (unsigned long long)pretended_number("sub_groups", is_older() ? 8 : 16),
          sizeof(size_t) },
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].what == what) {
            *out = answers[i];
            return true;
        }
    return false;
}

/* ---- Programs ---- */

/* By its version, since a root may be made anew. */
static void compiler(char to[PRETENDED_FILE_MAX])
{
    char dir[PRETENDED_VALUE_MAX], name[PRETENDED_VALUE_MAX], file[PRETENDED_FILE_MAX];
    snprintf(file, sizeof file, "%s/wrap/ocloc", pretended_word("root", dir));
    char *const wrapper = pretended_read(file, NULL);
    const char *const tool = wrapper ? strstr(wrapper, "/ocloc-") : NULL;
    snprintf(to, PRETENDED_FILE_MAX, "%.32s %.32s%s", tool ? tool : "", gpu(name),
             *pretended_word("driver", dir) ? " driver" : "");
    free(wrapper);
}

static int compile(const struct program *p, const char *in, const char *out, const char *log)
{
    char script[PRETENDED_VALUE_MAX], dir[PRETENDED_VALUE_MAX], name[PRETENDED_VALUE_MAX], client[PRETENDED_VALUE_MAX];
    char by_driver[] = "-d", *argv[9], **word = argv;
    *word++ = (char *)pretended_word("intelcl", script);
    if (*pretended_word("driver", client)) {
        *word++ = by_driver;
        *word++ = (char *)pretended_word("clbuild", client);
    }
    *word++ = (char *)pretended_word("root", dir);
    *word++ = (char *)gpu(name);
    *word++ = (char *)in;
    *word++ = (char *)out;
    *word++ = p->options;
    *word = NULL;
    return pretended_run(argv, log, NULL);
}

/* The last line says how long the driver's binary is; 0: it is none of ours. */
static size_t binary_size(const char *binary, size_t size)
{
    static const char line[] = "\n//.binary ";
    const size_t n = sizeof line - 1;
    if (size < 64 || memcmp(binary, "\177ELF", 4))
        return 0;
    for (size_t at = size - n; at > size - 40; at--)
        if (!memcmp(binary + at, line, n)) {
            const unsigned long long bytes = strtoull(binary + at + n, NULL, 10);
            return bytes < at ? (size_t)bytes : 0;
        }
    return 0;
}

static bool is_binary(const char *binary, size_t size)
{
    return binary_size(binary, size) != 0;
}

/* Listings begin with the kernel's name. How many there are, of which `to` takes LISTINGS. */
static size_t find_listings(const char *text, struct gen_listing *to)
{
    static const char first[] = "//.kernel ";
    size_t n = 0;
    for (const char *at = strstr(text, first); at; n++) {
        const char *const next = strstr(at + 1, first);
        if (n < LISTINGS) {
            to[n].text = at;
            to[n].length = next ? (size_t)(next - at) : strlen(at);
        }
        at = next;
    }
    return n;
}

static void *read_module(struct program *p, char *why, size_t why_size)
{
    struct gen_listing listings[LISTINGS];
    const size_t size = binary_size(p->binary, p->size), n = find_listings(p->binary + size, listings);
    if (n > LISTINGS) {
        snprintf(why, why_size, "%zu listings, of which %d are taken", n, LISTINGS);
        return NULL;
    }
    return gen_module_read(p->binary, size, listings, n, why, why_size);
}

static void free_module(void *module)
{
    gen_module_free(module);
}

/* ---- Kernels ---- */

static const void *kernel_named(const void *module, const char *name)
{
    return gen_kernel_named(module, name);
}

static void facts(const struct program *p, const void *kernel, struct kernel_facts *out)
{
    const struct gen_info *const info = gen_kernel_info(kernel);
    (void)p;
    *out = (struct kernel_facts){ .name = gen_kernel_name(kernel), .n_params = info->n_params, .wave = info->simd,
                                  .local = info->shared, .own = info->spill, .most_items = MOST_ITEMS };
    memcpy(out->required, info->required, sizeof out->required);
}

static void param(const void *kernel, size_t i, enum param_kind *kind, size_t *size)
{
    const struct gen_param *const p = &gen_kernel_info(kernel)->params[i];
    *kind = p->kind;
    *size = p->size;
}

/* ---- Launches ---- */

static const char *listing(const struct program *p, const void *kernel)
{
    (void)p;
    return gen_kernel_listing(kernel);
}

static bool run(const void *kernel, const struct launch *l, unsigned long long *count, char *why, size_t why_size)
{
    struct gen_launch to = GEN_LAUNCH_INIT;
    struct gen_stats stats = { 0 };
    memcpy(to.grid, l->grid, sizeof to.grid);
    memcpy(to.block, l->block, sizeof to.block);
    for (int i = 0; i < 3; i++)
        to.global_offset[i] = l->global_offset[i];
    to.work_dim = l->work_dim;
    to.args = l->args, to.n_args = l->n_args, to.buffers = l->buffers, to.n_buffers = l->n_buffers;
    to.schedule = l->schedule, to.seed = l->seed, to.approximate = l->approximate, to.unchecked = l->unchecked;
    to.report = l->report, to.stats = &stats;
    to.per_line = l->per_line, to.n_lines = l->n_lines;
    const bool ended = gen_run(kernel, &to, why, why_size) == GEN_OK;
    *count += stats.lane_instructions;
    return ended;
}

const struct machine machine = {
    .name = "intel",
    .variable = "CLATTN_INTEL",
    .ending = ".zebin",
    .platform = platform,
    .local_bytes = LOCAL_BYTES,
    .most_items = MOST_ITEMS,
    .device = device,
    .extensions = "", /* see device() */
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
typedef int intel_nothing_here;
#endif
