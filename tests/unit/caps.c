/* caps.c - quirks by platform, and the device that stands for all
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "src/engine/caps.h"
#include "tests/lib/tap.h"

#include <stdio.h>

static const char *const platforms[] = { "",
                                         "Portable Computing Language",
                                         "NVIDIA CUDA",
                                         "AMD Accelerated Parallel Processing",
                                         "Intel(R) OpenCL",
                                         "Intel(R) OpenCL Graphics",
                                         "Intel(R) OpenCL HD Graphics",
                                         "QUALCOMM Snapdragon(TM)",
                                         "ARM Platform",
                                         "Apple",
                                         "rusticl",
                                         "Clover",
                                         "Oclgrind",
                                         "?" };

/* A quirk narrows the default choice; it must be something that can be acted on. */
static void test_quirk(const char *platform)
{
    const struct quirk *q = caps_quirk(platform);
    ok(q && !strncmp(platform, q->platform, strlen(q->platform)), "'%s' has a row whose name it begins with", platform);
    ok(q->options && q->first_group >= 0 && q->largest_group >= 0 && (!*q->options || *q->options == ' '),
       "'%s': the row is sound", platform);
}

static void test_plain_platforms(void)
{
    const struct quirk *none = caps_quirk("");
    ok(caps_quirk("NVIDIA CUDA") == none && !none->first_group && !none->largest_group &&
           !none->compiles_vectors_slowly && !none->kernel_group_is_wrong && !none->is_clang,
       "a platform without a row of its own has no quirk");
    const struct quirk *const cpu = caps_quirk("Intel(R) OpenCL");
    ok(cpu != caps_quirk("Intel(R) OpenCL Graphics") && cpu != caps_quirk("Intel(R) OpenCL HD Graphics"),
       "Intel's CPU runtime is no GPU");
    ok(caps_quirk("rusticl") != caps_quirk("") && caps_quirk("rusticl 23.1") == caps_quirk("rusticl"),
       "names are prefixes");
}

static struct caps caps_of(const char *platform, enum caps_kind kind, unsigned width)
{
    struct caps caps;
    caps_generic(&caps);
    caps.kind = kind;
    caps.quirk = caps_quirk(platform);
    caps.float_width = width;
    return caps;
}

