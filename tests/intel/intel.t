#!/bin/sh
# intel.t - the library on a pretended Intel GPU: kernels compiled as Intel's driver does, executed as its machine code
# SPDX-License-Identifier: Apache-2.0
#
# As a user's program meets it, and tables of cases: in several schedules, with other errors of what is approximate.
# make check has one case of each kind. intel_faults.t has what the interpreter has to find.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/intel/intel_device.sh"

# ---- as a user's program meets it ----

real_inputs
attention gpu=bmg --type f32 --causal
needs_pocl
if usual; then
    computes simt miss "f32: engine simt"
    attention gpu=bmg --type f32 --causal
    computes simt hit "and from the second start on the program is loaded"
    attention gpu=bmg --type f16 --causal
    computes dpas miss "f16: the matrix units are chosen after their test"
fi
if turn; then
    attention gpu=pvc --type bf16
    computes dpas miss "bf16 on pvc"
    attention gpu=acm-g10 --type f16 --causal
    computes dpas8 miss "f16 on acm-g10, in sub-groups of 8"
fi

# ---- units that are not what the engine takes them for ----

f16='f16 b1 h2/1 q77 k133 d64 causal lse'
misled() { # ENGINE WORDS FROM TO: a layout that is wrong; the second start knows it
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
    planned simt 0 gpu=bmg,sub_groups=32 "$f16"
    misled dpas gpu=bmg 'define CLA_MMA_ROW(column) (column)' 'define CLA_MMA_ROW(column) ((column) ^ 1)'
fi
due planned simt 1 gpu=bmg,sub_groups=8 "$f16"
# IGC builds such a program for DG2 without a product, and says nothing: what it computes with nothing has written.
silent() {
    on_device gpu=acm-g10,sub_groups=16 "$top_builddir/tests/pretended/planned" "$f16"
    test $status -eq 0 && grep -q '^ok 1 - .*, simt ' out && grep -q 'engine dpas is not used: it failed' out
    ok $? "dpas on acm-g10 is found out"
}
due silent
due misled dpas gpu=pvc 'row % 8 * 2 + c % 2;' 'row % 8 * 2 + (c ^ 1) % 2;'
due misled dpas8 gpu=acm-g10 'p % 8 * 8 + row % 8]' 'p % 8 * 8 + (row ^ 1) % 8]'

# ---- what was executed ----

# Every thread executes the first line and one of those that end it, and none of any other kernel's is counted.
executed() { # PATTERN: how often threads did
    awk -v pattern="$1" -F '\t' '$2 !~ "^//" && $2 ~ pattern { n += $1 } END { print n + 0 }' "$listing"
}
if usual; then
    mkdir lines
    attention gpu=bmg,unchecked=1,lines=$tmp/lines --type f16 --splits 1
    listing=$(ls lines/*-cla_forward | tail -n 1)
    first=$(awk -F '\t' '$2 ~ "^[ (].*[|]M0[)]" { print $1; exit }' "$listing")
    right && test "$first" -gt 0 && test "$(executed '{EOT')" = "$first" && test "$(executed math.exp)" -gt "$first" &&
        test "$(awk -F '\t' '$1 && $2 ~ "^//"' "$listing" | wc -l)" -eq 0
    ok $? "lines of $first hardware threads: $(executed .) instructions, $(executed math.exp) of them math.exp"
fi

# Of 16 queries, 8 columns and 16 elements each: by the problem's sizes alone where tiles divide them. Nothing spills.
real eq.npy '<f4' 4 1 1 256 64
real ek.npy '<f4' 4 1 1 128 64
real ev.npy '<f4' 4 1 1 128 128
exact_number() { # WORDS TYPE ENGINE
    mkdir -p lines && rm -f lines/*
    CLATTN_CACHE_DIR=$tmp/cache on_device "$1,unchecked=1,lines=$tmp/lines" "$program" --json --verify --device Intel \
        --tune off --type "$2" --engine "$3" --splits 1 eq.npy ek.npy ev.npy
    listing=$(ls lines/*-cla_forward | tail -n 1)
    right && test "$(executed '^[ (].*dpas')" = $((256 / 16 * 128 / 8 * (64 + 128) / 16)) &&
        test "$(executed 'math.exp')" -gt 0 && ! grep -q '^[0-9]*.//.spill' "$listing"
    ok $? "$1, $2, $3: $(executed '^[ (].*dpas') matrix instructions"
}
due exact_number gpu=bmg f16 dpas
due exact_number gpu=pvc bf16 dpas

# ---- tables of cases ----

by_hand() { test -z "$full" || "$@"; } # minutes each
due several gpu=bmg,approximate=1 forward dpas CLATTN_TEST_TYPES=f16

if usual; then
    case_is_right gpu=bmg,approximate=1 'f16 b1 h4/2 q77 k133 d64 causal lse' simt
    case_is_right gpu=pvc,approximate=-1 'f32 b1 h2/1 q40 k70 d64 causal lse' simt
    case_is_right gpu=acm-g10 'f16 b2 h4/2 q77 k133 d64 causal varlen' simt
    case_is_right gpu=bmg 'f16 b1 h4/1 q1 k300 d64 page16 k:q8_0 v:q4_0' simt
    case_is_right gpu=bmg 'f16 b1 h4/2 q77 k133 d64 causal lse' dpas
    case_is_right gpu=bmg,approximate=1 'f16 b1 h4/2 q77 k133 d64 causal lse' dpas forward aligned
    case_is_right gpu=pvc,approximate=1,schedule=highest 'bf16 b1 h2/1 q40 k70 d64/128 causal lse' dpas
    case_is_right gpu=acm-g10,approximate=-1 'f16 b2 h4/2 q77 k133 d64 causal varlen' dpas8
fi
for gpu in bmg pvc acm-g10; do
    due case_is_right gpu=$gpu,approximate=1 'f32 b1 h2/1 q70 k150 d64 causal alibi bias:11q1 lse bwd' simt backward
    due case_is_right gpu=$gpu,approximate=-1 'f16 b2 h2/1 q70 k90 d64/41 varlen sink softcap9 lse bwd' simt backward
    due case_is_right gpu=$gpu,schedule=random,seed=2 'f32 b1 h4/1 q1 k300 d64 page16 k:int8 v:int4:32z' simt
    by_hand several gpu=$gpu,approximate=1 forward simt CLATTN_TEST_TYPES=f16
done
for gpu in bmg pvc acm-g10; do
    engine=dpas
    test $gpu != acm-g10 || engine=dpas8
    due several gpu=$gpu engines $engine CLATTN_PART=0
    due several gpu=$gpu,schedule=highest,approximate=1 engines $engine CLATTN_PART=0
    due several gpu=$gpu,schedule=random,seed=1,approximate=-1 engines $engine
    due case_is_right gpu=$gpu,approximate=1 'f16 b2 h2/1 q300 k200 d64 causal lse' $engine
    due case_is_right gpu=$gpu,approximate=-1 'bf16 b1 h2/1 q300 k200 d128 lse' $engine
    due case_is_right gpu=$gpu,schedule=random,seed=2 'f16 b1 h4/1 q1 k300 d128 page16' $engine
    due case_is_right gpu=$gpu 'bf16 b2 h2/1 q40 k70 d64/41 varlen alibi sink lse bwd' $engine backward
    wide="$engine nw8,rt1,bk16,qreg0" # two sub-groups share rows
    due case_is_right gpu=$gpu,schedule=random,seed=4 'f16 b1 h2/1 q77 k133 d256 causal lse' "$wide"
    due case_is_right gpu=$gpu,schedule=random,seed=5 'f16 b1 h2/1 q77 k133 d256 causal lse' "$wide" forward aligned
    due case_is_right gpu=$gpu 'bf16 b1 h2/1 q40 k133 d96/200 splits2 sink lse' "$wide" forward aligned
    due case_is_right gpu=$gpu 'bf16 b1 h2/1 q40 k133 d96/208 splits2 softcap9 lse' "$wide" forward aligned
    by_hand several gpu=$gpu,approximate=1,schedule=random,seed=6 forward $engine CLATTN_TEST_TYPES='f16 bf16'
    due case_is_right gpu=$gpu,approximate=1 'f16 b1 h8/2 q1 k1000 d64 splits7 causal lse' $engine
    due case_is_right gpu=$gpu,approximate=-1 'bf16 b2 h4/1 q4 k200 d64 page16 kvlen:200,70 lse' $engine
    due case_is_right gpu=$gpu 'f16 b1 h2/1 q35 k80 d64 k:q8_0 v:int4:32z causal lse' simt # no matrix unit takes these
done
# Tensors that are surfaces, and that are none: rows that begin anywhere, and heads that begin between multiples of 64.
for gpu in bmg pvc; do
    for layout in plain aligned packed shared repeat; do
        due case_is_right gpu=$gpu,approximate=1 'f16 b2 h4/2 q77 k77 d64 causal lse' dpas forward $layout
        due case_is_right gpu=$gpu,schedule=random,seed=3 'bf16 b2 h2/1 q70 k70 d80/48 mask:11qk lse' dpas forward \
            $layout
    done
    due case_is_right gpu=$gpu 'f16 b2 h4/2 q77 k133 d128 varlen softcap9 sink lse' dpas forward aligned
    due case_is_right gpu=$gpu 'bf16 b1 h2/1 q5 k300 d128 splits3 dropout0.2 alibi lse' dpas forward plain
    due case_is_right gpu=$gpu 'f16 b1 h2/1 q40 k70 d40/128 window9,3 lse' dpas forward aligned
    due case_is_right gpu=$gpu,blocks_2d=0 'f16 b1 h2/1 q77 k133 d64 causal lse' dpas forward aligned
done
for gpu in bmg lnl pvc; do # lanes of a vector that are written one by one
    due case_is_right gpu=$gpu 'f32 b1 h2 q9 k40 d8 blocks:4,8 lse' simt forward offsets
    due case_is_right gpu=$gpu 'f32 b1 h2 q64 k64 d64 blocks:16,16 lse' simt forward plain
    due case_is_right gpu=$gpu 'f32 b1 h2/1 q9 k39 d8 bias:11qk mask:11qk lse' simt forward padded
done
due several gpu=acm-g10,schedule=random,seed=2 ../api/append ''
for gpu in lnl ptl; do
    due case_is_right gpu=$gpu 'f16 b1 h2/1 q77 k133 d64 causal lse' dpas
    due case_is_right gpu=$gpu 'f16 b1 h2/1 q77 k133 d64 causal lse' dpas forward aligned
    due case_is_right gpu=$gpu,approximate=1 'f32 b1 h2/1 q40 k70 d64 causal lse' simt
    due case_is_right gpu=$gpu,approximate=-1 'f16 b2 h4/2 q77 k133 d64 causal varlen' simt
done
for gpu in pvc acm-g10; do # IGC of ocloc 26 crashes while writing the listings of two of these for bmg
    due several gpu=$gpu engines simt CLATTN_PART=0
    due several gpu=$gpu,schedule=highest,approximate=1 engines simt CLATTN_PART=0
    due several gpu=$gpu,schedule=random,seed=1,approximate=-1 engines simt
done

# ---- built by Intel's driver, as a user's programs are; for DG2 it makes other code than ocloc ----

by_driver() { # COMMAND WORDS PROBLEM [ENGINE [TEST]]
    if has_driver; then
        "$1" "driver=1,$2" "$3" "${4-simt}" ${5+"$5"}
    else
        skip "no driver, or no clbuild: $2, $3"
    fi
}
usual && by_driver case_is_right gpu=dg2,approximate=1 'f16 b1 h2/1 q40 k70 d64 causal lse'
for gpu in bmg pvc dg2 lnl ptl arl-h mtl; do
    due by_driver case_is_right gpu=$gpu,approximate=1 'f32 b1 h2/1 q40 k70 d64 causal lse'
    due by_driver case_is_right gpu=$gpu,approximate=-1 'f16 b2 h4/2 q77 k133 d64 causal varlen'
done
due by_driver several gpu=dg2,schedule=highest,approximate=-1 merge ''
for gpu in bmg pvc dg2; do
    due by_driver case_is_right gpu=$gpu 'f16 b1 h4/1 q1 k300 d64 page16 k:q8_0 v:q4_0'
    due by_driver case_is_right gpu=$gpu 'f32 b1 h2/1 q70 k150 d64 causal alibi bias:11q1 lse bwd' simt backward
done
for gpu in bmg pvc dg2 lnl ptl arl-h; do
    engine=dpas
    case $gpu in dg2 | arl-h) engine=dpas8 ;; esac
    due by_driver case_is_right gpu=$gpu,approximate=1 'f16 b1 h4/2 q77 k133 d64 causal lse' $engine
    due by_driver case_is_right gpu=$gpu,approximate=-1 'bf16 b1 h2/1 q40 k70 d128 lse' $engine
done

finish
