/* pretended.h - pretended GPUs: what the files of a layer share
 * SPDX-License-Identifier: Apache-2.0
 *
 * Layers of the ICD loader (OPENCL_LAYERS=/path/nvidia_device.so) over PoCL's buffers, queues and events. Platform and
 * device say what a vendor's driver says; programs are compiled by that driver's compiler and kernels executed by an
 * interpreter of what it makes. A layer is made of the files here and of a machine: tests/nvidia/nvidia_machine.c,
 * tests/amd/amd_machine.c, tests/intel/intel_machine.c. A variable of the environment, CLATTN_NVIDIA, CLATTN_AMD or
 * CLATTN_INTEL, has WORD=VALUE, with commas between. The machine's file has its own words; these are known to all:
 *
 *   cache=DIR                  what was compiled before; it has to be there
 *   platform=NAME  device=NAME other names than the machine's: the compiler and what it compiles for stay what they are
 *   schedule=lowest|highest|random  seed=N  approximate=-1|0|1                                     [lowest, 0, 0]
 *   change=FILE                a fault to be found: lines FROM, TO, N, the N-th FROM in a program becomes TO
 *   unchecked=1                execution is not watched: faster
 *   counts=FILE                a line of it for each launch: its instructions, and how fast they were
 *   lines=DIR                  of AMD's and Intel's a file NUMBER-KERNEL of it for each launch: the text that was
 *                              executed, and before each line how many waves or hardware threads did
 *   findings=FILE              each finding is one line of it, as on stderr */
#ifndef PRETENDED_H
#define PRETENDED_H

#include <stdbool.h>

#include "offline/frame/finding.h"
#include "offline/frame/launch.h"
#include "offline/frame/schedule.h"
#include "tests/lib/layer.h"

#ifdef CL_LAYER_API_VERSION

enum { PRETENDED_VALUE_MAX = 512, PRETENDED_FILE_MAX = 3 * PRETENDED_VALUE_MAX, PRETENDED_ARGS_MAX = 64 };

/* ---- layer.c ---- */

extern const cl_icd_dispatch *pretended_below; /* the driver that lends its buffers, queues and events */

const char *pretended_word(const char *word, char value[PRETENDED_VALUE_MAX]); /* "" where the variable lacks it */
long pretended_number(const char *word, long otherwise);
void pretended_tell(const char *line); /* a finding */

/* An answer is a text, or so many bytes of a number. */
struct answer {
    cl_uint what;
    const char *text;
    cl_ulong number;
    size_t size;
};

/* ---- memory.c ---- */

/* One byte for each byte of a buffer, 0 where nobody has written yet; NULL: not known, or all are written. */
unsigned char *pretended_written(cl_mem mem);
cl_int pretended_find(cl_context context, cl_device_id device, cl_mem mem, void **data); /* where it lies */

/* ---- program.c ---- */

struct program {
    const cl_icd_dispatch *dispatch; /* where loaders look for it */
    int references;
    cl_context context;
    cl_device_id device;
    char *text, *options, *log; /* text: NULL of a program from a binary */
    char *binary;               /* what the compiler made, with a NUL behind it */
    size_t size;
    char *more; /* what else the machine knows of it, a text: of AMD's the disassembly */
    void *module;
    cl_build_status status;
};
void pretended_retain(struct program *p);
void pretended_release(struct program *p);

/* For machines: the name of a file of the cache; the contents of one, with a NUL behind them, NULL: none; and the exit
 * status of a program whose output, or its errors alone, go to a file, -1 where there is none. */
void pretended_path(char to[PRETENDED_FILE_MAX], const char *name, const char *ending);
char *pretended_read(const char *name, size_t *size);
int pretended_run(char *const *argv, const char *output, const char *errors);

/* ---- lines.c ---- */

struct launch;
void pretended_count_lines(const struct program *p, const void *kernel, struct launch *l); /* where it is asked for */
void pretended_tell_lines(struct launch *l, const char *kernel);

/* ---- the machine ---- */

struct launch {
    uint32_t grid[3], block[3], global_offset[3], work_dim;
    struct launch_arg args[PRETENDED_ARGS_MAX];
    size_t n_args;
    struct launch_buffer buffers[PRETENDED_ARGS_MAX];
    size_t n_buffers;
    enum schedule schedule;
    uint64_t seed;
    int approximate, unchecked;
    int (*report)(const struct finding *finding, void *context);
    const char *listing; /* what machine.listing() says, while lines are counted */
    uint64_t *per_line; /* NULL, or for each line of it how often waves executed it */
    size_t n_lines;
};
struct kernel_facts {
    const char *name;
    size_t n_params;
    uint32_t required[3]; /* items of a group; 0 0 0 where the program does not say */
    size_t most_items, wave;
    cl_ulong local, own; /* bytes of a group, of an item */
};

struct machine {
    const char *name, *variable;        /* "nvidia", "CLATTN_NVIDIA" */
    const char *ending;                 /* of what is kept of its programs */
    const struct answer *platform;      /* up to one that is 0 */
    size_t local_bytes, most_items;
    /* False where the layer below is to answer. A text lives in `room`. */
    bool (*device)(cl_device_info what, struct answer *out, char room[PRETENDED_VALUE_MAX]);
    const char *extensions;
    /* What its compiler is, and what it compiles for: in the name of what is kept. */
    void (*compiler)(char to[PRETENDED_FILE_MAX]);
    /* Makes the file OUT of IN; its log goes to LOG. The exit status. */
    int (*compile)(const struct program *p, const char *in, const char *out, const char *log);
    /* What the driver does with what was compiled; false: it refuses, and p->log says why. May be NULL. */
    bool (*accept)(struct program *p, const char *name);
    bool (*is_binary)(const char *binary, size_t size);
    void *(*read)(struct program *p, char *why, size_t why_size); /* a module */
    void (*free_module)(void *module);
    const void *(*kernel)(const void *module, const char *name);
    /* The text that run() counts by lines, which lives as long as the program does. NULL: it does not. */
    const char *(*listing)(const struct program *p, const void *kernel);
    void (*facts)(const struct program *p, const void *kernel, struct kernel_facts *out);
    void (*param)(const void *kernel, size_t i, enum param_kind *kind, size_t *size);
    /* All of it; false with the reason in why. Adds instructions of items to *count. */
    bool (*run)(const void *kernel, const struct launch *l, unsigned long long *count, char *why, size_t why_size);
};
extern const struct machine machine; /* the layer's */

/* ---- the calls that are not the driver's own ---- */

#define PRETENDED_CALLS(X)                                                                                             \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo)                                      \
    X(clCreateBuffer) X(clEnqueueWriteBuffer) X(clEnqueueFillBuffer) X(clEnqueueCopyBuffer) X(clEnqueueMapBuffer)      \
    X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) X(clRetainProgram) X(clReleaseProgram) \
    X(clGetProgramInfo) X(clGetProgramBuildInfo)                                                                       \
    X(clCreateKernel) X(clRetainKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelInfo)                        \
    X(clGetKernelWorkGroupInfo) X(clEnqueueNDRangeKernel)
#define PRETENDED_DECLARE(name) extern CL_API_ENTRY __typeof__(*(cl_api_##name)NULL) pretended_##name;
PRETENDED_CALLS(PRETENDED_DECLARE)
#undef PRETENDED_DECLARE

#endif

#endif
