/* amdgpu_text.c - listings and objects that are damaged, hostile or beyond the interpreter: refused in words, no crash
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/amd/amdgpu.h"

/* What llvm-objdump prints of this, compiled for gfx1100 and linked.
 *     __constant int table[4] = { 10, 20, 30, 40 };
 *     kernel void tiny(global int *p, int add, local int *room)
 *     {
 *         const int i = get_global_id(0);
 *         room[get_local_id(0)] = i;
 *         p[i] = table[i & 3] + add + (int)get_num_groups(0) + room[get_local_id(0)];
 *     } */
static const char listing[] =
    "tiny.so:\tfile format elf64-amdgpu\n"
    "\n"
    "Disassembly of section .text:\n"
    "\n"
    "0000000000001900 <tiny>:\n"
    "\ts_load_b64 s[2:3], s[0:1], 0x38 // 00001900: F4040080 F8000038\n"
    "\tv_lshl_or_b32 v1, s15, 6, v0 // 00001908: D6560001 04010C0F\n"
    "\ts_waitcnt lgkmcnt(0) // 00001910: BF89FC07\n"
    "\ts_delay_alu instid0(VALU_DEP_1) | instskip(SKIP_3) | instid1(VALU_DEP_1) // 00001914: BF8700C1\n"
    "\tv_add_co_u32 v2, null, s2, v1 // 00001918: D7007C02 00020202\n"
    "\ts_getpc_b64 s[2:3] // 00001920: BE824700\n"
    "\ts_add_u32 s2, s2, 0xffffef5c // 00001924: 8002FF02 FFFFEF5C\n"
    "\ts_addc_u32 s3, s3, -1 // 0000192C: 8203FF03 FFFFFFFF\n"
    "\tv_and_b32_e32 v1, 3, v2 // 00001934: 36020483\n"
    "\ts_delay_alu instid0(VALU_DEP_1) // 00001938: BF870001\n"
    "\tv_lshlrev_b32_e32 v1, 2, v1 // 0000193C: 30020282\n"
    "\tglobal_load_b32 v3, v1, s[2:3] // 00001940: DC520000 03020001\n"
    "\ts_clause 0x1 // 00001948: BF850001\n"
    "\ts_load_b128 s[4:7], s[0:1], null // 0000194C: F4080100 F8000000\n"
    "\ts_load_b32 s0, s[0:1], 0x10 // 00001954: F4000000 F8000010\n"
    "\tv_mov_b32_e32 v1, 0 // 0000195C: 7E020280\n"
    "\ts_waitcnt lgkmcnt(0) // 00001960: BF89FC07\n"
    "\tv_lshl_add_u32 v6, v0, 2, s7 // 00001964: D6460006 001D0500\n"
    "\tds_store_b32 v6, v2 // 0000196C: D8340000 00000206\n"
    "\ts_waitcnt vmcnt(0) // 00001974: BF8903F7\n"
    "\tv_add_nc_u32_e32 v5, s6, v3 // 00001978: 4A0A0606\n"
    "\tv_ashrrev_i64 v[3:4], 30, v[1:2] // 0000197C: D73E0003 0002029E\n"
    "\ts_delay_alu instid0(VALU_DEP_2) | instskip(NEXT) | instid1(VALU_DEP_2) // 00001984: BF870112\n"
    "\tv_add3_u32 v5, v5, v2, s0 // 00001988: D6550005 00020505\n"
    "\tv_add_co_u32 v0, vcc_lo, s4, v3 // 00001990: D7006A00 00020604\n"
    "\ts_delay_alu instid0(VALU_DEP_3) // 00001998: BF870003\n"
    "\tv_add_co_ci_u32_e32 v1, vcc_lo, s5, v4, vcc_lo // 0000199C: 40020805\n"
    "\tglobal_store_b32 v[0:1], v5, off // 000019A0: DC6A0000 007C0500\n"
    "\ts_nop 0 // 000019A8: BF800000\n"
    "\ts_sendmsg sendmsg(MSG_DEALLOC_VGPRS) // 000019AC: BFB60003\n"
    "\ts_endpgm // 000019B0: BFB00000\n"
    "\ts_code_end // 000019B4: BF9F0000\n"
    "\ts_code_end // 000019B8: BF9F0000\n"
    "\ts_code_end // 000019BC: BF9F0000\n"
    "\ts_code_end // 000019C0: BF9F0000\n";

