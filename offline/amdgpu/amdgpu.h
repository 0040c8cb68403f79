/* amdgpu.h - executes machine code of AMD's GPUs on a CPU and says what is wrong with it
 * SPDX-License-Identifier: Apache-2.0
 *
 * The library takes a code object as AMD's OpenCL driver or clang makes it, and its disassembly by LLVM, which knows
 * every encoding. It executes kernels in host memory, wave for wave, in a schedule and with errors of the approximate
 * instructions that the caller chooses. While it does so it looks for accesses outside what there is, for what nothing
 * wrote, for what is read before it was waited for, and for races. README has what it executes and what it does not.
 *
 *     char why[256];
 *     struct amdgpu_module *module = amdgpu_module_read(object, size, listing, length, why, sizeof why);
 *     const struct amdgpu_kernel *kernel = amdgpu_kernel_named(module, "scale");
 *     struct launch_buffer buffer = { data, size, NULL };
 *     struct launch_arg args[] = { { ARG_BUFFER, 0, 0, NULL, 0 },
 *                                  { ARG_VALUE, 0, 0, &factor, sizeof factor } };
 *     struct amdgpu_launch launch = AMDGPU_LAUNCH_INIT;
 *     launch.grid[0] = 10, launch.block[0] = 64;
 *     launch.args = args, launch.n_args = 2, launch.buffers = &buffer, launch.n_buffers = 1;
 *     launch.report = print_it;
 *     int status = amdgpu_run(kernel, &launch, why, sizeof why);
 *     amdgpu_module_free(module);
 *
 * There is no global state. A module does not change once it has been read: any number of threads may run its kernels
 * at once. Every failure says why in English in a text that the caller provides; it may be NULL with size 0. */
#ifndef AMDGPU_H
#define AMDGPU_H

#include "offline/frame/finding.h"
#include "offline/frame/launch.h"
#include "offline/frame/schedule.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct amdgpu_module;
struct amdgpu_kernel;

/* ---- modules ---- */

/* Reads a code object: an ELF file with kernel descriptors and metadata of versions 3 to 6, and its disassembly, which
 * `llvm-objdump -d --mcpu=TARGET FILE` prints, with a TARGET as amdgpu_object_target() says, and for waves of 64 on
 * gfx10 and later with --mattr=+wavefrontsize64. LLVM must be as new as the compiler. Neither is needed afterwards.
 * NULL with the reason in why, which begins with "line N: " where a line of the listing is to blame, when one of them
 * is damaged, when they do not belong together, when there is an instruction that is not executed here, or when memory
 * is short. */
struct amdgpu_module *amdgpu_module_read(const void *object, size_t size, const char *listing, size_t length, char *why,
                                         size_t why_size);

/* The processor that a code object is for, "gfx1100", in `to`; 0 with the reason in why when it is none. */
int amdgpu_object_target(const void *object, size_t size, char *to, size_t to_size, char *why, size_t why_size);

struct amdgpu_param {
    const char *name; /* "" where the metadata has none */
    enum param_kind kind;
    size_t offset, size; /* in the block of arguments; 8 of global pointers, 4 of shared ones */
};

/* What is known of a kernel. */
struct amdgpu_info {
    size_t n_params; /* without hidden ones */
    const struct amdgpu_param *params;
    size_t kernarg;          /* bytes of all arguments */
    uint32_t wave;           /* lanes: 32 or 64 */
    size_t shared;           /* bytes of LDS of its own */
    size_t scratch;          /* bytes per lane */
    uint32_t vgprs, agprs, sgprs;
    uint32_t vgpr_spills, sgpr_spills;
    uint32_t required[3];    /* reqd_work_group_size; 0 0 0 where there is none */
    uint32_t max_work_group; /* work-items; 0: not said */
    size_t n_ops;            /* instructions from its beginning to the next symbol; of pairs (v_dual_..) one */
    uint32_t first_line, last_line; /* these in the listing, from 1 on */
};

/* Kernels of text alone, for tests: each symbol of the listing is one, with these facts. Lines of text may have no
 * comment with address and words; labels may stand on lines of their own. The block of arguments is at s[0:1], the
 * group is in s2, s3 and s4 (in gfx12's ttmp registers, too), the work-item in v0, 10 bits for each dimension. */
