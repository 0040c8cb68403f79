/* default_device.c - which device clattn_default_device() finds, among platforms that are made up
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "tests/lib/tap.h"

#include <clattn.h>

enum { PLATFORMS = 3, DEVICES = 2 };
#define CPU CL_DEVICE_TYPE_CPU
#define GPU CL_DEVICE_TYPE_GPU
#define ACC CL_DEVICE_TYPE_ACCELERATOR
#define CUSTOM CL_DEVICE_TYPE_CUSTOM
#define OFF ((cl_device_type)1 << 40) /* not available */

/* What there is; platforms end with the first that has nothing. */
struct machine {
    const char *what;
    cl_device_type type[PLATFORMS][DEVICES];
    int platform, device; /* wanted; -1: none */
};
static const struct machine *now;
static char platforms[PLATFORMS], devices[PLATFORMS][DEVICES]; /* their addresses are handles */

void *__real_calloc(size_t n, size_t size);
void *__wrap_calloc(size_t n, size_t size);
static int no_memory; /* the call that gets none, from 1 on */
void *__wrap_calloc(size_t n, size_t size)
{
    return no_memory && !--no_memory ? NULL : __real_calloc(n, size);
}

static cl_platform_id platform_at(int p) { return (cl_platform_id)(void *)&platforms[p]; }
static cl_device_id device_at(int p, int d) { return (cl_device_id)(void *)&devices[p][d]; }

cl_int __wrap_clGetPlatformIDs(cl_uint n, cl_platform_id *list, cl_uint *found);
cl_int __wrap_clGetPlatformIDs(cl_uint n, cl_platform_id *list, cl_uint *found)
{
    cl_uint there = 0;
    while (there < PLATFORMS && now->type[there][0])
        there++;
    for (cl_uint p = 0; list && p < n && p < there; p++)
        list[p] = platform_at((int)p);
    if (found)
        *found = there;
    return there ? CL_SUCCESS : -1001; /* CL_PLATFORM_NOT_FOUND_KHR */
}

cl_int __wrap_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *list,
                             cl_uint *found);
cl_int __wrap_clGetDeviceIDs(cl_platform_id platform, cl_device_type type, cl_uint n, cl_device_id *list,
                             cl_uint *found)
{
    const int p = (int)((char *)(void *)platform - platforms);
    cl_uint there = 0;
    for (int d = 0; d < DEVICES; d++)
        if (now->type[p][d] & type) {
            if (list && there < n)
                list[there] = device_at(p, d);
            there++;
        }
    if (found)
        *found = there;
    return there ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed);
cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *needed)
{
    const size_t at = (size_t)((char *)(void *)device - &devices[0][0]);
    const cl_bool available = !(now->type[at / DEVICES][at % DEVICES] & OFF);
    if (what != CL_DEVICE_AVAILABLE || size < sizeof available)
        return CL_INVALID_VALUE;
    memcpy(value, &available, sizeof available);
    if (needed)
        *needed = sizeof available;
    return CL_SUCCESS;
}

static const struct machine machines[] = {
    { "no platform", { { 0 } }, -1, -1 },
    { "a CPU", { { CPU } }, 0, 0 },
    { "a GPU behind a CPU", { { CPU, GPU } }, 0, 1 },
    { "a GPU of the last platform", { { CPU }, { ACC }, { GPU } }, 2, 0 },
    { "two GPUs: the first", { { CPU }, { GPU, GPU }, { GPU } }, 1, 0 },
    { "an accelerator and CPUs", { { CPU, CPU }, { CPU, ACC } }, 1, 1 },
    { "a GPU that is not available", { { GPU | OFF, CPU } }, 0, 1 },
    { "one of two GPUs is not available", { { GPU | OFF, GPU } }, 0, 1 },
    { "nothing is available", { { GPU | OFF, CPU | OFF } }, -1, -1 },
    { "only what is none of these", { { CUSTOM } }, -1, -1 },
};

int main(void)
{
    for (size_t i = 0; i < sizeof machines / sizeof *machines; i++) {
        const struct machine *const m = now = &machines[i];
        cl_platform_id platform = platform_at(0);
        cl_device_id device = device_at(0, 0), again;
        const cl_int e = clattn_default_device(&platform, &device), e2 = clattn_default_device(NULL, &again);
        ok(e == (m->platform < 0 ? CL_DEVICE_NOT_FOUND : CL_SUCCESS) && e2 == e && again == device &&
               platform == (m->platform < 0 ? NULL : platform_at(m->platform)) &&
               device == (m->platform < 0 ? NULL : device_at(m->platform, m->device)),
           "%s", m->what);
    }
    now = &machines[1];
    cl_device_id device;
    for (no_memory = 1; no_memory <= 2; no_memory++) {
        const int n = no_memory;
        is_int(clattn_default_device(NULL, &device), CL_OUT_OF_HOST_MEMORY, "no memory for the list %d", n);
        no_memory = n;
    }
    no_memory = 0;
    is_int(clattn_default_device(NULL, NULL), CLATTN_ERROR_INVALID_ARGUMENT, "nowhere to put a device");
    return done_testing();
}