/* ---- the object ---- */

enum {
    TEXT = 0x1900,
    TEXT_AT = 0x900,
    RODATA = 0x840,
    TABLE = 0x880,
    NOTE = 0x200,
    STRINGS = 0x700,
    SYMBOLS = 0x780,
    SECTIONS = 0xc00,
    SIZE = 0xe00,
    END_OF_DATA = 0x900
};

struct object {
    unsigned char bytes[SIZE];
    size_t at; /* where put() goes on */
};

static void put(struct object *o, int n, uint64_t x)
{
    for (int i = 0; i < n; i++)
        o->bytes[o->at++] = (unsigned char)(x >> 8 * i);
}

static void put_text(struct object *o, const char *text, size_t n)
{
    memcpy(o->bytes + o->at, text, n);
    o->at += n;
}

/* MessagePack */
static void pack_map(struct object *o, unsigned n)
{
    put(o, 1, 0xde);
    put(o, 1, n >> 8);
    put(o, 1, n);
}

static void pack_array(struct object *o, unsigned n)
{
    put(o, 1, 0x90 | n);
}

static void pack_string(struct object *o, const char *text)
{
    put(o, 1, 0xd9);
    put(o, 1, strlen(text));
    put_text(o, text, strlen(text));
}

static void pack_number(struct object *o, const char *key, unsigned n)
{
    pack_string(o, key);
    if (n < 128) {
        put(o, 1, n);
    } else {
        put(o, 1, 0xcd);
        put(o, 1, n >> 8);
        put(o, 1, n);
    }
}

static void pack_arg(struct object *o, const char *name, const char *kind, unsigned offset, unsigned size)
{
    pack_map(o, 4);
    pack_string(o, ".name");
    pack_string(o, name);
    pack_string(o, ".value_kind");
    pack_string(o, kind);
    pack_number(o, ".offset", offset);
    pack_number(o, ".size", size);
}

static void pack_metadata(struct object *o)
{
    pack_map(o, 2);
    pack_string(o, "amdhsa.version");
    pack_array(o, 2);
    put(o, 2, 0x0201);
    pack_string(o, "amdhsa.kernels");
    pack_array(o, 1);
    pack_map(o, 12);
    pack_string(o, ".args");
    pack_array(o, 6);
    pack_arg(o, "p", "global_buffer", 0, 8);
    pack_arg(o, "add", "by_value", 8, 4);
    pack_arg(o, "room", "dynamic_shared_pointer", 12, 4);
    pack_arg(o, "", "hidden_block_count_x", 16, 4);
    pack_arg(o, "", "hidden_global_offset_x", 56, 8);
    pack_arg(o, "", "hidden_hostcall_buffer", 80, 8);
    pack_string(o, ".name");
    pack_string(o, "tiny");
    pack_string(o, ".symbol");
    pack_string(o, "tiny.kd");
    pack_string(o, ".reqd_workgroup_size");
    pack_array(o, 3);
    put(o, 3, 0x010140);
    pack_number(o, ".vgpr_count", 7);
    pack_number(o, ".sgpr_count", 18);
    pack_number(o, ".vgpr_spill_count", 3);
    pack_number(o, ".sgpr_spill_count", 4);
    pack_number(o, ".max_flat_workgroup_size", 64);
    pack_number(o, ".wavefront_size", 32);
    pack_string(o, ".uses_dynamic_stack");
    put(o, 1, 0xc2);
    pack_string(o, ".language_version");
    pack_array(o, 2);
    put(o, 2, 0x0201);
}

static void put_note(struct object *o)
{
    o->at = NOTE + 20;
    pack_metadata(o);
    const size_t size = o->at - NOTE - 20;
    o->at = NOTE;
    put(o, 4, 7);
    put(o, 4, size);
    put(o, 4, 32);
    put_text(o, "AMDGPU\0", 8);
}

static void put_descriptor(struct object *o)
{
    o->at = RODATA;
    put(o, 4, 0);   /* LDS */
    put(o, 4, 0);   /* scratch */
    put(o, 4, 272); /* arguments */
    put(o, 4, 0);
    put(o, 8, TEXT - RODATA);
    o->at = RODATA + 48;
    put(o, 4, 0xf0000);          /* denormal numbers are kept */
    put(o, 4, 15 << 1 | 1 << 7); /* 15 user registers, the group's x */
    put(o, 2, 1 << 3 | 1 << 10); /* the address of the arguments; waves of 32 lanes */
    o->at = TABLE;
    for (unsigned i = 1; i < 5; i++)
        put(o, 4, 10 * i);
}

