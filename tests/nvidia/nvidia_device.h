/* nvidia_device.h - a pretended NVIDIA device: what the files of the layer share
 * SPDX-License-Identifier: Apache-2.0
 *
 * A layer of the ICD loader (OPENCL_LAYERS=/path/nvidia.so) over PoCL's buffers, queues and events. The platform is
 * "NVIDIA CUDA" and says what NVIDIA's driver says; programs are compiled by the compiler of such a driver
 * (offline/nvcl) and kernels executed by the interpreter of PTX (offline/ptx). CLATTN_NVIDIA has WORD=VALUE, with
 * commas between:
 *
 *   nvcl=FILE  compilers=DIR   the program that compiles, and what setup-nvidia-compilers.sh has made
 *   cache=DIR                  PTX of what was compiled before; it has to be there
 *   driver=470|535|550  cc=75|80|86|90                                                             [550, 90]
 *   schedule=lowest|highest|random  seed=N  approximate=-1|0|1                                     [lowest, 0, 0]
 *   pieces=N                   so many launches are made of one, as the driver may                 [1]
 *   ptxas=FILE                 has to take every program; work-groups are as large as the registers it counts allow
 *   registers=N                of which a multiprocessor has so many                               [65536]
 *   change=FILE                a fault to be found: lines FROM, TO, N, the N-th FROM in a program becomes TO
 *   unchecked=1                execution is not watched: faster
 *   counts=FILE                a line of it for each launch: its instructions, and how fast they were
 *   findings=FILE              each finding is one line of it, as on stderr */
#ifndef NVIDIA_DEVICE_H
#define NVIDIA_DEVICE_H

#include <stdbool.h>

#include "offline/ptx/ptx.h"
#include "tests/lib/layer.h"

#ifdef CL_LAYER_API_VERSION

/* ---- nvidia_device.c ---- */

extern const cl_icd_dispatch *nvidia_below; /* the driver that lends its buffers, queues and events */

enum { NVIDIA_VALUE_MAX = 512, NVIDIA_LOCAL_BYTES = 48 << 10, NVIDIA_REGISTERS = 65536 };

const char *nvidia_word(const char *word, char value[NVIDIA_VALUE_MAX]); /* "" where CLATTN_NVIDIA lacks it */
long nvidia_number(const char *word, long otherwise);
void nvidia_tell(const char *line); /* a finding */

/* ---- nvidia_memory.c ---- */

/* One byte for each byte of a buffer, 0 where nobody has written yet; NULL: not known, or all are written. */
unsigned char *nvidia_written(cl_mem mem);
cl_int nvidia_find(cl_context context, cl_device_id device, cl_mem mem, void **data); /* where it lies */

/* ---- nvidia_program.c ---- */

struct nvidia_program {
    const cl_icd_dispatch *dispatch; /* where loaders look for it */
    int references;
    cl_context context;
    cl_device_id device;
    char *text, *options, *log, *ptx; /* text: NULL of a program from a binary */
    char *registers;                  /* what ptxas says */
    struct ptx_module *module;
    cl_build_status status;
};
void nvidia_retain(struct nvidia_program *p);
void nvidia_release(struct nvidia_program *p);
int nvidia_registers(const struct nvidia_program *p, const char *kernel); /* of a thread; 0: not known */

/* ---- the calls that are not the driver's own ---- */

#define NVIDIA_CALLS(X)                                                                                                \
    X(clGetPlatformIDs) X(clGetPlatformInfo) X(clGetDeviceIDs) X(clGetDeviceInfo)                                      \
    X(clCreateBuffer) X(clEnqueueWriteBuffer) X(clEnqueueFillBuffer) X(clEnqueueCopyBuffer) X(clEnqueueMapBuffer)      \
    X(clCreateProgramWithSource) X(clCreateProgramWithBinary) X(clBuildProgram) X(clRetainProgram) X(clReleaseProgram) \
    X(clGetProgramInfo) X(clGetProgramBuildInfo)                                                                       \
    X(clCreateKernel) X(clRetainKernel) X(clReleaseKernel) X(clSetKernelArg) X(clGetKernelInfo)                        \
    X(clGetKernelWorkGroupInfo) X(clEnqueueNDRangeKernel)
#define NVIDIA_DECLARE(name) extern CL_API_ENTRY __typeof__(*(cl_api_##name)NULL) nvidia_##name;
NVIDIA_CALLS(NVIDIA_DECLARE)
#undef NVIDIA_DECLARE

#endif

#endif
