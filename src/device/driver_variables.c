/* driver_variables.c - environment variables that change what drivers compile. Calls no OpenCL.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "device/driver_variables.h"

#include "base/environment.h"

#include <stdlib.h>
#include <string.h>

/* Prefixes of names, and why a binary that was made with another value must not be used. */
static const struct {
    const char *beginning, *reason;
} variables[] = {
    { "AMD_OCL_BUILD_OPTIONS", "AMD: build options in place of ours, or behind them" },
    { "AMD_OCL_LINK_OPTIONS", "AMD: likewise of the linker" },
    { "CL_CONFIG_CPU_", "Intel's CPUs: instruction set, vectorizer, groups, unrolling" },
    { "CL_CONFIG_LLVM_OPTIONS", "Intel's CPUs: options of the compiler behind" },
    { "CL_CONFIG_REPLACE_IR_", "Intel's CPUs: other code in place of the program's" },
    { "CL_CONFIG_USE_", "Intel's CPUs: vectorizer, relaxed arithmetic, trapping" },
    { "GALLIVM_", "llvmpipe: passes left out, instructions not used" },
    { "GPU_ENABLE_WAVE32_MODE", "AMD: how many lanes a wave has" },
    { "GPU_ENABLE_WGP_MODE", "AMD: which compute units share a group" },
    { "IGC_", "Intel's GPUs: every switch of the compiler" },
    { "LP_NATIVE_VECTOR_WIDTH", "llvmpipe: how wide its vectors are" },
    { "POCL_BINARY_SPECIALIZE_WG", "PoCL: which sizes of groups a binary has code for" },
    { "POCL_BITCODE_FINALIZER", "PoCL: a program of the user's goes over the code" },
    { "POCL_EXTRA_BUILD_FLAGS", "PoCL: build options behind ours" },
    { "POCL_FORCE_PARALLEL_OUTER_LOOP", "PoCL: what the vectorizer is told of loops" },
    { "POCL_FULL_REPLICATION_THRESHOLD", "PoCL: which loops over work-items are unrolled whole" },
    { "POCL_IGNORE_CL_STD", "PoCL: which language the program is in" },
    { "POCL_KERNELLIB_NAME", "PoCL: built-in functions of another instruction set" },
    { "POCL_LLVM_", "PoCL: the CPU that is compiled for, what is inlined" },
    { "POCL_PREGION_VALUE_REMAT", "PoCL: what is computed again behind a barrier" },
    { "POCL_VECTORIZER", "PoCL: how wide vectors are" },
    { "POCL_WILOOPS_MAX_UNROLL_COUNT", "PoCL: how far loops over work-items are unrolled" },
    { "POCL_WORK_GROUP_", "PoCL: how work-items become loops, and for which sizes" },
};

static bool is_one(const char *variable)
{
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        if (!strncmp(variable, variables[i].beginning, strlen(variables[i].beginning)))
            return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, because the environment has no order, and each with its length, because values may hold newlines. */
void driver_variables_print(struct text *to)
{
    char *const *const first = environment_all();
    size_t n = 0, all = 0;
    for (char *const *e = first; e && *e; e++)
        all += is_one(*e);
    char **const list = all ? malloc(all * sizeof *list) : NULL;
    for (char *const *e = first; list && *e && n < all; e++)
        if (is_one(*e))
            list[n++] = *e;
    if (list)
        qsort(list, n, sizeof *list, by_text);
    for (size_t i = 0; i < n; i++)
        text_add(to, "%zu %s\n", strlen(list[i]), list[i]);
    for (char *const *e = first; !list && e && *e; e++) /* Without memory, unsorted: at worst no binary is found under
                                                     * this key. */
        if (is_one(*e))
            text_add(to, "%zu %s\n", strlen(*e), *e);
    free(list);
}
