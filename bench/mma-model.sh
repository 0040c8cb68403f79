#!/bin/sh
# mma-model.sh - what matrix engines for AMD and Intel could reach, from what pretended devices executed
# SPDX-License-Identifier: Apache-2.0
#
#     bench/mma-model.sh BUILD [amd [DRIVERS]]      DRIVERS: what offline/setup-amd-drivers.sh made
#     bench/mma-model.sh BUILD intel [ROOT]         ROOT: what offline/setup-newer-compilers.sh made
#
# For each row below, and each driver of AMD's that knows its GPU: two launches of the tile that the library chooses,
# over 4 and 8 tiles of keys, judged against float64, and what mma-model.py says of their difference. No GPU takes part.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
build=$(cd "${1:?BUILD, where clattn was built and make check made its programs}" && pwd)
vendor=${2-amd}
made=${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline
tmp=$(mktemp -d "${TMPDIR:-/tmp}/clattn-model-XXXXXX")
trap 'rm -rf "$tmp"' EXIT
trap 'exit 1' HUP INT TERM
mkdir "$tmp/cache" "$tmp/kept"
case $vendor in
amd)
    platform=AMD variable=CLATTN_AMD queries=256
    own="amdcl=$build/offline/amdcl,drivers=${3-${AMD_DRIVERS-$made/amd}}"
    ;;
intel)
    platform=Intel variable=CLATTN_INTEL queries=512
    own="intelcl=$here/../offline/compilers/intelcl.sh,root=${3-${CLATTN_NEWER_ROOT-$made/forky}}"
    ;;
*) echo "mma-model.sh: amd or intel, not $vendor" >&2 && exit 2 ;;
esac
layer=$build/tests/$vendor/.libs/${vendor}_device.so
always="$own,cache=$tmp/cache,findings=$tmp/findings,unchecked=1"

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
    if ! env "$variable=$words,lines=$tmp/$1" OPENCL_LAYERS="$layer" CLATTN_CACHE_DIR="$tmp/kept" \
        "$build/clattn-run" --device $platform --tune off --splits 1 --type "$type" --engine "$engine" --verify \
        "$tmp/q.npy" "$tmp/k.npy" "$tmp/v.npy" >"$tmp/$1.out" 2>&1; then
        cat "$tmp/$1.out" >&2
        exit 1
    fi
    test ! -s "$tmp/findings" || { cat "$tmp/findings" >&2; exit 1; }
}
number() { # NAME: of the tile
    echo "$tile" | sed -n "s/.*$1\([0-9]*\).*/\1/p"
}
last() { ls "$tmp/$1"/*-cla_forward | tail -n 1; }

row() { # NAME WORDS GPU LANES ENGINE TYPE D: as many queries as every tile's rows divide
    words="$always,$2" gpu=$3 lanes=$4 engine=$5 type=$6 d=$7
    rm -rf "$tmp/any" "$tmp/few" "$tmp/many"
    launch any 64
    tile=$(sed -n 's/^engine.*, tile \([a-z0-9,]*\) .*/\1/p' "$tmp/any.out")
    keys=$(number bk) rows=$(number rt)
    rows=${rows:-1}
    launch few $((4 * keys))
    launch many $((8 * keys))
    printf '%s, %s d%s, tile %s: ' "$1" "$type" "$d" "$tile"
    python3 "$here/mma-model.py" "$gpu" "d=$d,dv=$d,$(echo "$tile" | sed 's/\([a-z]*\)\([0-9]*\)/\1=\2/g')" \
        $((queries / lanes / rows * 4)) "$(last few)" "$(last many)"
}

amd() { # DRIVER GFX ENGINE TYPE D
    row "driver $1" "driver=$1,gfx=$2" "gfx$2" 16 "$3" "$4" "$5"
}
amd_rows() {
    for type in f16 bf16; do
        for d in 64 128; do
            for driver in 5 6; do
                amd $driver 942 mfma $type $d
                test $type = f16 || amd $driver 90a mfma $type $d
                amd $driver 1100 wmma $type $d
            done
            amd 6 1201 wmma $type $d
        done
    done
}

intel() { # GPU LANES ENGINE D: lanes of a sub-group are queries, rt of whose tiles it has
    row ocloc "gpu=$1" "$1" "$2" "$3" f16 "$4"
}
intel_rows() {
    for d in 64 128; do
        intel bmg 16 dpas $d
        intel pvc 16 dpas $d
        intel acm-g10 8 dpas8 $d
    done
}

${vendor}_rows
