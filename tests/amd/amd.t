#!/bin/sh
# amd.t - the library on a pretended AMD device: kernels compiled by its drivers, executed as its machine code
# SPDX-License-Identifier: Apache-2.0
#
# As a user's program meets it, and tables of cases: in several schedules, with other errors of what is approximate.
# make check has one case of each kind. amd_faults.t has what the interpreter has to find.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/amd/amd_device.sh"

# ---- as a user's program meets it ----

real rq.npy '<f4' 4 1 2 77 64
real rk.npy '<f4' 4 1 2 133 64
real rv.npy '<f4' 4 1 2 133 64
attention() { # WORDS ARGS...
    words=$1
    shift
    CLATTN_CACHE_DIR=$tmp/cache on_device "$words" "$program" --json --verify --device AMD "$@" rq.npy rk.npy rv.npy
}
right() { sound && grep -q '"bound": [0-9.e-]*[1-9]' out; } # something was judged
attention $where --type f32 --causal --tune off
if test $status -eq 2; then
    missing_device "no PoCL"
    skip_all "no PoCL"
fi
if usual; then
    right && test "$(json engine)" = simt && test "$(json binary)" = miss
    ok $? "f32: engine simt ($(json engine))"
    attention $where --type f32 --causal --tune off
    right && test "$(json engine)" = simt && test "$(json binary)" = hit
    ok $? "and from the second start on the program is loaded ($(json binary))"
    attention $where --type f16 --causal --tune off
    right && test "$(json engine)" = wmma && test "$(json binary)" = miss
    ok $? "f16: the matrix units are chosen after their test ($(json engine), $(json binary))"
    attention driver=5,gfx=90a --type bf16 --causal --tune off
    right && test "$(json engine)" = mfma
    ok $? "bf16 on gfx90a, by the other driver ($(json engine))"
    attention driver=6,gfx=1030 --type f16 --causal --tune off
    right && test "$(json engine)" = simt
    ok $? "f16 on gfx1030, which has none ($(json engine))"
fi

# The record is kept, and the next start takes it. What is measured means nothing.
tuned() { # PROBLEM
    CLATTN_CACHE_DIR=$tmp/tuned on_device $where "$top_builddir/clattn-tune" --device AMD --effort quick --time 60 "$1"
    sound
    ok $? "clattn-tune ends ($(tail -n 1 out))"
    CLATTN_CACHE_DIR=$tmp/tuned on_device $where "$top_builddir/clattn-tune" --device AMD --list
    sound && test "$(wc -l <out)" -ge 1
    ok $? "and has kept what it found ($(head -n 1 out))"
    CLATTN_CACHE_DIR=$tmp/tuned on_device $where "$top_builddir/clattn-tune" --device AMD --verify
    sound
    ok $? "which computes what it should ($(tail -n 1 out))"
}
due tuned 'f32 b1 h1 q64 k64 d64'

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

if usual; then
    case_is_right driver=6,gfx=1201,approximate=1 'f32 b1 h2 q300 k133 d64 causal lse' simt
    case_is_right driver=6,gfx=942,approximate=-1 'f32 b1 h2/1 q40 k70 d16 causal alibi lse bwd' simt backward
    case_is_right driver=5,gfx=1100 'f16 b1 h4/1 q1 k300 d64 page16 k:q8_0 v:q4_0' simt
    case_is_right driver=6,gfx=1201,approximate=-1 'f16 b1 h2/1 q77 k133 d64 causal lse' wmma
    case_is_right driver=6,gfx=942,approximate=1 'bf16 b1 h2/1 q77 k133 d128 lse' mfma
fi
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
due several driver=5,gfx=942 invariant simt
due several driver=6,gfx=1201,approximate=1 forward simt CLATTN_TEST_TYPES=f16
due several driver=6,gfx=942,approximate=-1 forward simt CLATTN_TEST_TYPES=f16

finish
