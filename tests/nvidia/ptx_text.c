/* ptx_text.c - PTX text that is damaged, hostile or beyond the interpreter: refused in words, never a crash
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/nvidia/ptx.h"

/* A bit of everything that the reader knows. */
static const char everything[] =
    "//\n// made by hand\n.version 8.2\n.target sm_80, texmode_independent\n.address_size 64\n"
    ".const .align 4 .b8 table[8] = {65, 144, 67, 0x3c, 1};\n.global .align 8 .f64 number = 0d3FF0000000000000;\n"
    ".shared .align 16 .b8 common[64];\n.file 1 \"kernel.cl\"\n"
    ".func (.param .b32 out) half(.param .b32 in)\n{\n.reg .b32 %r<3>;\nld.param.u32 %r1, [in];\nshr.u32 %r2, %r1, 1;\n"
    "st.param.b32 [out+0], %r2;\nret;\n}\n"
    "/* kernels */ .visible .entry k(\n.param .u64 .ptr .global .align 4 k_0,\n.param .u64 .ptr .shared .align 4 k_1,\n"
    ".param .align 16 .b8 k_2[16]\n)\n.reqntid 32, 1, 1\n{\n"
    ".reg .pred %p<4>;\n.reg .b16 %rs<3>;\n.reg .f32 %f<12>;\n.reg .b32 %r<20>;\n.reg .b64 %rd<12>;\n"
    ".local .align 8 .b8 __local_depot0[24];\n.loc 1 5 3\nmov.u64 %rd1, __local_depot0;\ncvta.local.u64 %rd2, %rd1;\n"
    "ld.param.u64 %rd3, [k_0];\nld.param.v4.u32 {%r1, %r2, %r3, %r4}, [k_2];\nmov.u32 %r5, %tid.x;\n"
    "mov.b32 %r6, %envreg0;\nadd.s32 %r5, %r5, -1;\nmul.wide.s32 %rd4, %r5, 4;\nst.local.u32 [%rd1+8], %r5;\n"
    "setp.lt.and.s32 %p1|%p2, %r5, 30, !%p3;\n@%p1 bra $L_1;\nfma.rn.ftz.f32 %f1, 0f3F800000, %f2, %f3;\n"
    "ex2.approx.ftz.f32 %f4, %f1;\ncvt.rn.f16.f32 %rs1, %f4;\n{ .reg .b16 temp; mov.b32 {temp, _}, %r1; }\n"
    "$L_1:\n.pragma \"nounroll\";\nbar.sync 0;\nbar.warp.sync -1;\nshfl.sync.bfly.b32 %r7|%p0, %r5, 1, 31, -1;\n"
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%f5,%f6,%f7,%f8}, {%r1,%r2}, {%r3}, {%f5,%f6,%f7,%f8};\n"
    "ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r8, %r9}, [%rd5+16];\nred.shared.or.b32 [common+4], 1;\n"
    "atom.global.cas.b32 %r10, [%rd3], 1, 2;\nprmt.b32 %r11, %r1, 0, 0x5410;\nvote.sync.ballot.b32 %r12, %p1, -1;\n"
    "{\n.param .b32 p0;\nst.param.b32 [p0], %r5;\n.param .b32 r0;\ncall.uni (r0),\nhalf,\n(\np0\n);\n"
    "ld.param.b32 %r13, [r0];\n}\nld.const.u32 %r14, [table+4];\nmad.lo.cc.u32 %r15, %r1, %r2, %r3;\n"
    "madc.hi.u32 %r15, %r1, %r2, 0;\nselp.b32 %r16, %r1, 077, %p1;\n@!%p2 exit;\nst.global.v2.u32 [%rd3+-8], {%r15, "
    "3};\n"
    "membar.gl;\nret;\n\n}\n.metadata_section {\n.metadata 0 {\n\"cl_kernel_arg\", 1\n}\n}\n";

