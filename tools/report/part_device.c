/* part_device.c - what a driver says of its device
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tools/report/parts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#ifndef CL_DEVICE_HALF_FP_CONFIG
#define CL_DEVICE_HALF_FP_CONFIG 0x1033
#endif
#ifndef CL_DEVICE_WARP_SIZE_NV
#define CL_DEVICE_WARP_SIZE_NV 0x4003
#endif
#ifndef CL_DEVICE_WAVEFRONT_WIDTH_AMD
#define CL_DEVICE_WAVEFRONT_WIDTH_AMD 0x4043
#endif
#ifndef CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV
#define CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV 0x4000
#define CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV 0x4001
#endif
#ifndef CL_DEVICE_IP_VERSION_INTEL
#define CL_DEVICE_IP_VERSION_INTEL 0x4250
#endif
#ifndef CL_DEVICE_BOARD_NAME_AMD
#define CL_DEVICE_BOARD_NAME_AMD 0x4038
#endif

static const char *device_text(cl_device_id device, cl_device_info what, char *text, size_t len)
{
    memset(text, 0, len);
    if (clGetDeviceInfo(device, what, len - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    return text;
}

/* An answer of 4 or of 8 bytes; NaN where there is none. */
static double device_number(cl_device_id device, cl_device_info what)
{
    cl_ulong wide = 0;
    cl_uint narrow = 0;
    size_t bytes = 0;
    if (clGetDeviceInfo(device, what, sizeof wide, &wide, &bytes) != CL_SUCCESS)
        return NAN;
    memcpy(&narrow, &wide, sizeof narrow);
    return bytes == sizeof narrow ? (double)narrow : bytes == sizeof wide ? (double)wide : NAN;
}

/* "sm_90" of NVIDIA's, "12.55.8" of Intel's GPUs; AMD's is the device's name. "": not told. */
static void write_chip(cl_device_id device, char *text, size_t len)
{
    const double major = device_number(device, CL_DEVICE_COMPUTE_CAPABILITY_MAJOR_NV);
    const double minor = device_number(device, CL_DEVICE_COMPUTE_CAPABILITY_MINOR_NV);
    const double ip = device_number(device, CL_DEVICE_IP_VERSION_INTEL);
    *text = '\0';
    if (!isnan(major) && !isnan(minor)) {
        snprintf(text, len, "sm_%.0f%.0f", major, minor);
    } else if (ip > 0x3fffff) { /* 10 bits, which are 0 for CPUs, 8, 8 of nothing, 6 */
        const unsigned long x = (unsigned long)ip;
        snprintf(text, len, "%lu.%lu.%lu", x >> 22, x >> 14 & 0xff, x & 0x3f);
    }
}

static void tell_names(struct visit *v)
{
    static const cl_device_info of_device[] = { CL_DEVICE_VENDOR, CL_DEVICE_VERSION, CL_DEVICE_OPENCL_C_VERSION,
                                                CL_DRIVER_VERSION };
    const cl_device_id device = v->where.device;
    cl_platform_id platform = NULL;
    struct fact_line l;
    char text[512] = "", name[516], board[256];
    (void)clGetDeviceInfo(device, CL_DEVICE_PLATFORM, sizeof platform, &platform, NULL);
    if (!platform || clGetPlatformInfo(platform, CL_PLATFORM_VERSION, sizeof text - 1, text, NULL) != CL_SUCCESS)
        text[0] = '\0';
    snprintf(name, sizeof name, "%s", v->where.device_name);
    if (*device_text(device, CL_DEVICE_BOARD_NAME_AMD, board, sizeof board)) /* the name proper is that of the chip */
        snprintf(name, sizeof name, "%s, %s", v->where.device_name, board);
    fact_begin(&l, "device");
    fact_add(&l, v->o->device ? v->o->device : "");
    fact_add(&l, opencl_kind(v->type));
    fact_add(&l, v->where.platform_name);
    fact_add(&l, text);
    fact_add(&l, name);
    for (size_t i = 0; i < sizeof of_device / sizeof *of_device; i++)
        fact_add(&l, device_text(device, of_device[i], text, sizeof text));
    write_chip(device, text, sizeof text);
    fact_add(&l, text);
    parts_send(v, &l);
}

static void tell_limits(struct visit *v)
{
    static const cl_device_info before[] = { CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_CLOCK_FREQUENCY,
                                             CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
                                             CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, CL_DEVICE_LOCAL_MEM_SIZE };
    static const cl_device_info behind[] = { CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_ADDRESS_BITS,
                                             CL_DEVICE_HOST_UNIFIED_MEMORY, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT,
                                             CL_DEVICE_NATIVE_VECTOR_WIDTH_HALF, CL_DEVICE_SINGLE_FP_CONFIG,
                                             CL_DEVICE_HALF_FP_CONFIG, CL_DEVICE_PROFILING_TIMER_RESOLUTION };
    const cl_device_id device = v->where.device;
    struct fact_line l;
    fact_begin(&l, "limits");
    for (size_t i = 0; i < sizeof before / sizeof *before; i++)
        fact_add_number(&l, device_number(device, before[i]), 17);
    fact_add(&l, device_number(device, CL_DEVICE_LOCAL_MEM_TYPE) == CL_LOCAL ? "local" : "global");
    for (size_t i = 0; i < sizeof behind / sizeof *behind; i++)
        fact_add_number(&l, device_number(device, behind[i]), 17);
    const double warp = device_number(device, CL_DEVICE_WARP_SIZE_NV);
    fact_add_number(&l, isnan(warp) ? device_number(device, CL_DEVICE_WAVEFRONT_WIDTH_AMD) : warp, 9);
    parts_send(v, &l);
}

static void tell_extensions(struct visit *v)
{
    struct fact_line l;
    size_t bytes = 0;
    if (clGetDeviceInfo(v->where.device, CL_DEVICE_EXTENSIONS, 0, NULL, &bytes) != CL_SUCCESS)
        return;
    char *const all = calloc(1, bytes + 1);
    if (all && clGetDeviceInfo(v->where.device, CL_DEVICE_EXTENSIONS, bytes, all, NULL) == CL_SUCCESS)
        for (char *at = all; *(at += strspn(at, " ")); ) {
            const size_t n = strcspn(at, " ");
            char name[128];
            snprintf(name, sizeof name, "%.*s", (int)n, at);
            fact_begin(&l, "extension");
            fact_add(&l, name);
            parts_send(v, &l);
            at += n;
        }
    free(all);
}

void part_device(struct visit *v)
{
    if (!parts_step(v, "names, limits and extensions"))
        return;
    tell_names(v);
    tell_limits(v);
    tell_extensions(v);
}
