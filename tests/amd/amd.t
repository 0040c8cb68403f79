#!/bin/sh
# amd.t - the library on a pretended AMD device: kernels compiled by its drivers, executed as its machine code
# SPDX-License-Identifier: Apache-2.0
#
# As a user's program meets it, and tables of cases: in several schedules, with other errors of what is approximate.
# make check has one case of each kind. amd_faults.t has what the interpreter has to find.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/amd/amd_device.sh"

# ---- as a user's program meets it ----

real_inputs
attention $where --type f32 --causal
needs_pocl
if usual; then
    computes simt miss "f32: engine simt"
    attention $where --type f32 --causal
    computes simt hit "and from the second start on the program is loaded"
    attention $where --type f16 --causal
    computes wmma miss "f16: the matrix units are chosen after their test"
fi
if turn; then
    attention driver=5,gfx=90a --type bf16 --causal
    computes mfma miss "bf16 on gfx90a, by the other driver"
    attention driver=6,gfx=1030 --type f16 --causal
    computes simt miss "f16 on gfx1030, which has none"
fi

# ---- units that are not what the engine takes them for ----

# The device's name is what the host knows; what is compiled for has these instructions or has not.
f16='f16 b1 h2/1 q77 k133 d64 causal lse'
misled() { # ENGINE WORDS FROM TO: a lane map that is wrong; the second start knows it
    printf '%s\n' "$3" "$4" 1 >change
    rm -rf misled
    planned simt 1 "$2,change=$tmp/change" "$f16" "$tmp/misled"
    grep -q "engine $1 is not used: it failed its self-test on this device: " out
    ok $? "$1 is tested"
    planned simt 1 "$2,change=$tmp/change" "$f16" "$tmp/misled"
    grep -q "engine $1 is not used: it failed its self-test on this device before" out
    ok $? "and the verdict is kept"
}
if usual; then
    planned simt 0 $where,device=gfx1999 "$f16"
    planned simt 1 driver=6,gfx=1030,device=gfx1100 "$f16"
    misled wmma $where '((item) % 2 * 8 + (item) % 16 / 2)' '((item) % 16)'
fi
due planned simt 0 "$where,platform=rusticl,device=AMD Radeon (radeonsi)" "$f16"
due planned wmma 0 driver=6,gfx=1201,device=gfx1170 "$f16"
due planned simt 0 driver=6,gfx=1201,device=gfx1250 "$f16"
due planned simt 1 driver=5,gfx=1030,device=gfx1201 "$f16"
due planned simt 1 driver=6,gfx=906,device=gfx942 "$f16"
due planned simt 1 driver=6,gfx=1100,device=gfx942 "$f16"
due planned simt 1 driver=5,gfx=942,device=gfx1100 "$f16"
due misled wmma driver=6,gfx=1201 '_COLUMN_0(item) ((item) % 16)' '_COLUMN_0(item) ((item) % 16 ^ 1)'
due misled mfma driver=6,gfx=942 'CLA_MMA_COLUMN(item) ((item) % 16)' 'CLA_MMA_COLUMN(item) ((item) % 16 ^ 1)'
due misled mfma driver=5,gfx=942 '((item) / 16 % 4)' '((item) / 16 % 4 ^ 1)'

due tuned $where 'f32 b1 h1 q64 k64 d64'

# ---- what was executed ----

