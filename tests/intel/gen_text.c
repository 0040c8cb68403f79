/* gen_text.c - listings and binaries: what is read, and what is damaged, hostile or beyond the interpreter: refused in
 * words, no crash
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/intel/gen.h"

/* ---- lines that are refused, and why ---- */

static const struct {
    const char *line, *why;
} refused[] = {
    { "frobnicate (16|M0) r20.0<1>:d r10.0<1;1,0>:d", "frobnicate is not executed here" },
    { "mov.x (16|M0) r20.0<1>:d r10.0<1;1,0>:d", "mov.x is not executed here" },
    { "add3 (16|M0) r20.0<1>:f r10.0<1;0>:f r10.0<1;0>:f r10.0<1>:f", "these types" },
    { "and (16|M0) r20.0<1>:f r10.0<1;1,0>:f r10.0<1;1,0>:f", "these types" },
    { "add (16|M0) r20.0<1>:d r10.0<1;1,0>:d", "takes 3 operands" },
    { "mov (16|M0) r20.0<1>:zz r10.0<1;1,0>:d", "type zz" },
    { "mov (16|M0) r128.0<1>:d r10.0<1;1,0>:d", "there is no register r128" },
    { "mov (16|M0) r127.8<1>:d r10.0<1;1,0>:d", "behind the last register" },
    { "mov (16|M0) r20.0<1>:d r10.0<1;0,0>:d", "without a width" },
    { "mov (16|M0) r20.0<1>:d r10.0<1;1,0:d", "region" },
    { "mov (12|M0) r20.0<1>:d r10.0<1;1,0>:d", "lanes" },
    { "mov (16|M24) r20.0<1>:d r10.0<1;1,0>:d", "lanes" },
    { "mov (16|M0) r20.0<1>:f 1.5:f", "1.5:f" },
    { "mov (16|M0) q20.0<1>:d r10.0<1;1,0>:d", "q20.0" },
    { "(f9.0) mov (16|M0) r20.0<1>:d r10.0<1;1,0>:d", "f9.0" },
    { "(W&f0.0.any16h) mov (16|M0) r20.0<1>:d r10.0<1;1,0>:d", "f0.0.any16h" },
    { "cmp (16|M0) r20.0<1>:d r10.0<1;1,0>:d r10.0<1;1,0>:d", "without a condition" },
    { "cmp (16|M0) (xx)f0.0 r20.0<1>:d r10.0<1;1,0>:d r10.0<1;1,0>:d", "condition" },
    { "sel (16|M0) r20.0<1>:d r10.0<1;1,0>:d r10.0<1;1,0>:d", "selects by nothing" },
    { "bfn.(s0&s3) (16|M0) r20.0<1>:ud r10.0<1;0>:ud r10.0<1;0>:ud r10.0<1>:ud", "bfn" },
    { "bfn.((s0&s1) (16|M0) r20.0<1>:ud r10.0<1;0>:ud r10.0<1;0>:ud r10.0<1>:ud", "bfn" },
    { "math.pow (16|M0) r20.0<1>:f r10.0<1;1,0>:f r10.0<1;1,0>:f", "math.pow" },
    { "add (16|M0) (sat)r20.0<1>:q r14.0<1;1,0>:q 1:w", "does not saturate" },
    { "add (16|M0) (sat)r20.0<1>:d r14.0<1;1,0>:uq 1:w", "does not saturate" },
    { "mov (16|M0) (sat)r20.0<1>:d -r14.0<1;1,0>:uq", "does not saturate" },
    { "mul (16|M0) (sat)r20.0<1>:ud r10.0<1;1,0>:ud r10.0<1;1,0>:ud", "does not saturate" },
    { "dpas.8x8 (16|M0) r80:f -r20:f r60:hf r40.0:hf", "such operands" },
    { "dpas.8x8 (16|M0) r80:f r20:f r60:hf ~r40.0:hf", "such operands" },
    { "dpas.8x8 (16|M0) r80:f r20:f r[a0.0]:hf r40.0:hf", "such operands" },
    { "dpas.8x8 (16|M0) r[a0.0]:f r20:f r60:hf r40.0:hf", "such operands" },
    { "dpas.8x8 (16|M0) (lt)f0.0 r80:f r20:f r60:hf r40.0:hf", "this form" },
    { "goto.xyz (16|M0) t t", "goto.xyz is not executed here" },
    { "jmpi.b t", "jmpi.b is not executed here" },
    { "nop.x", "nop.x is not executed here" },
    { "(Wfoo) mov (16|M0) r20.0<1>:d r10.0<1;1,0>:d", "predicate Wfoo" },
    { "//.platform XE2", "a second platform" },
    { "jmpi nowhere", "there is no label nowhere" },
    { "goto.b (16|M0) t t", "come back right behind it" },
    { "sync.host null", "sync.host" },
    { "load.ugm.d32.a16 (16|M0) r20:1 [r10:1]", "a16" },
    { "load.ugm.d32x5.a64 (16|M0) r20:5 [r14:2]", "d32x5" },
    { "load.ugm.d24.a64 (16|M0) r20:1 [r14:2]", "d24" },
    { "load.tgm.d32.a64 (16|M0) r20:1 [r14:2]", "tgm" },
    { "load.ugm.d32.a64 (16|M0) r20:1 [r127:2]", "there are no registers" },
    { "load.ugm.d32.a64 (16|M0) r20:1 [r127:1]", "behind the last one" },
    { "load.ugm.d32x4.a64 (16|M0) r125:1 [r14:2]", "behind the last one" },
    { "load.ugm.d32.a64 (16|M0) r20:1 [r14:2] // ex_desc:0x0; desc:0x4100584", "is not what its descriptor" },
    { "load.ugm.d32x8t.a64 (16|M0) r20:1 [r14:2]", "so many lanes" },
    { "store.ugm.d32.a64 (16|M0) [r14:2] null:0", "a store of nothing" },
    { "load.ugm.d32x16.a64 (16|M0) r20:16 [r14:2]", "so wide" },
    { "load.ugm.d64x32.a64 (16|M0) r20:64 [r14:2]", "so wide" },
    { "atomic_iadd.ugm.d32.a64 (16|M0) r20:1 [r14:2] null:0", "without its operands" },
    { "atomic_icas.ugm.d32.a64 (16|M0) r20:1 [r14:2] r127:1", "behind the last one" },
    { "atomic_iadd.ugm.d64.a64 (16|M0) r127:1 [r14:2] r20:2", "behind the last one" },
    { "(W) load_block2d.ugm.d64v.a64 (1|M0) r30:16 [r20:1]", "a block of elements" },
    { "(W) load_block2d.ugm.d8u32.a64 (1|M0) r30:16 [r20:1]", "a block of elements" },
    { "(W) send.ugm (1|M0) r30 r[s0.0] 0x0 0x02000603", "a block of two dimensions" },
    { "(W) mov (1|M0) f0.7<1>:uw 0x0:uw", "flags" },
    { "(W) mov (1|M0) f0.1<1>:ud 0x0:ud", "flags" },
    { "mov (16|M0) r20.0<1>:ud f0.0<0;1,0>:uw", "flags" },
    { "atomic_nand.ugm.d32.a64 (16|M0) null:0 [r14:2] r20:1", "atomic_nand" },
    { "send.rc (16|M0) r20 r14 null:0 0x0 0x04100580", "send.rc" },
    { "send.ugm (16|M0) r20 r14 null:0 0x0 0x0410059B", "not known here" },
    { "send.gtwy (1|M0) null r0 null:0 0x0 0x02000003", "gateway" },
    { "send.dc0 (16|M0) r20 r14 null:0 0x0 0x02106000", "data port" },
    { "send.ugm (16|M0) r20 r14", "not written as a message" },
    { "dpas.4x8 (16|M0) r80:f r20:f r60:hf r40.0:hf", "dpas.4x8" },
    { "dpas.8x8 (8|M0) r80:f r20:f r60:hf r40.0:hf", "this form" },
    { "dpas.8x8 (16|M0) r80:f r20:f r60:hf r40.0:bf", "these types" },
    { "dpas.8x8 (16|M0) r125:f r20:f r60:hf r40.0:hf", "no registers" },
    { "mov (1|M0) sr0.0<1>:ud 0x0:ud", "is written" },
    { "mov (1|M0) msg0.0<1>:ud 0x0:ud", "is written" },
    { "mov (16|M0) r20.0<1>:ud msg0.1<0;1,0>:ud", "msg0.1<0;1,0>:ud is not known" },
    { "mov (16|M0) r20.0<1>:d r[a0.0,x]<1;1,0>:d", "indirect" },
    { "t:", "two labels t" },
};

