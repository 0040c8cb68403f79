#!/bin/sh
# nvidia_faults.t - faults put into programs, which the pretended NVIDIA device has to show
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/nvidia/nvidia_device.sh"

# bar.warp.sync is without effect by PTX's manual, which has mma.sync wait for all.
simt='f32 b1 h2 q77 k133 d64 causal lse' mma='f16 b1 h2 q77 k133 d64 causal lse' gone=' '
holes='f32 b1 h2 q77 k133 d64 mask:11qk lse' # keys are dropped
barrier='barrier(CLK_LOCAL_MEM_FENCE);'
case_is_right $where "$simt" simt
if rest; then
    case_is_right $where "$holes" simt
    case_is_right $where "$mma" mma_nv
    due fault simt "$holes" "$barrier" "$gone" 1 $where
    for i in 2 3 4 5 6 7; do due fault simt "$simt" "$barrier" "$gone" $i $where; done
    for i in 1 2 3 4; do due fault mma_nv "$mma" "$barrier" "$gone" $i $where; done
    due fault mma_nv "$mma" 'CLA_BARRIER_V_BEGINS CLA_ARRIVE();' 'CLA_BARRIER_V_BEGINS' 1 $where
    due fault mma_nv "$mma" 't->part + j % CLA_MMA_DEPTH' 't->part + (j ^ 1) % CLA_MMA_DEPTH' 1 $where
    due fault mma_nv "$mma" '(x) % CLA_MMA_COLUMNS)' '((x) + 1) % CLA_MMA_COLUMNS)' 1 $where
    due fault mma_nv "$mma" 'CLA_MMA_ROW(column) (column)' 'CLA_MMA_ROW(column) ((column) & 6)' 1 $where
    due fault mma_nv "$mma" 'CLA_MMA_M / CLA_MMA_ROWS * r' 'CLA_MMA_M / CLA_MMA_ROWS * (r & 6)' 1 $where
    due fault mma_nv "$mma" '((item) % 32 / 4)' '((item) % 32 / 4 ^ 1)' 1 $where
    due fault mma_nv "$mma" '((item) % 4)' '((item) % 4 ^ 1)' 1 $where
    due fault mma_nv "$mma" 'CLA_PACK(x[(k) * CLA_R_N + r]' 'CLA_PACK(x[(k) * CLA_R_N]' 1 $where
    due fault mma_nv "$mma" '"+f"(d[0]), "+f"(d[column])' '"=f"(d[0]), "+f"(d[column])' 1 $where
    due fault mma_nv "$mma" '0x5410' '0x5411' 1 $where
    due fault mma_nv "$mma" '0x7632' '0x7631' 1 $where
    due fault mma_nv "$mma" '"f"(high), "f"(low)' '"f"(low), "f"(high)' 1 $where
    due fault mma_nv "$mma" 'cla_local_k[CLA_BK * CLA_KC]' 'cla_local_k[CLA_BK * CLA_KC - 1]' 1 $where
    due fault mma_nv "$mma" 'cla_local_v[CLA_BK * CLA_VC]' 'cla_local_v[CLA_BK * CLA_VC - 1]' 1 $where
    due fault simt "$simt" 'cla_local_kv[2 * CLA_KVSTEP]' 'cla_local_kv[2 * CLA_KVSTEP - 8]' 1 $where
    due fault simt "$simt" 'cla_local_m[3 * CLA_BQ]' 'cla_local_m[2 * CLA_BQ]' 1 $where
fi

echo "1..$n"
exit $bad
