#!/bin/sh
# amd_peers.t - the cases of other implementations on the pretended AMD device
# SPDX-License-Identifier: Apache-2.0
#
# Those of peers.sh that engines with matrix units take and that are small enough, with CLATTN_FULL=1 of any size. make
# check has none of them, as amd.t has a case of each kind there.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
CLATTN_TEST_DEVICES=AMD
. "$top_srcdir/tests/conformance/peers.sh"
. "$top_srcdir/tests/amd/amd_device.sh"

if find_peers; then
    most=1e7 lacking='int8|merge' # what the engines refuse, and what no engine computes
    test -z "$full" || most=inf
    all=$(within $most 256 "$chosen" '' 2>err) && test "$all" != "$none"
    ok $? "there are cases that engines with matrix units take"
    if rest; then
        few=$(within $most 256 ^jax_ '')
        CLATTN_CACHE_DIR=$tmp/cache
        export CLATTN_CACHE_DIR
        due peers_are_right driver=6,gfx=1201,approximate=1 f16 wmma "$few"
        due peers_are_right driver=6,gfx=942,approximate=-1 f16 mfma "$few"
        due peers_are_right driver=5,gfx=1100,approximate=-1 bf16 wmma "$few"
        due peers_are_right driver=5,gfx=90a,approximate=1,schedule=highest bf16 mfma "$few"
        due peers_are_right driver=6,gfx=1100,approximate=1 f32 simt "$few"
        due peers_are_right driver=6,gfx=90a,approximate=-1,schedule=random,seed=3 f32 simt "$few"
        share=$(within $most 256 "$chosen" "$part")
        peers_are_right driver=6,gfx=1201,approximate=-1,schedule=random,seed=4 f16 wmma "$share"
        peers_are_right driver=6,gfx=942,approximate=1,schedule=random,seed=5 f16 mfma "$share"
    fi
fi

finish
