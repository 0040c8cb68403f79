/* ptx_checks.c - what the PTX interpreter finds: each kind where it is, and nothing where it is not
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/nvidia/ptx.h"

enum { SILENT = -1 };
#define SHARED ".shared .align 4 .b8 s[256];\nmov.u64 %d1, s; add.s64 %d2, %d1, %u; add.s64 %d5, %p0, %u;\n"

/* Programs of 64 threads, in one group or more; the buffer has 256 bytes. */
static const struct {
    const char *name, *body;
    int kind; /* SILENT or an enum finding_kind, which is the only one */
    uint32_t groups;
    int line;             /* of the finding; lines of the body count from 0 */
    const char *variable; /* "" a buffer, NULL not looked at */
    int64_t offset;
    uint32_t thread, other; /* ~0: not looked at */
} rows[] = {
    { "a read behind the buffer", "add.s64 %d1, %p0, 256;\nld.global.u32 %r1, [%d1];\n", FOUND_OUTSIDE, 1, 1, "", 256,
      0, ~0u },
    { "a read that begins inside", "ld.global.u64 %d1, [%p0+248];\n", SILENT, 1, 0, NULL, 0, 0, 0 },
    { "a vector that ends behind", "ld.global.v4.u32 {%r1,%r2,%r3,%r4}, [%p0+256];\n", FOUND_OUTSIDE, 1, 0, "", 256, 0,
      ~0u },
    { "a write before the buffer", "setp.ne.u32 %p1, %t, 40;\n@!%p1 st.global.u32 [%p0+-4], %t;\n", FOUND_OUTSIDE, 1, 1,
      "", -4, 40, ~0u },
    { "an atomic at a null pointer", "red.global.add.u32 [16], 1;\n", FOUND_OUTSIDE, 1, 0, NULL, 0, 0, ~0u },
    { "a read behind a shared array", SHARED "ld.shared.u32 %r1, [%d1+256];\n", FOUND_OUTSIDE, 1, 2, "s", 256, 0, ~0u },
    { "a write before a shared array", SHARED "st.shared.u32 [%d2+-4], %t;\n", FOUND_OUTSIDE, 1, 2, "s", -4, 0, ~0u },
    { "a read behind a local array", ".local .align 4 .b8 depot[16];\nld.local.u32 %r1, [depot+16];\n", FOUND_OUTSIDE,
      1, 1, "depot", 16, 0, ~0u },
    { "a read behind a parameter", "ld.param.u32 %r1, [p+8];\n", FOUND_OUTSIDE, 1, 0, "p", 8, 0, ~0u },
    { "a misaligned read", "ld.global.u32 %r1, [%p0+2];\n", FOUND_MISALIGNED, 1, 0, "", 2, 0, ~0u },
    { "a misaligned vector", "ld.global.v2.u32 {%r1,%r2}, [%p0+4];\n", FOUND_MISALIGNED, 1, 0, "", 4, 0, ~0u },
    { "a register never written", "add.s32 %r1, %r2, 1;\n", FOUND_READ_REGISTER, 1, 0, NULL, 0, 0, ~0u },
    { "a register written by some", "setp.lt.u32 %p1, %t, 35;\n@%p1 mov.u32 %r1, 1;\nadd.s32 %r2, %r1, 1;\n",
      FOUND_READ_REGISTER, 1, 2, NULL, 0, 35, ~0u },
    { "a guard never written", "@%p3 mov.u32 %r1, 1;\n", FOUND_READ_REGISTER, 1, 0, NULL, 0, 0, ~0u },
    { "a register that those who read it wrote",
      "setp.lt.u32 %p1, %t, 35;\n@%p1 mov.u32 %r1, 1;\n@%p1 add.s32 %r2, %r1, 1;\n", SILENT, 1, 0, NULL, 0, 0, 0 },
    { "shared memory never written",
      SHARED "st.shared.u32 [%d2], %t; bar.sync 0; xor.b32 %r1, %t, 64;\n"
             "setp.ne.u32 %p1, %t, 50; .shared .align 4 .b8 z[8]; @!%p1 ld.shared.u32 %r2, [z+4];\n",
      FOUND_READ_UNWRITTEN, 1, 3, "z", 4, 50, ~0u },
    { "local memory never written",
      ".local .align 4 .b8 depot[16];\nst.local.u32 [depot+4], %t;\nld.local.u64 %d1, [depot];\n", FOUND_READ_UNWRITTEN,
      1, 2, "depot", 0, 0, ~0u },
    { "local memory that was written",
      ".local .align 8 .b8 depot[16];\nst.local.u32 [depot+4], %t;\nst.local.u32 [depot], 4; ld.local.u64 %d1, "
      "[depot];\n",
      SILENT, 1, 0, NULL, 0, 0, 0 },
    { "an atomic on shared memory never written", SHARED "red.shared.add.u32 [s+8], 1;\n", FOUND_READ_UNWRITTEN, 1, 2,
      "s", 8, 0, ~0u },
    /* between warps: thread t reads what t ^ 32 wrote */
    { "a barrier",
      SHARED "st.shared.u32 [%d2], %t; xor.b32 %r1, %t, 32; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, %d1;\nbar.sync "
             "0;\nld.shared.u32 %r2, [%d3]; bar.sync 0; st.shared.u32 [%d2], 3;\n",
      SILENT, 1, 0, NULL, 0, 0, 0 },
    { "no barrier before a read",
      SHARED "setp.lt.u32 %p1, %t, 32; @%p1 st.shared.u32 [%d2], %t;\n@!%p1 ld.shared.u32 %r2, [%d2+-128];\n",
      FOUND_RACE_GROUP, 1, 3, "s", 0, 32, 0 },
    { "no barrier before a write",
      SHARED "st.shared.u32 [%d2], %t; bar.sync 0; setp.lt.u32 %p1, %t, 32;\n@!%p1 ld.shared.u32 %r2, [%d2+-128]; @%p1 "
             "st.shared.u32 [%d2], 3;\n",
      FOUND_RACE_GROUP, 1, 3, "s", 0, 0, 32 },
    { "two warps write", SHARED "st.shared.u32 [s+12], 1;\n", -2, 1, 2, "s", 12, 1, 0 },
    { "one warp reads what all read",
      SHARED "setp.ne.u32 %p1, %t, 0; @!%p1 st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 %r1, [s]; ld.shared.u32 "
             "%r1, [s];\n",
      SILENT, 1, 0, NULL, 0, 0, 0 },
    { "a write behind reads of everybody",
      SHARED "setp.ne.u32 %p1, %t, 63; @!%p1 st.shared.u32 [s], 1; bar.sync 0; ld.shared.u32 %r1, [s];\n@!%p1 "
             "st.shared.u32 [s], 1;\n",
      -2, 1, 3, "s", 0, 63, ~0u },
    { "atomics of everybody",
      SHARED "setp.ne.u32 %p1, %t, 0; @!%p1 st.shared.u32 [s], 1; bar.sync 0; red.shared.add.u32 [s], 1;\n", SILENT, 1,
      0, NULL, 0, 0, 0 },
    { "a barrier of other threads",
      SHARED "setp.lt.u32 %p1, %t, 32; @%p1 st.shared.u32 [%d2], %t; @%p1 bar.sync 1, 32; @!%p1 bar.sync 2, 32;\n@!%p1 "
             "ld.shared.u32 %r1, [%d2+-128];\n",
      FOUND_RACE_GROUP, 1, 3, "s", 0, 32, 0 },
    { "halves of a word",
      SHARED "cvt.u16.u32 %h1, %t; shr.u64 %d3, %u, 1; add.s64 %d3, %d3, %d1; st.shared.u16 [%d3], %h1; ld.shared.u16 "
             "%h2, [%d3];\n",
      SILENT, 1, 0, NULL, 0, 0, 0 },
    /* within a warp: thread t reads what t ^ 1 wrote */
    { "bar.warp.sync",
      SHARED "st.shared.u32 [%d2], %t; xor.b32 %r1, %t, 1; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, "
             "%d1;\nbar.warp.sync -1;\nld.shared.u32 %r2, [%d3];\n",
      SILENT, 1, 0, NULL, 0, 0, 0 },
    { "no bar.warp.sync",
      SHARED "st.shared.u32 [%d2], %t; xor.b32 %r1, %t, 1; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, "
             "%d1;\nld.shared.u32 %r2, [%d3];\n",
      FOUND_RACE_WARP, 1, 3, "s", 4, 0, 1 },
    { "no bar.warp.sync before a write",
      SHARED "st.shared.u32 [%d2], %t; xor.b32 %r1, %t, 1; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, "
             "%d1;\nbar.warp.sync -1; ld.shared.u32 %r2, [%d3];\nst.shared.u32 [%d2], 1;\n",
      FOUND_RACE_WARP, 1, 4, "s", 0, 0, 1 },
    { "a lane that reads its own",
      SHARED "st.shared.u32 [%d2], %t; ld.shared.u32 %r2, [%d2]; st.shared.u32 [%d2], %t;\n", SILENT, 1, 0, NULL, 0, 0,
      0 },
    { "lanes that read what the first of them wrote",
      SHARED "st.shared.u32 [%d2], %t; and.b32 %r1, %t, 48; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, "
             "%d1;\nld.shared.u32 %r2, [%d3];\n",
      FOUND_RACE_WARP, 1, 3, "s", 0, 1, 0 },
    { "a write to what a pair of lanes reads",
      SHARED "st.shared.u32 [%d2], %t; and.b32 %r1, %t, 62; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, %d1;\nbar.sync "
             "0; ld.shared.u32 %r2, [%d3]; setp.ne.u32 %p1, %t, 0;\n@!%p1 st.shared.u32 [s], 1;\n",
      FOUND_RACE_WARP, 1, 4, "s", 0, 0, ~0u },
    { "a write to what the lane eight behind reads",
      SHARED "st.shared.u32 [%d2], %t; and.b32 %r1, %t, 55; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, %d1;\nbar.sync "
             "0; ld.shared.u32 %r2, [%d3]; setp.ne.u32 %p1, %t, 0;\n@!%p1 st.shared.u32 [s], 1;\n",
      FOUND_RACE_WARP, 1, 4, "s", 0, 0, ~0u },
    { "a write to what every sixteenth lane reads",
      SHARED "st.shared.u32 [%d2], %t; and.b32 %r1, %t, 47; mul.wide.u32 %d3, %r1, 4; add.s64 %d3, %d3, %d1;\nbar.sync "
             "0; ld.shared.u32 %r2, [%d3]; setp.ne.u32 %p1, %t, 0;\n@!%p1 st.shared.u32 [s], 1;\n",
      FOUND_RACE_WARP, 1, 4, "s", 0, 0, ~0u },
    /* between groups */
    { "groups write the same", "setp.ne.u32 %p1, %t, 9;\n@!%p1 st.global.u32 [%p0+20], %t;\n", FOUND_RACE_GRID, 3, 1,
      "", 20, 9, 0 },
    { "a group reads what another writes",
      "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0;\n@!%p1 st.global.u32 [%p0+24], 1;\n@%p1 ld.global.u32 %r2, "
      "[%p0+24];\n",
      FOUND_RACE_GRID, 2, 2, "", 24, 0, 0 },
    { "a group writes what others read",
      "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 2;\n@%p1 ld.global.u32 %r2, [%p0+28];\n@!%p1 st.global.u32 "
      "[%p0+28], 1;\n",
      FOUND_RACE_GRID, 3, 2, "", 28, 0, ~0u },
    { "groups that read the same", "ld.global.u32 %r2, [%p0+24];\n", SILENT, 5, 0, NULL, 0, 0, 0 },
    { "groups that write side by side",
      "mov.u32 %r1, %ctaid.x; mul.wide.u32 %d1, %r1, 4; add.s64 %d1, %d1, %p0; setp.ne.u32 %p1, %t, 0; @!%p1 "
      "st.global.u32 [%d1], 5; @!%p1 ld.global.u32 %r2, [%d1];\n",
      SILENT, 9, 0, NULL, 0, 0, 0 },
    { "groups that add", "red.global.add.u32 [%p0], 1;\n", SILENT, 9, 0, NULL, 0, 0, 0 },
    { "an atomic and a read",
      "mov.u32 %r1, %ctaid.x; setp.ne.u32 %p1, %r1, 0;\n@!%p1 red.global.add.u32 [%p0], 1;\n@%p1 ld.global.u32 %r2, "
      "[%p0];\n",
      FOUND_RACE_GRID, 2, 2, "", 0, 0, 0 },
    { "a group alone", "st.global.u32 [%p0], %t;\n", SILENT, 1, 0, NULL, 0, 0, 0 },
    /* what cannot be reached */
    { "a barrier that a warp does not reach",
      "setp.lt.u32 %p1, %t, 32; @%p1 bra OUT;\nbar.sync 0;\nOUT: ", FOUND_DIVERGED, 1, 1, NULL, 0, 32, ~0u },
    { "a barrier that some lanes do not reach",
      "setp.lt.u32 %p1, %t, 7; @%p1 bra OUT;\nbar.sync 0;\nOUT: ", FOUND_DIVERGED, 1, 1, NULL, 0, 7, ~0u },
    { "a barrier at two instructions of a warp",
      "setp.lt.u32 %p1, %t, 7; @%p1 bra OTHER;\nbar.sync 0; bra OUT;\nOTHER: bar.sync 0;\nOUT: ", FOUND_DIVERGED, 1, -1,
      NULL, 0, 0, ~0u },
    { "barrier.sync at two instructions of a warp",
      "setp.lt.u32 %p1, %t, 7; @%p1 bra OTHER;\nbarrier.sync 0; bra OUT;\nOTHER: barrier.sync 0;\nOUT: ", SILENT, 1, -1,
      NULL, 0, 0, ~0u },
    { "a shuffle that some lanes do not reach",
      "setp.lt.u32 %p1, %t, 7; @%p1 bra OUT;\nbar.warp.sync -1; shfl.sync.bfly.b32 %r1, %t, 1, 31, -1; bra OUT2;\nOUT: "
      "bar.sync 0;\nOUT2: ",
      FOUND_DIVERGED, 1, -1, NULL, 0, ~0u, ~0u },
    { "mma by part of a warp",
      "setp.lt.u32 %p1, %t, 7; mov.f32 %f0, 0f00000000; @%p1 bra "
      "OUT;\nmma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f1,%f2,%f3,%f4}, {%t,%t}, {%t}, "
      "{%f0,%f0,%f0,%f0};\nOUT: ",
      FOUND_DIVERGED, 1, 1, NULL, 0, 7, ~0u },
    { "a loop without an end", "LOOP: setp.lt.u32 %p1, %t, 3;\nbra LOOP;\n", FOUND_NO_PROGRESS, 1, 1, NULL, 0, 0, ~0u },
    { "a shuffle from a lane that has ended",
      "setp.lt.u32 %p1, %t, 3; @%p1 bra OUT;\nshfl.sync.idx.b32 %r1, %t, 1, 31, -1;\nadd.s32 %r1, %r1, 1;\nOUT: ",
      FOUND_READ_REGISTER, 1, 2, NULL, 0, 3, ~0u },
};

