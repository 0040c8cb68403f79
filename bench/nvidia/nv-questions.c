/* nv-questions.c - what an NVIDIA device and its OpenCL compiler are asked of language, memory and options
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "bench/nvidia/nv-questions.h"

#include "bench/nvidia/nv-kernels.h"
#include "bench/nvidia/nv-units.h"
#include "tools/oracle/convert.h"
#include "tools/system/fault.h"

#include <clattn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- a: what it says of itself ---- */

static void ask_compute_capability(const struct at *a)
{
    static const struct {
        cl_device_info what;
        const char *words;
    } rows[] = { { 0x4000, "compute capability, major" },
                 { 0x4001, "compute capability, minor" },
                 { 0x4002, "registers of a group" },
                 { 0x4003, "warp" } };
    if (!at_lists(a, "cl_nv_device_attribute_query")) {
        at_say(a, "cl_nv_device_attribute_query is not listed: no compute capability");
        return;
    }
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        cl_uint x = 0;
        if (clGetDeviceInfo(a->where.device, rows[i].what, sizeof x, &x, NULL))
            at_say(a, "%s is not told", rows[i].words);
        else
            at_say(a, "%s %u", rows[i].words, x);
    }
}

static void ask_device(struct at *a, int unused)
{
    static char text[1 << 14];
    cl_ulong local = 0, global = 0;
    cl_uint units = 0, clock = 0;
    (void)unused;
    at_say(a, "%s / %s", a->where.platform_name, a->where.device_name);
    at_info(a, CL_DRIVER_VERSION, text, sizeof text);
    at_say(a, "driver %s", text);
    at_info(a, CL_DEVICE_VERSION, text, sizeof text);
    at_say(a, "version %s", text);
    at_info(a, CL_DEVICE_OPENCL_C_VERSION, text, sizeof text);
    at_say(a, "C version %s", text);
    at_info(a, CL_DEVICE_EXTENSIONS, text, sizeof text);
    at_say(a, "extensions %s", text);
    (void)clGetDeviceInfo(a->where.device, CL_DEVICE_LOCAL_MEM_SIZE, sizeof local, &local, NULL);
    (void)clGetDeviceInfo(a->where.device, CL_DEVICE_GLOBAL_MEM_SIZE, sizeof global, &global, NULL);
    (void)clGetDeviceInfo(a->where.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    (void)clGetDeviceInfo(a->where.device, CL_DEVICE_MAX_CLOCK_FREQUENCY, sizeof clock, &clock, NULL);
    at_say(a, "local memory %lu B, global %lu MiB, %u units, %u MHz", (unsigned long)local,
           (unsigned long)(global >> 20), units, clock);
    ask_compute_capability(a);
}

/* ---- c, d: addresses of local memory in asm, and copies that go there by themselves ---- */

static const char *const forms[] = { "as it is, \"l\"", "by cvta.to.shared.u64", "its low half, \"r\"((uint)(size_t)p)",
                                     "by cvta, the low half", "as a generic one, without .shared" };

static void ask_local(struct at *a, int form)
{
    char options[64];
    int loads = 0, stores = 0, others = 0;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DFORM=%d", form);
    if (at_build(a, forms[form], text_local, options) || at_set_words(a, forms[form], 192))
        return;
    for (uint32_t i = 0; i < 64; i++)
        a->words[i] = 10 * i;
    if (at_run(a, forms[form], 64, 64))
        return;
    for (uint32_t i = 0; i < 64; i++) {
        loads += a->words[i] == 1000 + 63 - i;
        stores += a->words[64 + i] == 2000 + 63 - i;
        others += a->words[128 + i] == 10 * (63 - i) + 7;
    }
    at_say(a, "%s: loads %s (%d of 64; the first gave %u, not 1063), stores %s (%d of 64)%s", forms[form],
           loads == 64 ? "right" : "WRONG", loads, (unsigned)a->words[0], stores == 64 ? "right" : "WRONG", stores,
           others == 64 ? "" : ", and ANOTHER ARRAY WAS HIT");
}

static void ask_async(struct at *a, int form)
{
    char options[64], what[128];
    int right = 0;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DFORM=%d", form);
    snprintf(what, sizeof what, "cp.async.cg 16 B, address %s", forms[form]);
    if (at_build(a, what, text_async, options) || at_set_words(a, what, 512))
        return;
    for (uint32_t i = 0; i < 256; i++)
        a->words[256 + i] = 3000 + i;
    if (at_run(a, what, 64, 64))
        return;
    for (uint32_t i = 0; i < 256; i++)
        right += a->words[i] == 3000 + 4 * (63 - i / 4) + i % 4;
    at_say(a, "%s: %s (%d of 256 words; the first is %u, not 3252)", what, right == 256 ? "right" : "WRONG", right,
           (unsigned)a->words[0]);
}

/* ---- e: static local memory ---- */

static void ask_static(struct at *a, int kib)
{
    char options[64], what[64];
    cl_uint units = 1;
    size_t wrong = 0;
    (void)clGetDeviceInfo(a->where.device, CL_DEVICE_MAX_COMPUTE_UNITS, sizeof units, &units, NULL);
    const size_t items = 256 * 2 * (size_t)units;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DWORDS=%d", kib * 256);
    snprintf(what, sizeof what, "%d KiB of static local memory", kib);
    if (at_build(a, what, text_static, options) || at_set_words(a, what, items) || at_run(a, what, items, 256))
        return;
    for (size_t i = 0; i < items; i++)
        wrong += a->words[i];
    at_say(a, "%s: builds, launches, %s (%zu words wrong)", what, wrong ? "reads back WRONG" : "reads back right",
           wrong);
}

/* ---- f: what the compiler aims at ---- */

static void say_lines(const struct at *a, const char *text, const char *begin, int most)
{
    for (const char *s = text; *s && most; s += strcspn(s, "\n"), s += *s == '\n')
        if (!strncmp(s, begin, strlen(begin)) && strcspn(s, "\r\n")) {
            at_say(a, "%.*s", (int)strcspn(s, "\r\n"), s);
            most--;
        }
}

static void ask_binary(struct at *a, int unused)
{
    size_t size = 0;
    (void)unused;
    if (at_build(a, "binary", text_plain, "-cl-std=CL1.2"))
        return;
    cl_int status = clGetProgramInfo(a->program, CL_PROGRAM_BINARY_SIZES, sizeof size, &size, NULL);
    char *text = status ? NULL : calloc(size + 1, 1);
    if (!text || (status = clGetProgramInfo(a->program, CL_PROGRAM_BINARIES, sizeof text, &text, NULL))) {
        at_say(a, "the binary cannot be had (%d)", status);
        return;
    }
    if (strstr(text, ".target")) {
        at_say(a, "the binary is PTX text of %zu bytes", size);
        say_lines(a, text, ".version", 1);
        say_lines(a, text, ".target", 1);
    } else
        at_say(a, "the binary is no PTX text: %zu bytes", size);
}

static void ask_wgmma(struct at *a, int unused)
{
    static const char what[] = "wgmma.fence.sync.aligned";
    (void)unused;
    if (!at_build(a, what, text_wgmma, "-cl-std=CL1.2") && !at_set_words(a, what, 128) && !at_run(a, what, 128, 128))
        at_say(a, "%s: builds and runs", what);
}

/* ---- h: half ---- */

static void ask_half(struct at *a, int which)
{
    static const char *const form_words[] = { "vload_half, vstore_half", "half arithmetic and pointers",
                                              "half2 arithmetic" },
                             *const pragma_words[] = { "", ", pragma", ", cl_khr_fp16 defined, pragma" };
    const int form = which % 3, pragma = which / 3;
    char options[64], what[128];
    double x[128], y[128];
    int right = 0;
    snprintf(options, sizeof options, "-cl-std=CL1.2 -DFORM=%d -DPRAGMA=%d", form, pragma);
    snprintf(what, sizeof what, "%s%s%s", form_words[form], pragma_words[pragma],
             at_lists(a, "cl_khr_fp16") ? "" : " (cl_khr_fp16 is not listed)");
    if (at_build(a, what, text_half, options) || at_set_words(a, what, 128))
        return;
    for (int i = 0; i < 128; i++)
        x[i] = i % 45 - 22; /* what comes of it is exact in 11 bits */
    convert_store(CLATTN_F16, x, a->words, 128);
    if (at_run(a, what, 64, 64))
        return;
    convert_load(CLATTN_F16, a->words + 64, y, 128);
    for (int i = 0; i < 128; i++)
        right += y[i] == x[i] * x[i] + x[i];
    at_say(a, "%s: %s (%d of 128)", what, right == 128 ? "right" : "WRONG", right);
}

/* ---- i: options of NVIDIA's compiler ---- */

static void ask_option(struct at *a, int which)
{
    static const char *const options[] = { "-cl-nv-maxrregcount=64", "-cl-nv-verbose",
                                           "-cl-nv-maxrregcount=64 -cl-nv-verbose" };
    char all[256];
    snprintf(all, sizeof all, "-cl-std=CL1.2 -DT=f16 -DMASK=0x83ff83ffu -DONES=0x38003800u -DLOCAL=128 -DCHAINS=16 %s",
             options[which]);
    if (at_build(a, options[which], text_peak, all))
        return;
    at_say(a, "%s: accepted; the log %s", options[which], a->log[strspn(a->log, " \t\r\n")] ? "says" : "is empty");
    say_lines(a, a->log, "", 8);
}

/* ---- j: neighbours ---- */

static int count_exchanged(const struct at *a)
{
    int right = 0;
    for (uint32_t n = 0; n < 160; n++)
        right += a->words[n] == 500 + (n % 32 ^ 1u << n / 32);
    return right;
}

static void ask_shuffle(struct at *a, int unused)
{
    static const char what[] = "shfl.sync.bfly";
    (void)unused;
    if (at_build(a, what, text_shuffle, "-cl-std=CL1.2") || at_set_words(a, what, 192) || at_run(a, what, 32, 32))
        return;
    const int right = count_exchanged(a);
    at_say(a, "%s: %s (%d of 160)", what, right == 160 ? "right" : "WRONG", right);
}

static void ask_subgroup(struct at *a, int shuffle)
{
    const char *const name = shuffle ? "cl_khr_subgroup_shuffle" : "cl_khr_subgroups";
    static const char *const std[] = { "-cl-std=CL1.2", "-cl-std=CL2.0", "-cl-std=CL3.0" };
    at_say(a, "%s is %slisted", name, at_lists(a, name) ? "" : "not ");
    for (size_t i = 0; i < sizeof std / sizeof *std; i++) {
        char options[64], what[128];
        snprintf(options, sizeof options, "%s -DSHUFFLE=%d", std[i], shuffle);
        snprintf(what, sizeof what, "%s, %s", name, std[i]);
        if (at_build(a, what, text_subgroup, options) || at_set_words(a, what, 192) || at_run(a, what, 32, 32))
            continue;
        at_say(a, "%s: builds, sub-groups of %u; %s gives %u for item 0", what, (unsigned)a->words[160],
               shuffle ? "an exchange" : "the maximum", (unsigned)a->words[0]);
    }
}

/* ---- All of them ---- */

const struct question questions[] = {
    { 'a', 0, ask_device, 0 },   { 'b', 1, ask_mma, F16 },      { 'b', 1, ask_mma, BF16 },
    { 'b', 1, ask_mma, TF32 },   { 'c', 1, ask_local, 0 },      { 'c', 1, ask_local, 1 },
    { 'c', 1, ask_local, 2 },    { 'c', 1, ask_local, 3 },      { 'c', 1, ask_local, 4 },
    { 'd', 1, ask_async, 0 },    { 'd', 1, ask_async, 1 },      { 'd', 1, ask_async, 2 },
    { 'd', 1, ask_async, 3 },    { 'e', 0, ask_static, 48 },    { 'e', 0, ask_static, 64 },
    { 'e', 0, ask_static, 96 },  { 'e', 0, ask_static, 128 },   { 'e', 0, ask_static, 160 },
    { 'e', 0, ask_static, 192 }, { 'e', 0, ask_static, 224 },   { 'f', 0, ask_binary, 0 },
    { 'f', 1, ask_wgmma, 0 },    { 'g', 1, ask_mma_peak, F16 }, { 'g', 1, ask_mma_peak, BF16 },
    { 'g', 0, ask_f32_peak, 0 }, { 'h', 0, ask_half, 0 },       { 'h', 0, ask_half, 1 },
    { 'h', 0, ask_half, 2 },     { 'h', 0, ask_half, 4 },       { 'h', 0, ask_half, 5 },
    { 'h', 0, ask_half, 7 },     { 'h', 0, ask_half, 8 },       { 'i', 1, ask_option, 0 },
    { 'i', 1, ask_option, 1 },   { 'i', 1, ask_option, 2 },     { 'j', 0, ask_subgroup, 0 },
    { 'j', 0, ask_subgroup, 1 }, { 'j', 1, ask_shuffle, 0 },    { 'k', 0, ask_clocks, 0 },
    { 0, 0, NULL, 0 },
};

/* ---- Their kernels ---- */

int texts_write(const char *dir)
{
    static const struct {
        const char *name, *text;
    } texts[] = { { "mma16", text_mma16 },     { "mma_tf32", text_mma_tf32 }, { "local", text_local },
                  { "async", text_async },     { "static", text_static },     { "plain", text_plain },
                  { "wgmma", text_wgmma },     { "peak", text_peak },         { "half", text_half },
                  { "shuffle", text_shuffle }, { "subgroup", text_subgroup }, { "spin", text_spin } };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        char path[4096];
        snprintf(path, sizeof path, "%s/%s.cl", dir, texts[i].name);
        FILE *const f = fopen(path, "w");
        const int bad = !f || fputs(texts[i].text, f) < 0;
        if ((f && fclose(f)) || bad) {
            fprintf(stderr, "clattn-nv-probes: %s cannot be written\n", path);
            return EXIT_USAGE;
        }
    }
    return EXIT_OK;
}
