/* device.c - an OpenCL device: the only code that queries one
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device.h"

#include <string.h>

/* What is asked of a device: a name for errors, and where the answer goes. */
struct query {
    cl_device_info what;
    const char *name;
    void *to;
    size_t room;
};
#define ASK(what, to)                                                                                                  \
    {                                                                                                                  \
        what, #what, &(to), sizeof(to)                                                                                 \
    }

static cl_int ask(cl_device_id device, const struct query *q, size_t n, struct why *why)
{
    for (size_t i = 0; i < n; i++) {
        size_t got = 0;
        cl_int status = clGetDeviceInfo(device, q[i].what, q[i].room, q[i].to, &got);
        if (status || got != q[i].room)
            return why_cl(why, status ? status : CL_INVALID_DEVICE, q[i].name);
    }
    return CL_SUCCESS;
}

/* A name, cut to its room; clGetDeviceInfo refuses a room that is too small, so ask for the length first. */
static cl_int ask_text(cl_device_id device, cl_device_info what, char *to, size_t room, struct why *why)
{
    char all[1024];
    size_t length = 0;
    cl_int status = clGetDeviceInfo(device, what, 0, NULL, &length);
    if (!status && (!length || length > sizeof all)) {
        to[0] = '\0';
        return CL_SUCCESS;
    }
    if (!status)
        status = clGetDeviceInfo(device, what, length, all, NULL);
    if (status)
        return why_cl(why, status, "clGetDeviceInfo");
    all[length - 1] = '\0';
    struct text t = { to, room, 0 };
    text_add_n(&t, all, strlen(all));
    return CL_SUCCESS;
}

static cl_int ask_platform(cl_device_id device, char *to, size_t room, struct why *why)
{
    cl_platform_id platform;
    char all[1024] = "";
    const struct query q = ASK(CL_DEVICE_PLATFORM, platform);
    cl_int status = ask(device, &q, 1, why);
    if (status)
        return status;
    if ((status = clGetPlatformInfo(platform, CL_PLATFORM_NAME, sizeof all, all, NULL)))
        return why_cl(why, status, "clGetPlatformInfo");
    all[sizeof all - 1] = '\0';
    struct text t = { to, room, 0 };
    text_add_n(&t, all, strlen(all));
    return CL_SUCCESS;
}

static cl_int ask_texts(struct caps *out, cl_device_id device, struct why *why)
{
    cl_int status = ask_platform(device, out->platform, sizeof out->platform, why);
    if (!status)
        status = ask_text(device, CL_DEVICE_NAME, out->device, sizeof out->device, why);
    return status;
}

static cl_int ask_max_group(size_t *out, cl_device_id device, struct why *why)
{
    size_t group, axes[16] = { 0 };
    cl_uint dimensions;
    const struct query q[] = { ASK(CL_DEVICE_MAX_WORK_GROUP_SIZE, group),
                               ASK(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, dimensions) };
    cl_int status = ask(device, q, 2, why);
    if (status)
        return status;
    if (dimensions > 16)
        return why_cl(why, CL_INVALID_DEVICE, "CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS");
    status = clGetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, dimensions * sizeof *axes, axes, NULL);
    if (status)
        return why_cl(why, status, "CL_DEVICE_MAX_WORK_ITEM_SIZES");
    *out = group < axes[0] ? group : axes[0];
    return CL_SUCCESS;
}

cl_int device_caps(struct caps *out, cl_device_id device, struct why *why)
{
    cl_device_type type;
    cl_ulong local;
    cl_uint width;
    cl_bool available, compiler, little_endian;
    cl_device_fp_config fp64;
    const struct query q[] = {
        ASK(CL_DEVICE_TYPE, type),
        ASK(CL_DEVICE_LOCAL_MEM_SIZE, local),
        ASK(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, width),
        ASK(CL_DEVICE_AVAILABLE, available),
        ASK(CL_DEVICE_COMPILER_AVAILABLE, compiler),
        ASK(CL_DEVICE_ENDIAN_LITTLE, little_endian),
    };
    memset(out, 0, sizeof *out);
    cl_int status = ask(device, q, sizeof q / sizeof *q, why);
    if (!status)
        status = ask_texts(out, device, why);
    if (!status)
        status = ask_max_group(&out->max_group, device, why);
    if (status)
        return status;
    if (!available)
        return why_set(why, CL_DEVICE_NOT_AVAILABLE, "%s is not available", out->device);
    if (!compiler)
        return why_set(why, CL_COMPILER_NOT_AVAILABLE, "%s has no compiler for OpenCL C", out->device);
    if (!little_endian)
        return why_set(why, CLATTN_ERROR_NOT_SUPPORTED, "%s is big-endian", out->device);
    out->kind = type & CL_DEVICE_TYPE_GPU ? CAPS_GPU : type & CL_DEVICE_TYPE_CPU ? CAPS_CPU : CAPS_ACCELERATOR;
    out->local_bytes = local;
    out->float_width = width;
    /* A driver without doubles may not even know the question. */
    out->fp64 = !clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64, NULL) && fp64;
    out->quirk = caps_quirk(out->platform);
    return CL_SUCCESS;
}
