#!/usr/bin/env bash
# setup-newer-compilers.sh - newer compilers than the system's, beside it: setup-newer-compilers.sh [--mali] [DIR]
# SPDX-License-Identifier: Apache-2.0
#
# Makes a Debian root with ocloc 26 and Intel's OpenCL driver, clang 21 and the device libraries of ROCm 7, Mesa's
# OpenCL and pretended kernel drivers in DIR [~/.cache/clattn-offline/forky], for check.sh, and PoCL 7, for
# check-newer.sh. Runs on Debian as root; 1.4 GB, some minutes. The system stays as it is, but for the package
# debootstrap and, with --mali, qemu-user-static and a cross compiler.
# Environment: SUITE [forky], MIRROR [the one that the system's packages come from], DEBOOTSTRAP_OPTS.
set -eu
mali=
if test "${1-}" = --mali; then mali=1 && shift; fi
suite=${SUITE:-forky}
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/$suite}
arm64=$(dirname "$dir")/arm64root
libs=$dir/usr/lib/x86_64-linux-gnu
. "$(dirname "$0")/debian-root.sh"

# Only unpacked, and run by qemu-user without a chroot.
unpack_arm64() {
    local f clang=usr/lib/llvm-21/lib/clang/21
    apt-get install -y --no-install-recommends qemu-user-static gcc-aarch64-linux-gnu libc6-dev-arm64-cross
    chroot "$dir" dpkg --add-architecture arm64
    apt_inside update -qq
    rm -f "$dir"/var/cache/apt/archives/*_arm64.deb
    apt_inside install -y --no-install-recommends --download-only mesa-opencl-icd:arm64 mesa-drm-shim:arm64 \
        ocl-icd-libopencl1:arm64
    mkdir -p "$arm64"
    for f in "$dir"/var/cache/apt/archives/*_arm64.deb; do dpkg -x "$f" "$arm64"; done
    ln -sfn usr/lib "$arm64/lib"
    mkdir -p "$arm64/usr/lib/clc" "$arm64/$clang"
    cp "$dir"/usr/lib/clc/spirv* "$arm64/usr/lib/clc/"
    cp -rL "$dir/$clang/include" "$arm64/$clang/"
    chroot "$dir" dpkg --remove-architecture arm64 || true
}

new_root "$suite"
apt_inside update -qq
# ocloc and the driver load libigc and libigdfcl by name: nothing depends on them. The driver has no device in there; it
# is run from outside, by compilers/neo.sh. llvm has the disassembler for AMD's newest.
apt_inside install -y --no-install-recommends intel-ocloc intel-opencl-icd libigc2 libigdfcl2 clang-21 llvm-21 \
    libclc-21 libclc-21-dev rocm-device-libs-21 mesa-opencl-icd mesa-drm-shim ocl-icd-libopencl1 pocl-opencl-icd
wrap clang-21 "$libs:$dir/usr/lib/llvm-21/lib" "$dir/usr/lib/llvm-21/bin/clang" -resource-dir \
    "$dir/usr/lib/llvm-21/lib/clang/21"
wrap llvm-objdump-21 "$libs:$dir/usr/lib/llvm-21/lib" "$dir/usr/lib/llvm-21/bin/llvm-objdump"
wrap ocloc "$libs" "$(find "$dir/usr/bin" -name 'ocloc-[0-9]*' | sort | tail -n 1)"
test -z "$mali" || unpack_arm64
apt_inside clean
"$dir/wrap/ocloc" --version
"$dir/wrap/clang-21" --version | head -n 1
