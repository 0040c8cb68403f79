/* amdgpu_checks.c - what the interpreter of AMDGPU code finds: each kind where it is, and nothing where it is not
 * SPDX-License-Identifier: Apache-2.0 */
#include <stdint.h>

#include "tests/amd/amdgpu.h"

enum { SILENT = -1 };
#define ANY UINT32_MAX
#define AMONG(kind) (-2 - (kind)) /* whatever else is found */
#define ONES8(n)                                                                                                       \
    "v_mov_b32 v" #n "0, 0\nv_mov_b32 v" #n "1, 0\nv_mov_b32 v" #n "2, 0\nv_mov_b32 v" #n "3, 0\n"                     \
    "v_mov_b32 v" #n "4, 0\nv_mov_b32 v" #n "5, 0\nv_mov_b32 v" #n "6, 0\nv_mov_b32 v" #n "7, 0\n"

/* Bodies on 64 work-items, in one group or more; the buffer has 256 bytes, LDS 512, scratch 16. Of gfx1100 if no target
 * is named. */
static const struct {
    const char *name, *body;
    int kind; /* SILENT, an enum finding_kind, which is the only one, or AMONG() of one */
    int line; /* of the finding; lines of the body count from 0 */
    int64_t offset;
    uint32_t thread; /* ANY: not looked at */
    uint32_t groups;
    const char *target;
} rows[] = {
    /* bounds and alignment */
    { "a read behind the buffer", "global_load_b32 v2, v1, s[4:5] offset:4\n", FOUND_OUTSIDE, 0, 256, 63, 1, NULL },
    { "a read that ends there", "global_load_b32 v2, v1, s[4:5]\n", SILENT, 0, 0, 0, 1, NULL },
    { "a write before the buffer", "v_mov_b32 v2, 0\nglobal_store_b32 v1, v2, s[4:5] offset:-4\n", FOUND_OUTSIDE, 1, -4,
      0, 1, NULL },
    { "a vector that ends behind", "v_and_b32 v2, 0xf8, v1\nglobal_load_b128 v[4:7], v2, s[4:5]\n", FOUND_OUTSIDE, 1,
      248, 62, 1, NULL },
    { "a scalar read behind the buffer", "s_load_b64 s[8:9], s[4:5], 0x100\n", FOUND_OUTSIDE, 0, 256, 0, 1, NULL },
    { "a read behind the arguments", "s_load_b64 s[8:9], s[0:1], 0x8\n", FOUND_OUTSIDE, 0, 8, 0, 1, NULL },
    { "a null pointer", "v_mov_b32 v2, 0\nv_mov_b32 v3, 0\nglobal_load_b32 v4, v[2:3], off\n", FOUND_OUTSIDE, 2, 0, 0,
      1, NULL },
    { "lanes that are off access nothing", "v_cmpx_gt_u32 63, v0\nglobal_load_b32 v2, v1, s[4:5] offset:4\n", SILENT, 0,
      0, 0, 1, NULL },
    { "LDS behind its end", "v_mov_b32 v2, 0\nds_store_b32 v1, v2 offset:260\n", FOUND_OUTSIDE, 1, 512, 63, 1, NULL },
    { "scratch behind its end", "scratch_load_b32 v2, off, off offset:16\n", FOUND_OUTSIDE, 0, 16, 0, 1, NULL },
    { "a misaligned word, atomically", "v_mov_b32 v2, 2\nv_mov_b32 v3, 0\nglobal_atomic_add_u32 v2, v3, s[4:5]\n",
      AMONG(FOUND_MISALIGNED), 2, 2, ANY, 1, NULL },
    { "words at any address", "v_mov_b32 v2, 5\nglobal_load_b64 v[4:5], v2, s[4:5]\n", SILENT, 0, 0, 0, 1, NULL },
    { "a misaligned word of LDS", "v_mov_b32 v2, 2\nv_mov_b32 v3, 0\nds_store_b32 v2, v3\n", AMONG(FOUND_MISALIGNED), 2,
      2, ANY, 1, NULL },
    { "two words, aligned as words", "v_mov_b32 v2, 4\nglobal_load_b64 v[4:5], v2, s[4:5]\n", SILENT, 0, 0, 0, 1,
      NULL },
    { "a write to the arguments",
      "v_mov_b32 v2, s0\nv_mov_b32 v3, s1\nv_mov_b32 v4, 0\nglobal_store_b32 v[2:3], v4, off\n", FOUND_READ_ONLY, 3, 0,
      0, 1, NULL },

    /* what nothing wrote */
    { "a register that nothing wrote is stored", "global_store_b32 v1, v9, s[4:5]\n", FOUND_READ_REGISTER, 0, 0, 0, 1,
      NULL },
    { "one that was computed of it",
      "v_add_nc_u32 v2, v9, v0\nv_mul_lo_u32 v3, v2, v2\nglobal_store_b32 v1, v3, s[4:5]\n", FOUND_READ_REGISTER, 2, 0,
      0, 1, NULL },
    { "one that only some lanes wrote",
      "v_cmp_gt_u32 vcc_lo, 20, v0\ns_and_saveexec_b32 s8, vcc_lo\nv_mov_b32 v2, 1\ns_mov_b32 exec_lo, s8\n"
      "global_store_b32 v1, v2, s[4:5]\n",
      FOUND_READ_REGISTER, 4, 0, 20, 1, NULL },
    { "those lanes store it", "v_cmpx_gt_u32 20, v0\nv_mov_b32 v2, 1\nglobal_store_b32 v1, v2, s[4:5]\n", SILENT, 0, 0,
      0, 1, NULL },
    { "it is computed and dropped", "v_add_nc_u32 v2, v9, v0\nv_mov_b32 v2, 0\nglobal_store_b32 v1, v2, s[4:5]\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "an address of it", "global_load_b32 v2, v9, s[4:5]\n", AMONG(FOUND_READ_REGISTER), 0, ANY, ANY, 1, NULL },
    { "a scalar address of it", "v_mov_b32 v2, 0\nglobal_load_b32 v2, v2, s[20:21]\n", AMONG(FOUND_READ_REGISTER), 1,
      ANY, ANY, 1, NULL },
    { "a branch on it", "s_cmp_eq_u32 s20, 0\ns_cbranch_scc1 on\non:\n", FOUND_READ_REGISTER, 1, 0, 0, 1, NULL },
    { "EXEC of it", "v_cmp_eq_u32 vcc_lo, v9, v0\ns_and_saveexec_b32 s8, vcc_lo\n", FOUND_READ_REGISTER, 1, 0, 0, 1,
      NULL },
    { "a mask of which only defined bits are left",
      "v_cmp_gt_u32 vcc_lo, 20, v0\ns_and_saveexec_b32 s8, vcc_lo\nv_mov_b32 v2, 1\ns_mov_b32 exec_lo, s8\n"
      "v_cmp_eq_u32 s9, v2, v0\ns_and_b32 s9, s9, vcc_lo\ns_and_saveexec_b32 s8, s9\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "the upper half of a product's addend",
      "v_mov_b32 v2, 4\nv_mad_u64_u32 v[4:5], null, v2, v2, v[2:3]\nglobal_store_b32 v1, v4, s[4:5]\n", SILENT, 0, 0, 0,
      1, NULL },
    { "the upper half of the sum",
      "v_mov_b32 v2, 4\nv_mad_u64_u32 v[4:5], null, v2, v2, v[2:3]\nglobal_store_b32 v1, v5, s[4:5]\n",
      FOUND_READ_REGISTER, 2, 0, 0, 1, NULL },
    { "a choice of what was written",
      "v_mov_b32 v2, 1\nv_cmp_eq_u32 vcc_lo, v0, v0\nv_cndmask_b32 v3, v9, v2, vcc_lo\nglobal_store_b32 v1, v3, "
      "s[4:5]\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "a choice of what was not",
      "v_mov_b32 v2, 1\nv_cmp_eq_u32 vcc_lo, 9, v0\nv_cndmask_b32 v3, v9, v2, vcc_lo\nglobal_store_b32 v1, v3, "
      "s[4:5]\n",
      FOUND_READ_REGISTER, 3, 0, 0, 1, NULL },
    { "spilled and filled, and used where it was written",
      "v_writelane_b32 v2, 5, 3\nscratch_store_b32 off, v2, off\nscratch_load_b32 v3, off, off\ns_waitcnt vmcnt(0)\n"
      "v_readlane_b32 s8, v3, 3\ns_cmp_eq_u32 s8, 5\ns_cbranch_scc1 on\non:\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "spilled and filled, and used where it was not",
      "v_writelane_b32 v2, 5, 3\nscratch_store_b32 off, v2, off\nscratch_load_b32 v3, off, off\ns_waitcnt vmcnt(0)\n"
      "v_readlane_b32 s8, v3, 4\ns_cmp_eq_u32 s8, 5\ns_cbranch_scc1 on\non:\n",
      FOUND_READ_REGISTER, 6, 0, 0, 1, NULL },
    { "spilled with registers that nothing wrote, and used",
      "v_mov_b32 v5, 5\nscratch_store_b128 off, v[4:7], off\nscratch_load_b128 v[8:11], off, off\n"
      "s_waitcnt vmcnt(0)\nglobal_store_b32 v1, v9, s[4:5]\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "spilled with one that was written, and not that one used",
      "v_mov_b32 v5, 5\nscratch_store_b128 off, v[4:7], off\nscratch_load_b128 v[8:11], off, off\n"
      "s_waitcnt vmcnt(0)\nglobal_store_b32 v1, v10, s[4:5]\n",
      FOUND_READ_REGISTER, 4, 0, 0, 1, NULL },
    { "LDS that nothing wrote", "ds_load_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nglobal_store_b32 v1, v2, s[4:5]\n",
      FOUND_READ_REGISTER, 2, 0, 0, 1, NULL },
    { "LDS that nothing wrote, which nothing comes of", "ds_load_b32 v2, v1\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v2, 0\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "a word of several that nothing wrote",
      "v_lshlrev_b32 v2, 1, v1\nv_mov_b32 v3, 0\nds_store_b32 v2, v3\nds_load_b64 v[4:5], v2\ns_waitcnt lgkmcnt(0)\n"
      "global_store_b32 v1, v4, s[4:5]\nglobal_store_b32 v1, v5, s[4:5]\n", FOUND_READ_REGISTER, 6, 0, 0, 1, NULL },
    { "half of a register, while the other is on its way",
      "global_load_d16_b16 v2, v1, s[4:5]\nv_mov_b16 v2.h, v0.l\nv_mov_b16 v3.l, v2.h\ns_waitcnt vmcnt(0)\n", SILENT, 0,
      0, 0, 1, NULL },
    { "the half that is on its way", "global_load_d16_b16 v2, v1, s[4:5]\nv_mov_b16 v3.l, v2.l\n", FOUND_NOT_WAITED, 1,
      0, 0, 1, NULL },
    { "a mask that is defined where it counts, kept in a lane",
      "s_or_b32 s8, s8, exec_lo\nv_writelane_b32 v2, s8, 3\nv_readlane_b32 s9, v2, 3\ns_and_b32 exec_lo, exec_lo, s9\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "one of which no bit is", "v_writelane_b32 v2, s8, 3\nv_readlane_b32 s9, v2, 3\ns_and_b32 exec_lo, exec_lo, s9\n",
      FOUND_READ_REGISTER, 2, 0, 0, 1, NULL },
    { "bits that a shift leaves out",
      "s_mov_b32 s8, 0\ns_lshl_b64 s[8:9], s[8:9], 3\ns_and_b32 s9, s9, 7\nv_mov_b32 v2, s9\n"
      "global_store_b32 v1, v2, s[4:5]\n", SILENT, 0, 0, 0, 1, NULL },
    { "an atomic on such", "v_mov_b32 v2, 1\nds_add_u32 v1, v2 offset:8\n", AMONG(FOUND_READ_UNWRITTEN), 1, 8, 0, 1,
      NULL },

    /* waits */
    { "a load that is read before its wait", "global_load_b32 v2, v1, s[4:5]\nv_add_nc_u32 v3, v2, v2\n",
      FOUND_NOT_WAITED, 1, 0, 0, 1, NULL },
    { "after it", "global_load_b32 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nv_add_nc_u32 v3, v2, v2\n", SILENT, 0, 0, 0, 1,
      NULL },
    { "a wait for the first of two",
      "global_load_b32 v2, v1, s[4:5]\nglobal_load_b32 v3, v1, s[4:5]\n"
      "s_waitcnt vmcnt(1)\nv_mov_b32 v4, v2\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "but not for the second",
      "global_load_b32 v2, v1, s[4:5]\nglobal_load_b32 v3, v1, s[4:5]\ns_waitcnt vmcnt(1)\n"
      "v_mov_b32 v4, v3\n",
      FOUND_NOT_WAITED, 3, 0, 0, 1, NULL },
    { "another counter", "global_load_b32 v2, v1, s[4:5]\ns_waitcnt lgkmcnt(0)\nv_mov_b32 v4, v2\n", FOUND_NOT_WAITED,
      2, 0, 0, 1, NULL },
    { "a scalar load", "s_load_b32 s8, s[4:5], 0x0\ns_add_u32 s9, s8, s8\n", FOUND_NOT_WAITED, 1, 0, 0, 1, NULL },
    { "scalar loads are not in order",
      "s_load_b32 s8, s[4:5], 0x0\ns_load_b32 s9, s[4:5], 0x4\ns_waitcnt lgkmcnt(1)\ns_add_u32 s10, s8, s8\n",
      FOUND_NOT_WAITED, 3, 0, 0, 1, NULL },
    { "a register written while its load is on its way", "global_load_b32 v2, v1, s[4:5]\nv_mov_b32 v2, 0\n",
      FOUND_NOT_WAITED, 1, 0, 0, 1, NULL },
    { "a second load to it", "global_load_b32 v2, v1, s[4:5]\nglobal_load_b32 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "a value that is stored too early", "global_load_b32 v2, v1, s[4:5]\nglobal_store_b32 v1, v2, s[4:5]\n",
      FOUND_NOT_WAITED, 1, 0, 0, 1, NULL },
    { "a permutation", "v_mov_b32 v2, 0\nds_bpermute_b32 v3, v1, v2\nv_mov_b32 v4, v3\n", FOUND_NOT_WAITED, 2, 0, 0, 1,
      NULL },
    { "stores count there: generation 9",
      "v_mov_b32 v3, 0\nglobal_load_b32 v2, v1, s[4:5]\nglobal_store_b32 v1, v3, s[4:5]\ns_waitcnt vmcnt(1)\n"
      "v_mov_b32 v4, v2\n",
      SILENT, 0, 0, 0, 1, "gfx90a" },
    { "and not here",
      "v_mov_b32 v3, 0\nglobal_load_b32 v2, v1, s[4:5]\nglobal_store_b32 v1, v3, s[4:5]\n"
      "s_waitcnt vmcnt(1)\nv_mov_b32 v4, v2\n",
      FOUND_NOT_WAITED, 4, 0, 0, 1, NULL },
    { "generation 12 waits",
      "s_wait_storecnt 0x0\nglobal_load_b32 v2, v1, s[4:5]\ns_wait_loadcnt 0x0\nv_mov_b32 v4, v2\n"
      "ds_store_b32 v1, v4\ns_wait_dscnt 0x0\nds_load_b32 v5, v1\ns_wait_loadcnt_dscnt 0x0\nv_mov_b32 v4, v5\n"
      "s_load_b32 s8, s[4:5], 0x0\ns_wait_kmcnt 0x0\ns_add_co_u32 s9, s8, s8\n",
      SILENT, 0, 0, 0, 1, "gfx1201" },
    { "its scalar loads have a counter of their own",
      "s_load_b32 s8, s[4:5], 0x0\ns_wait_dscnt 0x0\ns_add_co_u32 s9, s8, s8\n", FOUND_NOT_WAITED, 2, 0, 0, 1,
      "gfx1201" },
    { "a barrier before its store is complete", "v_mov_b32 v2, 0\nds_store_b32 v1, v2\ns_barrier\n", FOUND_NOT_WAITED,
      2, 0, 0, 1, NULL },

    /* races; item i reads what i ^ 32 wrote */
    { "a barrier between waves",
      "ds_store_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32 v2, 0x80, v1\nds_load_b32 v3, v2\n"
      "s_waitcnt lgkmcnt(0)\ns_barrier\nds_store_b32 v1, v0\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "no barrier before a read",
      "ds_store_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_cmp_lg_u32 s4, s4\nv_cmpx_lt_u32 31, v0\n"
      "v_xor_b32 v2, 0x80, v1\nds_load_b32 v3, v2\n",
      FOUND_RACE_GROUP, 5, 0, 32, 1, NULL },
    { "no barrier before a write",
      "ds_store_b32 v1, v0\ns_waitcnt lgkmcnt(0)\ns_barrier\nv_xor_b32 v2, 0x80, v1\nds_load_b32 v3, v2\n"
      "s_waitcnt lgkmcnt(0)\nds_store_b32 v1, v0\n",
      AMONG(FOUND_RACE_GROUP), 4, ANY, ANY, 1, NULL },
    { "two waves write", "v_mov_b32 v2, 0\nds_store_b32 v2, v0\n", FOUND_RACE_GROUP, 1, 0, 32, 1, NULL },
    { "lanes of a wave are in step", "ds_store_b32 v1, v0\nv_xor_b32 v2, 4, v1\nds_load_b32 v3, v2\n", SILENT, 0, 0, 0,
      1, NULL },
    { "a wave of 64 is in step", "ds_write_b32 v1, v0\nv_xor_b32 v2, 0x80, v1\nds_read_b32 v3, v2\n", SILENT, 0, 0, 0,
      1, "gfx90a" },
    { "atomics of everybody",
      "v_mov_b32 v2, 0\nv_cmp_eq_u32 vcc_lo, 0, v0\ns_and_saveexec_b32 s8, vcc_lo\nds_store_b32 v2, v2\n"
      "s_mov_b32 exec_lo, s8\ns_waitcnt lgkmcnt(0)\ns_barrier\nds_add_u32 v2, v0\n",
      SILENT, 0, 0, 0, 1, NULL },
    { "between signal and wait nothing is in order",
      "s_barrier_signal -1\nds_store_b32 v1, v0\ns_wait_dscnt 0x0\ns_barrier_wait -1\nv_xor_b32 v2, 0x80, v1\n"
      "ds_load_b32 v3, v2\n",
      AMONG(FOUND_RACE_GROUP), 5, ANY, ANY, 1, "gfx1201" },
    { "before the signal it is",
      "ds_store_b32 v1, v0\ns_wait_dscnt 0x0\ns_barrier_signal -1\ns_barrier_wait -1\nv_xor_b32 v2, 0x80, v1\n"
      "ds_load_b32 v3, v2\n",
      SILENT, 0, 0, 0, 1, "gfx1201" },
    { "two groups write", "global_store_b32 v1, v0, s[4:5]\n", FOUND_RACE_GRID, 0, 0, 0, 2, NULL },
    { "two groups, atomically", "global_atomic_add_u32 v1, v0, s[4:5]\n", SILENT, 0, 0, 0, 2, NULL },

    /* convergence */
    { "a barrier that a wave never reaches",
      "v_readfirstlane_b32 s8, v0\ns_cmp_eq_u32 s8, 0\ns_cbranch_scc1 on\ns_barrier\non:\n", FOUND_DIVERGED, 3, 0, 32,
      1, NULL },
    { "a barrier with lanes off", "v_cmp_gt_u32 vcc_lo, 20, v0\ns_and_saveexec_b32 s8, vcc_lo\ns_barrier\n",
      FOUND_LANES_OFF, 2, 0, 20, 1, NULL },
    { "a loop without an end", "again:\ns_branch again\n", FOUND_NO_PROGRESS, 1, 0, 0, 1, NULL },
    { "an end that is missing", "s_branch beyond\ns_endpgm\nbeyond:\ns_code_end\n", FOUND_OUTSIDE, 3, ANY, 0, 1, NULL },

    /* matrices */
    { "WMMA with lanes off",
      ONES8(1) ONES8(2) "v_cmpx_ne_u32 3, v0\n"
                        "v_wmma_f32_16x16x16_f16 v[30:37], v[10:17], v[20:27], 0\n",
      FOUND_LANES_OFF, 17, 0, 3, 1, NULL },
    { "MFMA with lanes off",
      "v_mov_b32 v10, 0\nv_mov_b32 v11, 0\nv_cmpx_ne_u32 vcc, 3, v0\n"
      "v_mfma_f32_16x16x16f16 v[20:23], v[10:11], v[10:11], 0\n",
      FOUND_LANES_OFF, 3, 0, 3, 1, "gfx90a" },
    { "WMMA whose halves differ",
      ONES8(1) ONES8(2) "v_writelane_b32 v12, 1, 20\n"
                        "v_wmma_f32_16x16x16_f16 v[30:37], v[10:17], v[20:27], 0\n",
      FOUND_HALVES_DIFFER, 17, 0, 20, 1, NULL },
    { "generation 12 has none",
      "v_mov_b32 v10, v0\nv_mov_b32 v11, v0\nv_mov_b32 v12, v0\nv_mov_b32 v13, v0\n"
      "v_wmma_f32_16x16x16_f16 v[30:37], v[10:13], v[10:13], 0\n",
      SILENT, 0, 0, 0, 1, "gfx1201" },
    { "a row that nothing wrote",
      "v_cmp_ne_u32 vcc, 3, v0\ns_and_saveexec_b64 s[8:9], vcc\nv_mov_b32 v10, 0\nv_mov_b32 v11, 0\n"
      "s_mov_b64 exec, s[8:9]\nv_mov_b32 v12, 0\nv_mov_b32 v13, 0\n"
      "v_mfma_f32_16x16x16f16 v[20:23], v[10:11], v[12:13], 0\nglobal_store_dword v1, v20, s[4:5]\n"
      "global_store_dword v1, v23, s[4:5]\n",
      FOUND_READ_REGISTER, 9, 0, 0, 1, "gfx90a" },
};

static int is_only(const struct heard *h, int kind)
{
    int others = 0;
    for (int k = 0; k < FOUND_KINDS; k++)
        others += k != kind && h->n[k];
    return h->n[kind] && !others;
}

static int is_found(size_t i, const struct heard *h)
{
    const int kind = rows[i].kind;
    if (kind == SILENT)
        return !h->all;
    return kind < SILENT ? h->n[AMONG(kind)] > 0 : is_only(h, kind);
}

/* Where it is said to be. */
static int is_there(size_t i, const struct finding *f)
{
    const int has_place = rows[i].kind >= 0 && f->space != SPACE_NONE;
    return f->line == BODY_LINE + rows[i].line && (!has_place || f->offset == rows[i].offset || f->buffer < 0) &&
           (rows[i].kind < 0 || rows[i].thread == ANY || f->thread[0] == rows[i].thread);
}

static void test_rows(void)
{
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        static unsigned char data[256];
        char text[3000];
        const struct how how = {
            .target = rows[i].target, .groups = rows[i].groups, .shared = 512, .scratch = 16, .limit = 100000
        };
        struct heard heard;
        snprintf(text, sizeof text, BEGIN "%s" END, rows[i].body);
        if (rows[i].target && !strcmp(rows[i].target, "gfx1201"))
            snprintf(text, sizeof text,
                     "t:\ns_load_b64 s[4:5], s[0:1], 0x0\nv_and_b32 v0, 0x3ff, v0\n"
                     "v_lshlrev_b32 v1, 2, v0\ns_wait_kmcnt 0x0\n%s" END,
                     rows[i].body);
        run_text(text, data, sizeof data, NULL, &how, &heard);
        const int right = is_found(i, &heard) && (rows[i].kind == SILENT || is_there(i, &heard.first));
        ok(right, "%s", rows[i].name);
        if (!right)
            diag("%d findings, the first: %s", heard.all, heard.text);
    }
}

