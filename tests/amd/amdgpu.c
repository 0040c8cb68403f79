/* amdgpu.c - what AMD's instructions do beyond a lane: memory, other lanes, matrices, branches, waves
 * SPDX-License-Identifier: Apache-2.0 */
#include <math.h>
#include <stdint.h>

#include "tests/amd/amdgpu.h"

enum { ITEMS = 64, ROOM = 4096 };

/* Runs a body on words, of which word i is i at first, and tells what is found. */
static uint32_t *run_body(const char *name, const char *body, const struct how *how)
{
    static uint32_t data[ROOM];
    char text[8000];
    struct heard heard;
    for (uint32_t i = 0; i < ROOM; i++)
        data[i] = i;
    snprintf(text, sizeof text, BEGIN "%s" END, body);
    const enum amdgpu_status status = run_text(text, data, sizeof data, NULL, how, &heard);
    if (status || heard.all)
        diag("%s: status %d, %s", name, status, heard.text);
    return data;
}

/* ---- from other lanes ---- */

/* v2 is the item plus 100; the body moves it to v3, of which lane i holds what lane from(i) had, -1: 7 (as before),
 * -2: 0. Waves of 32 and 64 lanes. */
struct move {
    const char *body;
    int (*from)(int i, int lanes);
    int lanes; /* 0: both */
};
#define FROM(id, ...)                                                                                                  \
    static int from_##id(int i, int lanes)                                                                             \
    {                                                                                                                  \
        (void)i, (void)lanes;                                                                                          \
        return (__VA_ARGS__);                                                                                          \
    }
FROM(quad, (i & ~3) + (i % 4 == 0 ? 1 : i % 4 == 1 ? 0 : i % 4 == 2 ? 3 : 3))
FROM(shl, i % 16 + 3 < 16 ? i + 3 : -1)
FROM(shr, i % 16 >= 2 ? i - 2 : -2)
FROM(ror, (i & ~15) + (i % 16 + 16 - 5) % 16)
FROM(share, (i & ~15) + 9)
FROM(xmask, i ^ 6)
FROM(mirror, (i & ~15) + 15 - i % 16)
FROM(half_mirror, (i & ~7) + 7 - i % 8)
FROM(eight, (i & ~7) + (int[]){ 7, 6, 0, 1, 2, 2, 3, 5 }[i % 8])
FROM(rows, (i / 16) % 2 == 1 && i % 16 / 4 != 1 ? i : -1)
FROM(bcast15, i % 32 >= 16 ? (i & ~15) - 1 : -1)
FROM(bcast31, i >= 32 ? 31 : -1)
FROM(permlane, (i & ~15) + (15 - i % 16))
FROM(permlanex, ((i & ~15) ^ 16) + (i % 16 + 1) % 16)
FROM(swap16, (i & ~31) + (i % 32 ^ 16))
FROM(broadcast, (i & ~31) + (i % 32 / 8 * 8) + 2)
FROM(swizzle_quad, (i & ~3) + 3 - i % 4)
FROM(bpermute, (i + 5) % lanes)
FROM(permute, (i + lanes - 5) % lanes)
FROM(first, 3)
FROM(lane, 17)
static const struct move moves[] = {
    { "v_mov_b32_dpp v3, v2 quad_perm:[1,0,3,3] row_mask:0xf bank_mask:0xf\n", from_quad, 0 },
    { "v_mov_b32_dpp v3, v2 row_shl:3 row_mask:0xf bank_mask:0xf\n", from_shl, 0 },
    { "v_mov_b32_dpp v3, v2 row_shr:2 row_mask:0xf bank_mask:0xf bound_ctrl:1\n", from_shr, 0 },
    { "v_mov_b32_dpp v3, v2 row_ror:5 row_mask:0xf bank_mask:0xf\n", from_ror, 0 },
    { "v_mov_b32_dpp v3, v2 row_share:9 row_mask:0xf bank_mask:0xf\n", from_share, 0 },
    { "v_mov_b32_dpp v3, v2 row_xmask:6 row_mask:0xf bank_mask:0xf\n", from_xmask, 0 },
    { "v_mov_b32_dpp v3, v2 row_mirror row_mask:0xf bank_mask:0xf\n", from_mirror, 0 },
    { "v_mov_b32_dpp v3, v2 row_half_mirror row_mask:0xf bank_mask:0xf\n", from_half_mirror, 0 },
    { "v_mov_b32_dpp v3, v2 dpp8:[7,6,0,1,2,2,3,5]\n", from_eight, 0 },
    { "v_mov_b32_dpp v3, v2 quad_perm:[0,1,2,3] row_mask:0xa bank_mask:0xd\n", from_rows, 0 },
    { "v_mov_b32_dpp v3, v2 row_bcast:15 row_mask:0xa bank_mask:0xf\n", from_bcast15, 64 },
    { "v_mov_b32_dpp v3, v2 row_bcast:31 row_mask:0xc bank_mask:0xf\n", from_bcast31, 64 },
    { "v_add_nc_u32_dpp v3, v2, v4 row_xmask:6 row_mask:0xf bank_mask:0xf\n", from_xmask, 0 },
    { "s_mov_b32 s10, 0x89abcdef\ns_mov_b32 s11, 0x01234567\nv_permlane16_b32 v3, v2, s10, s11\n", from_permlane, 0 },
    { "s_mov_b32 s10, 0x87654321\ns_mov_b32 s11, 0x0fedcba9\nv_permlanex16_b32 v3, v2, s10, s11\n", from_permlanex, 0 },
    { "ds_swizzle_b32 v3, v2 offset:swizzle(SWAP,16)\ns_waitcnt lgkmcnt(0)\n", from_swap16, 0 },
    { "ds_swizzle_b32 v3, v2 offset:swizzle(BROADCAST,8,2)\ns_waitcnt lgkmcnt(0)\n", from_broadcast, 0 },
    { "ds_swizzle_b32 v3, v2 offset:swizzle(QUAD_PERM,3,2,1,0)\ns_waitcnt lgkmcnt(0)\n", from_swizzle_quad, 0 },
    { "ds_swizzle_b32 v3, v2 offset:swizzle(BITMASK_PERM,\"ppiip\")\ns_waitcnt lgkmcnt(0)\n", from_xmask, 0 },
    { "ds_bpermute_b32 v3, v1, v2 offset:20\ns_waitcnt lgkmcnt(0)\n", from_bpermute, 0 },
    { "ds_permute_b32 v3, v1, v2 offset:20\ns_waitcnt lgkmcnt(0)\n", from_permute, 0 },
    { "s_mov_b64 s[14:15], exec\ns_and_b32 exec_lo, exec_lo, 0xfffffff8\nv_readfirstlane_b32 s10, v2\n"
      "s_mov_b64 exec, s[14:15]\nv_mov_b32 v3, s10\n",
      from_first, 0 },
    { "v_readlane_b32 s10, v2, 17\nv_mov_b32 v3, s10\n", from_lane, 0 },
};