static void run_refused(void)
{
    static const struct how plain;
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[2000], why[300] = "";
        snprintf(text, sizeof text, "t:\n" BEGIN "%s\n" END, refused[i].line);
        struct gen_module *m = read_text(text, &plain, why, sizeof why);
        const int line = strcmp(refused[i].line, "t:") && !strstr(refused[i].line, "label");
        ok(!m && strstr(why, refused[i].why) && (!line || strstr(why, "t, line 7: ")), "%s: %s", refused[i].line, why);
        gen_module_free(m);
    }
    char why[300] = "";
    struct gen_module *m = read_text("//.platform GEN9\nnop\n", &plain, why, sizeof why);
    ok(!m && strstr(why, "GEN9"), "another platform: %s", why);
    m = read_text("//.platform XE2\n", &plain, why, sizeof why);
    ok(!m && strstr(why, "no instructions"), "no instructions: %s", why);
}

/* ---- a binary, as ocloc makes one of
 *     kernel void scale(global float *x, global const float *y, float by, local float *room)
 *     { room[get_local_id(0)] = y[get_global_id(0)]; x[get_global_id(0)] = by * room[get_local_id(0)]; } ---- */

static const char info[] =
    "---\nversion:         '1.73'\nkernels:\n  - name:            scale\n    execution_env:\n"
    "      grf_count:       128\n      inline_data_payload_size: 32\n      simd_size:       16\n"
    "      slm_size:        64\n"
    "      required_work_group_size: [ 16, 1, 1 ]\n"
    "    payload_arguments:\n      - arg_type:        global_id_offset\n        offset:          0\n"
    "        size:            12\n      - arg_type:        enqueued_local_size\n        offset:          12\n"
    "        size:            12\n      - arg_type:        arg_bypointer\n        offset:          24\n"
    "        size:            8\n        arg_index:       0\n        addrmode:        stateless\n"
    "        addrspace:       global\n        access_type:     readwrite\n      - arg_type:        arg_bypointer\n"
    "        offset:          32\n        size:            8\n        arg_index:       1\n"
    "        addrmode:        stateless\n        addrspace:       global\n        access_type:     readonly\n"
    "      - arg_type:        arg_byvalue\n        offset:          40\n        size:            4\n"
    "        arg_index:       2\n      - arg_type:        arg_bypointer\n        offset:          44\n"
    "        size:            4\n        arg_index:       3\n        addrmode:        slm\n"
    "        addrspace:       local\n        access_type:     readwrite\n"
    "      - arg_type:        arg_byvalue\n        offset:          48\n        size:            4\n"
    "        arg_index:       4\n        source_offset:   8\n"
    "    per_thread_payload_arguments:\n      - arg_type:        local_id\n        offset:          0\n"
    "        size:            64\n    per_thread_memory_buffers:\n      - type:            scratch\n"
    "        usage:           single_space\n        size:            128\n"
    "kernels_misc_info:\n  - name:            scale\n    args_info:\n"
    "      - index:           0\n        name:            x\n        address_qualifier: __global\n"
    "        type_name:       'float*;8'\n      - index:           2\n        name:            by\n"
    "        address_qualifier: __private\n        type_name:       'float;4'\n";