/* A map of the caller's, from launch to launch. */
static void test_written(void)
{
    static unsigned char data[256], written[256];
    static const struct how how;
    struct heard heard;
    memset(written, 1, 128);
    run_text(BEGIN "v_cmpx_gt_u32 32, v0\nglobal_load_b32 v2, v1, s[4:5]\n" END, data, sizeof data, written, &how,
             &heard);
    ok(!heard.all, "reads of what was written %s", heard.text);
    run_text(BEGIN "global_load_b32 v2, v1, s[4:5]\ns_waitcnt vmcnt(0)\nglobal_store_b32 v1, v2, s[4:5]\n" END, data,
             sizeof data, written, &how, &heard);
    ok(is_only(&heard, FOUND_READ_REGISTER) && heard.first.thread[0] == 32, "and of what was not: %s", heard.text);
    run_text(BEGIN "global_store_b32 v1, v0, s[4:5]\n" END, data, sizeof data, written, &how, &heard);
    ok(!heard.all && !memchr(written, 0, sizeof written), "stores are noted");
}

static void test_unchecked(void)
{
    static unsigned char data[256];
    const struct how how = { .unchecked = 1, .shared = 512, .groups = 3, .n_threads = 2 };
    struct heard heard;
    run_text(BEGIN "ds_load_b32 v2, v1\nglobal_store_b32 v1, v9, s[4:5]\nglobal_load_b32 v2, v1, s[4:5] offset:4\n" END,
             data, sizeof data, NULL, &how, &heard);
    ok(is_only(&heard, FOUND_OUTSIDE) && heard.all == 1, "without checks only bounds are left: %s", heard.text);
}