static void put_section(struct object *o, uint32_t type, uint64_t flags, uint64_t address, uint64_t offset,
                        uint64_t size, uint32_t link)
{
    put(o, 4, 0);
    put(o, 4, type);
    put(o, 8, flags);
    put(o, 8, address);
    put(o, 8, offset);
    put(o, 8, size);
    put(o, 4, link);
    o->at += 20;
}

static void put_segment(struct object *o, uint64_t offset, uint64_t address, uint64_t size)
{
    put(o, 4, 1);
    put(o, 4, 5);
    put(o, 8, offset);
    put(o, 8, address);
    put(o, 8, address);
    put(o, 8, size);
    put(o, 8, size);
    put(o, 8, 4096);
}

/* The words in the listing's comments are the code. */
static size_t put_code(struct object *o)
{
    o->at = TEXT_AT;
    for (const char *p = strstr(listing, "//"); p; p = strstr(p + 2, "//")) {
        const char *end = strchr(p, '\n');
        const char *word = strchr(p, ':') + 1;
        unsigned value;
        int n;
        while (word < end && sscanf(word, " %8x%n", &value, &n) == 1 && word + n <= end) {
            put(o, 4, value);
            word += n;
        }
    }
    return o->at - TEXT_AT;
}

static void make_object(struct object *o)
{
    memset(o, 0, sizeof *o);
    const size_t code = put_code(o);
    put_note(o);
    put_descriptor(o);
    o->at = STRINGS;
    put_text(o, "\0tiny\0tiny.kd", 14);
    o->at = SYMBOLS + 24;
    put(o, 4, 1);
    put(o, 2, 0x12);
    put(o, 2, 3);
    put(o, 8, TEXT);
    put(o, 8, code);
    put(o, 4, 6);
    put(o, 2, 0x11);
    put(o, 2, 2);
    put(o, 8, RODATA);
    put(o, 8, 64);
    o->at = 0;
    put_text(o, "\177ELF\2\1\1@", 8);
    o->at = 16;
    put(o, 2, 3);
    put(o, 2, 224);
    put(o, 4, 1);
    put(o, 8, 0);
    put(o, 8, 64);
    put(o, 8, SECTIONS);
    put(o, 4, 0x41); /* gfx1100 */
    put(o, 2, 64);
    put(o, 2, 56);
    put(o, 2, 2);
    put(o, 2, 64);
    put(o, 2, 6);
    put(o, 2, 5);
    put_segment(o, 0, 0, END_OF_DATA);
    put_segment(o, TEXT_AT, TEXT, code);
    o->at = SECTIONS + 64;
    put_section(o, 7, 2, NOTE, NOTE, STRINGS - NOTE, 0);
    put_section(o, 1, 2, RODATA, RODATA, 0x90, 0);
    put_section(o, 1, 6, TEXT, TEXT_AT, code, 0);
    put_section(o, 2, 0, 0, SYMBOLS, 72, 5);
    put_section(o, 3, 0, 0, STRINGS, 14, 0);
}

/* ---- what is read of it ---- */

static void run_tiny(struct amdgpu_module *m)
{
    static int32_t p[256];
    const int32_t add = 1000;
    struct launch_buffer buffer = { p, sizeof p, NULL };
    const struct launch_arg args[] = { { ARG_BUFFER, 0, 0, NULL, 0 },
                                       { ARG_VALUE, 0, 0, &add, sizeof add },
                                       { ARG_SHARED, 0, 0, NULL, 256 } };
    struct amdgpu_launch l = AMDGPU_LAUNCH_INIT;
    struct heard heard;
    char why[200];
    int wrong = 0;
    memset(&heard, 0, sizeof heard);
    memset(p, 0, sizeof p);
    l.grid[0] = 3, l.block[0] = 64, l.global_offset[0] = 64, l.args = args, l.n_args = 3;
    l.buffers = &buffer, l.n_buffers = 1, l.report = hear, l.context = &heard;
    is_int(amdgpu_run(amdgpu_kernel_at(m, 0), &l, why, sizeof why), AMDGPU_OK, "it runs %s", why);
    ok(!heard.all, "nothing is found %s", heard.text);
    for (int i = 0; i < 256; i++)
        wrong += p[i] != (i < 64 ? 0 : 10 * (i % 4 + 1) + 1000 + 3 + i);
    is_int(wrong, 0, "the table, arguments and hidden ones: %d, %d", (int)p[64], (int)p[255]);
}