static int first_line(void) /* of a body */
{
    int n = 1;
    for (const char *p = BEGIN; *p; p++)
        n += *p == '\n';
    return n;
}

/* kind -2: FOUND_RACE_WARP and FOUND_RACE_GROUP may both be there. */
static int right_kinds(const struct heard *h, int kind)
{
    for (int k = 0; k < FOUND_KINDS; k++) {
        const int may = k == kind || (kind == -2 && (k == FOUND_RACE_WARP || k == FOUND_RACE_GROUP));
        if (h->n[k] && !may)
            return 0;
    }
    return kind == SILENT || h->all > 0;
}

static int right_place(const struct heard *h, size_t i)
{
    const struct finding *f = &h->first;
    const uint32_t thread = f->thread[0];
    return (rows[i].line < 0 || f->line == first_line() + rows[i].line) &&
           (!rows[i].variable || (!strcmp(h->variable, rows[i].variable) && f->offset == rows[i].offset &&
                                  (f->buffer == 0) == !*rows[i].variable)) &&
           (rows[i].thread == ~0u || thread == rows[i].thread) &&
           (rows[i].other == ~0u || (f->has_other && f->other == rows[i].other));
}

static void run_row(size_t i, enum schedule schedule, uint64_t seed, int unchecked, struct heard *heard)
{
    char text[3000];
    uint32_t data[64] = { 0 };
    const struct how how = { rows[i].groups, 64, schedule, seed, 100000, 0, unchecked, 0 };
    snprintf(text, sizeof text, "%s%s%s", BEGIN, rows[i].body, END);
    run_text(text, data, sizeof data, NULL, &how, heard);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heard heard;
        run_row(i, SCHEDULE_LOWEST, 0, 0, &heard);
        ok(right_kinds(&heard, rows[i].kind) && (rows[i].kind == SILENT || right_place(&heard, i)), "%s", rows[i].name);
        if (!right_kinds(&heard, rows[i].kind) || (rows[i].kind != SILENT && !right_place(&heard, i)))
            diag("%d findings; %s", heard.all, heard.text);
        /* what is right is right in every schedule, and a fault that does not hang on it is found in all */
        for (int s = 1; s < 6; s++) {
            run_row(i, s == 1 ? SCHEDULE_HIGHEST : SCHEDULE_RANDOM, (uint64_t)s, 0, &heard);
            const int kinds = rows[i].kind == SILENT ? !heard.all : heard.all > 0;
            if (!kinds)
                ok(0, "%s: schedule %d: %s", rows[i].name, s, heard.text);
        }
    }
}

