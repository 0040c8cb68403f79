/* test_package.c - the library is found, is of its header's version and reads a problem; needs no device
 * SPDX-License-Identifier: Apache-2.0 */
#define CL_TARGET_OPENCL_VERSION 120
#include <clattn.h>
#include <stdio.h>

int main(void)
{
    clattn_workload w = CLATTN_WORKLOAD_INIT;
    char why[128] = "";
    const int version = CLATTN_VERSION_MAJOR * 10000 + CLATTN_VERSION_MINOR * 100 + CLATTN_VERSION_PATCH;
    const cl_int e = clattn_workload_parse("f16 b2 h32/8 q2048 k2048 d128 causal", &w, why, sizeof why);
    printf("%d %s%s\n", version, clattn_status_string(e), why);
    return e || w.problem.sizes.hk != 8;
}
