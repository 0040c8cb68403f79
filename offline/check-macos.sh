#!/usr/bin/env bash
# check-macos.sh - whether every C file of library, programs and examples compiles for macOS: check-macos.sh [ZIG]
# SPDX-License-Identifier: Apache-2.0
#
# Syntax and warnings only, by zig's clang with the headers of macOS that it brings, and OpenCL's headers of this
# machine; nothing is linked or run. ZIG: the program [that of the Python package ziglang, which is installed into
# ~/.cache/clattn-ports/zig where it is missing].
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
dir=${CLATTN_PORTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-ports}/zig
if test $# -gt 0; then
    zig=$1
else
    test -x "$dir/bin/python" || python3 -m venv "$dir"
    "$dir/bin/python" -c 'import ziglang' 2>/dev/null || "$dir/bin/pip" install -q ziglang==0.17.1
    zig=$("$dir/bin/python" -c 'import os, ziglang; print(os.path.join(os.path.dirname(ziglang.__file__), "zig"))')
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# What configure finds there.
cat >"$work/config.h" <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#define HAVE_ISSETUGID 1
#define HAVE_STRNDUP 1
#define HAVE_SYS_RANDOM_H 1
#define VERSION "0"
#define _DARWIN_C_SOURCE 1
#define PRINTF_LIKE(text, first) __attribute__((format(printf, text, first)))
END
ln -s /usr/include/CL "$work/CL"
cd "$top"
# Windows' files, libmd's, and what is for NVIDIA's GPUs, for x86 or for another library.
others='_windows\.c|/windows_call\.c|base/digest_posix\.c|fragments\.c|bench/nvidia/|bench/decode-|clblast\.c'
files=$(ls src/*/*.c tools/*/*.c bench/*.c bench/*/*.c examples/*.c | grep -vE "$others")
lib=$(dirname "$zig")/lib
# zig's clang itself, because "zig cc" wants an object of each file.
# shellcheck disable=SC2086 # names are words
"$zig" clang --target=arm64-apple-macos13 -fsyntax-only -std=gnu99 -O2 -Wall -Wextra -Wvla -Wstrict-prototypes -Werror \
    -nostdinc -isystem "$lib/include" -isystem "$lib/libc/include/any-darwin-any" \
    -DCLATTN_SITE_DIR='"/"' -DCLATTN_SEEDS_DIR='"/"' -I"$work" -Iinclude -Isrc -I. $files
echo "macos: $(echo "$files" | wc -l) files compile"