struct amdgpu_facts {
    const char *target; /* "gfx1100" */
    struct amdgpu_info info; /* params, kernarg, wave (0: the target's own), shared, scratch are looked at */
    int flush;          /* 1: denormal numbers of f32 are zero; 2: of f16 and f64, too (3: both) */
};
struct amdgpu_module *amdgpu_module_text(const struct amdgpu_facts *facts, const char *listing, size_t length,
                                         char *why, size_t why_size);

/* Takes NULL. Nothing of it may be running. */
void amdgpu_module_free(struct amdgpu_module *module);

const char *amdgpu_module_target(const struct amdgpu_module *module); /* "gfx1100" */
size_t amdgpu_module_lines(const struct amdgpu_module *module);       /* of the listing */

/* ---- kernels: they live as long as their module ---- */

size_t amdgpu_module_kernels(const struct amdgpu_module *module);
const struct amdgpu_kernel *amdgpu_kernel_at(const struct amdgpu_module *module, size_t i); /* NULL: no such one */
const struct amdgpu_kernel *amdgpu_kernel_named(const struct amdgpu_module *module, const char *name); /* the same */
const char *amdgpu_kernel_name(const struct amdgpu_kernel *kernel);
const struct amdgpu_info *amdgpu_kernel_info(const struct amdgpu_kernel *kernel);

/* ---- launches ---- */

struct amdgpu_stats {
    uint64_t instructions;        /* of waves; each half of a pair (v_dual_..) is one */
    uint64_t lane_instructions;   /* of vectors: active lanes; scalar ones count 1 */
    uint64_t matrix_instructions; /* of waves */
    uint64_t findings[FOUND_KINDS]; /* how many of each kind there were; report() hears of the first ones only */
};

struct amdgpu_launch {
    uint32_t grid[3], block[3]; /* groups, work-items of a group */

    /* What hidden arguments and the dispatch packet tell of the launch: get_global_offset(), get_work_dim() (0: 3). */
    uint64_t global_offset[3];
    uint32_t work_dim;

    const struct launch_arg *args; /* of explicit parameters */
    size_t n_args;
    const struct launch_buffer *buffers;
    size_t n_buffers;

    enum schedule schedule;
    uint64_t seed;
    /* Where AMD's manuals promise an instruction (v_exp_f32, v_rcp_f32, ..) to some error only: 0 the nearest result,
     * -1 and +1 the lowest and the highest that the promise allows; sums of matrix instructions likewise. */
    int approximate;
    unsigned threads; /* of the host, which share the groups; 0 and 1: the caller's alone */
    int unchecked;    /* no checks but those of bounds and alignment, for timing */
    /* The launch ends when a group has executed more instructions of waves than this; 0: 2^32. */
    uint64_t limit;
    /* Called for the first finding of each kind at each instruction, in one thread at a time but maybe not the
     * caller's; may be NULL. Non-zero ends the launch. Afterwards execution goes on: a read outside gives zeros, a
     * write outside is dropped, one that is misaligned is done. */
    int (*report)(const struct finding *finding, void *context);
    void *context;
    struct amdgpu_stats *stats; /* NULL, or added to */
    /* NULL, or n_lines numbers, of line 1 first, to which is added how many waves executed what stands there. */
    uint64_t *per_line;
    size_t n_lines;
};
#define AMDGPU_LAUNCH_INIT { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 }, 0, NULL, 0, NULL, 0, SCHEDULE_LOWEST, 0, 0, 1, 0, \
                             0, NULL, NULL, NULL, NULL, 0 }

enum amdgpu_status {
    AMDGPU_OK,       /* executed to its end; there may be findings */
    AMDGPU_STOPPED,  /* begun and ended early: FOUND_DIVERGED, FOUND_NO_PROGRESS, or report() wished it */
    AMDGPU_INVALID,  /* not begun: the launch does not fit the kernel */
    AMDGPU_NO_MEMORY /* not begun, or ended early */
};

/* Executes a kernel, all of it before it returns. Groups have at most 1024 work-items. */
enum amdgpu_status amdgpu_run(const struct amdgpu_kernel *kernel, const struct amdgpu_launch *launch, char *why,
                              size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