/* Without checks only what memory needs is looked at. */
static void test_unchecked(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct heard heard;
        const int found = rows[i].kind == FOUND_OUTSIDE || rows[i].kind == FOUND_MISALIGNED ||
                          rows[i].kind == FOUND_DIVERGED || rows[i].kind == FOUND_NO_PROGRESS;
        run_row(i, SCHEDULE_LOWEST, 0, 1, &heard);
        if ((heard.all > 0) != found)
            ok(0, "%s, unchecked: %s", rows[i].name, heard.text);
    }
    ok(1, "without checks");
}

/* The map of written bytes is kept from launch to launch. */
static void test_written(void)
{
    uint32_t data[64] = { 0 };
    unsigned char written[256] = { 0 };
    struct heard heard;
    run_text(BEGIN "setp.lt.u32 %p1, %t, 8; add.s64 %d1, %p0, %u; @%p1 st.global.u32 [%d1], %t;\n" END, data,
             sizeof data, written, NULL, &heard);
    ok(!heard.all && written[0] && written[31] && !written[32], "writes are noted");
    run_text(BEGIN "setp.lt.u32 %p1, %t, 8; add.s64 %d1, %p0, %u; @%p1 ld.global.u32 %r1, [%d1];\n" END, data,
             sizeof data, written, NULL, &heard);
    ok(!heard.all, "a later launch reads them");
    run_text(BEGIN "ld.global.u32 %r1, [%p0];\nadd.s64 %d1, %p0, %u; ld.global.u32 %r1, [%d1];\n" END, data,
             sizeof data, written, NULL, &heard);
    ok(heard.all == 1 && heard.n[FOUND_READ_UNWRITTEN] == 1 && heard.first.offset == 32 && heard.first.thread[0] == 8,
       "and is told of what nobody wrote: %s", heard.text);
    ok(data[8] == 0 && heard.first.line == first_line() + 1, "at its line");
}

