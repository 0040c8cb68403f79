/* settings.c - what options and environment say about tuning
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "base/settings.h"

#include "base/environment.h"
#include "base/number.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

static const char *const names[] = {
    [CLATTN_TUNE_AUTO] = "auto",   [CLATTN_TUNE_OFF] = "off",   [CLATTN_TUNE_READONLY] = "readonly",
    [CLATTN_TUNE_QUICK] = "quick", [CLATTN_TUNE_FULL] = "full", [CLATTN_TUNE_RECORD] = "record",
};
enum { NAMES = sizeof names / sizeof *names };

const char *settings_tune_name(int tune)
{
    return tune > 0 && tune < NAMES ? names[tune] : NULL;
}

double settings_limit(int effort)
{
    return effort == CLATTN_TUNE_EXHAUSTIVE ? 0 : effort == CLATTN_TUNE_FULL ? 60 : 2;
}

static int find_name(const char *text)
{
    for (int i = 1; i < NAMES; i++)
        if (!strcmp(names[i], text))
            return i;
    return 0;
}

static bool is_limit(double x)
{
    return x >= 0 && x <= 1e9;
}

/* Both variables may be wrong: then the words name both. */
static void read_environment(struct settings *s, struct why *why)
{
    const char *tune = environment_get("CLATTN_TUNE"), *seconds = environment_get("CLATTN_TUNE_SECONDS");
    struct text words = { why->text, sizeof why->text, 0 };
    if (environment_is_set(tune) && !(s->tune = find_name(tune)))
        text_add(&words, "CLATTN_TUNE is %.40s; it must be auto, off, readonly, quick, full or record", tune);
    if (environment_is_set(seconds)) {
        double x;
        const char *end = number_read_real(seconds, &x);
        if (end && !*end && is_limit(x))
            s->seconds = x;
        else
            text_add(&words, "%sCLATTN_TUNE_SECONDS is %.40s; it must be a number of seconds", words.length ? "; " : "",
                     seconds);
    }
}

cl_int settings_read(struct settings *s, const clattn_options *o, struct why *why)
{
    s->tune = 0;
    s->seconds = 0;
    why->text[0] = '\0';
    if (o->tune && !settings_tune_name(o->tune))
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT,
                       "clattn_options.tune is %d, none of CLATTN_TUNE_AUTO .. _RECORD", (int)o->tune);
    if (!is_limit(o->tune_seconds))
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "clattn_options.tune_seconds is not a number of seconds");
    if (o->reserved)
        return why_set(why, CLATTN_ERROR_INVALID_ARGUMENT, "clattn_options.reserved is %d, must be 0",
                       (int)o->reserved);
    read_environment(s, why);
    if (o->tune)
        s->tune = o->tune;
    if (o->tune_seconds > 0)
        s->seconds = o->tune_seconds;
    if (!s->tune)
        s->tune = CLATTN_TUNE_AUTO;
    return CL_SUCCESS;
}

/* Prefixes of names, and why a binary that was made with another value must not be used. */
static const struct {
    const char *beginning, *reason;
} codegen[] = {
    { "AMD_OCL_BUILD_OPTIONS", "AMD: build options in place of ours, or behind them" },
    { "AMD_OCL_LINK_OPTIONS", "AMD: likewise of the linker" },
    { "CL_CONFIG_CPU_", "Intel's CPUs: instruction set, vectorizer, groups, unrolling" },
    { "CL_CONFIG_LLVM_OPTIONS", "Intel's CPUs: options of the compiler behind" },
    { "CL_CONFIG_REPLACE_IR_", "Intel's CPUs: other code in place of the program's" },
    { "CL_CONFIG_USE_", "Intel's CPUs: vectorizer, relaxed arithmetic, trapping" },
    { "GALLIVM_", "llvmpipe: passes left out, instructions not used" },
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

static bool is_codegen(const char *variable)
{
    for (size_t i = 0; i < sizeof codegen / sizeof *codegen; i++)
        if (!strncmp(variable, codegen[i].beginning, strlen(codegen[i].beginning)))
            return true;
    return false;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Sorted, because the environment has no order, and each with its length, because values may hold newlines. */
void settings_codegen(struct text *to)
{
    char *const *const first = environment_all();
    size_t n = 0, all = 0;
    for (char *const *e = first; e && *e; e++)
        all += is_codegen(*e);
    char **const list = all ? malloc(all * sizeof *list) : NULL;
    for (char *const *e = first; list && *e && n < all; e++)
        if (is_codegen(*e))
            list[n++] = *e;
    if (list)
        qsort(list, n, sizeof *list, by_text);
    for (size_t i = 0; i < n; i++)
        text_add(to, "%zu %s\n", strlen(list[i]), list[i]);
    for (char *const *e = first; !list && e && *e; e++) /* Without memory, unsorted: at worst no binary is found under
                                                     * this key. */
        if (is_codegen(*e))
            text_add(to, "%zu %s\n", strlen(*e), *e);
    free(list);
}