static void test_moves(int lanes)
{
    const struct how how = { .target = lanes == 64 ? "gfx90a" : "gfx1100" };
    for (size_t k = 0; k < sizeof moves / sizeof *moves; k++) {
        char body[600];
        int wrong = 0;
        if (moves[k].lanes && moves[k].lanes != lanes)
            continue;
        snprintf(body, sizeof body,
                 "v_add_nc_u32 v2, 0x64, v0\nv_mov_b32 v3, 7\nv_mov_b32 v4, 0\n%s"
                 "global_store_b32 v1, v3, s[4:5]\n",
                 moves[k].body);
        const uint32_t *data = run_body(moves[k].body, body, &how);
        for (int i = 0; i < ITEMS; i++) {
            const int from = moves[k].from(i % lanes, lanes);
            const uint32_t want = from == -1 ? 7 : from == -2 ? 0 : (uint32_t)(100 + i / lanes * lanes + from);
            if (data[i] != want && !wrong++)
                diag("lane %d: %u, not %u", i, (unsigned)data[i], (unsigned)want);
        }
        ok(!wrong, "%d lanes: %.60s", lanes, moves[k].body);
    }
}

/* ---- memory ---- */

/* What becomes of word `at` in lane 5; words are their numbers at first. */
static const struct {
    const char *body;
    unsigned at;
    uint32_t want;
} accesses[] = {
    { "global_load_b32 v2, v1, s[4:5] offset:400\ns_waitcnt vmcnt(0)\nglobal_store_b32 v1, v2, s[4:5]\n", 5, 105 },
    { "v_mov_b32 v2, s4\nv_mov_b32 v3, s5\nv_add_co_u32 v2, vcc_lo, v2, v1\nv_add_co_ci_u32 v3, vcc_lo, 0, v3, vcc_lo\n"
      "global_load_dwordx2 v[4:5], v[2:3], off offset:1000\ns_waitcnt vmcnt(0)\n"
      "global_store_dword v[2:3], v5, off offset:4\n",
      6, 256 },
    { "v_lshlrev_b32 v2, 2, v1\nglobal_load_b128 v[4:7], v2, s[4:5]\ns_waitcnt vmcnt(0)\nv_mov_b32 v8, v6\n"
      "v_mov_b32 v9, v4\nglobal_store_b64 v2, v[8:9], s[4:5] offset:2048\n",
      532, 22 },
    { "v_lshlrev_b32 v2, 2, v1\nglobal_load_b96 v[4:6], v2, s[4:5]\ns_waitcnt vmcnt(0)\n"
      "global_store_b96 v2, v[4:6], s[4:5] offset:2048\n",
      534, 22 },
    { "v_mov_b32 v2, 0xffff8081\nglobal_store_b8 v1, v2, s[4:5]\n", 5, 129 },
    { "v_mov_b32 v2, 0xffff8081\nglobal_store_b16 v1, v2, s[4:5]\n", 5, 0x8081 },
    { "v_mov_b32 v2, 0x1234abcd\nglobal_store_d16_hi_b16 v1, v2, s[4:5]\n", 5, 0x1234 },
    { "v_mov_b32 v2, 0xffffff85\nglobal_store_b32 v1, v2, s[4:5]\nglobal_load_u8 v3, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
      "global_store_b32 v1, v3, s[4:5]\n",
      5, 0x85 },
    { "v_mov_b32 v2, 0x85\nglobal_store_b32 v1, v2, s[4:5]\nglobal_load_i8 v3, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
      "global_store_b32 v1, v3, s[4:5]\n",
      5, 0xffffff85u },
    { "v_mov_b32 v2, 0x8005\nglobal_store_b32 v1, v2, s[4:5]\nglobal_load_sshort v3, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
      "global_store_b32 v1, v3, s[4:5]\n",
      5, 0xffff8005u },
    { "v_mov_b32 v2, 0x11112222\nglobal_load_d16_hi_b16 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
      "global_store_b32 v1, v2, s[4:5]\n",
      5, 0x00052222 },
    { "v_mov_b32 v2, 0x11112222\nglobal_load_short_d16 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n"
      "global_store_b32 v1, v2, s[4:5]\n",
      5, 0x11110005 },
    { "s_load_b256 s[8:15], s[4:5], 0x40\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s14\nglobal_store_b32 v1, v2, s[4:5]\n",
      5, 22 },
    { "v_add_nc_u32 v2, 9, v0\nds_store_b32 v1, v2\ns_waitcnt lgkmcnt(0)\nds_load_b32 v3, v1\ns_waitcnt lgkmcnt(0)\n"
      "global_store_b32 v1, v3, s[4:5]\n",
      5, 14 },
    { "v_lshlrev_b32 v4, 3, v0\nv_mov_b32 v2, v0\nv_mov_b32 v3, 77\nds_write_b64 v4, v[2:3] offset:16\n"
      "s_waitcnt lgkmcnt(0)\nds_read2_b32 v[6:7], v4 offset0:5 offset1:4\ns_waitcnt lgkmcnt(0)\n"
      "global_store_b32 v1, v6, s[4:5]\nglobal_store_b32 v1, v7, s[4:5] offset:256\n",
      5, 77 },
    { "v_mov_b32 v2, 1\nv_mov_b32 v3, 2\nds_store_2addr_stride64_b32 v1, v2, v3 offset0:1 offset1:3\n"
      "s_waitcnt lgkmcnt(0)\nds_load_2addr_stride64_b32 v[4:5], v1 offset0:3 offset1:1\ns_waitcnt lgkmcnt(0)\n"
      "v_lshl_or_b32 v4, v4, 8, v5\nglobal_store_b32 v1, v4, s[4:5]\n",
      5, 0x201 },
    { "v_lshlrev_b32 v4, 4, v0\nv_mov_b32 v2, v0\nv_mov_b32 v3, 70\nv_add_nc_u32 v6, 9, v0\nv_mov_b32 v7, 80\n"
      "ds_store_2addr_b64 v4, v[2:3], v[6:7] offset0:1 offset1:2\ns_waitcnt lgkmcnt(0)\n"
      "ds_load_2addr_b64 v[8:11], v4 offset0:2 offset1:1\ns_waitcnt lgkmcnt(0)\nv_add_nc_u32 v8, v8, v11\n"
      "global_store_b32 v1, v8, s[4:5]\n",
      5, 14 + 70 },
    { "v_mov_b32 v2, 0xabcd\nds_store_b16 v1, v2\nv_mov_b32 v3, 5\ns_waitcnt lgkmcnt(0)\nds_load_u16_d16_hi v3, v1\n"
      "s_waitcnt lgkmcnt(0)\nglobal_store_b32 v1, v3, s[4:5]\n",
      5, 0xabcd0005u },
    { "v_mov_b32 v2, 3\nglobal_atomic_add_u32 v3, v1, v2, s[4:5] glc\ns_waitcnt vmcnt(0)\n"
      "global_store_b32 v1, v3, s[4:5] offset:1024\n",
      5, 8 },
    { "v_mov_b32 v2, 9\nv_mov_b32 v3, v0\nglobal_atomic_cmpswap v1, v[2:3], s[4:5]\n", 5, 9 },
    { "v_mov_b32 v2, 0x70\nv_mov_b32 v3, 0\nds_store_b32 v1, v3\ns_waitcnt lgkmcnt(0)\nds_or_b32 v1, v2\n"
      "ds_add_rtn_u32 v4, v1, v2\ns_waitcnt lgkmcnt(0)\nds_load_b32 v5, v1\ns_waitcnt lgkmcnt(0)\n"
      "v_add_nc_u32 v4, v4, v5\nglobal_store_b32 v1, v4, s[4:5]\n",
      5, 0x70 + 0xe0 },
    { "v_mov_b32 v2, 1.0\nv_cvt_f32_u32 v3, v0\nglobal_store_b32 v1, v3, s[4:5]\nglobal_atomic_add_f32 v1, v2, "
      "s[4:5]\n",
      5, 0x40c00000 },
    { "v_add_nc_u32 v2, 50, v0\nscratch_store_b32 off, v2, off offset:8\nv_mov_b32 v5, 4\n"
      "scratch_load_b32 v3, v5, off offset:4\ns_waitcnt vmcnt(0)\nglobal_store_b32 v1, v3, s[4:5]\n",
      5, 55 },
    { "v_mov_b32 v4, 8\ns_mov_b64 s[8:9], src_private_base\nv_mov_b32 v5, s9\nv_mov_b32 v6, 66\n"
      "flat_store_b32 v[4:5], v6\nscratch_load_b32 v3, off, off offset:8\ns_waitcnt vmcnt(0) lgkmcnt(0)\n"
      "global_store_b32 v1, v3, s[4:5]\n",
      5, 66 },
    { "v_mov_b32 v4, v1\ns_mov_b64 s[8:9], src_shared_base\nv_mov_b32 v5, s9\nds_store_b32 v1, v0\ns_waitcnt "
      "lgkmcnt(0)\n"
      "flat_load_b32 v3, v[4:5]\ns_waitcnt vmcnt(0) lgkmcnt(0)\nv_lshlrev_b32 v3, 4, v3\n"
      "global_store_b32 v1, v3, s[4:5]\n",
      5, 80 },
    /* lanes that are off */
    { "v_cmpx_gt_u32 5, v0\nv_mov_b32 v2, 99\nglobal_store_b32 v1, v2, s[4:5]\n", 5, 5 },
    { "v_cmpx_gt_u32 6, v0\nv_mov_b32 v2, 99\nglobal_store_b32 v1, v2, s[4:5]\n", 5, 99 },
    { "v_mov_b32 v2, 1\nv_cmp_lt_u32 vcc_lo, 4, v0\ns_and_saveexec_b32 s8, vcc_lo\ns_cbranch_execz skip\n"
      "v_mov_b32 v2, 2\nskip:\ns_xor_b32 exec_lo, exec_lo, s8\nv_mov_b32 v2, 3\ns_mov_b32 exec_lo, s8\n"
      "global_store_b32 v1, v2, s[4:5]\n",
      5, 2 },
    { "v_writelane_b32 v2, 17, 5\nv_cmpx_eq_u32 5, v0\nglobal_store_b32 v1, v2, s[4:5]\n", 5, 17 },
    /* both halves of a pair read before one writes */
    { "v_mov_b32 v2, 1\nv_mov_b32 v3, 2\nv_dual_mov_b32 v2, v3 :: v_dual_mov_b32 v3, v2\nv_lshl_or_b32 v2, v2, 8, v3\n"
      "global_store_b32 v1, v2, s[4:5]\n",
      5, 0x201 },
    { "v_mov_b32 v2, 1\nv_mov_b32 v3, 2\nv_swap_b32 v2, v3\nv_lshl_or_b32 v2, v2, 8, v3\nglobal_store_b32 v1, v2, "
      "s[4:5]\n",
      5, 0x201 },
    /* registers by number */
    { "v_mov_b32 v6, 0\ns_mov_b32 m0, 2\nv_movreld_b32 v4, v0\nglobal_store_b32 v1, v6, s[4:5] offset:4\n", 6, 5 },
    { "v_mov_b32 v6, 44\ns_mov_b32 s10, 2\ns_set_gpr_idx_on s10, gpr_idx(SRC0)\nv_mov_b32 v2, v4\ns_set_gpr_idx_off\n"
      "global_store_b32 v1, v2, s[4:5]\n",
      5, 44 },
    /* program counters: 47 bits, which kernels extend by their sign; calls */
    { "s_getpc_b64 s[8:9]\ns_sext_i32_i16 s9, s9\ns_add_u32 s8, s8, 24\ns_addc_u32 s9, s9, 0\nv_mov_b32 v2, 1\n"
      "s_setpc_b64 s[8:9]\nv_mov_b32 v2, 2\nglobal_store_b32 v1, v2, s[4:5]\n",
      5, 1 },
    { "s_getpc_b64 s[8:9]\ns_add_u32 s8, s8, 20\ns_addc_u32 s9, s9, 0\ns_swappc_b64 s[30:31], s[8:9]\n"
      "global_store_b32 v1, v2, s[4:5]\ns_branch done\nv_mov_b32 v2, 77\ns_setpc_b64 s[30:31]\ndone:\n",
      5, 77 },
    /* loops, by compare and branch */
    { "s_mov_b32 s8, 0\nv_mov_b32 v2, 0\nagain:\nv_add_nc_u32 v2, v2, v0\ns_add_i32 s8, s8, 1\ns_cmp_lt_i32 s8, 10\n"
      "s_cbranch_scc1 again\nglobal_store_b32 v1, v2, s[4:5]\n",
      5, 50 },
};