/* .loc and .file, the text of the instruction, groups of a piece. */
static void test_words(void)
{
    uint32_t data[4] = { 0 };
    struct heard heard;
    run_text(BEGIN ".loc 1 77 3\nst.global.u32 \t[%p0+32],   %t;\n" END "\n.file 1 \"kernel.cl\"\n", data, sizeof data,
             NULL, NULL, &heard);
    is_str(heard.file, "kernel.cl", "the file of .loc");
    is_int(heard.first.file_line, 77, "its line");
    is_str(heard.text,
           "access outside: t, line 12 (kernel.cl:77) `st.global.u32 [%p0+32], %t`, group 0,0,0 thread 0,0,0 "
           "lanes 00000001; write of 4 bytes at global 0x10000000020 = buffer 0+32 of 16",
           "a finding in words");
}

/* Writes outside are dropped, reads outside give zeros, and the launch goes on. */
static void test_goes_on(void)
{
    uint32_t data[6] = { 7, 7, 7, 7, 0x55555555, 0x55555555 };
    struct heard heard;
    const struct how one = { 1, 1, SCHEDULE_LOWEST, 0, 0, 0, 0, 0 };
    run_text(BEGIN "ld.global.u32 %r1, [%p0+16]; st.global.u32 [%p0+20], 9; st.global.u32 [%p0], %r1; st.global.u32 "
                   "[%p0+4], 5;\n" END,
             data, 16, NULL, &one, &heard);
    ok(data[0] == 0 && data[1] == 5 && data[4] == 0x55555555 && data[5] == 0x55555555 && heard.n[FOUND_OUTSIDE] == 2,
       "after a finding the launch goes on");
}

