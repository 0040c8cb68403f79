/* default_device.c - the device that a program takes which is told of none
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <clattn.h>

#include <stdlib.h>

/* What is looked for, the best kind first. */
static const cl_device_type kinds[] = { CL_DEVICE_TYPE_GPU, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_CPU };

/* The first device of a kind that is available; NULL: there is none. A platform that is broken must not hide others. */
static cl_device_id first_of(cl_platform_id platform, cl_device_type kind)
{
    cl_device_id found = NULL;
    cl_uint n = 0;
    if (clGetDeviceIDs(platform, kind, 0, NULL, &n) || !n)
        return NULL;
    cl_device_id *const devices = calloc(n, sizeof *devices);
    if (!devices || clGetDeviceIDs(platform, kind, n, devices, NULL))
        n = 0;
    for (cl_uint i = 0; i < n && !found; i++) {
        cl_bool available = CL_FALSE;
        if (!clGetDeviceInfo(devices[i], CL_DEVICE_AVAILABLE, sizeof available, &available, NULL) && available)
            found = devices[i];
    }
    free(devices);
    return found;
}

cl_int clattn_default_device(cl_platform_id *platform, cl_device_id *device)
{
    cl_device_id found = NULL;
    cl_uint n = 0;
    if (platform)
        *platform = NULL;
    if (!device)
        return CLATTN_ERROR_INVALID_ARGUMENT;
    *device = NULL;
    const cl_int status = clGetPlatformIDs(0, NULL, &n);
    if (status || !n) /* the loader has a status of its own for "none installed" */
        return status == CL_OUT_OF_HOST_MEMORY ? status : CL_DEVICE_NOT_FOUND;
    cl_platform_id *const platforms = calloc(n, sizeof *platforms);
    if (!platforms)
        return CL_OUT_OF_HOST_MEMORY;
    if (clGetPlatformIDs(n, platforms, NULL))
        n = 0;
    for (size_t kind = 0; kind < sizeof kinds / sizeof *kinds && !found; kind++)
        for (cl_uint p = 0; p < n && !found; p++)
            if ((found = first_of(platforms[p], kinds[kind])) && platform)
                *platform = platforms[p];
    free(platforms);
    *device = found;
    return found ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}
