/* caps.c - what a device can do, and which of its words not to trust. Calls no OpenCL.
 * SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include "engine/caps.h"

#include <ctype.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct quirk quirks[] = {
    /* Mesa 22.3: compiling explicit float16 code takes 8 to over 110 s, large tiles likewise; the kernel query says 32
     * where 1024 run. */
    { "rusticl", "", true, 64, 64, true, false },
    /* Oclgrind 21.10 cannot interpret the `freeze` its own optimiser leaves behind. */
    { "Oclgrind", " -cl-opt-disable", false, 64, 64, false, false },
    /* GPUs that are small, or may be, and those with few registers an item: tiles of many registers spill. */
    { "QUALCOMM", "", false, 64, 0, false, false },
    { "ARM Platform", "", false, 64, 0, false, false },
    { "Apple", "", false, 64, 0, false, false },
    { "Intel(R) OpenCL Graphics", "", false, 64, 0, false, false }, /* but see caps.sub_group */
    { "Intel(R) OpenCL HD Graphics", "", false, 64, 0, false, false },
    /* Others need not take clang's vector[index], and SPIR-V has no prefetch that a CPU makes an instruction of. */
    { "Intel(R) OpenCL", "", false, 0, 0, false, true }, /* of CPUs: GPUs are above */
    { "Portable Computing Language", "", false, 0, 0, false, true },
    { "", "", false, 0, 0, false, false },
};

const struct quirk *caps_quirk(const char *platform)
{
    const struct quirk *q = quirks;
    while (strncmp(platform, q->platform, strlen(q->platform)))
        q++;
    return q;
}

/* CPUs by LLVM's names, whose vectors are narrower than those of the newest. */
static const struct narrow_cpu {
    const char *name;
    unsigned floats;
} narrow_cpus[] = {
    { "skylake-avx512", 16 }, /* begins like the next one */
    { "skylake", 8 },    { "haswell", 8 },    { "broadwell", 8 },   { "alderlake", 8 }, { "raptorlake", 8 },
    { "meteorlake", 8 }, { "arrowlake", 8 },  { "lunarlake", 8 },   { "gracemont", 8 }, { "sierraforest", 8 },
    { "znver1", 8 },     { "znver2", 8 },     { "znver3", 8 },      { "bdver4", 8 },    { "x86-64-v3", 8 },
    { "ivybridge", 8 },  { "sandybridge", 8 }, { "x86-64-v2", 4 },  { "westmere", 4 },  { "nehalem", 4 },
};

unsigned caps_float_width(const char *platform, const char *device, unsigned stated)
{
    const char *const cpu = strchr(device, '-');
    if (!cpu || strcmp(platform, "Portable Computing Language"))
        return stated;
    for (size_t i = 0; i < sizeof narrow_cpus / sizeof *narrow_cpus; i++) {
        const size_t n = strlen(narrow_cpus[i].name);
        if (!strncmp(cpu + 1, narrow_cpus[i].name, n) && (cpu[1 + n] == '-' || !cpu[1 + n]))
            return stated < narrow_cpus[i].floats ? stated : narrow_cpus[i].floats;
    }
    return stated;
}

int caps_gfx(const char *platform, const char *device)
{
    enum { LEAST = 0x600, MOST = 0xffff };
    char *end;
    if (strcmp(platform, "AMD Accelerated Parallel Processing") || strncmp(device, "gfx", 3) ||
        !isxdigit((unsigned char)device[3]))
        return 0;
    const unsigned long gfx = strtoul(device + 3, &end, 16);
    return gfx >= LEAST && gfx <= MOST && (!*end || *end == ':') ? (int)gfx : 0;
}

bool caps_fma_is_fast(int gfx)
{
    static const int slow[] = { 0x601, 0x602, 0x700, 0x703, 0x704, 0x705, 0x802, 0x803, 0x805, 0x810 };
    for (size_t i = 0; i < sizeof slow / sizeof *slow; i++)
        if (gfx == slow[i])
            return false;
    return true;
}

static bool is_cpu_by_clang(const struct caps *caps)
{
    return caps->kind == CAPS_CPU && caps->quirk->is_clang;
}

bool caps_prefetches(const struct caps *caps)
{
    return is_cpu_by_clang(caps);
}

bool caps_looks_up(const struct caps *caps)
{
    return is_cpu_by_clang(caps) && caps->float_width == 16;
}

void caps_copy(struct caps *to, const struct caps *from)
{
    memcpy(to, from, offsetof(struct caps, selftest));
    for (int i = 0; i < CAPS_ENGINES; i++)
        to->selftest[i] = __atomic_load_n(&from->selftest[i], __ATOMIC_ACQUIRE);
    to->exp2 = __atomic_load_n(&from->exp2, __ATOMIC_ACQUIRE);
}

void caps_generic(struct caps *caps)
{
    memset(caps, 0, sizeof *caps);
    snprintf(caps->platform, sizeof caps->platform, "generic");
    snprintf(caps->device, sizeof caps->device, "generic GPU");
    caps->kind = CAPS_GPU;
    caps->local_bytes = 49152;
    caps->max_group = 256;
    caps->float_width = 1;
    caps->fp64 = caps->fma = caps->fma64 = true;
    caps->nv_cc = 80; /* so that engines for matrix units compose too, NVIDIA's .. */
    caps->gfx = CAPS_GFX_ANY; /* .. and all of AMD's .. */
    caps->any = caps->blocks_2d = true; /* .. and of Intel's */
    caps->compute_units = 16;
    caps->quirk = caps_quirk(caps->platform);
}