static void test_read_only(void)
{
    uint32_t data[4] = { 0 };
    struct heard heard;
    run_text(HEAD
             ".const .align 4 .u32 c[2] = {5, 6};\n.entry t(.param .u64 .ptr .global .align 4 p)\n{ .reg .b64 %d<3>;\n"
             "mov.u64 %d1, c; st.global.u32 [%d1+4], 1; ret; }\n",
             data, sizeof data, NULL, NULL, &heard);
    ok(heard.n[FOUND_READ_ONLY] == 1 && heard.all == 1 && !strcmp(heard.variable, "c") && heard.first.offset == 4,
       "a write to a table of the module");
}

/* Two warps read; the one that read first then writes, in order behind a third warp alone. */
static void test_second_reader(void)
{
    uint32_t data[4] = { 0 };
    struct heard heard;
    const struct how how = { 1, 96, SCHEDULE_LOWEST, 0, 0, 0, 0, 0 };
    run_text(BEGIN ".shared .align 4 .b8 s[4]; setp.eq.u32 %p1, %t, 64; @%p1 st.shared.u32 [s], 1; bar.sync 0;\n"
                   "setp.lt.u32 %p2, %t, 32; @%p2 bra FIRST; setp.lt.u32 %p3, %t, 64; @%p3 bra SECOND;\n"
                   "@%p1 ld.shared.u32 %r1, [s]; bar.sync 1, 64;\n@%p1 st.shared.u32 [s], 2; bra OUT;\n"
                   "FIRST: setp.eq.u32 %p4, %t, 0; @%p4 ld.shared.u32 %r1, [s]; bra OUT;\n"
                   "SECOND: bar.sync 1, 64;\nOUT: " END,
             data, sizeof data, NULL, &how, &heard);
    ok(heard.all == 1 && heard.n[FOUND_RACE_GROUP] == 1 && heard.first.line == first_line() + 3 &&
           heard.first.other == 0,
       "a write in order behind the first reader, not the second: %s", heard.text);
}

