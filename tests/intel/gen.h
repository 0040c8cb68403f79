/* gen.h - for the tests of the interpreter of Intel's code: programs from pieces of text, launches, findings
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef TEST_GEN_H
#define TEST_GEN_H

#include "offline/gen/gen.h"
#include "tests/pretended/heard.h"

/* Kernel `t` with one buffer, whose address is r4.0:q, for threads of 16 work-items with registers of 64 bytes: r10 is
 * the work-item, r14:2 where its word of the buffer lies. Denormal numbers are kept. Lines of a body count from 0. */
#define BEGIN                                                                                                          \
    "//.platform XE2\n"                                                                                                \
    "(W) mov (1|M0) cr0.0<1>:ud 0x4C0:ud\n"                                                                            \
    "mov (16|M0) r10.0<1>:d r1.0<1;1,0>:uw\n"                                                                          \
    "shl (16|M0) r12.0<1>:q r10.0<1;1,0>:d 2:w\n"                                                                      \
    "add (16|M0) r14.0<1>:q r12.0<1;1,0>:q r4.0<0;1,0>:q\n"
/* The same for 8 work-items and registers of 32 bytes. */
#define BEGIN_HPG                                                                                                      \
    "//.platform XE_HPG\n"                                                                                             \
    "(W) mov (1|M0) cr0.0<1>:ud 0x4C0:ud\n"                                                                            \
    "mov (8|M0) r10.0<1>:d r1.0<1;1,0>:uw\n"                                                                           \
    "shl (8|M0) r12.0<1>:q r10.0<1;1,0>:d 2:w\n"                                                                       \
    "add (8|M0) r14.0<1>:q r12.0<1;1,0>:q r4.0<0;1,0>:q\n"
#define BODY_LINE 6 /* of its first line */
#define END "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000010 {EOT}\n"
#define BARRIER "(W) send.gtwy (1|M0) null r0 null:0 0x0 0x02000004\n(W) sync.bar null\n"

/* What a test may choose; zeros are one group of one thread of 16 work-items of Xe2. */
struct how {
    int hpg; /* 8 work-items, registers of 32 bytes */
    uint32_t groups, items;
    size_t shared, scratch;
    enum schedule schedule;
    uint64_t seed, limit;
    int approximate, unchecked, n_threads;
    uint64_t *per_line;
    size_t n_lines;
    struct gen_stats *stats;
};

TAP_UNUSED static struct gen_module *read_text(const char *text, const struct how *how, char *why, size_t size)
{
    static const struct gen_param param = { "p", PARAM_GLOBAL, 8 };
    struct gen_facts facts;
    memset(&facts, 0, sizeof facts);
    facts.platform = how->hpg ? "XE_HPG" : "XE2";
    facts.info.n_params = 1;
    facts.info.params = &param;
    facts.info.simd = how->hpg ? 8 : 16;
    facts.info.shared = how->shared;
    facts.info.scratch = how->scratch;
    return gen_module_text(&facts, "t", text, strlen(text), why, size);
}

/* Runs kernel t of the text on one buffer. */
TAP_UNUSED static enum gen_status run_text(const char *text, void *data, size_t size, unsigned char *written,
                                           const struct how *how, struct heard *heard)
{
    static const struct how plain;
    char why[300];
    how = how ? how : &plain;
    struct gen_module *m = read_text(text, how, why, sizeof why);
    if (!m)
        bail("%s\n%s", why, text);
    struct launch_buffer buffer = { data, size, written };
    struct launch_arg arg = { ARG_BUFFER, 0, 0, NULL, 0 };
    struct gen_launch l = GEN_LAUNCH_INIT;
    memset(heard, 0, sizeof *heard);
    l.grid[0] = how->groups ? how->groups : 1;
    l.block[0] = how->items ? how->items : how->hpg ? 8 : 16;
    l.schedule = how->schedule;
    l.seed = how->seed;
    l.limit = how->limit;
    l.approximate = how->approximate;
    l.unchecked = how->unchecked;
    l.threads = (unsigned)how->n_threads;
    l.per_line = how->per_line, l.n_lines = how->n_lines, l.stats = how->stats;
    l.args = &arg, l.n_args = 1;
    l.buffers = &buffer, l.n_buffers = 1;
    l.report = hear, l.context = heard;
    const enum gen_status status = gen_run(gen_kernel_named(m, "t"), &l, why, sizeof why);
    if (status == GEN_INVALID || status == GEN_NO_MEMORY)
        bail("%s\n%s", why, text);
    gen_module_free(m);
    return status;
}

#endif
