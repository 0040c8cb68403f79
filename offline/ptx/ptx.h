/* ptx.h - executes PTX text on a CPU and says what is wrong with it
 * SPDX-License-Identifier: Apache-2.0
 *
 * PTX is the documented virtual machine that compilers for NVIDIA's GPUs write code for. This library reads such text
 * as NVIDIA's OpenCL compilers make it and executes its kernels in host memory, thread for thread, in a schedule and
 * with errors of the approximate instructions that the caller chooses. While it does so it looks for accesses outside
 * what there is, for reads of what was never written and for races. README has what it executes and what it does not.
 *
 *     char why[256];
 *     struct ptx_module *module = ptx_module_read(text, strlen(text), why, sizeof why);
 *     const struct ptx_kernel *kernel = ptx_kernel_named(module, "scale");
 *     struct launch_buffer buffer = { data, size, NULL };
 *     struct launch_arg args[] = { { ARG_BUFFER, 0, 0, NULL, 0 }, { ARG_VALUE, 0, 0, &factor, sizeof factor } };
 *     struct ptx_launch launch = PTX_LAUNCH_INIT;
 *     launch.grid[0] = 10, launch.block[0] = 64;
 *     launch.args = args, launch.n_args = 2, launch.buffers = &buffer, launch.n_buffers = 1;
 *     launch.report = print_it;
 *     int status = ptx_run(kernel, &launch, why, sizeof why);
 *     ptx_module_free(module);
 *
 * There is no global state. A module does not change once it has been read: any number of threads may run its kernels
 * at once. Every failure says why in English in a text that the caller provides; it may be NULL with size 0. */
#ifndef PTX_H
#define PTX_H

#include "offline/frame/finding.h"
#include "offline/frame/launch.h"
#include "offline/frame/schedule.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ptx_module;
struct ptx_kernel;

/* ---- modules ---- */

/* Reads PTX text of `length` bytes; the text is not needed afterwards. NULL with the reason in why, which begins with
 * "line N: " where a line is to blame, when the text is damaged, when it has an instruction that is not executed here,
 * or when memory is short. */
struct ptx_module *ptx_module_read(const char *text, size_t length, char *why, size_t why_size);

/* Takes NULL. Nothing of it may be running. */
void ptx_module_free(struct ptx_module *module);

/* The architecture that the text is for, as the number in its .target: 80 for sm_80. */
int ptx_module_target(const struct ptx_module *module);

/* ---- kernels: they live as long as their module ---- */

size_t ptx_module_kernels(const struct ptx_module *module);
const struct ptx_kernel *ptx_kernel_at(const struct ptx_module *module, size_t i);           /* NULL: no such one */
const struct ptx_kernel *ptx_kernel_named(const struct ptx_module *module, const char *name); /* NULL: no such one */
const char *ptx_kernel_name(const struct ptx_kernel *kernel);

struct ptx_param {
    const char *name;
    enum param_kind kind;
    int is_const;       /* of PARAM_GLOBAL: .ptr .const, OpenCL's __constant */
    size_t size, align; /* of the parameter itself in bytes: 8 of a pointer */
    size_t points_at;   /* the alignment that a pointer promises of what it points at, 1 if none */
};

/* What the text says of a kernel. */
struct ptx_info {
    size_t n_params;
    const struct ptx_param *params;
    uint32_t reqntid[3], maxntid[3]; /* .reqntid and .maxntid; 0 0 0 where there is none */
    size_t shared;                   /* bytes of its own .shared arrays, without those that parameters point at */
    size_t local;                    /* bytes of .local arrays ("depot") per thread */
    size_t n_registers;              /* virtual ones: says little about a GPU's */
    size_t n_ops;                    /* instructions, with those of called functions once per call */
};
const struct ptx_info *ptx_kernel_info(const struct ptx_kernel *kernel);

/* ---- launches ---- */

struct ptx_stats {
    uint64_t instructions;        /* of warps */
    uint64_t thread_instructions; /* of their active threads */
    uint64_t findings[FOUND_KINDS]; /* how many of each kind there were; report() hears of the first ones only */
};

struct ptx_launch {
    uint32_t grid[3], block[3]; /* groups, threads of a group */

    /* The whole that this launch is a piece of. NVIDIA's driver may execute an OpenCL launch in pieces and its
     * compilers (470, 535 and 550 alike) read where a piece lies from special registers: %envreg0..2  group_offset:
     * get_group_id(i) is %ctaid + %envreg(i) %envreg3..5  get_global_id() of the piece's first thread: global_offset +
     * group_offset * block; get_global_id(i) is %tid + %envreg(3+i) + %ntid * %ctaid, get_global_offset(i) is
     *                  %envreg(3+i) - %envreg(i) * %ntid
     *     %envreg6..8  total_grid: get_num_groups(i), and get_global_size(i) is that times %ntid
     *     %envreg9     work_dim: get_work_dim()
     * %nctaid is the piece's own grid. total_grid 0: group_offset + grid; work_dim 0: 3. */
    uint32_t group_offset[3], total_grid[3], global_offset[3], work_dim;

    const struct launch_arg *args;
    size_t n_args;
    const struct launch_buffer *buffers;
    size_t n_buffers;

    enum schedule schedule;
    uint64_t seed;
    /* Where PTX promises an instruction (ex2.approx, rcp.approx, ..) to some error only: 0 the nearest result, -1 and
     * +1 the lowest and the highest that the promise allows. */
    int approximate;
    unsigned threads; /* of the host, which share the groups; 0 and 1: the caller's alone */
    int unchecked;    /* no checks but those of bounds and alignment, for timing */
    /* The launch ends when a group has executed more instructions of warps than this; 0: 2^32. */
    uint64_t limit;
    /* Called for the first finding of each kind at each instruction, in one thread at a time but maybe not the
     * caller's; may be NULL. Non-zero ends the launch. Afterwards execution goes on: a read outside gives zeros, a
     * write outside is dropped, one that is misaligned is done. */
    int (*report)(const struct finding *finding, void *context);
    void *context;
    struct ptx_stats *stats; /* NULL, or added to */
};
#define PTX_LAUNCH_INIT { { 1, 1, 1 }, { 1, 1, 1 }, { 0, 0, 0 }, { 0, 0, 0 }, { 0, 0, 0 }, 0, NULL, 0, NULL, 0, \
                          SCHEDULE_LOWEST, 0, 0, 1, 0, 0, NULL, NULL, NULL }

enum ptx_status {
    PTX_OK,       /* executed to its end; there may be findings */
    PTX_STOPPED,  /* begun and ended early: FOUND_DIVERGED, FOUND_NO_PROGRESS, or report() wished it */
    PTX_INVALID,  /* not begun: the launch does not fit the kernel */
    PTX_NO_MEMORY /* not begun, or ended early */
};

/* Executes a kernel, all of it before it returns. Groups have at most 1024 threads. */
enum ptx_status ptx_run(const struct ptx_kernel *kernel, const struct ptx_launch *launch, char *why, size_t why_size);

#ifdef __cplusplus
}
#endif

#endif