static int stop(const struct finding *f, void *context)
{
    ++*(int *)context;
    return f != NULL;
}

static void test_stop(void)
{
    struct ptx_module *m = read_or_bail(BEGIN "st.global.u32 [%p0+4], 1; st.global.u32 [%p0+8], 1;\n" END);
    uint32_t data[1] = { 0 };
    int n = 0;
    struct launch_buffer buffer = { data, sizeof data, NULL };
    struct launch_arg arg = { ARG_BUFFER, 0, 0, NULL, 0 };
    struct ptx_launch l = PTX_LAUNCH_INIT;
    struct ptx_stats stats;
    memset(&stats, 0, sizeof stats);
    l.block[0] = 64, l.grid[0] = 10, l.args = &arg, l.n_args = 1, l.buffers = &buffer, l.n_buffers = 1;
    l.report = stop, l.context = &n, l.stats = &stats;
    is_int(ptx_run(ptx_kernel_at(m, 0), &l, NULL, 0), PTX_STOPPED, "report() ends the launch");
    is_int(n, 1, "and hears no more");
    l.report = NULL;
    memset(&stats, 0, sizeof stats);
    is_int(ptx_run(ptx_kernel_at(m, 0), &l, NULL, 0), PTX_OK, "without report() it goes on");
    ok(stats.findings[FOUND_OUTSIDE] == 2 * 640 && stats.instructions == 20 * 6 && stats.thread_instructions == 640 * 6,
       "numbers: %llu findings, %llu instructions, %llu of threads", (unsigned long long)stats.findings[FOUND_OUTSIDE],
       (unsigned long long)stats.instructions, (unsigned long long)stats.thread_instructions);
    ptx_module_free(m);
}

int main(void)
{
    test_rows();
    test_unchecked();
    test_written();
    test_words();
    test_goes_on();
    test_read_only();
    test_second_reader();
    test_stop();
    return done_testing();
}