static void test_object(void)
{
    static struct object o;
    char why[300], target[32];
    make_object(&o);
    struct amdgpu_module *m = amdgpu_module_read(o.bytes, sizeof o.bytes, listing, sizeof listing - 1, why, sizeof why);
    if (!ok(m != NULL, "it is read %s", why))
        return;
    const struct amdgpu_info *info = amdgpu_kernel_info(amdgpu_kernel_named(m, "tiny"));
    is_str(amdgpu_module_target(m), "gfx1100", "the target");
    ok(amdgpu_object_target(o.bytes, sizeof o.bytes, target, sizeof target, why, sizeof why) &&
           !strcmp(target, "gfx1100"),
       "of the object alone, too");
    ok(info->n_params == 3 && info->params[0].kind == PARAM_GLOBAL &&
           info->params[1].kind == PARAM_VALUE && info->params[2].kind == PARAM_SHARED &&
           info->params[1].offset == 8 && !strcmp(info->params[1].name, "add"),
       "parameters");
    ok(info->wave == 32 && info->vgprs == 7 && info->sgprs == 18 && info->vgpr_spills == 3 && info->sgpr_spills == 4 &&
           info->required[0] == 64 && info->required[2] == 1 && info->max_work_group == 64 && info->kernarg == 272,
       "what else is known of a kernel");
    run_tiny(m);
    amdgpu_module_free(m);
}

/* ---- damaged ---- */

/* What is read is also run, whatever it does. Copies end where they do, so that a sanitizer sees a look behind them. */
static int read_and_run(const void *object, size_t size, const char *text, size_t length, char *why, size_t why_size)
{
    static char data[64];
    struct launch_buffer buffer = { data, sizeof data, NULL };
    struct launch_arg args[16];
    char *copy = malloc(length + 1), *bytes = malloc(size + 1);
    if (!copy || !bytes)
        bail("out of memory");
    memcpy(copy, text, length);
    memcpy(bytes, object, size);
    struct amdgpu_module *m = amdgpu_module_read(bytes, size, copy, length, why, why_size);
    for (size_t i = 0; m && i < amdgpu_module_kernels(m); i++) {
        const struct amdgpu_info *info = amdgpu_kernel_info(amdgpu_kernel_at(m, i));
        struct amdgpu_launch l = AMDGPU_LAUNCH_INIT;
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
        l.grid[0] = 2, l.block[0] = info->required[0] ? info->required[0] : 64;
        l.args = args, l.n_args = info->n_params > 16 ? 0 : info->n_params;
        l.buffers = &buffer, l.n_buffers = 1, l.limit = 3000, l.schedule = (enum schedule)(length % 3);
        amdgpu_run(amdgpu_kernel_at(m, i), &l, NULL, 0);
    }
    const int done = m != NULL;
    amdgpu_module_free(m);
    free(copy);
    free(bytes);
    return done;
}

static int rounds(int few)
{
    return getenv("CLATTN_FULL") ? 50 * few : few;
}

static void test_truncated(void)
{
    static struct object o;
    char why[300];
    int wordless = 0, read = 0;
    make_object(&o);
    for (size_t n = 0; n < sizeof listing - 1; n++) {
        why[0] = 0;
        wordless += !read_and_run(o.bytes, sizeof o.bytes, listing, n, why, sizeof why) && !why[0];
    }
    is_int(wordless, 0, "each beginning of the listing is refused in words, or whole");
    for (size_t n = 0; n < sizeof o.bytes; n += n < 0x400 ? 1 : 7) {
        why[0] = 0;
        const int done = read_and_run(o.bytes, n, listing, sizeof listing - 1, why, sizeof why);
        read += done && n < SECTIONS + 6 * 64;
        wordless += !done && !why[0];
    }
    ok(!wordless && !read, "each beginning of the object is");
}