static void test_accesses(void)
{
    const struct how how = { .shared = 2048, .scratch = 32 };
    for (size_t i = 0; i < sizeof accesses / sizeof *accesses; i++) {
        const uint32_t *data = run_body(accesses[i].body, accesses[i].body, &how);
        ok(data[accesses[i].at] == accesses[i].want, "0x%x: %.70s", (unsigned)data[accesses[i].at], accesses[i].body);
    }
}

/* A tree over LDS with barriers, in every schedule, for waves of both sizes and both kinds of barriers. */
static void test_barriers(void)
{
    static const struct {
        const char *target, *barrier;
    } machines[] = { { "gfx1100", "s_barrier\n" },
                     { "gfx90a", "s_barrier\n" },
                     { "gfx1201", "s_barrier_signal -1\ns_barrier_wait -1\n" } };
    for (size_t k = 0; k < sizeof machines / sizeof *machines; k++)
        for (int schedule = SCHEDULE_LOWEST; schedule <= SCHEDULE_RANDOM; schedule++) {
            const struct how how = { .target = machines[k].target,
                                     .items = 256,
                                     .shared = 1024,
                                     .schedule = (enum schedule)schedule,
                                     .seed = 3,
                                     .groups = 2,
                                     .n_threads = 2 };
            const int wide = k == 1;
            char body[1500];
            snprintf(body, sizeof body,
                     "v_mov_b32 v2, v0\nds_store_b32 v1, v2\ns_waitcnt lgkmcnt(0)\n%ss_movk_i32 s8, 0x80\nagain:\n"
                     "v_cmp_gt_u32 %s, s8, v0\ns_and_saveexec_b%d %s, %s\nv_lshl_add_u32 v3, s8, 2, v1\n"
                     "ds_load_b32 v4, v3\nds_load_b32 v5, v1\ns_waitcnt lgkmcnt(0)\nv_add_nc_u32 v5, v4, v5\n"
                     "ds_store_b32 v1, v5\ns_waitcnt lgkmcnt(0)\ns_mov_b%d %s, %s\n%ss_lshr_b32 s8, s8, 1\n"
                     "s_cbranch_scc1 again\nv_mov_b32 v6, 0\nds_load_b32 v7, v6\ns_lshl_b32 s9, s2, 10\n"
                     "v_add_nc_u32 v8, s9, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_b32 v8, v7, s[4:5]\n",
                     machines[k].barrier, wide ? "vcc" : "vcc_lo", wide ? 64 : 32, wide ? "s[10:11]" : "s10",
                     wide ? "vcc" : "vcc_lo", wide ? 64 : 32, wide ? "exec" : "exec_lo", wide ? "s[10:11]" : "s10",
                     machines[k].barrier);
            const uint32_t *data = run_body(machines[k].target, body, &how);
            ok(data[0] == 255 * 128 && data[511] == 255 * 128, "%s, schedule %d: %u", machines[k].target, schedule,
               (unsigned)data[511]);
        }
}