static const char listing[] =
    "//.kernel scale\n//.platform XE2\n"
    "per_thread_prolog:\n"
    "(W)     mov (16|M0)              r127.0<1>:ud  0x0:ud                                // ALU pipe: int; \n"
    "(W)     and (1|M0)               r127.2<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud\n"
    "(W)     and (1|M0)               r127.0<1>:uw  r0.4<0;1,0>:uw    0xFF:uw\n"
    "(W)     add (1|M0)               r127.2<1>:ud  r127.2<0;1,0>:ud  0x20:ud              {I@2}\n"
    "(W)     mad (1|M0)               r127.0<1>:ud  r127.2<0;0>:ud    r127.0<0;0>:uw    0x40:uw {I@1} //  \n"
    "(W)     mov (8|M0)               r2.0<1>:ud    r1.0<1;1,0>:ud\n"
    "(W)     load.ugm.d32x16t.a32.ca.cc (1|M0)  r1:1 bti[255][r127:1] {$0} // ex_desc:0xFF000000; desc:0x6219D500\n"
    "(W)     and (1|M0)               r127.0<1>:ud  r0.0<0;1,0>:ud    0xFFFFFFC0:ud\n"
    "(W)     load.ugm.d32x8t.a32.ca.cc (1|M0)  r3:1  bti[255][r127:1] {$1} // ex_desc:0xFF000000; desc:0x6219C500\n"
    "(W)     mul (1|M0)               acc0.0<1>:d   r2.3<0;1,0>:d     r0.2<0;1,0>:uw\n"
    "(W)     macl (1|M0)              r5.0<1>:d     r2.3<0;1,0>:d     r0.1<0;1,0>:d\n"
    "        add3 (16|M0)             r6.0<1>:d     r5.0<0;0>:d       r1.0<1;0>:uw      r2.0<0>:d\n"
    "        shl (16|M0)              r8.0<1>:q     r6.0<1;1,0>:d     2:w\n"
    "        add (16|M0)              r10.0<1>:q    r8.0<1;1,0>:q     r3.0<0;1,0>:q\n"
    "        add (16|M0)              r12.0<1>:q    r8.0<1;1,0>:q     r2.3<0;1,0>:q\n"
    "        load.ugm.d32.a64 (16|M0) r14:1         [r10:2]            {$2} // ex_desc:0x0; desc:0x4100580 // $11\n"
    "        shl (16|M0)              r16.0<1>:d    r1.0<1;1,0>:uw    2:w\n"
    "        add (16|M0)              r16.0<1>:d    r16.0<1;1,0>:d    r3.3<0;1,0>:d\n"
    "        store.slm.d32.a32 (16|M0) [r16:1]      r14:1\n"
    "        load.slm.d32.a32 (16|M0) r15:1         [r16:1]\n"
    "        mul (16|M0)              r15.0<1>:f    r15.0<1;1,0>:f    r3.2<0;1,0>:f\n"
    "        store.ugm.d32.a64 (16|M0) [r12:2]      r15:1              // ex_desc:0x0; desc:0x4000584 // $16\n"
    "L800:\n"
    "(W)     send.gtwy (1|M0)         null     r127  null:0  0x0            0x02000010 {EOT} // wr:1+0, rd:0\n"
    "L816:\n"
    "(W)     mov (16|M0)              null<1>:ud    0xA66B8A67:ud\n";

