/* amdgpu.h - for the tests of the interpreter of AMDGPU code: programs from pieces of text, launches, findings
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_AMDGPU_H
#define TEST_AMDGPU_H

#include "offline/amdgpu/amdgpu.h"
#include "tests/pretended/heard.h"

/* Kernel `t` with one buffer, whose address is s[4:5]; v0 is the work-item, v1 that times 4, s2 the group. Lines of a
 * body count from 0. */
#define BEGIN                                                                                                          \
    "t:\ns_load_b64 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\nv_lshlrev_b32 v1, 2, v0\n"                           \
    "s_waitcnt lgkmcnt(0)\n"
#define BODY_LINE 6 /* of its first line */
#define END "s_endpgm\n"

/* What a test may choose; zeros are gfx1100, one group of 64 work-items. */
struct how {
    const char *target;
    uint32_t groups, items, wave;
    size_t shared, scratch;
    enum schedule schedule;
    uint64_t seed, limit;
    int approximate, unchecked, n_threads, flush;
};

TAP_UNUSED static struct amdgpu_module *read_text(const char *text, const struct how *how, char *why, size_t size)
{
    static const struct amdgpu_param param = { "p", PARAM_GLOBAL, 0, 8 };
    struct amdgpu_facts facts = { .target = how->target ? how->target : "gfx1100", .flush = how->flush };
    facts.info.n_params = 1;
    facts.info.params = &param;
    facts.info.kernarg = 8;
    facts.info.wave = how->wave;
    facts.info.shared = how->shared;
    facts.info.scratch = how->scratch;
    return amdgpu_module_text(&facts, text, strlen(text), why, size);
}

/* Runs kernel t of the text on one buffer. */
TAP_UNUSED static enum amdgpu_status run_text(const char *text, void *data, size_t size, unsigned char *written,
                                              const struct how *how, struct heard *heard)
{
    static const struct how plain;
    char why[300];
    how = how ? how : &plain;
    struct amdgpu_module *m = read_text(text, how, why, sizeof why);
    if (!m)
        bail("%s\n%s", why, text);
    struct launch_buffer buffer = { data, size, written };
    struct launch_arg arg = { ARG_BUFFER, 0, 0, NULL, 0 };
    struct amdgpu_launch l = AMDGPU_LAUNCH_INIT;
    memset(heard, 0, sizeof *heard);
    l.grid[0] = how->groups ? how->groups : 1;
    l.block[0] = how->items ? how->items : 64;
    l.schedule = how->schedule;
    l.seed = how->seed;
    l.limit = how->limit;
    l.approximate = how->approximate;
    l.unchecked = how->unchecked;
    l.threads = (unsigned)how->n_threads;
    l.args = &arg, l.n_args = 1;
    l.buffers = &buffer, l.n_buffers = 1;
    l.report = hear, l.context = heard;
    const enum amdgpu_status status = amdgpu_run(amdgpu_kernel_named(m, "t"), &l, why, sizeof why);
    if (status == AMDGPU_INVALID || status == AMDGPU_NO_MEMORY)
        bail("%s\n%s", why, text);
    amdgpu_module_free(m);
    return status;
}

#endif
