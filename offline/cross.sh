#!/usr/bin/env bash
# cross.sh - the library on another machine: cross.sh ARCH [DIR]
# SPDX-License-Identifier: Apache-2.0
#
# ARCH is i386, arm64 or s390x, which setup-ports.sh has set up. Configures in DIR [build/ARCH], builds library,
# programs, examples and tests, where a warning is an error, and runs `make check-device-free`: programs of i386 by this
# kernel, others by qemu-user. What is built in DIR already stays. Environment: CLATTN_PORTS as setup-ports.sh has it,
# JOBS [all processors], TESTS [those of check-device-free].
set -eu
top=$(cd "$(dirname "$0")/.." && pwd)
arch=${1-} dir=${2:-$top/build/$arch}
case $arch in
i386) triple=i686-linux-gnu emulator= arithmetic="-msse2 -mfpmath=sse" ;;
arm64) triple=aarch64-linux-gnu emulator=qemu-aarch64 ;;
s390x) triple=s390x-linux-gnu emulator=qemu-s390x ;;
*) echo "cross.sh: no machine '$arch': i386, arm64 or s390x" >&2 && exit 2 ;;
esac
root=${CLATTN_PORTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-ports}/$arch
test -d "$root/link" || { echo "cross.sh: there is no $root/link: offline/setup-ports.sh makes it" >&2 && exit 2; }

# The x87 keeps more bits than a float or a double has, and the tests tell how numbers are rounded.
optimise="-O1 ${arithmetic-}"

# Programs of i386 find the loader and the libraries of their own root. An emulator has it for its root.
flags="-L$root/link -static-libgcc -static-libstdc++"
if test -z "$emulator"; then
    libraries=$root/lib/i386-linux-gnu:$root/usr/lib/i386-linux-gnu
    flags+=" -Wl,--dynamic-linker=$root/lib/ld-linux.so.2,--disable-new-dtags,-rpath,$libraries"
fi
configure() {
    mkdir -p "$dir"
    (cd "$dir" && "$top/configure" -q --disable-dependency-tracking --host="$triple" --disable-shared \
        --without-clblast PKG_CONFIG=false CFLAGS="$optimise" CXXFLAGS="$optimise" LDFLAGS="$flags")
}
strict() { # ARGUMENTS...: make; configure's own probes would not survive -Werror
    make -C "$dir" -s -j"${JOBS:-$(nproc)}" CFLAGS="$optimise -Werror" CXXFLAGS="$optimise -Werror" "$@"
}

test -e "$dir/config.status" || configure
strict
strict check TESTS=
strict check-device-free EMULATOR="${emulator:+$emulator -L $root}" ${TESTS:+DEVICE_FREE_TESTS="$TESTS"}