enum { TEXT_SIZE = 1024, SECTIONS = 4, AT_INFO = 64 + TEXT_SIZE, NAMES = 64 };

static void put(unsigned char *to, uint64_t x, unsigned bytes)
{
    for (unsigned i = 0; i < bytes; i++)
        to[i] = (unsigned char)(x >> 8 * i);
}

/* Sections: none, .text.scale, .ze_info, .shstrtab, their table at the end. */
static size_t make_binary(unsigned char *to, const char *metadata)
{
    static const char names[] = "\0.text.scale\0.ze_info\0.shstrtab";
    const size_t n = strlen(metadata), names_at = AT_INFO + n, table = names_at + NAMES;
    const size_t at[SECTIONS] = { 0, 64, AT_INFO, names_at }, size[SECTIONS] = { 0, TEXT_SIZE, n, sizeof names };
    const size_t name[SECTIONS] = { 0, 1, 13, 22 };
    memset(to, 0, table + SECTIONS * 64);
    memcpy(to, "\177ELF\2\1\1", 7);
    put(to + 40, table, 8);
    put(to + 58, 64, 2);
    put(to + 60, SECTIONS, 2);
    put(to + 62, 3, 2);
    memcpy(to + AT_INFO, metadata, n);
    memcpy(to + names_at, names, sizeof names);
    for (size_t i = 0; i < SECTIONS; i++) {
        put(to + table + 64 * i, name[i], 4);
        put(to + table + 64 * i + 24, at[i], 8);
        put(to + table + 64 * i + 32, size[i], 8);
    }
    return table + SECTIONS * 64;
}

