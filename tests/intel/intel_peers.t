#!/bin/sh
# intel_peers.t - the cases of other implementations on the pretended Intel device
# SPDX-License-Identifier: Apache-2.0
#
# Those of peers.sh that engines with matrix units take and that are small enough, with CLATTN_FULL=1 of any size. make
# check has none of them, as intel.t has a case of each kind there.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
CLATTN_TEST_DEVICES=Intel
. "$top_srcdir/tests/conformance/peers.sh"
. "$top_srcdir/tests/intel/intel_device.sh"

if find_peers; then
    most=1e7 lacking='int8|merge' # what the engines refuse, and what no engine computes
    test -z "$full" || most=inf
    all=$(within $most 128 "$chosen" '' 2>err) && test "$all" != "$none"
    ok $? "there are cases that engines with matrix units take"
    if rest; then
        few=$(within $most 128 ^jax_ '')
        CLATTN_CACHE_DIR=$tmp/cache
        export CLATTN_CACHE_DIR
        due peers_are_right gpu=pvc,approximate=-1 bf16 dpas "$few"
        due peers_are_right gpu=acm-g10,approximate=1,schedule=highest f16 dpas8 "$few"
        due peers_are_right gpu=bmg,approximate=-1,schedule=random,seed=3 f32 simt "$few"
        share=$(within $most 128 "$chosen" "$part")
        peers_are_right gpu=bmg,approximate=1,schedule=random,seed=4 f16 dpas "$share"
    fi
fi

finish
