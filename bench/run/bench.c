/* bench.c - what clattn-bench has open
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/run/bench.h"

#include "tools/system/system.h"

int bench_fault(struct fault *f, clattn_handle h, cl_int status, const char *problem)
{
    char words[4096] = "";
    (void)clattn_error_detail(h, words, sizeof words, NULL);
    return fault_set(f, status == CLATTN_ERROR_NOT_SUPPORTED ? EXIT_UNSUPPORTED : EXIT_USAGE, "%s: %s%s%s", problem,
                     clattn_status_string(status), *words ? ": " : "", words);
}

cl_int bench_limits(struct bench *b)
{
    cl_ulong global = 0, largest = 0;
    cl_bool unified = CL_FALSE;
    cl_device_id device = b->where.device;
    cl_int status = clGetDeviceInfo(device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof global, &global, NULL);
    if (!status)
        status = clGetDeviceInfo(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE, sizeof largest, &largest, NULL);
    if (!status)
        status = clGetDeviceInfo(device, CL_DEVICE_HOST_UNIFIED_MEMORY, sizeof unified, &unified, NULL);
    b->limits.host = b->o.memory ? b->o.memory : system_memory();
    b->limits.device = b->o.memory ? b->o.memory : global;
    b->limits.largest = largest;
    b->limits.unified = unified != CL_FALSE;
    return status;
}
