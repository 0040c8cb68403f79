/* device.c - an OpenCL device: the only code that queries one
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device/device.h"
#include "base/text.h"

#include <stdlib.h>
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

/* Reads a name and cuts it to its room. clGetDeviceInfo() refuses a room that is too small, so the length is asked for
 * first. "" where the driver writes nothing. */
static cl_int ask_text(cl_device_id device, cl_device_info what, char *to, size_t room, struct why *why)
{
    char all[1024] = "";
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

static cl_int ask_platform_text(cl_platform_id platform, cl_platform_info what, char *to, size_t room, struct why *why)
{
    char all[1024] = "";
    const cl_int status = clGetPlatformInfo(platform, what, sizeof all, all, NULL);
    if (status)
        return why_cl(why, status, "clGetPlatformInfo");
    all[sizeof all - 1] = '\0';
    struct text t = { to, room, 0 };
    text_add_n(&t, all, strlen(all));
    return CL_SUCCESS;
}

/* ---- Who the device is: what binaries and records depend on ---- */

enum { SUB_GROUP_SIZES_INTEL = 0x4108, COMPUTE_MAJOR_NV = 0x4000, COMPUTE_MINOR_NV = 0x4001 };

/* Facts that only some devices have. They are queried where their extension is present, and kept as hex. */
static const struct {
    const char *extension, *name;
    cl_device_info what;
} facts[] = {
    { "cl_khr_device_uuid", "uuid", 0x106A },
    { "cl_amd_device_attribute_query", "board", 0x4038 },
    { "cl_amd_device_attribute_query", "wavefront", 0x4043 },
    { "cl_nv_device_attribute_query", "compute_major", COMPUTE_MAJOR_NV },
    { "cl_nv_device_attribute_query", "compute_minor", COMPUTE_MINOR_NV },
    { "cl_intel_device_attribute_query", "ip_version", 0x4250 },
    { "cl_intel_required_subgroup_size", "sub_groups", SUB_GROUP_SIZES_INTEL },
};

static void add_fact(struct text *to, cl_device_id device, const char *name, cl_device_info what)
{
    unsigned char bytes[128] = { 0 };
    size_t n = 0;
    if (clGetDeviceInfo(device, what, 0, NULL, &n) || !n || n > sizeof bytes ||
        clGetDeviceInfo(device, what, n, bytes, NULL))
        return;
    text_add(to, " %s=", name);
    for (size_t i = 0; i < n; i++)
        text_add(to, "%02x", bytes[i]);
}

/* Intel's GPUs with matrix units can give each thread 256 registers, which tiles with their sums in registers need; the
 * shortest sub-groups then have the most registers for each item. */
static int ask_sub_group(cl_device_id device, const char *extensions)
{
    static const char *const needed[] = { "cl_intel_required_subgroup_size", "cl_intel_subgroups",
                                          "cl_intel_subgroup_matrix_multiply_accumulate" };
    size_t sizes[16] = { 0 }, bytes = 0;
    int least = 0;
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (!strstr(extensions, needed[i]))
            return 0;
    if (clGetDeviceInfo(device, SUB_GROUP_SIZES_INTEL, sizeof sizes, sizes, &bytes) || bytes > sizeof sizes)
        return 0;
    for (size_t i = 0; i < bytes / sizeof *sizes; i++)
        if ((sizes[i] == 8 || sizes[i] == 16) && (!least || (int)sizes[i] < least))
            least = (int)sizes[i];
    return least;
}

/* Makes one line of whatever the driver says. */
static void flatten(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || (unsigned char)*text > '~')
            *text = '?';
}

/* Compute capability of an NVIDIA GPU, 86 for 8.6; 0 for none. */
static int ask_compute_capability(cl_device_id device, const char *extensions)
{
    cl_uint major = 0, minor = 0;
    if (!strstr(extensions, "cl_nv_device_attribute_query") ||
        clGetDeviceInfo(device, COMPUTE_MAJOR_NV, sizeof major, &major, NULL) ||
        clGetDeviceInfo(device, COMPUTE_MINOR_NV, sizeof minor, &minor, NULL) || major > 99 || minor > 9)
        return 0;
    return (int)(10 * major + minor);
}

/* The list of extensions, which the caller frees; "" where it is too long to be read: then facts are missing that names
 * nearly always imply. NULL: no memory. */
static char *ask_extensions(cl_device_id device)
{
    enum { EXTENSIONS_MAX = 16384 };
    char *const list = calloc(1, EXTENSIONS_MAX + 1);
    if (list && clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, EXTENSIONS_MAX, list, NULL))
        *list = '\0';
    return list;
}

