#!/bin/sh
# amd_faults.t - faults put into programs, which the pretended AMD device has to show
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/amd/amd_device.sh"

fault() { # ENGINE PROBLEM FROM TO N WORDS: the N-th FROM of the program is TO; some schedule shows it
    printf '%s\n' "$3" "$4" "$5" >change
    shown=
    for schedule in lowest highest random; do
        on_amd "$6,schedule=$schedule,seed=5,change=$tmp/change" "$top_builddir/tests/kernel/forward.t" "$2" "$1"
        sound && ! grep -q SKIP out || shown="$shown $schedule" # a skip: the engine fails its own test
    done
    test -n "$shown"
    ok $? "$1, $6, $(test "$4" = ' ' && echo "without '$3'" || echo "'$4' for '$3'") ($5): seen by$shown"
}
simt='f32 b1 h2 q77 k133 d64 causal lse' gone=' '
holes='f32 b1 h2 q77 k133 d64 mask:11qk lse' # keys are dropped
barrier='barrier(CLK_LOCAL_MEM_FENCE);'
case_is_right $where "$simt" simt
if rest; then
    case_is_right $where "$holes" simt
    for device in $where driver=6,gfx=942; do
        due fault simt "$holes" "$barrier" "$gone" 1 $device
        for i in 2 3 4 5 6 7; do due fault simt "$simt" "$barrier" "$gone" $i $device; done
        due fault simt "$simt" 'cla_local_kv[2 * CLA_KVSTEP]' 'cla_local_kv[2 * CLA_KVSTEP - 8]' 1 $device
        due fault simt "$simt" 'cla_local_m[3 * CLA_BQ]' 'cla_local_m[2 * CLA_BQ]' 1 $device
    done
fi

echo "1..$n"
exit $bad