static struct gen_module *read_both(const unsigned char *binary, size_t size, const char *text, char *why)
{
    struct gen_listing listings[2] = { { "//.kernel other\nnonsense\n", 25 }, { text, strlen(text) } };
    return gen_module_read(binary, size, listings, 2, why, 300);
}

static void run_binary(void)
{
    static unsigned char binary[8192];
    static float x[64], y[64];
    static const char pieces[12];
    const float by = 1.5f;
    char why[300] = "";
    const size_t size = make_binary(binary, info);
    struct gen_module *m = read_both(binary, size, listing, why);
    if (!ok(m != NULL, "a binary and its listing: %s", why))
        return;
    const struct gen_kernel *k = gen_kernel_named(m, "scale");
    const struct gen_info *i = gen_kernel_info(k);
    ok(i->simd == 16 && i->registers == 128 && i->shared == 64 && i->scratch == 128 && i->required[0] == 16 &&
           i->n_ops == 24 && i->n_lines == 29 && !gen_kernel_named(m, "other") && gen_module_kernels(m) == 1,
       "what is known of the kernel: %zu instructions, %zu lines", i->n_ops, i->n_lines);
    ok(i->n_params == 5 && i->params[4].size == 12 && !strcmp(i->params[0].name, "x") &&
           i->params[0].kind == PARAM_GLOBAL && i->params[2].kind == PARAM_VALUE &&
           i->params[2].size == 4 && i->params[3].kind == PARAM_SHARED,
       "and of its parameters");
    for (int n = 0; n < 64; n++)
        y[n] = (float)n + 1;
    struct launch_buffer buffers[] = { { x, sizeof x, NULL }, { y, sizeof y, NULL } };
    struct launch_arg args[] = { { ARG_BUFFER, 0, 16, NULL, 0 }, { ARG_BUFFER, 1, 0, NULL, 0 },
                              { ARG_VALUE, 0, 0, &by, 4 }, { ARG_SHARED, 0, 0, NULL, 64 },
                              { ARG_VALUE, 0, 0, pieces, 12 } };
    struct heard heard;
    struct gen_launch l = GEN_LAUNCH_INIT;
    memset(&heard, 0, sizeof heard);
    l.grid[0] = 3, l.block[0] = 16, l.global_offset[0] = 2;
    l.args = args, l.n_args = 5, l.buffers = buffers, l.n_buffers = 2, l.report = hear, l.context = &heard;
    int bad = gen_run(k, &l, why, sizeof why) != GEN_OK || heard.all;
    for (int n = 0; n < 64; n++)
        bad |= x[n] != (n >= 6 && n < 54 ? 1.5f * (float)(n - 4 + 1) : 0);
    ok(!bad, "it is executed: %s %s", why, heard.text);
    l.block[0] = 8;
    ok(gen_run(k, &l, why, sizeof why) == GEN_INVALID && strstr(why, "wants 16"), "not with other groups: %s", why);
    l.block[0] = 16, l.n_args = 4;
    ok(gen_run(k, &l, why, sizeof why) == GEN_INVALID && strstr(why, "arguments"), "nor with less arguments: %s", why);
    l.n_args = 5, l.global_offset[1] = (uint64_t)1 << 32;
    ok(gen_run(k, &l, why, sizeof why) == GEN_INVALID && strstr(why, "32 bits"), "nor with a large offset: %s", why);
    l.global_offset[1] = 0, args[2].size = 8;
    ok(gen_run(k, &l, why, sizeof why) == GEN_INVALID && strstr(why, "another size"), "nor with a larger one: %s", why);
    args[2].size = 4, args[0].kind = ARG_VALUE;
    ok(gen_run(k, &l, why, sizeof why) == GEN_INVALID && strstr(why, "another kind"), "nor with another kind: %s", why);
    gen_module_free(m);
}

