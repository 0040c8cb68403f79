/* lanes_avx2.c - lanes.c for CPUs with AVX2 and FMA, and the choice
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <string.h>

#include "inside.h"

#if defined(__x86_64__) && defined(__GNUC__)

#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#else
#pragma GCC push_options
#pragma GCC target("avx2,fma")
#endif

#define LANE_FORMS amdgpu_lane_forms_avx2
#include "lanes.c"

#if defined(__clang__)
#pragma clang attribute pop
#else
#pragma GCC pop_options
#endif

struct forms amdgpu_lane_forms(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? amdgpu_lane_forms_avx2 :
                                                                             amdgpu_lane_forms_base;
}

#else

struct forms amdgpu_lane_forms(void)
{
    return amdgpu_lane_forms_base;
}

#endif