/* ---- matrices ---- */

/* The shapes' registers as AMD's matrix instruction calculator prints them: of lane l and element e of A the row i and
 * k (of B the column and k alike), of lane l and register v of D row and column. */
enum kind { KIND_16, KIND_32, KIND_4, KIND_WMMA11, KIND_WMMA11_64, KIND_WMMA12 };
static const struct product {
    const char *target, *text; /* on v[8..] (A), v[16..] (B), v[24..] (C), to v[64..] */
    char type;                 /* h f16, b bf16, f f32, i int8 */
    enum kind kind;
    int k, blocks, a_words, d_words;
} products[] = {
    { "gfx90a", "v_mfma_f32_16x16x16f16 v[64:67], v[8:9], v[16:17], v[24:27]", 'h', KIND_16, 16, 1, 2, 4 },
    { "gfx942", "v_mfma_f32_16x16x16_bf16 v[64:67], v[8:9], v[16:17], v[24:27]", 'b', KIND_16, 16, 1, 2, 4 },
    { "gfx90a", "v_mfma_f32_16x16x16bf16_1k a[64:67], v[8:9], v[16:17], v[24:27]", 'b', KIND_16, 16, 1, 2, 4 },
    { "gfx908", "v_mfma_f32_16x16x8bf16 v[64:67], v8, v16, v[24:27]", 'b', KIND_16, 8, 1, 1, 4 },
    { "gfx942", "v_mfma_f32_32x32x8_f16 v[64:79], v[8:9], v[16:17], v[24:39]", 'h', KIND_32, 8, 1, 2, 16 },
    { "gfx90a", "v_mfma_f32_32x32x4bf16 v[64:79], v8, v16, v[24:39]", 'b', KIND_32, 4, 1, 1, 16 },
    { "gfx90a", "v_mfma_f32_32x32x2f32 v[64:79], v8, v16, v[24:39]", 'f', KIND_32, 2, 1, 1, 16 },
    { "gfx90a", "v_mfma_f32_16x16x4f32 v[64:67], v8, v16, v[24:27]", 'f', KIND_16, 4, 1, 1, 4 },
    { "gfx90a", "v_mfma_f32_16x16x4f16 v[64:79], v[8:9], v[16:17], v[24:39]", 'h', KIND_16, 4, 4, 2, 16 },
    { "gfx90a", "v_mfma_f32_32x32x4f16 v[64:95], v[8:9], v[16:17], v[24:55]", 'h', KIND_32, 4, 2, 2, 32 },
    { "gfx942", "v_mfma_f32_4x4x4_16b_f16 v[64:67], v[8:9], v[16:17], v[24:27]", 'h', KIND_4, 4, 16, 2, 4 },
    { "gfx950", "v_mfma_f32_16x16x32_f16 v[64:67], v[8:11], v[16:19], v[24:27]", 'h', KIND_16, 32, 1, 4, 4 },
    { "gfx950", "v_mfma_f32_32x32x16_bf16 v[64:79], v[8:11], v[16:19], v[24:39]", 'b', KIND_32, 16, 1, 4, 16 },
    { "gfx942", "v_mfma_i32_16x16x32_i8 v[64:67], v[8:9], v[16:17], v[24:27]", 'i', KIND_16, 32, 1, 2, 4 },
    { "gfx1100", "v_wmma_f32_16x16x16_f16 v[64:71], v[8:15], v[16:23], v[24:31]", 'h', KIND_WMMA11, 16, 1, 8, 8 },
    { "gfx1100", "v_wmma_f32_16x16x16_bf16 v[64:71], v[8:15], v[16:23], v[24:31]", 'b', KIND_WMMA11, 16, 1, 8, 8 },
    { "gfx1100", "v_wmma_i32_16x16x16_iu8 v[64:71], v[8:11], v[16:19], v[24:31] neg_lo:[1,1,0]", 'i', KIND_WMMA11, 16,
      1, 4, 8 },
    { "gfx1100", "v_wmma_f32_16x16x16_f16 v[64:67], v[8:15], v[16:23], v[24:27]", 'h', KIND_WMMA11_64, 16, 1, 8, 4 },
    { "gfx1201", "v_wmma_f32_16x16x16_f16 v[64:71], v[8:11], v[16:19], v[24:31]", 'h', KIND_WMMA12, 16, 1, 4, 8 },
    { "gfx1201", "v_wmma_f32_16x16x16_bf16 v[64:71], v[8:11], v[16:19], v[24:31]", 'b', KIND_WMMA12, 16, 1, 4, 8 },
};