/* As the driver has it for DG2: x is reached by a binding, and its address is an argument beside it. */
static void run_address(void)
{
    static const char pointer[] = "arg_bypointer\n        offset:          24\n        size:            8\n"
                                  "        arg_index:       0\n        addrmode:        stateless\n";
    static const char address[] = "arg_bypointer\n        offset:          0\n        size:            0\n"
                                  "        arg_index:       0\n        addrmode:        stateful\n"
                                  "      - arg_type:        buffer_address\n        offset:          24\n"
                                  "        size:            8\n        arg_index:       0\n";
    static unsigned char binary[8192];
    static float x[64], y[64];
    static const char pieces[12];
    static char changed[4000];
    const float by = 2.5f;
    const char *const at = strstr(info, pointer);
    char why[300] = "";
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - info), info, address, at + sizeof pointer - 1);
    const size_t size = make_binary(binary, changed);
    struct gen_module *m = read_both(binary, size, listing, why);
    if (!ok(m != NULL, "an address beside a binding: %s", why))
        return;
    for (int n = 0; n < 64; n++)
        y[n] = (float)n + 1;
    struct launch_buffer buffers[] = { { x, sizeof x, NULL }, { y, sizeof y, NULL } };
    struct launch_arg args[] = { { ARG_BUFFER, 0, 16, NULL, 0 }, { ARG_BUFFER, 1, 0, NULL, 0 },
                              { ARG_VALUE, 0, 0, &by, 4 }, { ARG_SHARED, 0, 0, NULL, 64 },
                              { ARG_VALUE, 0, 0, pieces, 12 } };
    struct heard heard;
    struct gen_launch l = GEN_LAUNCH_INIT;
    memset(&heard, 0, sizeof heard);
    l.grid[0] = 3, l.block[0] = 16;
    l.args = args, l.n_args = 5, l.buffers = buffers, l.n_buffers = 2, l.report = hear, l.context = &heard;
    int bad = gen_run(gen_kernel_named(m, "scale"), &l, why, sizeof why) != GEN_OK || heard.all;
    for (int n = 0; n < 64; n++)
        bad |= x[n] != (n >= 4 && n < 52 ? 2.5f * (float)(n - 4 + 1) : 0);
    ok(!bad, "it is where the buffer's part begins: %s %s", why, heard.text);
    gen_module_free(m);
}

/* Of several listings the one that ends last within the code; one that ends alike has to be the same. */
static void run_listings(void)
{
    static unsigned char binary[8192];
    static char shorter[sizeof listing], other[sizeof listing];
    char why[300] = "";
    const size_t size = make_binary(binary, info);
    memcpy(shorter, listing, sizeof listing);
    memcpy(other, listing, sizeof listing);
    memcpy(strstr(shorter, "L816"), "L700", 4);
    memcpy(strstr(shorter, "L800"), "L600", 4);
    memcpy(strstr(shorter, "mov (8|M0)"), "bad", 3);
    memcpy(strstr(other, "0x40:uw"), "0x60:uw", 7);
    struct gen_listing listings[2] = { { listing, sizeof listing - 1 }, { shorter, sizeof listing - 1 } };
    struct gen_module *m = gen_module_read(binary, size, listings, 2, why, sizeof why);
    ok(m != NULL, "two listings, the first ends last: %s", why);
    gen_module_free(m);
    listings[1].text = listing;
    m = gen_module_read(binary, size, listings, 2, why, sizeof why);
    ok(m != NULL, "a listing twice: %s", why);
    gen_module_free(m);
    listings[1].text = other;
    m = gen_module_read(binary, size, listings, 2, why, sizeof why);
    ok(!m && strstr(why, "two listings"), "two listings that end alike: %s", why);
    gen_module_free(m);
}

static void refuse_binary(const char *name, const char *from, const char *to, const char *text, const char *expected)
{
    static unsigned char binary[8192];
    static char changed[4000];
    char why[300] = "";
    const char *const at = strstr(info, from);
    snprintf(changed, sizeof changed, "%.*s%s%s", (int)(at - info), info, to, at + strlen(from));
    const size_t size = make_binary(binary, changed);
    struct gen_module *m = read_both(binary, size, text, why);
    ok(!m && strstr(why, expected), "%s: %s", name, why);
    gen_module_free(m);
}

