#!/bin/sh
# nvidia_peers.t - the cases of other implementations on the pretended NVIDIA device
# SPDX-License-Identifier: Apache-2.0
#
# Those of peers.sh that engine mma_nv takes and that are small enough, with CLATTN_FULL=1 of any size. make check has
# none of them, as nvidia.t has a case of each kind there.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
CLATTN_TEST_DEVICES=NVIDIA
. "$top_srcdir/tests/conformance/peers.sh"
. "$top_srcdir/tests/nvidia/nvidia_device.sh"

if find_peers; then
    most=1e7 lacking='int8|merge' # what the engine refuses, and what no engine computes
    test -z "$full" || most=inf
    all=$(within $most 256 "$chosen" '' 2>err) && test "$all" != "$none"
    ok $? "there are cases that engine mma_nv takes"
    if rest; then
        few=$(within $most 256 ^jax_ '')
        CLATTN_CACHE_DIR=$tmp/cache
        export CLATTN_CACHE_DIR
        due peers_are_right driver=550,cc=80,approximate=1 f16 mma_nv "$few"
        due peers_are_right driver=470,cc=75,approximate=-1 f16 mma_nv "$few"
        due peers_are_right driver=535,cc=80,approximate=-1 bf16 mma_nv "$few"
        due peers_are_right driver=550,cc=90,approximate=1,pieces=2 f16 mma_nv "$few"
        due peers_are_right driver=470,cc=75,approximate=1 f32 simt "$few"
        due peers_are_right driver=535,cc=80,approximate=-1 f16 simt "$few"
        due peers_are_right driver=550,cc=90,approximate=-1,schedule=highest f32 simt "$few"
        due peers_are_right driver=550,cc=80,approximate=-1,schedule=random,seed=3 f16 mma_nv "$all"
        share=$(within $most 256 "$chosen" "$part")
        peers_are_right driver=535,cc=90,approximate=1,schedule=random,seed=4 bf16 mma_nv "$share"
    fi
fi

finish
