#!/usr/bin/env bash
# setup-amd-drivers.sh - AMD's OpenCL drivers, no GPU needed: setup-amd-drivers.sh [DIR]
# SPDX-License-Identifier: Apache-2.0
#
# Makes two Debian roots in DIR [~/.cache/clattn-offline/amd]: rocm5, of Debian 13, has the driver of ROCm 5.7 with LLVM
# 17, and rocm6, of forky, that of ROCm 6.4 with LLVM 21 and a disassembler for what both compile, wrap/llvm-objdump.
# For check.sh and the pretended device of tests/amd. Runs on Debian as root; 1.2 GB, a minute or two. They are not the
# root of setup-newer-compilers.sh, because AMD's driver and Mesa's exclude each other there. The system stays as it is,
# but for the package debootstrap. Environment: see debian-root.sh.
set -eu
to=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/amd}
dir=
. "$(dirname "$0")/debian-root.sh"

# A file of the root, `ready`, has the driver's version, once all is there.
driver() { # NAME VERSION SUITE PACKAGES...
    local version name=$1 wanted=$2 suite=$3
    dir=$to/$name
    shift 3
    test ! -e "$dir/ready" || return 0
    rm -rf --one-file-system "$dir" # what was cut off
    new_root "$suite"
    apt_inside update -qq
    apt_inside install -y --no-install-recommends rocm-opencl-icd "$@"
    apt_inside clean
    test -e "$dir/usr/lib/x86_64-linux-gnu/libamdocl64.so"
    for tool in llvm-objdump llvm-readelf; do
        test ! -e "$dir/usr/lib/llvm-21/bin/$tool" ||
            wrap "$tool" "$dir/usr/lib/x86_64-linux-gnu" "$dir/usr/lib/llvm-21/bin/$tool"
    done
    version=$(chroot "$dir" dpkg-query -W -f '${Version}' rocm-opencl-icd)
    case $version in
    "$wanted".*) ;;
    *) echo "setup-amd-drivers.sh: $suite has ROCm $version, where $wanted is wanted" >&2 && exit 1 ;;
    esac
    echo "$version" >"$dir/ready"
}

driver rocm5 5.7 trixie libclang-common-17-dev # whose headers its compiler wants to see
driver rocm6 6.4 forky llvm-21
for name in rocm5 rocm6; do echo "$name: AMD's driver of ROCm $(cat "$to/$name/ready")"; done