/* ---- damaged: no crash; what is read runs, though not for long ---- */

enum { MOST_ARGS = 16, VALUE_BYTES = 1 << 12 };

static struct launch_arg arg_of(const struct gen_param *p)
{
    static const unsigned char value[VALUE_BYTES];
    const struct launch_arg args[] = { { ARG_BUFFER, 0, 0, NULL, 0 }, { ARG_SHARED, 0, 0, NULL, 64 },
                                       { ARG_VALUE, 0, 0, value, p->size < VALUE_BYTES ? p->size : VALUE_BYTES } };
    return args[p->kind == PARAM_GLOBAL ? 0 : p->kind == PARAM_SHARED ? 1 : 2];
}

/* Frees it; false: nothing was read. */
static int run_read(struct gen_module *m, int *begun)
{
    static unsigned char data[8192];
    static unsigned count;
    struct launch_buffer buffer = { data, sizeof data, NULL };
    for (size_t i = 0; m && i < gen_module_kernels(m); i++) {
        const struct gen_kernel *const k = gen_kernel_at(m, i);
        const struct gen_info *const about = gen_kernel_info(k);
        const size_t n = about->n_params < MOST_ARGS ? about->n_params : MOST_ARGS;
        struct launch_arg args[MOST_ARGS];
        struct gen_launch l = GEN_LAUNCH_INIT;
        for (size_t p = 0; p < n; p++)
            args[p] = arg_of(&about->params[p]);
        l.grid[0] = 2;
        l.block[0] = about->required[0] ? about->required[0] : 32;
        l.args = args, l.n_args = n, l.buffers = &buffer, l.n_buffers = 1;
        l.limit = 3000, l.schedule = (enum schedule)(count++ % 3);
        *begun += gen_run(k, &l, NULL, 0) <= GEN_STOPPED;
    }
    const int read = m != NULL;
    gen_module_free(m);
    return read;
}

/* Every byte of the binary damaged, and every beginning of it. */
static void run_damaged_binary(void)
{
    static unsigned char binary[8192];
    char why[300];
    const size_t size = make_binary(binary, info);
    int read = 0, words = 1, begun = 0, cut = 0;
    for (size_t i = 0; i < size; i++)
        for (int bit = 0; bit < 8; bit += 3) {
            binary[i] ^= (unsigned char)(1 << bit);
            *why = 0;
            const int done = run_read(read_both(binary, size, listing, why), &begun);
            read += done;
            words &= done || *why;
            binary[i] ^= (unsigned char)(1 << bit);
        }
    ok(read > 0 && begun > 0 && words, "a damaged binary: %d of %zu were read, %d ran, the others refused in words",
       read, 3 * size, begun);
    for (size_t n = 0; n < size; n += 7)
        cut += !run_read(read_both(binary, n, listing, why), &begun);
    ok(cut == (int)((size + 6) / 7), "a binary that is cut off");
}

static void run_damaged_listing(void)
{
    static unsigned char binary[8192];
    static char text[sizeof listing];
    char why[300];
    const size_t size = make_binary(binary, info);
    int read = 0, begun = 0;
    for (size_t i = 0; i + 1 < sizeof listing; i++) {
        memcpy(text, listing, sizeof listing);
        text[i] = "0;<r{(:\n"[i % 8];
        read += run_read(read_both(binary, size, text, why), &begun);
    }
    ok(read > 0 && read < (int)sizeof listing && begun > 0, "a damaged listing: %d of %zu were read", read,
       sizeof listing);
}

