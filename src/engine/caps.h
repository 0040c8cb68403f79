/* caps.h - what a device can do, and which of its words not to trust. Calls no OpenCL.
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef CAPS_H
#define CAPS_H

#include "base/why.h"

enum { CAPS_GFX_ANY = -1 }; /* any of AMD's GPUs, where programs are composed without a device */
enum caps_kind { CAPS_CPU, CAPS_GPU, CAPS_ACCELERATOR };

/* What is known of an engine that wants a test on a device; most engines there may be. */
enum { CAPS_UNTESTED, CAPS_PASSED, CAPS_FAILED, CAPS_ENGINES = 24 };

/* Which 2^x engines get that ask for the device's own: that one unless it was seen to be too far off. */
enum { CAPS_EXP2_UNTESTED, CAPS_EXP2_NATIVE, CAPS_EXP2_POLY, CAPS_EXP2_BUILTIN };

/* What a platform gets wrong, and what only few can do: found by its name. */
struct quirk {
    const char *platform;       /* beginning of its name */
    const char *options;        /* more build options, "" for none */
    bool compiles_vectors_slowly; /* explicit vectors as long as the device's take minutes */
    int first_group;            /* work-items per group of default tiles, 0 for no bound */
    int largest_group;          /* work-items per group of tiles that are tried at all, 0 for no bound */
    bool kernel_group_is_wrong; /* CL_KERNEL_WORK_GROUP_SIZE understates what runs */
    bool is_clang;              /* its compiler for CPUs takes clang's extensions */
};

struct caps {
    char platform[128], device[128];
    enum caps_kind kind;
    bool any; /* none in particular, by caps_generic(): programs are composed for any that there may be */
    uint64_t local_bytes;
    size_t max_group;     /* work-items of a group, as bounded by its first axis too */
    unsigned float_width; /* lanes of a native float vector; 1 where the compiler makes its own */
    bool fp64;
    bool fma, fma64; /* fma() is likely one instruction, in float and double */
    int sub_group;   /* Intel's GPUs with 256 registers a thread: items of a sub-group to ask for with them; else 0 */
    bool blocks_2d;  /* Intel's GPUs that read blocks of two dimensions from global memory */
    int nv_cc;       /* compute capability of an NVIDIA GPU, 86 for 8.6; else 0 */
    int gfx;         /* architecture of an AMD GPU with AMD's own driver, 0x90a for gfx90a, or CAPS_GFX_ANY; else 0 */
    unsigned compute_units;
    uint64_t cache_bytes; /* of the last cache before global memory, 0 for none */
    char identity[2048];  /* what the device is, its driver aside: a line for each fact */
    char driver[512];     /* which driver it is: one line */
    const struct quirk *quirk; /* never NULL */
    int selftest[CAPS_ENGINES]; /* engine_verdict(); atomic, as is the next: found out while others read the rest */
    int exp2;             /* CAPS_EXP2_UNTESTED at first */
};

void caps_copy(struct caps *to, const struct caps *from);

/* The row for a platform. */
const struct quirk *caps_quirk(const char *platform);

/* Lanes of a float vector, at most as many as the driver states. PoCL names a CPU "pthread-haswell-..." by what it
 * compiles for, and states vectors by what the host has: it may have been set to keep to an older CPU. */
unsigned caps_float_width(const char *platform, const char *device, unsigned stated);

/* What AMD's own driver calls its devices by, "gfx90a:sramecc+:xnack-": 0x90a; 0 for all others. Its compiler does not
 * tell programs, as clang does. */
int caps_gfx(const char *platform, const char *device);

/* Whether fma() of floats is as fast as a multiplication and an addition, on a device that has it. On some of AMD's
 * older ones it takes four times as long. */
bool caps_fma_is_fast(int gfx);

/* Whether kernels may ask for lines in advance: on CPUs alone, where the platform is known for it. */
bool caps_prefetches(const struct caps *caps);

/* Whether vectors have 16 floats, so that an instruction may look one up for each lane, and the compiler is known to
 * find it. Results are the same where it does not. */
bool caps_looks_up(const struct caps *caps);

/* A GPU as there are many: 48 KiB of local memory, 256 items. For composing without a device. */
void caps_generic(struct caps *caps);

#endif