static void test_mutated(void)
{
    static const char letters[] = "[](),.:|+-0123456789abcdefsvxmlw_<>\"\n /";
    static char text[sizeof listing];
    static struct object o;
    uint32_t state = 1;
    int read = 0;
    const int n = rounds(3000);
    make_object(&o);
    for (int i = 0; i < n; i++) {
        memcpy(text, listing, sizeof text);
        for (uint32_t k = dice(&state) % 4 + 1; k; k--) {
            const size_t at = dice(&state) % (sizeof text - 1), from = dice(&state) % (sizeof text - 41);
            switch (dice(&state) % 3) {
            case 0: text[at] = letters[dice(&state) % (sizeof letters - 1)]; break;
            case 1: text[at] = (char)dice(&state); break;
            default: memmove(text + (at < sizeof text - 41 ? at : 0), listing + from, dice(&state) % 40); break;
            }
        }
        char why[300] = "";
        read += read_and_run(o.bytes, sizeof o.bytes, text, sizeof text - 1, why, sizeof why);
    }
    ok(read > 0 && read < n, "%d of %d listings are read, the others refused", read, n);
}

static void test_mutated_objects(void)
{
    static struct object o;
    uint32_t state = 5;
    int read = 0;
    const int n = rounds(5000);
    for (int i = 0; i < n; i++) {
        make_object(&o);
        for (uint32_t k = dice(&state) % 3 + 1; k; k--) {
            const size_t where[] = { 0, 176, NOTE, 0x500, STRINGS, 0x100, RODATA, 64, SECTIONS, 6 * 64 };
            const size_t area = dice(&state) % 5, at = where[2 * area] + dice(&state) % where[2 * area + 1];
            o.bytes[at] = dice(&state) % 2 ? (unsigned char)dice(&state)
                                           : (unsigned char)(o.bytes[at] ^ (1u << dice(&state) % 8));
        }
        char why[300] = "";
        read += read_and_run(o.bytes, sizeof o.bytes, listing, sizeof listing - 1, why, sizeof why);
    }
    ok(read > 0 && read < n, "%d of %d objects are read, the others refused", read, n);
}

/* ---- refused ---- */

static const struct {
    const char *text, *why, *target;
} refused[] = {
    { "image_load v[0:3], v[0:1], s[0:7]", "image_load is not executed here", NULL },
    { ".long 0xdeadbeef", ".long is not executed here", NULL },
    { "v_add_f32 v0, v1", "too few operands", NULL },
    { "v_add_f32 v0, v1, v2, v3", "too many operands", NULL },
    { "v_add_f32 v0, v256, v2", "no register v256", NULL },
    { "v_add_f32 v0, s106, v2", "no register s106", NULL },
    { "v_add_f32 v0, foo, v2", "foo is no operand", NULL },
    { "v_add_f32 1.0, v1, v2", "is no vector register", NULL },
    { "v_add_f32 v0, v[1:2], v2", "not of 1 registers", NULL },
    { "v_lshlrev_b64 v[0:1], v2, v3", "not of 2 registers", NULL },
    { "v_lshlrev_b64 v[0:1], v2, v132", "not of 2 registers", NULL },
    { "v_cmp_lt_f32 vcc, v0, v1", "not of 1 registers", NULL },
    { "v_mov_b32_dpp v0, v1 row_strange:1", "a DPP that is not known", NULL },
    { "v_mov_b32_sdwa v0, v1 src0_sel:BYTE_7", "src0_sel:BYTE_7", NULL },
    { "v_add_f32 s0, v1, v2", "s0 is no vector register", NULL },
    { "s_add_u32 s0, v1, s2", "v1 is no scalar", NULL },
    { "v_readlane_b32 s0, v1, v2", "v2 is no scalar", NULL },
    { "global_load_b32 v0, s1, s[4:5]", "s1 is no vector register", NULL },
    { "global_load_b32 v0, v1, v[4:5]", "v[4:5] is no scalar", NULL },
    { "global_load_b32 s0, v1, s[4:5]", "s0 is no vector register", NULL },
    { "s_load_b32 v0, s[4:5], 0x0", "v0 is no scalar register", NULL },
    { "ds_load_b32 v0, s1", "s1 is no vector register", NULL },
    { "v_and_b32 v0, v1, v2 clamp", "clamp of v_and_b32", NULL },
    { "v_and_b32 v0, v1, v2 op_sel:[1,0,0]", "op_sel", NULL },
    { "global_load_b64 v0, v1, s[4:5]", "not of 2 registers", NULL },
    { "global_load_b32 v0, off, s[4:5]", "without an address", NULL },
    { "global_load_dword v0, v1, s[4:5] lds", "into LDS", NULL },
    { "global_load_b32 v0, v1, s[4:5] offset:x", "offset:x", NULL },
    { "ds_load_b32 v0, v1 gds", "GDS", NULL },
    { "buffer_load_b32 v0, v1, s[0:3], 0 idxen", "with an index", NULL },
    { "s_load_b64 s[0:3], s[4:5], 0x0", "another number", NULL },
    { "s_branch nowhere", "no label nowhere", NULL },
    { "s_cbranch_scc0 5", "where no instruction begins", NULL },
    { "s_waitcnt strange(0)", "no wait that is known", NULL },
    { "s_setreg_b32 hwreg(HW_REG_MODE, 0, 4), s0", "changes rounding", NULL },
    { "s_setreg_b32 hwreg(HW_REG_TRAPSTS, 0, 4), s0", "something else than the mode", NULL },
    { "s_round_mode 0x1", "something else than to nearest", NULL },
    { "s_barrier_signal 1", "another barrier", "gfx1201" },
    { "v_dual_mov_b32 v0, v1 :: s_nop 0", "a pair of something else", NULL },
    { "v_mfma_f32_16x16x16f16 v[0:3], v[4:5], v[6:7], v[0:3] cbsz:1", "with cbsz", "gfx90a" },
    { "v_mfma_f32_16x16x16f16 v[0:3], v[4:5], v[6:7], v[0:3]", "32 lanes", NULL },
    { "v_wmma_f32_16x16x16_f16 v[0:7], v[8:11], v[12:15], v[0:7]", "not of 8 registers", NULL },
    { "ds_swizzle_b32 v0, v1 offset:swizzle(FFT, 3)", "swizzle(FFT, 3)", NULL },
    { "s_nop 0", "is no processor", "sm_80" },
    { "s_nop 0", "gfx803 is not executed", "gfx803" },
};

