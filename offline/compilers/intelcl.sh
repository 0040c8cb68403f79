#!/bin/sh
# intelcl.sh - compiles for Intel's GPUs: intelcl.sh [-d CLBUILD] ROOT DEVICE IN.cl OUT OPTION...
# SPDX-License-Identifier: Apache-2.0
#
# By ocloc of the root that setup-newer-compilers.sh makes; with -d by the OpenCL driver in it, as a user's program is:
# CLBUILD is clbuild.c compiled, DEVICE one of neo.sh's. OUT is the kernel binary, the listings of its kernels behind
# it, and a last line that says how long the binary is. What the compiler says goes to standard output.
client=
if test "${1-}" = -d; then client=${2-} && shift 2; fi
test $# -ge 4 || exit 2
root=$1 device=$2 in=$3 out=$4
shift 4
dir=$(mktemp -d "${TMPDIR:-/tmp}/clattn-intelcl.XXXXXX") || exit 2
trap 'rm -rf "$dir"' EXIT
trap 'exit 2' HUP INT TERM
export IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir="$dir" # IGC writes listings, whoever calls it
if test -n "$client"; then
    "$(dirname "$0")/neo.sh" "$root" "$device" "$client" "$in" - "$*" "$dir/kernel.bin" || exit 1
else
    "$root/wrap/ocloc" compile --format zebin -device "$device" -file "$in" -output kernel -out_dir "$dir" \
        -options "$*" >"$dir/said" || { cat "$dir/said" && exit 1; }
    grep -vx "Build succeeded\." "$dir/said"
fi
binary=$(find "$dir" -name 'kernel*.bin' | head -n 1)
test -s "$binary" || exit 1
size=$(($(wc -c <"$binary")))
{ # of each kernel as often as it was tried
    cat "$binary" && printf '\n' &&
        find "$dir" -name '*.asm' | sort | while read -r listing; do cat "$listing" || exit 1; done &&
        printf '\n//.binary %d\n' "$size"
} >"$out"
