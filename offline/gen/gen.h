/* gen.h - executes machine code of Intel's GPUs on a CPU and says what is wrong with it
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library takes a kernel binary (zebin) as Intel's OpenCL driver or ocloc makes it, and the listing of each kernel
 * that the same compiler (IGC) writes. It executes kernels in host memory, hardware thread for hardware thread, in a
 * schedule and with errors of the approximate instructions that the caller chooses. While it does so it looks for
 * accesses outside what there is, for what nothing wrote, and for races. README has what it executes and what not.
 *
 *     char why[256];
 *     struct gen_listing listing = { text, length };
 *     struct gen_module *module = gen_module_read(binary, size, &listing, 1, why, sizeof why);
 *     const struct gen_kernel *kernel = gen_kernel_named(module, "scale");
 *     struct launch_buffer buffer = { data, size, NULL };
 *     struct launch_arg args[] = { { ARG_BUFFER, 0, 0, NULL, 0 },
 *                                  { ARG_VALUE, 0, 0, &factor, sizeof factor } };
 *     struct gen_launch launch = GEN_LAUNCH_INIT;
 *     launch.grid[0] = 10, launch.block[0] = 64;
 *     launch.args = args, launch.n_args = 2, launch.buffers = &buffer, launch.n_buffers = 1;
 *     launch.report = print_it;
 *     enum gen_status status = gen_run(kernel, &launch, why, sizeof why);
 *     gen_module_free(module);
 *
 * There is no global state. A module does not change once it has been read: any number of threads may run its kernels
 * at once. Every failure says why in English in a text that the caller provides; it may be NULL with size 0. */
#ifndef GEN_H
#define GEN_H

#include "offline/frame/finding.h"
#include "offline/frame/launch.h"
#include "offline/frame/schedule.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct gen_module;
struct gen_kernel;

/* ---- modules ---- */

/* What IGC writes for one kernel into a file NAME.asm, with IGC_ShaderDumpEnable=1 and IGC_DumpToCustomDir=DIR in the
 * environment of ocloc or the driver. */
struct gen_listing {
    const char *text;
    size_t length;
};

/* Reads a kernel binary, which is an ELF file, and the listings of its kernels, in any order. Listings of kernels that
 * the binary does not have, and of other attempts of the compiler at one, are not looked at. None of it is needed
 * afterwards. NULL with the reason in why, which begins with "NAME, line N: " where a line of a listing is to blame,
 * when something is damaged, when a kernel has no listing, when there is an instruction that is not executed here, or
 * when memory is short. */
struct gen_module *gen_module_read(const void *binary, size_t size, const struct gen_listing *listings, size_t n,
                                   char *why, size_t why_size);

struct gen_param {
    const char *name; /* "" where the metadata has none */
    enum param_kind kind;
    size_t size; /* of values; else 8 */
};

/* What is known of a kernel. */
struct gen_info {
    size_t n_params;
    const struct gen_param *params;
    uint32_t simd;        /* work-items of a hardware thread: 8, 16 or 32 */
    uint32_t registers;   /* of a hardware thread */
    uint32_t barriers;
    size_t shared;        /* bytes of SLM of its own */
    size_t scratch;       /* bytes per hardware thread, spilled registers among them */
    size_t spill;         /* bytes per hardware thread */
    uint32_t required[3]; /* reqd_work_group_size; 0 0 0 where there is none */
    size_t n_ops;
    size_t n_lines;       /* of its listing */
};

/* One kernel of text alone, for tests. Its arguments begin at r4, each at a multiple of 8 bytes, work-items' numbers of
 * 16 bits are in r1 (x), r2 (y) and r3 (z), r0 is what the hardware makes it, and nothing is loaded before. */
struct gen_facts {
    const char *platform; /* "XE_HPG", "XE_HPC", "XE2", "XE3" */
    struct gen_info info; /* params, simd, shared and scratch are looked at */
};
struct gen_module *gen_module_text(const struct gen_facts *facts, const char *name, const char *text, size_t length,
                                   char *why, size_t why_size);

/* Takes NULL. Nothing of it may be running. */
void gen_module_free(struct gen_module *module);

/* ---- kernels: they live as long as their module ---- */

size_t gen_module_kernels(const struct gen_module *module);
const struct gen_kernel *gen_kernel_at(const struct gen_module *module, size_t i); /* NULL: no such one */
const struct gen_kernel *gen_kernel_named(const struct gen_module *module, const char *name); /* the same */
const char *gen_kernel_name(const struct gen_kernel *kernel);
const struct gen_info *gen_kernel_info(const struct gen_kernel *kernel);
const char *gen_kernel_listing(const struct gen_kernel *kernel); /* that was read; per_line counts its lines */

/* ---- launches ---- */

struct gen_stats {
    uint64_t instructions;        /* of hardware threads */
    uint64_t lane_instructions;   /* the lanes that were on */
    uint64_t matrix_instructions; /* dpas, of hardware threads */
    uint64_t findings[FOUND_KINDS]; /* how many of each kind there were; report() hears of the first ones only */
};

struct gen_launch {
    uint32_t grid[3], block[3]; /* groups, work-items of a group */
    uint64_t global_offset[3];  /* get_global_offset() */
    uint32_t work_dim;          /* get_work_dim(); 0: 3 */

    const struct launch_arg *args;
    size_t n_args;
    const struct launch_buffer *buffers;
    size_t n_buffers;

    enum schedule schedule;
    uint64_t seed;
    /* Where an instruction (math.exp, math.inv, ..) is promised to some error only: 0 the nearest result, -1 and +1 the
     * lowest and the highest that the promise allows; sums of dpas likewise. */
    int approximate;
    unsigned threads; /* of the host, which share the groups; 0 and 1: the caller's alone */
    int unchecked;    /* no checks but those of bounds and alignment, for timing */
    /* The launch ends when a group has executed more instructions of hardware threads than this; 0: 2^32. */
    uint64_t limit;
    /* Called for the first finding of each kind at each instruction, in one thread at a time but maybe not the
     * caller's; may be NULL. Non-zero ends the launch. Afterwards execution goes on: a read outside gives zeros, a
     * write outside is dropped, one that is misaligned is done. */
    int (*report)(const struct finding *finding, void *context);
    void *context;
    struct gen_stats *stats; /* NULL, or added to */
    /* NULL, or n_lines numbers, of line 1 first, to which is added how many threads executed what stands there. */
    uint64_t *per_line;
    size_t n_lines;
};
#define GEN_LAUNCH_INIT { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 }, 0, NULL, 0, NULL, 0, SCHEDULE_LOWEST, 0, 0, 1, 0, \
                          0, NULL, NULL, NULL, NULL, 0 }

enum gen_status {
    GEN_OK,       /* executed to its end; there may be findings */
    GEN_STOPPED,  /* begun and ended early: FOUND_DIVERGED, FOUND_NO_PROGRESS, or report() wished it */
    GEN_INVALID,  /* not begun: the launch does not fit the kernel */
    GEN_NO_MEMORY /* not begun, or ended early */
};

/* Executes a kernel, all of it before it returns. Groups have at most 1024 work-items and 32 hardware threads. */
enum gen_status gen_run(const struct gen_kernel *kernel, const struct gen_launch *launch, char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