/* Others compile through SPIR-V, which has no such instruction, or are no CPUs. */
static void test_prefetches(void)
{
    static const struct {
        const char *platform;
        enum caps_kind kind;
        bool want;
    } rows[] = { { "Portable Computing Language", CAPS_CPU, true },   { "Intel(R) OpenCL", CAPS_CPU, true },
                 { "Portable Computing Language", CAPS_GPU, false },  { "Intel(R) OpenCL Graphics", CAPS_GPU, false },
                 { "rusticl", CAPS_CPU, false },                      { "Oclgrind", CAPS_CPU, false },
                 { "", CAPS_CPU, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct caps caps = caps_of(rows[i].platform, rows[i].kind, 1);
        ok(caps_prefetches(&caps) == rows[i].want, "'%s', %s: %s", rows[i].platform,
           rows[i].kind == CAPS_CPU ? "CPU" : "GPU", rows[i].want ? "asks for lines in advance" : "does not");
    }
}

/* PoCL's names of CPUs, as it prefixes them by its driver; what is unknown is taken at its word. */
static void test_float_width(void)
{
    static const char pocl[] = "Portable Computing Language";
    static const struct {
        const char *platform, *device;
        unsigned stated, want;
    } rows[] = { { pocl, "pthread-haswell-Intel(R) Xeon(R) Processor", 16, 8 },
                 { pocl, "cpu-haswell-Intel(R) Xeon(R) Processor", 16, 8 },
                 { pocl, "cpu-haswell", 16, 8 },
                 { pocl, "cpu-haswell", 4, 4 },
                 { pocl, "pthread-skylake-Intel(R) Core(TM) i7", 8, 8 },
                 { pocl, "pthread-skylake-Intel(R) Core(TM) i7", 16, 8 },
                 { pocl, "pthread-skylake-avx512-Intel(R) Xeon(R) Processor", 16, 16 },
                 { pocl, "cpu-znver3-AMD EPYC 7B13", 16, 8 },
                 { pocl, "cpu-znver4-AMD EPYC 9B14", 16, 16 },
                 { pocl, "cpu-x86-64-v3-AMD EPYC 7B13", 16, 8 },
                 { pocl, "cpu-x86-64-v4-AMD EPYC 9B14", 16, 16 },
                 { pocl, "cpu-x86-64-v2-AMD EPYC 9B14", 16, 4 },
                 { pocl, "cpu-haswellian-?", 16, 16 },
                 { pocl, "cpu-cortex-a72", 4, 4 },
                 { pocl, "haswell", 16, 16 },
                 { pocl, "", 16, 16 },
                 { "Intel(R) OpenCL", "cpu-haswell", 16, 16 },
                 { "", "pthread-haswell", 16, 16 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const unsigned got = caps_float_width(rows[i].platform, rows[i].device, rows[i].stated);
        ok(got == rows[i].want, "'%s' of '%s' states %u lanes: %u", rows[i].device, rows[i].platform,
           rows[i].stated, got);
    }
}

/* On CPUs with vectors of 16 floats, by compilers that are known for it. */
static void test_looks_up(void)
{
    static const struct {
        const char *platform;
        enum caps_kind kind;
        unsigned width;
        bool want;
    } rows[] = { { "Portable Computing Language", CAPS_CPU, 16, true },  { "Intel(R) OpenCL", CAPS_CPU, 16, true },
                 { "Portable Computing Language", CAPS_CPU, 8, false },  { "Intel(R) OpenCL", CAPS_CPU, 8, false },
                 { "Portable Computing Language", CAPS_GPU, 16, false }, { "rusticl", CAPS_CPU, 16, false } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const struct caps caps = caps_of(rows[i].platform, rows[i].kind, rows[i].width);
        ok(caps_looks_up(&caps) == rows[i].want, "'%s', %s, %u lanes: %s", rows[i].platform,
           rows[i].kind == CAPS_CPU ? "CPU" : "GPU", rows[i].width, rows[i].want ? "looks up" : "does not");
    }
}

/* What was found where these ran (doc/runtimes): another number there is another finding. */
static void test_findings(void)
{
    static const struct quirk found[] = { { "rusticl", "", true, 64, 64, true, false },
                                          { "Oclgrind", " -cl-opt-disable", false, 64, 64, false, false },
                                          { "QUALCOMM Snapdragon(TM)", "", false, 64, 0, false, false },
                                          { "ARM Platform", "", false, 64, 0, false, false },
                                          { "Apple", "", false, 64, 0, false, false },
                                          { "Intel(R) OpenCL Graphics", "", false, 64, 0, false, false },
                                          { "Intel(R) OpenCL HD Graphics", "", false, 64, 0, false, false },
                                          { "Intel(R) OpenCL", "", false, 0, 0, false, true },
                                          { "Portable Computing Language", "", false, 0, 0, false, true } };
    for (size_t i = 0; i < sizeof found / sizeof *found; i++) {
        const struct quirk *const q = caps_quirk(found[i].platform), *const want = &found[i];
        ok(!strcmp(q->options, want->options) && q->compiles_vectors_slowly == want->compiles_vectors_slowly &&
               q->is_clang == want->is_clang && q->first_group == want->first_group &&
               q->largest_group == want->largest_group && q->kernel_group_is_wrong == want->kernel_group_is_wrong,
           "%s: what was found", want->platform);
    }
}

/* What a source without a device is made for: limits that every GPU in use keeps. */
static void test_generic(void)
{
    struct caps c, again;
    memset(&c, 0xff, sizeof c);
    memset(&again, 0, sizeof again);
    caps_generic(&c);
    caps_generic(&again);
    ok(c.kind == CAPS_GPU && c.quirk && *c.platform && *c.device, "generic: a GPU with names");
    ok(c.local_bytes <= 49152 && c.max_group <= 256 && c.max_group >= 64, "generic: within 48 KiB and 256 items");
    ok(c.float_width >= 1, "generic: floats have lanes");
    ok(!memcmp(&c, &again, sizeof c), "generic: every byte is set");
}

/* AMD's names of devices; by other drivers the same GPUs have other names, and other compilers. */
static void test_gfx(void)
{
    static const char amd[] = "AMD Accelerated Parallel Processing";
    static const struct {
        const char *platform, *device;
        int want;
    } rows[] = { { amd, "gfx1100", 0x1100 },      { amd, "gfx90a:sramecc+:xnack-", 0x90a },
                 { amd, "gfx9-generic", 0 },      { amd, "gfx", 0 },
                 { amd, "gfx+90a", 0 },           { amd, "gfx1", 0 },
                 { amd, "gfx11001100110011001", 0 }, { amd, "Ellesmere", 0 },
                 { amd, "gfx942 ", 0 },           { "rusticl", "gfx1100", 0 },
                 { amd, "", 0 },                  { "Clover", "gfx90a", 0 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const int got = caps_gfx(rows[i].platform, rows[i].device);
        ok(got == rows[i].want, "'%s', '%s': %x", rows[i].platform, rows[i].device, (unsigned)got);
    }
    ok(caps_fma_is_fast(0) && caps_fma_is_fast(0x900) && caps_fma_is_fast(0x1100) && !caps_fma_is_fast(0x803),
       "fma() is slow on some of AMD's older GPUs only");
}

int main(void)
{
    size_t i;
    for (i = 0; i < sizeof platforms / sizeof *platforms; i++)
        test_quirk(platforms[i]);
    test_plain_platforms();
    test_findings();
    test_prefetches();
    test_float_width();
    test_gfx();
    test_looks_up();
    test_generic();
    return done_testing();
}