static int stop(const struct finding *f, void *context)
{
    (void)f;
    ++*(int *)context;
    return 1;
}

static void test_stop(void)
{
    static unsigned char data[256];
    static const struct how how = { .shared = 512 };
    char why[200];
    struct amdgpu_module *m =
        read_text(BEGIN "ds_store_b32 v1, v9\nds_store_b32 v1, v9 offset:256\n" END, &how, why, sizeof why);
    if (!m)
        bail("%s", why);
    struct launch_buffer buffer = { data, sizeof data, NULL };
    struct launch_arg arg = { ARG_BUFFER, 0, 0, NULL, 0 };
    struct amdgpu_launch l = AMDGPU_LAUNCH_INIT;
    int told = 0;
    l.block[0] = 64, l.grid[0] = 4, l.args = &arg, l.n_args = 1, l.buffers = &buffer, l.n_buffers = 1;
    l.report = stop, l.context = &told;
    const int status = amdgpu_run(amdgpu_kernel_at(m, 0), &l, why, sizeof why);
    ok(status == AMDGPU_STOPPED && told == 1, "report() ends the launch");
    amdgpu_module_free(m);
}

int main(void)
{
    SKIP_BIG_ENDIAN;
    test_rows();
    test_written();
    test_unchecked();
    test_stop();
    return done_testing();
}
