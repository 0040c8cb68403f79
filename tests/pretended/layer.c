/* layer.c - pretended GPUs: the layer, the platform and the device (see pretended.h)
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/pretended/pretended.h"

#ifdef CL_LAYER_API_VERSION

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const cl_icd_dispatch *pretended_below;

/* ---- What the variable says ---- */

const char *pretended_word(const char *word, char value[PRETENDED_VALUE_MAX])
{
    const size_t length = strlen(word);
    const char *at = getenv(machine.variable);
    *value = '\0';
    for (; at && *at; at += strspn(at, ",")) {
        const size_t n = strcspn(at, ",");
        if (n > length && at[length] == '=' && !strncmp(at, word, length))
            snprintf(value, PRETENDED_VALUE_MAX, "%.*s", (int)(n - length - 1), at + length + 1);
        at += n;
    }
    return value;
}

long pretended_number(const char *word, long otherwise)
{
    char value[PRETENDED_VALUE_MAX];
    return *pretended_word(word, value) ? strtol(value, NULL, 10) : otherwise;
}

void pretended_tell(const char *line)
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    char name[PRETENDED_VALUE_MAX];
    pthread_mutex_lock(&lock);
    FILE *const file = *pretended_word("findings", name) ? fopen(name, "a") : NULL;
    if (file && (fprintf(file, "%s\n", line) < 0 || fclose(file)))
        abort();
    fprintf(stderr, "%s: %s\n", machine.name, line);
    pthread_mutex_unlock(&lock);
}

/* ---- Who they are ---- */

/* Another name than the machine's, where the variable has one. */
static bool is_renamed(bool is_name, const char *word, char name[PRETENDED_VALUE_MAX])
{
    return is_name && *pretended_word(word, name);
}

static cl_int answer(const struct answer *a, size_t room, void *to, size_t *got)
{
    const cl_uint half = (cl_uint)a->number;
    if (a->text)
        return layer_give(a->text, strlen(a->text) + 1, room, to, got);
    return a->size == sizeof half ? layer_give(&half, sizeof half, room, to, got)
                                  : layer_give(&a->number, a->size, room, to, got);
}

cl_int pretended_clGetPlatformInfo(cl_platform_id platform, cl_platform_info what, size_t room, void *to, size_t *got)
{
    char name[PRETENDED_VALUE_MAX];
    if (is_renamed(what == CL_PLATFORM_NAME, "platform", name))
        return layer_give(name, strlen(name) + 1, room, to, got);
    for (const struct answer *a = machine.platform; a->what; a++)
        if (a->what == what)
            return answer(a, room, to, got);
    return pretended_below->clGetPlatformInfo(platform, what, room, to, got);
}

/* PoCL's alone. */
cl_int pretended_clGetPlatformIDs(cl_uint room, cl_platform_id *to, cl_uint *got)
{
    enum { MOST = 32 };
    cl_platform_id all[MOST];
    cl_uint n = 0, chosen = 0;
    const cl_int status = pretended_below->clGetPlatformIDs(MOST, all, &n);
    if (status)
        return status;
    for (cl_uint i = 0; i < n && i < MOST; i++) {
        char name[256] = "";
        pretended_below->clGetPlatformInfo(all[i], CL_PLATFORM_NAME, sizeof name - 1, name, NULL);
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

cl_int pretended_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint room, cl_device_id *to,
                                cl_uint *got)
{
    if (!(type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT)))
        return CL_DEVICE_NOT_FOUND;
    return pretended_below->clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, room, to, got);
}

/* What all of these GPUs have in common. */
static bool of_any(cl_device_info what, struct answer *out)
{
    const struct answer answers[] = {
        { CL_DEVICE_TYPE, NULL, CL_DEVICE_TYPE_GPU, sizeof(cl_device_type) },
        { CL_DEVICE_EXTENSIONS, machine.extensions, 0, 0 },
        { CL_DEVICE_LOCAL_MEM_SIZE, NULL, machine.local_bytes, sizeof(cl_ulong) },
        { CL_DEVICE_LOCAL_MEM_TYPE, NULL, CL_LOCAL, sizeof(cl_uint) },
        { CL_DEVICE_MAX_WORK_GROUP_SIZE, NULL, machine.most_items, sizeof(size_t) },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, NULL, 1, sizeof(cl_uint) },
        { CL_DEVICE_NATIVE_VECTOR_WIDTH_DOUBLE, NULL, 1, sizeof(cl_uint) },
        { CL_DEVICE_HOST_UNIFIED_MEMORY, NULL, CL_FALSE, sizeof(cl_bool) },
        { CL_DEVICE_SINGLE_FP_CONFIG, NULL, 0xbf, sizeof(cl_device_fp_config) },
        { CL_DEVICE_DOUBLE_FP_CONFIG, NULL, 0x3f, sizeof(cl_device_fp_config) },
    };
    for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
        if (answers[i].what == what) {
            *out = answers[i];
            return true;
        }
    return false;
}

cl_int pretended_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t room, void *to, size_t *got)
{
    const size_t items[] = { machine.most_items, machine.most_items, machine.most_items };
    char text[PRETENDED_VALUE_MAX];
    struct answer a;
    if (what == CL_DEVICE_MAX_WORK_ITEM_SIZES)
        return layer_give(items, sizeof items, room, to, got);
    if (is_renamed(what == CL_DEVICE_NAME, "device", text))
        return layer_give(text, strlen(text) + 1, room, to, got);
    if (machine.device(what, &a, text) || of_any(what, &a))
        return answer(&a, room, to, got);
    return pretended_below->clGetDeviceInfo(device, what, room, to, got);
}

/* ---- The layer ---- */

CL_API_ENTRY cl_int CL_API_CALL clGetLayerInfo(cl_layer_info what, size_t room, void *to, size_t *got)
{
    return layer_info(machine.name, what, room, to, got);
}

/* Of programs and kernels there are none below: what else takes one is not there. */
CL_API_ENTRY cl_int CL_API_CALL clInitLayer(cl_uint n, const cl_icd_dispatch *below, cl_uint *got,
                                            const cl_icd_dispatch **out)
{
    static cl_icd_dispatch mine;
    pretended_below = below;
    layer_begin(&mine, n, below, got);
#define TAKE(name) mine.name = pretended_##name;
    PRETENDED_CALLS(TAKE)
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
typedef int pretended_layer_nothing_here; /* headers without layers: the tests skip */
#endif
