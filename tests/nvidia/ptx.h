/* ptx.h - for the tests of the PTX interpreter: programs from pieces of text, launches, findings
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_PTX_H
#define TEST_PTX_H

#include "offline/ptx/ptx.h"
#include "tests/pretended/heard.h"

#define HEAD ".version 8.0\n.target sm_80, texmode_independent\n.address_size 64\n"
/* Kernels `t` with one buffer, whose address is %p0; %t is the thread, %u its lane * 4 as 64 bits. */
#define BEGIN                                                                                                          \
    HEAD ".entry t(.param .u64 .ptr .global .align 8 p)\n{\n"                                                          \
         ".reg .pred %p<9>; .reg .b16 %h<9>; .reg .b32 %r<20>; .reg .b64 %d<20>; .reg .f32 %f<20>;\n"                  \
         ".reg .b32 %t; .reg .b64 %p0, %u;\n"                                                                          \
         "ld.param.u64 %p0, [p];\nmov.u32 %t, %tid.x;\nmul.wide.u32 %u, %t, 4;\n"
#define END "ret;\n}\n"

TAP_UNUSED static struct ptx_module *read_or_bail(const char *text)
{
    char why[300];
    struct ptx_module *m = ptx_module_read(text, strlen(text), why, sizeof why);
    if (!m)
        bail("%s\n%s", why, text);
    return m;
}

/* What a test may change of a launch; zeros are one group of 32 threads. */
struct how {
    uint32_t groups, threads;
    enum schedule schedule;
    uint64_t seed, limit;
    int approximate, unchecked, n_threads;
};

/* Runs the first kernel of the text on one buffer. */
TAP_UNUSED static enum ptx_status run_text(const char *text, void *data, size_t size, unsigned char *written,
                                           const struct how *how, struct heard *heard)
{
    static const struct how plain;
    struct ptx_module *m = read_or_bail(text);
    struct launch_buffer buffer = { data, size, written };
    struct launch_arg arg = { ARG_BUFFER, 0, 0, NULL, 0 };
    struct ptx_launch l = PTX_LAUNCH_INIT;
    how = how ? how : &plain;
    memset(heard, 0, sizeof *heard);
    l.grid[0] = how->groups ? how->groups : 1;
    l.block[0] = how->threads ? how->threads : 32;
    l.schedule = how->schedule;
    l.seed = how->seed;
    l.limit = how->limit;
    l.approximate = how->approximate;
    l.unchecked = how->unchecked;
    l.threads = (unsigned)how->n_threads;
    l.args = &arg, l.n_args = 1;
    l.buffers = &buffer, l.n_buffers = 1;
    l.report = hear, l.context = heard;
    char why[300];
    const enum ptx_status status = ptx_run(ptx_kernel_at(m, 0), &l, why, sizeof why);
    if (status == PTX_INVALID || status == PTX_NO_MEMORY)
        bail("%s\n%s", why, text);
    ptx_module_free(m);
    return status;
}

#endif