/* What is read is also run, whatever it does. */
static int read_and_run(const char *text, size_t length, char *why, size_t size)
{
    char data[64] = { 0 };
    struct launch_buffer buffer = { data, sizeof data, NULL };
    struct launch_arg args[16];
    struct ptx_module *m = ptx_module_read(text, length, why, size);
    for (size_t i = 0; m && i < ptx_module_kernels(m); i++) {
        const struct ptx_info *info = ptx_kernel_info(ptx_kernel_at(m, i));
        struct ptx_launch l = PTX_LAUNCH_INIT;
        for (size_t k = 0; k < info->n_params && k < 16; k++) {
            const struct launch_arg shared = { ARG_SHARED, 0, 0, NULL, 64 },
                                    value = { ARG_VALUE, 0, 0, data, info->params[k].size },
                                    pointer = { ARG_BUFFER, 0, 0, NULL, 0 };
            args[k] = info->params[k].kind == PARAM_SHARED   ? shared
                      : info->params[k].kind == PARAM_GLOBAL ? pointer
                                                             : value;
            if (info->params[k].size > sizeof data)
                args[k].size = 0;
        }
        l.grid[0] = 2, l.block[0] = 32, l.args = args, l.n_args = info->n_params > 16 ? 0 : info->n_params;
        l.buffers = &buffer, l.n_buffers = 1, l.limit = 5000, l.schedule = (enum schedule)(length % 3);
        ptx_run(ptx_kernel_at(m, i), &l, NULL, 0);
    }
    const int done = m != NULL;
    ptx_module_free(m);
    return done;
}

/* A copy that ends where the text does, so that a sanitizer sees a look behind it. */
static int exactly(const char *text, size_t length, char *why, size_t size)
{
    char *copy = malloc(length ? length : 1);
    if (!copy)
        bail("out of memory");
    memcpy(copy, text, length);
    const int done = read_and_run(copy, length, why, size);
    free(copy);
    return done;
}

static void test_truncated(void)
{
    char why[200];
    int wordless = 0;
    const size_t body = (size_t)(strstr(everything, ".metadata_section") - everything);
    for (size_t n = 0; n < sizeof everything - 1; n++) {
        why[0] = 0;
        const int done = exactly(everything, n, why, sizeof why);
        wordless += !done && strncmp(why, "line ", 5) != 0;
    }
    ok(!wordless, "each beginning is refused in words, or whole: %d are not", wordless);
    ok(exactly(everything, sizeof everything - 1, why, sizeof why), "the whole is read %s", why);
    ok(exactly(everything, sizeof everything, why, sizeof why), "with its zero as well");
    ok(!exactly(everything, body - 4, why, sizeof why) && strstr(why, "ends"), "what lacks its end says so: %s", why);
}

static void test_mutated(void)
{
    static const char letters[] = "{}[]();,.:%@!|+-0123456789abcdefrspxu_$<>\"\n /*";
    static char text[sizeof everything];
    const int full = getenv("CLATTN_FULL") != NULL;
    uint32_t state = 1;
    int read = 0;
    const int n = full ? 200000 : 4000;
    for (int i = 0; i < n; i++) {
        memcpy(text, everything, sizeof text);
        for (uint32_t k = dice(&state) % 4 + 1; k; k--) {
            const size_t at = dice(&state) % (sizeof text - 1), from = dice(&state) % (sizeof text - 41);
            switch (dice(&state) % 3) {
            case 0: text[at] = letters[dice(&state) % (sizeof letters - 1)]; break;
            case 1: text[at] = (char)dice(&state); break;
            default: memmove(text + (at < sizeof text - 41 ? at : 0), everything + from, dice(&state) % 40); break;
            }
        }
        char why[200] = "";
        read += read_and_run(text, sizeof text - 1, why, sizeof why);
    }
    ok(read > 0 && read < n, "%d of %d mutants are read, the others refused", read, n);
}