/* One instruction of each kind that reaches for registers and memory by numbers. */
static const char reaching[] = BEGIN
    "(W) mov (1|M0) a0.0<1>:uw 0x500:uw\nmov (16|M0) r[a0.0,64]<1>:d r10.0<1;1,0>:d\n"
    "(W) mov (1|M0) r20.0<1>:q r4.0<0;1,0>:q\n(W) mov (1|M0) r20.2<1>:ud 99:ud\n(W) mov (1|M0) r20.3<1>:ud 19:ud\n"
    "(W) mov (1|M0) r20.4<1>:ud 127:ud\n(W) mov (1|M0) r20.5<1>:d 2:d\n(W) mov (1|M0) r20.6<1>:d 1:d\n"
    "(W) mov (1|M0) r20.7<1>:ud 0xF0F:ud\n(W) load_block2d.ugm.d16v.a64 (1|M0) r30:8 [r20:1]\n"
    "(W) load.ugm.d32x16t.a64 (1|M0) r50:1 [r4:1+0x40]\nload.ugm.d32x4.a64 (16|M0) r70:4 [r14:2]\n"
    "dpas.8x8 (16|M0) r80:f r70:f r60:hf r40.0:hf\natomic_icas.ugm.d32.a64 (16|M0) r22:1 [r14:2] r24:2\n"
    "send.dc0 (16|M0) null r0 r10:1 0x0 0x020F1001\nsend.dc0 (16|M0) r23 r0 null:0 0x0 0x021C1001\n"
    "shl (16|M0) r18.0<1>:d r10.0<1;1,0>:d 2:w\nload.slm.d32.a32 (16|M0) r19:1 [r18:1]\n"
    "addc (16|M0) (eq)f1.0 r20.0<1>:ud r10.0<1;1,0>:ud 1:w\n(f1.0) store.ugm.d32.a64 (16|M0) [r14:2] r80:1\n" END;

static int read_reaching(const char *text, int *begun)
{
    struct how how;
    char why[300];
    memset(&how, 0, sizeof how);
    how.shared = 128, how.scratch = 128;
    return run_read(read_text(text, &how, why, sizeof why), begun);
}

/* A digit becomes another one: most of that is read, and reaches elsewhere. */
static void damage_digit(char *text, uint32_t *state)
{
    size_t at;
    do
        at = sizeof BEGIN + dice(state) % (sizeof reaching - sizeof BEGIN - 1);
    while (!strchr("0123456789ABCDEF", text[at]));
    text[at] = (char)('0' + dice(state) % 10);
}

static void run_damaged_numbers(void)
{
    static const char letters[] = "0123456789af.<>;,:-()[]rtx\n ";
    static char text[sizeof reaching];
    uint32_t state = 1;
    int read = 0, begun = 0, n = 0;
    ok(read_reaching(reaching, &begun) && begun == 1, "numbers that reach for registers and memory");
    for (size_t at = sizeof BEGIN; at + sizeof END < sizeof reaching; at++)
        for (size_t k = at % 3; k + 1 < sizeof letters; k += 3, n++) {
            memcpy(text, reaching, sizeof text);
            text[at] = letters[k];
            read += read_reaching(text, &begun);
        }
    ok(read > n / 20 && read < n, "a damaged letter: %d of %d were read", read, n);
    for (n = read = begun = 0; n < 3000; n++) {
        memcpy(text, reaching, sizeof text);
        for (int k = 0; k <= n % 3; k++)
            damage_digit(text, &state);
        read += read_reaching(text, &begun);
    }
    ok(read > n / 3 && read < n && begun > n / 3, "damaged digits: %d of %d were read, %d ran", read, n, begun);
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    run_refused();
    run_binary();
    run_address();
    run_listings();
    refuse_binary("threads of 24", "simd_size:       16", "simd_size:       24", listing, "threads of 24");
    refuse_binary("another argument", "enqueued_local_size", "image_height", listing, "image_height");
    refuse_binary("another address", "addrmode:        slm", "addrmode:        odd", listing, "odd");
    refuse_binary("another kernel", "name:            scale", "name:            scala", listing, "no listing");
    refuse_binary("no number", "offset:          24", "offset:          x", listing, "is no number");
    refuse_binary("too many registers", "grf_count:       128", "grf_count:       512", listing, "512 registers");
    refuse_binary("a name of anything", "name:            scale", "name:            sc\001\033[le", listing,
                  "sc??[le: there");
    refuse_binary("no platform", "scale", "scale", "//.kernel scale\nnop\nL800:\n", "before the platform");
    refuse_binary("an earlier listing", "scale", "scale", "//.kernel scale\n//.platform XE2\nnop\nL4:\n", "no listing");
    run_damaged_binary();
    run_damaged_listing();
    run_damaged_numbers();
    return done_testing();
}
