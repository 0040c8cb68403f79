/* nvidia_device.c - a pretended NVIDIA device: the layer, the platform and the device (see nvidia_device.h)
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/nvidia/nvidia_device.h"

#ifdef CL_LAYER_API_VERSION

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cl_icd_dispatch *nvidia_below;

/* ---- What CLATTN_NVIDIA says ---- */

const char *nvidia_word(const char *word, char value[NVIDIA_VALUE_MAX])
{
    const size_t length = strlen(word);
    const char *at = getenv("CLATTN_NVIDIA");
    *value = '\0';
    for (; at && *at; at += strspn(at, ",")) {
        const size_t n = strcspn(at, ",");
        if (n > length && at[length] == '=' && !strncmp(at, word, length))
            snprintf(value, NVIDIA_VALUE_MAX, "%.*s", (int)(n - length - 1), at + length + 1);
        at += n;
    }
    return value;
}

long nvidia_number(const char *word, long otherwise)
{
    char value[NVIDIA_VALUE_MAX];
    return *nvidia_word(word, value) ? strtol(value, NULL, 10) : otherwise;
}

void nvidia_tell(const char *line)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char name[NVIDIA_VALUE_MAX];
    pthread_mutex_lock(&lock);
    FILE *const file = *nvidia_word("findings", name) ? fopen(name, "a") : NULL;
    if (file && (fprintf(file, "%s\n", line) < 0 || fclose(file)))
        abort();
    fprintf(stderr, "nvidia: %s\n", line);
    pthread_mutex_unlock(&lock);
}

/* ---- Who they are ---- */

/* An answer is a text, or so many bytes of a number. */
struct answer {
    cl_uint what;
    const char *text;
    cl_ulong number;
    size_t size;
};
enum { COMPUTE_MAJOR_NV = 0x4000, COMPUTE_MINOR_NV = 0x4001, REGISTERS_PER_BLOCK_NV = 0x4002, WARP_SIZE_NV = 0x4003 };

static const struct answer *find(const struct answer *list, size_t n, cl_uint what)
{
    for (size_t i = 0; i < n; i++)
        if (list[i].what == what)
            return &list[i];
    return NULL;
}

static cl_int answer(const struct answer *a, size_t room, void *to, size_t *got)
{
    const cl_uint half = (cl_uint)a->number;
    if (a->text)
        return layer_give(a->text, strlen(a->text) + 1, room, to, got);
    return a->size == sizeof half ? layer_give(&half, sizeof half, room, to, got)
                                  : layer_give(&a->number, a->size, room, to, got);
}

cl_int nvidia_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *to, size_t *got)
{
    static const struct answer answers[] = {
        { CL_PLATFORM_NAME, "NVIDIA CUDA", 0, 0 },
        { CL_PLATFORM_VENDOR, "NVIDIA Corporation", 0, 0 },
        { CL_PLATFORM_VERSION, "OpenCL 3.0 CUDA 12.4.131", 0, 0 },
    };
    const struct answer *const a = find(answers, sizeof answers / sizeof *answers, what);
    return a ? answer(a, room, to, got) : nvidia_below->clGetPlatformInfo(platform, what, room, to, got);
}

/* PoCL's alone. */
cl_int nvidia_clGetPlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *got)
{
    enum { MOST = 32 };
    cl_platform_id all[MOST];
    cl_uint n = 0, chosen = 0;
    const cl_int status = nvidia_below->clGetPlatformIDs(MOST, all, &n);
    if (status)
        return status;
    for (cl_uint i = 0; i < n && i < MOST; i++) {
        char name[256] = "";
        nvidia_below->clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
        if (strncmp(name, "Portable Computing Language", 27))
            continue;
        if (to && chosen < room)
            to[chosen] = all[i];
        chosen++;
    }
    if (got)
        *got = chosen;
    return chosen ? CL_SUCCESS : CL_INVALID_PLATFORM;
}

cl_int nvidia_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *to, cl_uint *got)
{
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    return nvidia_below->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, to, got);
}