static int rows_of(const struct product *p)
{
    return p->kind == KIND_32 ? 32 : p->kind == KIND_4 ? 4 : 16;
}

/* Whole numbers are exact in all types. */
static int a_value(int block, int i, int k)
{
    return (i * 7 + k * 3 + block * 5) % 11 - 5;
}

static int b_value(int block, int k, int j)
{
    return (j * 5 + k * 2 + block * 3) % 13 - 6;
}

static int c_value(int block, int i, int j)
{
    return i * 40 + j - 300 + 7 * block;
}

static uint32_t encoded(char type, int v)
{
    float f = (float)v;
    uint32_t u, e = 0;
    memcpy(&u, &f, sizeof u);
    if (type == 'f')
        return u;
    if (type == 'b')
        return u >> 16;
    if (type == 'i')
        return (uint32_t)v & 255;
    if (!v)
        return 0;
    e = (u >> 23 & 255) - 127 + 15;
    return (u >> 31) << 15 | e << 10 | (u >> 13 & 1023);
}

static int per_word(char type)
{
    return type == 'f' ? 1 : type == 'i' ? 4 : 2;
}

/* Row (of B: column), k and block of element e of a lane. */
static void place_in(const struct product *p, int lane, int e, int *row, int *k, int *block)
{
    const int m = rows_of(p), n = p->a_words * per_word(p->type);
    *row = lane % m;
    *block = 0;
    if (p->kind == KIND_WMMA11 || p->kind == KIND_WMMA11_64)
        *k = e;
    else if (p->blocks == 1)
        *k = lane / m * n + e;
    else {
        *k = e;
        *block = lane / m;
    }
}