/* A body in a kernel, or a module, and what its refusal says. */
static const struct {
    const char *text, *why;
    int line;
} refused[] = {
    { "tex.2d.v4.f32.s32 {%f1,%f2,%f3,%f4}, [t, {%r1,%r2}];\n", "tex.2d.v4.f32.s32 is not executed", 5 },
    { "ret;\nwgmma.fence.sync.aligned;\n", "wgmma.fence.sync.aligned", 6 },
    { "add.s32 %r1, %r2;\n", "',' expected", 5 },
    { "add.s32 %r1, %r2, %r30;\n", "no register %r30", 5 },
    { "add.s32 %r1, %d2, %r3;\n", "%d2 has another size", 5 },
    { "add.rz.s32 %r1, %r2, %r3;\n", "add.rz.s32", 5 },
    { "fma.rz.f64 %d1, %d2, %d3, %d4;\n", "fma.rz.f64", 5 },
    { "add.s32 %tid.x, %r2, %r3;\n", "cannot be written", 5 },
    { "bra NOWHERE;\n", "no label NOWHERE", 5 },
    { "A: add.s32 %r1, %r2, 1;\nA: ret;\n", "two labels A", 8 },
    { "ld.global.u64 %r1, [%d1];\n", "narrower", 5 },
    { "ld.global.v2.u32 {%r1,%r2,%r3}, [%d1];\n", "3 destinations", 5 },
    { "st.global.v2.u32 [%d1], {%r1,%d2};\n", "different sizes", 5 },
    { "ld.global.u32 %r1, [%h1];\n", "no address", 5 },
    { "mov.u32 %r1, 99999999999999999999;\n", "too large", 5 },
    { "mov.f32 %f1, 1.5;\n", "neither whole", 5 },
    { "mov.f32 %f1, 0f3f8;\n", "digits", 5 },
    { "call printf, (%r1);\n", "no .param", 5 },
    { "call unknown;\n", "no body", 5 },
    { "call self;\n", "calls itself", 4 },
    { "brx.idx %r1, targets;\n", "brx.idx", 5 },
    { ".reg .b128 %x;\n", "registers of type", 5 },
    { ".shared .align 3 .b8 x[4];\n", "power of two", 5 },
    { ".shared .b8 x[99999999];\n", "larger than", 5 },
    { "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%r1,%r2,%r3,%r4}, {%r1,%r2,%r3,%r4}, {%r1,%r2}, "
      "{%r1,%r2,%r3,%r4};\n",
      "mma.sync", 5 },
    { "bar.red.popc.u32 %r1, 0, %p1;\n", "bar.red.popc.u32", 5 },
    { "atom.global.add.f16 %h1, [%d1], %h2;\n", "atom.global", 5 },
    { "cvt.rn.f32.f32.f32 %f1, %f2;\n", "cvt.rn", 5 },
    { "setp.foo.s32 %p1, %r1, %r2;\n", "setp.foo", 5 },
    { "{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{{\n", "too deep", 5 },
    { "/* no end\n", "no end", 8 },
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[1500], why[300] = "";
        snprintf(text, sizeof text,
                 "%s.func self() { call self; ret; } .entry t() { .reg .pred %%p<9>; .reg .b16 %%h<9>; "
                 ".reg .b32 %%r<20>; .reg .b64 %%d<20>; .reg .f32 %%f<20>;\n%sret;\n}\n",
                 HEAD, refused[i].text);
        const int done = exactly(text, strlen(text), why, sizeof why);
        int line = 0;
        sscanf(why, "line %d:", &line);
        ok(!done && strstr(why, refused[i].why) && line == refused[i].line, "refused: %s", refused[i].why);
        if (done || !strstr(why, refused[i].why) || line != refused[i].line)
            diag("%s: %s", refused[i].text, why);
    }
    char why[300];
    ok(!exactly(".version 8.0\n.target sm_80\n.address_size 32\n", 44, why, sizeof why) && strstr(why, "32 bits"), "%s",
       why);
    ok(!exactly("\x7f"
                "ELF",
                4, why, sizeof why),
       "%s", why);
    ok(!exactly("", 0, why, sizeof why) && strstr(why, ".target"), "%s", why);
    ok(!ptx_module_read("x", 1, NULL, 0), "without room for the reason");
    ptx_module_free(NULL);
}

/* What is asked of a module. */
static void test_module(void)
{
    struct ptx_module *m = read_or_bail(everything);
    const struct ptx_info *info = ptx_kernel_info(ptx_kernel_named(m, "k"));
    is_int(ptx_module_target(m), 80, "the target");
    ok(ptx_module_kernels(m) == 1 && !ptx_kernel_at(m, 1) && !ptx_kernel_named(m, "half"), "kernels, not functions");
    is_str(ptx_kernel_name(ptx_kernel_at(m, 0)), "k", "the name");
    ok(info->shared == 64 && info->local == 32 && info->n_params == 3, "shared %zu local %zu", info->shared,
       info->local);
    ptx_module_free(m);
}

int main(void)
{
    test_truncated();
    test_mutated();
    test_refused();
    test_module();
    return done_testing();
}
