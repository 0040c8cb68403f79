#!/bin/sh
# intel.t - the library on a pretended Intel GPU: kernels compiled by Intel's compiler, executed as its machine code
# SPDX-License-Identifier: Apache-2.0
#
# As a user's program meets it, and tables of cases: in several schedules, with other errors of what is approximate.
# make check has one case of each kind; faults are planted, which the interpreter has to find.
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
fi

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

# ---- tables of cases ----

if usual; then
    case_is_right gpu=bmg,approximate=1 'f16 b1 h4/2 q77 k133 d64 causal lse' simt
    case_is_right gpu=pvc,approximate=-1 'f32 b1 h2/1 q40 k70 d64 causal lse' simt
    case_is_right gpu=acm-g10 'f16 b2 h4/2 q77 k133 d64 causal varlen' simt
    case_is_right gpu=bmg 'f16 b1 h4/1 q1 k300 d64 page16 k:q8_0 v:q4_0' simt
fi
for gpu in bmg pvc acm-g10; do
    due case_is_right gpu=$gpu,approximate=1 'f32 b1 h2/1 q70 k150 d64 causal alibi bias:11q1 lse bwd' simt backward
    due case_is_right gpu=$gpu,approximate=-1 'f16 b2 h2/1 q70 k90 d64/41 varlen sink softcap9 lse bwd' simt backward
    due case_is_right gpu=$gpu,schedule=random,seed=2 'f32 b1 h4/1 q1 k300 d64 page16 k:int8 v:int4:32z' simt
    due several gpu=$gpu,approximate=1 forward simt CLATTN_TEST_TYPES=f16
done
for gpu in lnl ptl; do
    due case_is_right gpu=$gpu,approximate=1 'f32 b1 h2/1 q40 k70 d64 causal lse' simt
    due case_is_right gpu=$gpu,approximate=-1 'f16 b2 h4/2 q77 k133 d64 causal varlen' simt
done
for gpu in pvc acm-g10; do # IGC of ocloc 26 crashes while writing the listings of two of these for bmg
    due several gpu=$gpu engines simt CLATTN_PART=0
    due several gpu=$gpu,schedule=highest,approximate=1 engines simt CLATTN_PART=0
    due several gpu=$gpu,schedule=random,seed=1,approximate=-1 engines simt
done

# ---- faults ----

# Of seven barriers 1 is for keys that are dropped; 3, 4 and 7 are among the items of a row, which are of one thread.
for nth in 2 5 6; do
    due fault simt 'f32 b1 h2 q77 k133 d64 causal lse' 'barrier(CLK_LOCAL_MEM_FENCE);' ' ' $nth gpu=bmg
done

finish