static void place_out(const struct product *p, int lane, int v, int *row, int *column, int *block)
{
    *column = lane % rows_of(p);
    *block = 0;
    switch (p->kind) {
    case KIND_16:
        *row = lane / 16 * 4 + v % 4;
        *block = v / 4;
        break;
    case KIND_32:
        *row = v % 16 / 4 * 8 + lane / 32 * 4 + v % 4;
        *block = v / 16;
        break;
    case KIND_4:
        *row = v;
        *block = lane / 4;
        break;
    case KIND_WMMA11: *row = 2 * v + lane / 16; break;
    case KIND_WMMA11_64: *row = 4 * v + lane / 16; break;
    default: *row = v + lane / 16 * 8; break;
    }
}

static void fill_registers(const struct product *p, uint32_t *data, int lanes)
{
    for (int lane = 0; lane < lanes; lane++) {
        for (int e = 0; e < p->a_words * per_word(p->type); e++) {
            int row, k, block;
            const int word = e / per_word(p->type), shift = e % per_word(p->type) * (32 / per_word(p->type));
            place_in(p, lane, e, &row, &k, &block);
            data[word * 64 + lane] |= encoded(p->type, a_value(block, row, k)) << shift;
            data[(8 + word) * 64 + lane] |= encoded(p->type, b_value(block, k, row)) << shift;
        }
        for (int v = 0; v < p->d_words; v++) {
            int row, column, block;
            place_out(p, lane, v, &row, &column, &block);
            const int c = c_value(block, row, column);
            data[(16 + v) * 64 + lane] = p->type == 'i' ? (uint32_t)c : encoded('f', c);
        }
    }
}