static void test_refused(void)
{
    for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
        char text[400], why[300] = "";
        const struct how how = { .target = refused[i].target };
        snprintf(text, sizeof text, "t:\n%s\ns_endpgm\n", refused[i].text);
        struct amdgpu_module *m = read_text(text, &how, why, sizeof why);
        int line = 0;
        const int has_line = sscanf(why, "line %d:", &line) == 1,
                  of_target = strstr(refused[i].why, "processor") != NULL || strstr(refused[i].why, "gfx803") != NULL;
        const int right = !m && strstr(why, refused[i].why) && (of_target ? !has_line : line == 2);
        ok(right, "refused: %s", refused[i].text);
        if (!right)
            diag("%s", why);
        amdgpu_module_free(m);
    }
}

static void test_refused_objects(void)
{
    static struct object o;
    char why[300];
    make_object(&o);
    ok(!amdgpu_module_read("text", 4, listing, sizeof listing - 1, why, sizeof why) && strstr(why, "no ELF"), "%s",
       why);
    ok(!amdgpu_object_target(o.bytes, 20, why, sizeof why, NULL, 0), "a beginning has no target");
    o.bytes[48] = 0xee;
    ok(!amdgpu_module_read(o.bytes, SIZE, listing, sizeof listing - 1, why, sizeof why) && strstr(why, "processor"),
       "%s", why);
    make_object(&o);
    o.bytes[TEXT_AT + 8] ^= 1;
    ok(!amdgpu_module_read(o.bytes, SIZE, listing, sizeof listing - 1, why, sizeof why) &&
           strstr(why, "line 7: ") == why && strstr(why, "not of this object"),
       "%s", why);
    make_object(&o);
    ok(!amdgpu_module_read(o.bytes, SIZE, "", 0, why, sizeof why) && strstr(why, "no kernel tiny"), "%s", why);
    ok(!amdgpu_module_read(o.bytes, SIZE, "s_nop 0\n", 8, why, sizeof why) && strstr(why, "no comment"), "%s", why);
    ok(!amdgpu_module_read("", 0, "", 0, NULL, 0), "without room for the reason");
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    test_object();
    test_truncated();
    test_mutated();
    test_mutated_objects();
    test_refused();
    test_refused_objects();
    return done_testing();
}
