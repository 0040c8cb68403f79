#!/usr/bin/env bash
# try-aarch64-wheel.sh - a wheel for aarch64, run by qemu on Debian's PoCL: build-aux/try-aarch64-wheel.sh WHEEL
# SPDX-License-Identifier: Apache-2.0
#
# On x86-64, as root or with sudo. What offline/setup-ports.sh unpacks of Debian's packages for that processor has a
# Python and PoCL, which links kernels by the cross linker of this machine. qemu asks for some files where PoCL has them
# without its prefix, so that all of it is laid below this system's own in a name space that ends with each command.
# Prints TAP. Environment: CLATTN_PORTS, see setup-ports.sh.
. "$(dirname "$0")/try-here.sh"
ports=${CLATTN_PORTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-ports}/aarch64-wheel
CLATTN_PORTS=$ports PACKAGES='python3-minimal libpython3-stdlib pocl-opencl-icd' \
    "$top/offline/setup-ports.sh" arm64 >/dev/null || exit
root=$ports/arm64

named() {
    case $(basename "$wheel") in "clattn-$version-cp39-abi3-manylinux_"*_aarch64.whl) ;; *) return 1 ;; esac
}
# pip of this machine brings what the wheel depends on, for the other one.
install() {
    local f python
    python=$(basename "$(readlink "$root/usr/bin/python3")")
    python3 -m venv v && v/bin/pip download -q --only-binary :all: --python-version "${python#python}" -d wheels \
        --platform manylinux_2_17_aarch64 --platform manylinux_2_28_aarch64 --platform manylinux2014_aarch64 \
        numpy cffi || return
    for f in wheels/*.whl "$wheel"; do python3 -m zipfile -e "$f" site || return; done
    chmod +x site/clattn/bin/*
}
run() { # DRIVERS PROGRAM ARGUMENTS...
    local drivers=$1
    shift
    # shellcheck disable=SC2016 # the inner shell's
    $sudo unshare --mount --propagation private sh -c '
        work=$1 root=$2 drivers=$3
        shift 3
        mount -t overlay overlay -o "lowerdir=/usr:$root/usr:$work/below" /usr || exit
        export OCL_ICD_VENDORS="$drivers" PATH="$work/bin:$PATH" PYTHONHOME="$root/usr" PYTHONPATH="$work/site" \
            POCL_CACHE_DIR="$work/pocl" CLATTN_CACHE_DIR=off CLATTN_TUNE=off POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable
        exec timeout 300 qemu-aarch64 -L "$root" "$@"' sh "$work" "$root" "$drivers" "$@"
}
pocl=$root/etc/OpenCL/vendors/
mkdir below bin none pocl
cp -a "$root/lib" below
ln -s "$(command -v aarch64-linux-gnu-ld)" bin/ld
sed -n '/^```python$/,/^```$/p' "$top/python/README.md" | grep -v '^```' >first.py
no_driver() {
    ! run "$work/none/" "$root/usr/bin/python3" first.py >said 2>&1 && grep 'there is no OpenCL driver' said
}
versions() {
    local p
    for p in clattn-run clattn-tune clattn-bench clattn-report; do
        run "$pocl" "site/clattn/bin/$p" --version | grep -F "$version" || return
    done
}
right() { # by what is compiled soonest
    local data=$top/examples/data/decoder_causal_layer0
    run "$pocl" site/clattn/bin/clattn-run --engine naive --causal --verify "$data/q.npy" "$data/k.npy" "$data/v.npy"
}
program() { test "$(run "$pocl" "$root/usr/bin/python3" first.py)" = '(1, 8, 64, 32) (1, 2, 96, 32)'; }

ok "the wheel's name says what it is for" named
ok 'it is unpacked with what it depends on' install
ok 'without a driver it says what is missing' no_driver
ok 'its programs say their version' versions
ok 'clattn-run is right on real data' right
ok "README's program" program
echo "1..$n"
exit $bad