static int count_wrong(const struct product *p, const uint32_t *data, int lanes)
{
    int wrong = 0;
    for (int lane = 0; lane < lanes; lane++)
        for (int v = 0; v < p->d_words; v++) {
            int row, column, block;
            place_out(p, lane, v, &row, &column, &block);
            int want = c_value(block, row, column);
            for (int k = 0; k < p->k; k++)
                want += a_value(block, row, k) * b_value(block, k, column);
            const uint32_t bits = p->type == 'i' ? (uint32_t)want : encoded('f', want);
            wrong += data[v * 64 + lane] != bits;
        }
    return wrong;
}

static void test_products(void)
{
    static uint32_t data[64 * 64];
    for (size_t i = 0; i < sizeof products / sizeof *products; i++) {
        const struct product *p = &products[i];
        const int lanes = p->target[3] == '9' || p->kind == KIND_WMMA11_64 ? 64 : 32;
        const struct how how = { .target = p->target, .items = (uint32_t)lanes, .wave = (uint32_t)lanes };
        struct heard heard;
        char text[8000];
        size_t n = (size_t)snprintf(text, sizeof text, BEGIN);
        memset(data, 0, sizeof data);
        fill_registers(p, data, lanes);
        for (int k = 0; k < 16 + p->d_words; k++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "v_add_nc_u32 v2, 0x%x, v1\nglobal_load_b32 v%d, v2, s[4:5]\n", 256 * k, 8 + k);
        n += (size_t)snprintf(text + n, sizeof text - n, "s_waitcnt vmcnt(0)\n%s\n", p->text);
        for (int k = 0; k < p->d_words; k++)
            n += (size_t)snprintf(text + n, sizeof text - n,
                                  "v_mov_b32 v2, %c%d\nglobal_store_b32 v1, v2, s[4:5] offset:%d\n",
                                  strstr(p->text, " a[") ? 'a' : 'v', 64 + k, 256 * k);
        snprintf(text + n, sizeof text - n, END);
        run_text(text, data, sizeof data, NULL, &how, &heard);
        const int wrong = count_wrong(p, data, lanes);
        ok(!wrong && !heard.all, "%s: %.50s: %d elements are wrong %s", p->target, p->text, wrong,
           heard.all ? heard.text : "");
    }
}

/* ---- errors that are allowed ---- */

static float one_result(const char *instruction, float in, int approximate, const char *target)
{
    static uint32_t data[ITEMS];
    const struct how how = { .target = target, .approximate = approximate, .items = 1 };
    struct heard heard;
    char text[600];
    float out;
    memcpy(data, &in, sizeof in);
    snprintf(text, sizeof text,
             BEGIN "s_load_b32 s8, s[4:5], 0x0\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, s8\n%s v3, v2\n"
                   "v_mov_b32 v4, 0\nglobal_store_b32 v4, v3, s[4:5]\n" END,
             instruction);
    run_text(text, data, sizeof data, NULL, &how, &heard);
    memcpy(&out, data, sizeof out);
    return out;
}

