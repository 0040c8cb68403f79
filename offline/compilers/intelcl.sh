#!/bin/sh
# intelcl.sh - compiles as Intel's OpenCL driver does: intelcl.sh ROOT DEVICE IN.cl OUT OPTION...
# SPDX-License-Identifier: Apache-2.0
#
# By ocloc of the root that setup-newer-compilers.sh makes. OUT is the kernel binary, the listings of its kernels behind
# it, and a last line that says how long the binary is. What the compiler says goes to standard output.
test $# -ge 4 || exit 2
root=$1 device=$2 in=$3 out=$4
shift 4
dir=$(mktemp -d "${TMPDIR:-/tmp}/clattn-intelcl.XXXXXX") || exit 2
trap 'rm -rf "$dir"' EXIT
trap 'exit 2' HUP INT TERM
IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir=$dir "$root/wrap/ocloc" compile --format zebin -device "$device" \
    -file "$in" -output kernel -out_dir "$dir" -options "$*" || exit 1
binary=$(find "$dir" -name 'kernel*.bin' | head -n 1)
test -s "$binary" || exit 1
size=$(($(wc -c <"$binary")))
{ # of each kernel as often as it was tried
    cat "$binary" && printf '\n' &&
        find "$dir" -name '*.asm' | sort | while read -r listing; do cat "$listing" || exit 1; done &&
        printf '\n//.binary %d\n' "$size"
} >"$out"