cl_int nvidia_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *got)
{
    static const char extensions[] =
        "cl_khr_global_int32_base_atomics cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics "
        "cl_khr_local_int32_extended_atomics cl_khr_fp64 cl_khr_byte_addressable_store cl_khr_icd "
        "cl_nv_compiler_options cl_nv_device_attribute_query cl_nv_pragma_unroll";
    const cl_ulong cc = (cl_ulong)nvidia_number("cc", 90);
    char name[64], driver[64];
    snprintf(name, sizeof name, "pretended sm_%lu", (unsigned long)cc);
    snprintf(driver, sizeof driver, "%ld.0", nvidia_number("driver", 550));
    const struct answer answers[] = {
        { CL_DEVICE_TYPE, NULL, CL_DEVICE_TYPE_GPU, sizeof(cl_device_type) },
        { CL_DEVICE_VENDOR, "NVIDIA Corporation", 0, 0 },
        { CL_DEVICE_VENDOR_ID, NULL, 0x10de, sizeof(cl_uint) },
        { CL_DEVICE_NAME, name, 0, 0 },
        { CL_DRIVER_VERSION, driver, 0, 0 },
        { CL_DEVICE_VERSION, "OpenCL 3.0 CUDA", 0, 0 },
        { CL_DEVICE_OPENCL_C_VERSION, "OpenCL C 1.2 ", 0, 0 },
        { CL_DEVICE_EXTENSIONS, extensions, 0, 0 },
        { CL_DEVICE_LOCAL_MEM_SIZE, NULL, NVIDIA_LOCAL_BYTES, sizeof(cl_ulong) },
        { CL_DEVICE_LOCAL_MEM_TYPE, NULL, CL_LOCAL, sizeof(cl_uint) },
        { CL_DEVICE_MAX_WORK_GROUP_SIZE, NULL, 1024, sizeof(size_t) },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, NULL, 1, sizeof(cl_uint) },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, NULL, 1, sizeof(cl_uint) },
        { CL_DEVICE_MAX_COMPUTE_UNITS, NULL, 132, sizeof(cl_uint) },
        { CL_DEVICE_HOST_UNIFIED_MEMORY, NULL, CL_FALSE, sizeof(cl_bool) },
        { CL_DEVICE_SINGLE_FP_CONFIG, NULL, 0xbf, sizeof(cl_device_fp_config) },
        { CL_DEVICE_DOUBLE_FP_CONFIG, NULL, 0x3f, sizeof(cl_device_fp_config) },
        { COMPUTE_MAJOR_NV, NULL, cc / 10, sizeof(cl_uint) },
        { COMPUTE_MINOR_NV, NULL, cc % 10, sizeof(cl_uint) },
        { REGISTERS_PER_BLOCK_NV, NULL, NVIDIA_REGISTERS, sizeof(cl_uint) },
        { WARP_SIZE_NV, NULL, 32, sizeof(cl_uint) },
    };
    static const size_t items[] = { 1024, 1024, 64 };
    if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return layer_give(items, sizeof items, room, to, got);
    const struct answer *const a = find(answers, sizeof answers / sizeof *answers, what);
    return a ? answer(a, room, to, got) : nvidia_below->clGetDeviceInfo(device, what, room, to, got);
}

/* ---- The layer ---- */

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *to, size_t *got)
{
    return layer_info("nvidia", what, room, to, got);
}

/* Of programs and kernels there are none below: what else takes one is not there. */
CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *below, cl_uint *got,
                                            const cl_icd_dispatch **out)
{
    static cl_icd_dispatch mine;
    nvidia_below = below;
    layer_begin(&mine, n, below, got);
#define TAKE(name) mine.name = nvidia_##name;
    NVIDIA_CALLS(TAKE)
#undef TAKE
#define LACK(name) mine.name = NULL;
    LACK(clCompileProgram)
    LACK(clLinkProgram)
    LACK(clCreateProgramWithBuiltInKernels)
    LACK(clCreateProgramWithIL)
    LACK(clCreateKernelsInProgram)
    LACK(clCloneKernel)
    LACK(clGetKernelArgInfo)
    LACK(clGetKernelSubGroupInfo)
    LACK(clSetKernelArgSVMPointer)
    LACK(clSetKernelExecInfo)
    LACK(clEnqueueTask)
#undef LACK
    *out = &mine;
    return CL_SUCCESS;
}

#else
typedef int nvidia_nothing_here; /* headers without layers: nvidia.t skips */
#endif