static void test_approximate(void)
{
    static const struct {
        const char *name;
        float in;
        double exact;
    } rows[] = { { "v_exp_f32", 1.25f, 2.3784142300054421 }, { "v_exp_f32", -3.5f, 0.088388347648318447 },
                 { "v_log_f32", 10, 3.3219280948873623 },    { "v_rcp_f32", 3, 0.33333333333333331 },
                 { "v_rsq_f32", 5, 0.44721359549995793 },    { "v_sqrt_f32", 7, 2.6457513110645907 },
                 { "v_sin_f32", 0.1f, 0.58778525987057 } };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const float low = one_result(rows[i].name, rows[i].in, -1, "gfx1100");
        const float middle = one_result(rows[i].name, rows[i].in, 0, "gfx1100");
        const float high = one_result(rows[i].name, rows[i].in, 1, "gfx1100");
        const double one = i == 6 ? 0x1p-20 : nextafterf((float)rows[i].exact, INFINITY) - (float)rows[i].exact;
        ok(low < rows[i].exact && rows[i].exact - low <= one && high > rows[i].exact && high - rows[i].exact <= one &&
               fabs(middle - rows[i].exact) <= 0.51 * one,
           "%s of %g: %.9g %.9g %.9g", rows[i].name, rows[i].in, low, middle, high);
    }
    ok(one_result("v_exp_f32", 0, 1, NULL) == 1 && one_result("v_log_f32", 1, -1, NULL) == 0 &&
           one_result("v_rcp_f32", -2, 1, NULL) == -0.5f,
       "what the manuals give as examples is exact");
    ok(one_result("v_exp_f32", -INFINITY, 1, NULL) == 0 && isinf(one_result("v_rcp_f32", 0, 1, NULL)) &&
           isnan(one_result("v_sqrt_f32", -1, 1, NULL)),
       "special values are");
    ok(one_result("v_exp_f32", -130, 0, NULL) == 0 && isinf(one_result("v_rcp_f32", 0x1p-130f, 0, NULL)),
       "denormal numbers are zero there");
}

static void test_flush(void)
{
    static uint32_t data[ITEMS];
    struct heard heard;
    uint32_t sums[2];
    for (int flush = 0; flush < 2; flush++) {
        const struct how how = { .flush = flush };
        memset(data, 0, sizeof data);
        run_text(BEGIN "v_mov_b32 v2, 0x00400000\nv_add_f32 v3, v2, v2\nglobal_store_b32 v1, v3, s[4:5]\n" END, data,
                 sizeof data, NULL, &how, &heard);
        sums[flush] = data[0];
    }
    ok(sums[0] == 0x00800000 && sums[1] == 0, "the mode says whether denormal numbers are zero");
}

/* ---- what is told of a launch ---- */

static void test_stats(void)
{
    const char *text = BEGIN "v_cmpx_gt_u32 8, v0\nv_mov_b32 v2, 1\nglobal_store_b32 v1, v2, s[4:5]\n" END;
    static uint32_t data[ITEMS];
    static const struct how how;
    char why[200];
    struct amdgpu_module *m = read_text(text, &how, why, sizeof why);
    if (!m)
        bail("%s", why);
    struct launch_buffer buffer = { data, sizeof data, NULL };
    struct launch_arg arg = { ARG_BUFFER, 0, 0, NULL, 0 };
    struct amdgpu_launch l = AMDGPU_LAUNCH_INIT;
    struct amdgpu_stats stats;
    uint64_t lines[9] = { 0 };
    memset(&stats, 0, sizeof stats);
    l.block[0] = ITEMS, l.grid[0] = 3, l.args = &arg, l.n_args = 1, l.buffers = &buffer, l.n_buffers = 1;
    l.stats = &stats, l.per_line = lines, l.n_lines = 9;
    is_int(amdgpu_run(amdgpu_kernel_at(m, 0), &l, why, sizeof why), AMDGPU_OK, "it runs");
    is_int((long)stats.instructions, 3 * 2 * 8, "instructions of waves");
    is_int((long)stats.lane_instructions, 3 * (2 * (3 + 3 * 32) + 2 * 8), "those of lanes");
    ok(!lines[0] && lines[1] == 6 && lines[6] == 6 && lines[8] == 6, "how often lines were executed");
    is_int((long)amdgpu_module_lines(m), 9, "lines");
    is_str(amdgpu_module_target(m), "gfx1100", "the target");
    const struct amdgpu_info *info = amdgpu_kernel_info(amdgpu_kernel_named(m, "t"));
    ok(info->wave == 32 && info->n_ops == 8 && info->first_line == 2 && info->last_line == 9, "the kernel's place");
    ok(!amdgpu_kernel_named(m, "u") && !amdgpu_kernel_at(m, 1) && amdgpu_module_kernels(m) == 1, "one kernel");
    l.block[0] = 2000;
    is_int(amdgpu_run(amdgpu_kernel_at(m, 0), &l, why, sizeof why), AMDGPU_INVALID, "too large a group: %s", why);
    l.block[0] = 1, l.n_args = 0;
    is_int(amdgpu_run(amdgpu_kernel_at(m, 0), &l, why, sizeof why), AMDGPU_INVALID, "no argument: %s", why);
    amdgpu_module_free(m);
    amdgpu_module_free(NULL);
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    test_moves(32);
    test_moves(64);
    test_accesses();
    test_barriers();
    test_products();
    test_approximate();
    test_flush();
    test_stats();
    return done_testing();
}
