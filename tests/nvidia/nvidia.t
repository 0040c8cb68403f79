#!/bin/sh
# nvidia.t - the library on a pretended NVIDIA device: kernels compiled as by its drivers, executed as PTX
# SPDX-License-Identifier: Apache-2.0
#
# As a user's program meets it, and tables of cases: in several schedules, with other errors of what is approximate,
# whole and in pieces. make check has one case of each kind. nvidia_peers.t has the cases of other implementations,
# nvidia_faults.t what the interpreter has to find.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/nvidia/nvidia_device.sh"

# ---- as a user's program meets it ----

real_inputs
attention $where --type f32 --causal
needs_pocl
if usual; then
    computes simt miss "f32: engine simt"
    attention $where --type f16 --causal
    computes mma_nv miss "f16: the matrix units are chosen after their test"
    attention $where --type f16 --causal
    computes mma_nv hit "and from the second start on the program is loaded"
fi
due tuned $where 'f16 b1 h1 q64 k64 d64'

# ---- what a group of threads may have ----

limited() { # WORDS ENGINE DESCRIPTION PATTERN: it is refused and the reason has PATTERN, or, without one, is right
    on_device "$where,ptxas=$ptxas$1" "$top_builddir/tests/kernel/forward.t" 'f32 b1 h1 q77 k133 d64 lse' "$2"
    if test -n "$4"; then grep -q "^ok.*SKIP.*$4" out; else sound && ! grep -q SKIP out; fi
    ok $? "$3 ($(sed -n 's/# SKIP/passed over:/; /^ok/p' out))" # which is no skip of ours
}
wide='simt tx32,ty16,tm4,tn4,ch8,cv8,qres0'
ptxas=${PTXAS-$(PATH=$PATH:/usr/local/cuda/bin command -v ptxas)}
if test -x "$ptxas"; then
    if usual; then
        limited '' "$wide" "512 threads have the registers that they need" ''
        limited ,registers=32768 "$wide" "half of the registers: the tile is refused" 'groups of 256 items here'
    fi
    due limited ,registers=16384 '' "a fourth of them: a tile is found" ''
else
    skip "registers: there is no ptxas, of CUDA or of pip's nvidia-cuda-nvcc"
fi

# ---- tables of cases ----

if usual; then
    case_is_right $where,pieces=3,approximate=1 'f32 b1 h2 q300 k133 d64 causal lse' ''
    case_is_right $where,pieces=3,approximate=1 'f32 b1 h2/1 q40 k70 d16 causal alibi lse bwd' '' backward
    case_is_right $where,pieces=3,approximate=1 'f16 b1 h2/1 q40 k70 d64 causal lse' ''
fi
due several $where engines 'simt mma_nv' CLATTN_PART=0
due case_is_right $where,pieces=3,approximate=1 'f16 b1 h2/1 q300 k200 d64 causal lse' ''
due case_is_right $where,pieces=3,approximate=1 'f16 b1 h2/1 q300 k200 d128 lse' ''
due case_is_right $where,pieces=3,approximate=1 'f32 b1 h2/1 q70 k150 d64 causal alibi bias:11q1 lse bwd' '' backward
due case_is_right driver=470,cc=75 'f16 b2 h2/1 q40 k70 d96/72 varlen bias:1h1k sink lse bwd' '' backward
due case_is_right driver=550,cc=90 'bf16 b1 h2/1 q70 k90 d128 o:f32 window40,9 softcap9 lse bwd' '' backward
due case_is_right driver=535,cc=80 'f16 b1 h2/1 q70 k90 d64/41 causal scale1 bwd' 'simt' backward
due several driver=470,cc=75,approximate=-1 engines 'simt mma_nv'
due several driver=535,cc=90,schedule=highest,approximate=1 engines 'simt mma_nv'
due several driver=550,cc=90,schedule=random,seed=1,pieces=2 engines 'simt mma_nv'
due several driver=535,cc=80,schedule=random,seed=2,approximate=1,pieces=2 pairs ''
due several driver=470,cc=80,approximate=1 sizes ''
due several driver=550,cc=80,approximate=1 forward '' CLATTN_TEST_TYPES=f16 CLATTN_FULL=1
due several driver=535,cc=90,approximate=-1,schedule=highest forward '' CLATTN_TEST_TYPES='f32 bf16'
due several driver=550,cc=80,approximate=-1 dropped ''
due several driver=535,cc=90,schedule=random,seed=3,pieces=2 backward '' CLATTN_QUICK=1
due several driver=550,cc=80,approximate=-1 rescale '' CLATTN_PART=1
# A single key gives V exactly where 1 / 1 is exact, which PTX's manual does not promise.
due several driver=535,cc=80 rounding 'simt mma_nv' CLATTN_PART=1

finish