# 16 x 16 x 16 elements each: by the problem's sizes alone where tiles divide them. And sums are neither moved between
# the halves of gfx942's registers nor spilled.
real eq.npy '<f4' 4 1 1 256 64
real ek.npy '<f4' 4 1 1 128 64
real ev.npy '<f4' 4 1 1 128 128
executed() { # OPERATION: how often waves did
    awk -v operation="$1" '$0 ~ "\t[ \t]*" operation { n += $1 } END { print n + 0 }' \
        "$(ls lines/*-cla_forward | tail -n 1)"
}
exact_number() { # WORDS TYPE ENGINE
    mkdir -p lines && rm -f lines/*
    CLATTN_CACHE_DIR=$tmp/cache on_device "$1,unchecked=1,lines=$tmp/lines" "$program" --json --verify --device AMD \
        --tune off --type "$2" --engine "$3" --splits 1 eq.npy ek.npy ev.npy
    right && test "$(executed 'v_(mfma|wmma)')" = $((256 / 16 * 128 / 16 * (64 + 128) / 16)) &&
        test "$(executed 'v_accvgpr')" = 0 && test "$(executed 'scratch_')" = 0 && test "$(executed v_exp)" -gt 0
    ok $? "$1, $2, $3: $(executed 'v_(mfma|wmma)') matrix instructions"
}
due exact_number driver=6,gfx=942 f16 mfma
due exact_number driver=5,gfx=942 bf16 mfma
due exact_number driver=6,gfx=1100 bf16 wmma
due exact_number driver=5,gfx=1100 f16 wmma
due exact_number driver=6,gfx=1201 f16 wmma

# ---- tables of cases ----

# NaN in bf16, of which weights are rounded without a look at it.
due several driver=6,gfx=942 dropped '' CLATTN_PART=1
due several driver=6,gfx=1201 dropped '' CLATTN_PART=1

if usual; then
    case_is_right driver=6,gfx=1201,approximate=1 'f32 b1 h2 q300 k133 d64 causal lse' simt
    case_is_right driver=6,gfx=942,approximate=-1 'f32 b1 h2/1 q40 k70 d16 causal alibi lse bwd' simt backward
    case_is_right driver=5,gfx=1100 'f16 b1 h4/1 q1 k300 d64 page16 k:q8_0 v:q4_0' simt
fi
# Several score_mods in gradients.
due case_is_right driver=5,gfx=1100 'f32 b2 h2/1 q6 k9 d8 causal mod:tanh_gate,head_scale,relative_bias lse bwd' simt \
    backward
due case_is_right driver=6,gfx=942 'bf16 b2 h2/1 q6 k9 d8 causal mod:document,relative lse bwd' mfma backward
# A bias of 16 bits along keys.
due case_is_right driver=6,gfx=1100 'f32 b1 h1 q130 k140 d41/26 bias:1h1k:f16 lse' simt
due case_is_right driver=6,gfx=1201,approximate=-1 'f16 b1 h2/1 q77 k133 d64 causal lse' wmma
due case_is_right driver=6,gfx=942,approximate=1 'bf16 b1 h2/1 q77 k133 d128 lse' mfma
# Programs of gfx1201 are unknown to the older driver.
for device in 6,gfx=1100 6,gfx=1201 6,gfx=942 6,gfx=90a 5,gfx=1100 5,gfx=942 5,gfx=90a; do
    due several driver=$device engines simt CLATTN_PART=0
    due several driver=$device,schedule=highest,approximate=1 engines simt CLATTN_PART=0
    due several driver=$device,schedule=random,seed=1,approximate=-1 engines simt
    due case_is_right driver=$device,approximate=1 'f32 b1 h2/1 q70 k150 d64 causal alibi bias:11q1 lse bwd' simt \
        backward
    due case_is_right driver=$device,approximate=-1 'f16 b2 h2/1 q70 k90 d64/41 varlen sink softcap9 lse bwd' simt \
        backward
    due case_is_right driver=$device 'f64 b1 h2/1 q40 k70 d16 causal lse' simt
    due case_is_right driver=$device 'f32 b1 h4/1 q1 k300 d64 page16 k:int8 v:int4:32z' simt
done
for device in 6,gfx=1100 6,gfx=1201 6,gfx=942 6,gfx=90a 5,gfx=1100 5,gfx=942 5,gfx=90a; do
    engine=mfma type=f16
    case $device in *=1*) engine=wmma ;; *90a) type=bf16 ;; esac # gfx90a has no small numbers of f16
    due several driver=$device engines $engine CLATTN_PART=0
    due several driver=$device,schedule=highest,approximate=1 engines $engine CLATTN_PART=0
    due several driver=$device,schedule=random,seed=1,approximate=-1 engines $engine
    due case_is_right driver=$device,approximate=1 "$type b2 h2/1 q300 k200 d64 causal lse" $engine
    due case_is_right driver=$device,approximate=-1 'bf16 b1 h2/1 q300 k200 d128 lse' $engine
    due case_is_right driver=$device,schedule=random,seed=2 "$type b1 h4/1 q1 k300 d128 page16" $engine
    due case_is_right driver=$device "$type b2 h2/1 q40 k70 d64/41 varlen alibi sink lse bwd" $engine backward
done
due several driver=6,gfx=1201,approximate=-1 forward wmma CLATTN_TEST_TYPES='f16 bf16'
due several driver=6,gfx=1100,approximate=1,schedule=random,seed=6 forward wmma CLATTN_TEST_TYPES='f16 bf16'
due several driver=6,gfx=942,approximate=1 forward mfma CLATTN_TEST_TYPES='f16 bf16'
due several driver=5,gfx=90a,approximate=-1,schedule=random,seed=7 forward mfma CLATTN_TEST_TYPES=bf16
due several driver=6,gfx=1100,approximate=1 sizes simt
due several driver=6,gfx=942,approximate=-1,schedule=random,seed=2 sizes simt
due several driver=6,gfx=1201,approximate=1 quantised simt
due several driver=5,gfx=90a,approximate=-1 quantised simt
due several driver=6,gfx=1100,schedule=random,seed=3 paged simt
due several driver=6,gfx=942,approximate=1 paged simt
due several driver=5,gfx=1100,approximate=-1 dropped simt
due several driver=6,gfx=90a,schedule=highest dropped simt
due several driver=6,gfx=1201,approximate=-1 invariant simt
due several driver=5,gfx=942,approximate=1 invariant simt
due several driver=6,gfx=1201,approximate=1 forward simt CLATTN_TEST_TYPES=f16
due several driver=6,gfx=942,approximate=-1 forward simt CLATTN_TEST_TYPES=f16

finish
