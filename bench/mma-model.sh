#!/bin/sh
# mma-model.sh - what AMD's matrix engines could reach, from what the pretended device executed
# SPDX-License-Identifier: Apache-2.0
#
#     bench/mma-model.sh BUILD [DRIVERS]      DRIVERS: what offline/setup-amd-drivers.sh made
#
# For each row below and each driver that knows its GPU: two launches of the tile that the library chooses, over 4 and 8
# tiles of keys, judged against float64, and what mma-model.py says of their difference. No GPU takes part.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?BUILD, where clattn was built and make check made its programs}" && pwd)
drivers=${2-${AMD_DRIVERS-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/amd}}
tmp=$(mktemp -d "${TMPDIR:-/tmp}/clattn-model-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$tmp/cache" "$tmp/kept"
layer=$build/tests/amd/.libs/amd_device.so
always="amdcl=$build/offline/amdcl,drivers=$drivers,cache=$tmp/cache,findings=$tmp/findings,unchecked=1"

tensor() { # NAME ROWS D: numbers that differ, all of them small
    python3 -c 'import struct, sys
n, rows, d = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
head = repr({"descr": "<f4", "fortran_order": False, "shape": (1, 1, rows, d)}).ljust(117) + "\n"
x = [((i * 2654435761 + 12345) % 4294967296 / 2147483648 - 1) * 1.7 for i in range(rows * d)]
open(n, "wb").write(b"\x93NUMPY\1\0" + struct.pack("<H", len(head)) + head.encode() + struct.pack("<%df" % len(x), *x))
' "$tmp/$1.npy" "$2" "$3"
}

launch() { # NAME KEYS: its lines in $tmp/NAME, what clattn-run says in $tmp/NAME.out
    mkdir "$tmp/$1"
    tensor q $queries "$d"
    tensor k "$2" "$d"
    tensor v "$2" "$d"
    if ! CLATTN_AMD="$words,lines=$tmp/$1" OPENCL_LAYERS=$layer CLATTN_CACHE_DIR=$tmp/kept \
        "$build/clattn-run" --device AMD --tune off --splits 1 --type "$type" --engine "$engine" --verify \
        "$tmp/q.npy" "$tmp/k.npy" "$tmp/v.npy" >"$tmp/$1.out" 2>&1; then
        cat "$tmp/$1.out" >&2
        exit 1
    fi
    test ! -s "$tmp/findings" || { cat "$tmp/findings" >&2; exit 1; }
}
last() { ls "$tmp/$1"/*-cla_forward | tail -n 1; }

row() { # DRIVER GFX ENGINE TYPE D: as many queries as every tile's rows divide
    driver=$1 gfx=$2 engine=$3 type=$4 d=$5 queries=256
    words="$always,driver=$driver,gfx=$gfx"
    rm -rf "$tmp/any" "$tmp/few" "$tmp/many"
    launch any 64
    tile=$(sed -n 's/^engine.*, tile \([a-z0-9,]*\) .*/\1/p' "$tmp/any.out")
    keys=$(echo "$tile" | sed 's/.*bk\([0-9]*\).*/\1/')
    rows=$(echo "$tile" | sed 's/.*rt\([0-9]*\).*/\1/')
    launch few $((4 * keys))
    launch many $((8 * keys))
    printf 'driver %s, %s d%s, tile %s: ' "$driver" "$type" "$d" "$tile"
    python3 "$here/mma-model.py" "gfx$gfx" "d=$d,dv=$d,$(echo "$tile" | sed 's/\([a-z]*\)\([0-9]*\)/\1=\2/g')" \
        $((queries / 16 / rows * 4)) "$(last few)" "$(last many)"
}

for type in f16 bf16; do
    for d in 64 128; do
        for driver in 5 6; do
            row $driver 942 mfma $type $d
            test $type = f16 || row $driver 90a mfma $type $d
            row $driver 1100 wmma $type $d
        done
        row 6 1201 wmma $type $d
    done
done