static cl_int ask_identity(struct caps *out, cl_device_id device, cl_platform_id platform, struct why *why)
{
    char vendor[128], versions[4][128];
    cl_uint vendor_id, bits;
    struct text id = { out->identity, sizeof out->identity, 0 }, driver = { out->driver, sizeof out->driver, 0 };
    const struct query q[] = { ASK(CL_DEVICE_VENDOR_ID, vendor_id), ASK(CL_DEVICE_ADDRESS_BITS, bits) };
    cl_int status;
    if ((status = ask_text(device, CL_DEVICE_VENDOR, vendor, sizeof vendor, why)) ||
        (status = ask_text(device, CL_DRIVER_VERSION, versions[0], sizeof versions[0], why)) ||
        (status = ask_text(device, CL_DEVICE_VERSION, versions[1], sizeof versions[1], why)) ||
        (status = ask_text(device, CL_DEVICE_OPENCL_C_VERSION, versions[2], sizeof versions[2], why)) ||
        (status = ask_platform_text(platform, CL_PLATFORM_VERSION, versions[3], sizeof versions[3], why)) ||
        (status = ask(device, q, 2, why)))
        return status;
    text_add(&id, "platform=%s\nvendor=%s\nvendor_id=%x\ndevice=%s\ncompute_units=%u\nlocal=%llu\ngroup=%zu\nbits=%u\n",
             out->platform, vendor, (unsigned)vendor_id, out->device, out->compute_units,
             (unsigned long long)out->local_bytes, out->max_group, (unsigned)bits);
    char *const extensions = ask_extensions(device);
    if (!extensions)
        return why_set(why, CL_OUT_OF_HOST_MEMORY, "no memory for a list of extensions");
    if (out->kind == CAPS_GPU) {
        out->sub_group = ask_sub_group(device, extensions);
        out->blocks_2d = strstr(extensions, "cl_intel_subgroup_2d_block_io") != NULL;
        out->nv_cc = ask_compute_capability(device, extensions);
    }
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (strstr(extensions, facts[i].extension))
            add_fact(&id, device, facts[i].name, facts[i].what);
    text_add(&id, "\n");
    text_add(&driver, "%s, %s, %s, %s", versions[0], versions[1], versions[2], versions[3]);
    if (strstr(extensions, "cl_khr_device_uuid"))
        add_fact(&driver, device, "driver_uuid", 0x106B);
    free(extensions);
    flatten(out->driver);
    return CL_SUCCESS;
}

/* The numbers are used as signed ones later, where absurdly large values of a driver would become negative. */
static uint64_t at_most(uint64_t x, uint64_t most)
{
    return x < most ? x : most;
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
    *out = (size_t)at_most(at_most(group, axes[0]), INT32_MAX);
    return CL_SUCCESS;
}

cl_int device_caps(struct caps *out, cl_device_id device, struct why *why)
{
    cl_device_type type;
    cl_ulong local, cache;
    cl_uint width, units;
    cl_platform_id platform;
    cl_bool available, compiler, little_endian;
    cl_device_fp_config fp64 = 0, fp32;
    const struct query q[] = {
        ASK(CL_DEVICE_TYPE, type),
        ASK(CL_DEVICE_LOCAL_MEM_SIZE, local),
        ASK(CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, width),
        ASK(CL_DEVICE_AVAILABLE, available),
        ASK(CL_DEVICE_COMPILER_AVAILABLE, compiler),
        ASK(CL_DEVICE_ENDIAN_LITTLE, little_endian),
        ASK(CL_DEVICE_MAX_COMPUTE_UNITS, units),
        ASK(CL_DEVICE_GLOBAL_MEM_CACHE_SIZE, cache),
        ASK(CL_DEVICE_PLATFORM, platform),
        ASK(CL_DEVICE_SINGLE_FP_CONFIG, fp32),
    };
    memset(out, 0, sizeof *out);
    cl_int status = ask(device, q, sizeof q / sizeof *q, why);
    if (!status)
        status = ask_platform_text(platform, CL_PLATFORM_NAME, out->platform, sizeof out->platform, why);
    if (!status)
        status = ask_text(device, CL_DEVICE_NAME, out->device, sizeof out->device, why);
    if (!status)
        status = ask_max_group(&out->max_group, device, why);
    if (status)
        return status;
    if (!available)
        return why_set(why, CL_DEVICE_NOT_AVAILABLE, "%s is not available", out->device);
    if (!compiler)
        return why_set(why, CL_COMPILER_NOT_AVAILABLE, "%s has no compiler for OpenCL C", out->device);
    if (!little_endian)
        REFUSE("%s is big-endian", out->device);
    out->kind = type & CL_DEVICE_TYPE_GPU ? CAPS_GPU : type & CL_DEVICE_TYPE_CPU ? CAPS_CPU : CAPS_ACCELERATOR;
    out->local_bytes = at_most(local, INT32_MAX);
    out->float_width = caps_float_width(out->platform, out->device, (unsigned)at_most(width, 16));
    /* A driver without doubles may not know this query. */
    out->fp64 = !clGetDeviceInfo(device, CL_DEVICE_DOUBLE_FP_CONFIG, sizeof fp64, &fp64, NULL) && fp64;
    /* CPUs report it even where fma() is a function call. */
    out->gfx = out->kind == CAPS_GPU ? caps_gfx(out->platform, out->device) : 0;
    out->fma = out->kind == CAPS_GPU && fp32 & CL_FP_FMA && caps_fma_is_fast(out->gfx);
    out->fma64 = out->kind == CAPS_GPU && out->fp64 && fp64 & CL_FP_FMA;
    out->compute_units = units;
    out->cache_bytes = cache;
    out->quirk = caps_quirk(out->platform);
    return ask_identity(out, device, platform, why);
}

/* Returns the device that this one is a sub-device of, or NULL. */
static cl_device_id parent_of(cl_device_id device)
{
    cl_device_id parent = NULL;
    return clGetDeviceInfo(device, CL_DEVICE_PARENT_DEVICE, sizeof parent, &parent, NULL) ? NULL : parent;
}

int device_find(const cl_device_id *list, size_t n, cl_device_id device)
{
    enum { DEPTH = 16 }; /* of nested sub-devices: guards against a driver whose answers never end */
    for (int depth = 0; device && depth < DEPTH; depth++, device = parent_of(device))
        for (size_t i = 0; i < n; i++)
            if (list[i] == device)
                return (int)i;
    return -1;
}

cl_int device_no_buffer(struct why *why, cl_int status, cl_device_id device, const char *what, size_t bytes)
{
    cl_ulong most = 0;
    if (clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof most, &most, NULL))
        most = 0;
    return why_set(why, status, "%s of %zu bytes cannot be allocated, clCreateBuffer: %s (%d); the device allows %llu",
                   what, bytes, clattn_status_string(status), (int)status, (unsigned long long)most);
}
