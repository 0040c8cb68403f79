/* default_device.c - the device that a program takes when none is named
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "api/one_process.h"

#include <stdlib.h>

/* What is looked for, the best kind first. */
static const cl_device_type kinds[] = { CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU };

/* The first device of a kind that is available; NULL: there is none. A platform that is broken must not hide others. */
static cl_int find_first(cl_device_id *found, cl_platform_id platform, cl_device_type kind)
{
    cl_uint n = 0;
    *found = NULL;
    if (clGetDeviceIDs(platform, kind, 0, NULL, &n) || !n)
        return CL_SUCCESS;
    cl_device_id *const devices = calloc(n, sizeof *devices);
    if (!devices)
        return CL_OUT_OF_HOST_MEMORY;
    if (clGetDeviceIDs(platform, kind, n, devices, NULL))
        n = 0;
    for (cl_uint i = 0; i < n && !*found; i++) {
        cl_bool available = CL_FALSE;
        if (!clGetDeviceInfo(devices[i], CL_DEVICE_AVAILABLE, sizeof available, &available, NULL) && available)
            *found = devices[i];
    }
    free(devices);
    return CL_SUCCESS;
}

/* The best of all platforms, and its platform; both stay as they are where there is none. */
static cl_int find_best(cl_platform_id *platform, cl_device_id *device, const cl_platform_id *platforms, cl_uint n)
{
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds; kind++)
        for (cl_uint p = 0; p < n; p++) {
            cl_device_id found;
            const cl_int status = find_first(&found, platforms[p], kinds[kind]);
            if (status)
                return status;
            if (!found)
                continue;
            *platform = platforms[p];
            *device = found;
            return CL_SUCCESS;
        }
    return CL_DEVICE_NOT_FOUND;
}

cl_int clattn_default_device(cl_platform_id *platform, cl_device_id *device)
{
    cl_platform_id ignored;
    struct why why;
    cl_uint n = 0;
    platform = platform ? platform : &ignored;
    *platform = NULL;
    if (!device)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    *device = NULL;
    cl_int status = one_process_enter(&why);
    if (status)
        return status;
    status = clGetPlatformIDs(0, NULL, &n);
    if (status || !n) /* the loader has a status of its own for "none installed" */
        return status == CL_OUT_OF_HOST_MEMORY ? status : CL_DEVICE_NOT_FOUND;
    cl_platform_id *const platforms = calloc(n, sizeof *platforms);
    if (!platforms)
        return CL_OUT_OF_HOST_MEMORY;
    status = clGetPlatformIDs(n, platforms, NULL);
    status = status ? status : find_best(platform, device, platforms, n);
    free(platforms);
    return status;
}
