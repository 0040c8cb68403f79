#!/usr/bin/env bash
# setup-ports.sh - what cross.sh needs: compilers and libraries of other machines: setup-ports.sh [ARCH...]
# SPDX-License-Identifier: Apache-2.0
#
# ARCH is i386, arm64 or s390x; all of them by default. Installs Debian's cross compilers, whose packages are those of
# this machine, and qemu-user; and unpacks libmd and the OpenCL loader of each ARCH below DIR/ARCH, without adding an
# architecture to dpkg. For i386, whose programs this processor runs itself, also PoCL and all that it needs. What is
# there already stays. Runs on Debian 12, x86-64, as root or with sudo; 350 MB to fetch, 1.5 GB to keep, two minutes.
# Environment: CLATTN_PORTS: DIR [~/.cache/clattn-ports], MIRROR [the one that the system's packages come from],
# KEYRING [Debian's], PACKAGES: others than these, for a DIR of their own.
set -eu
dir=${CLATTN_PORTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-ports}
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' |
    grep -v security | head -n 1)}
keyring=${KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}
suite=bookworm
# What is unpacked of each, and the name that its compilers begin with.
declare -A triple=([i386]=i686-linux-gnu [arm64]=aarch64-linux-gnu [s390x]=s390x-linux-gnu)
declare -A multiarch=([i386]=i386-linux-gnu [arm64]=aarch64-linux-gnu [s390x]=s390x-linux-gnu)
declare -A unpacked=([i386]='libmd-dev ocl-icd-libopencl1 pocl-opencl-icd' [arm64]='libmd-dev ocl-icd-libopencl1'
    [s390x]='libmd-dev ocl-icd-libopencl1')

die() { echo "setup-ports.sh: $*" >&2; exit 1; }

install_compilers() { # ARCH...: and what runs their programs
    local arch p missing=() wanted=(qemu-user opencl-headers)
    for arch in "$@"; do wanted+=("gcc-${triple[$arch]}" "g++-${triple[$arch]}"); done
    for p in "${wanted[@]}"; do
        dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
    done
    test ${#missing[@]} -ne 0 || return 0
    local sudo=
    test "$(id -u)" -eq 0 || sudo=sudo
    # Without what is only recommended: qemu-user-binfmt would let this kernel run foreign programs by itself.
    $sudo apt-get update
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

# apt with lists and archives of its own, for one architecture; of the system's configuration proxies and the like
# remain.
own_apt() { # ARCH ARGUMENTS...
    local arch=$1 at=$work/apt-$1
    shift
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$at/sources" \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o Dir::State="$at/state" -o Dir::State::status="$at/status" -o Dir::Cache="$at/cache" \
        -o APT::Architecture="$arch" -o APT::Architectures="$arch" -o APT::Sandbox::User= \
        -o Acquire::Languages=none -o Debug::NoLocking=1 "$@"
}

# Everything that the packages depend on comes with them, libc too: the folder is what programs of ARCH take for root.
# It gets its name when all of it is there.
unpack() { # ARCH
    local arch=$1 at=$work/apt-$1 new=$work/$1 f
    test ! -d "$dir/$arch" || return 0
    mkdir -p "$at/sources" "$at/state/lists/partial" "$at/cache/archives/partial" "$new"
    : >"$at/status"
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: main\nSigned-By: %s\n' "${mirror%/}" "$suite" "$keyring" \
        >"$at/sources/debian.sources"
    own_apt "$arch" update
    # shellcheck disable=SC2086 # names are words
    own_apt "$arch" install -y --no-install-recommends --download-only ${PACKAGES-${unpacked[$arch]}}
    for f in "$at"/cache/archives/*.deb; do dpkg -x "$f" "$new"; done
    # Of what this machine's own packages lack, as the linker looks for it.
    mkdir "$new/link"
    ln -s "../usr/lib/${multiarch[$arch]}/libmd.so.0" "$new/link/libmd.so"
    ln -s "../usr/lib/${multiarch[$arch]}/libOpenCL.so.1" "$new/link/libOpenCL.so"
    mv -T "$new" "$dir/$arch" 2>/dev/null || test -d "$dir/$arch" || die "cannot make $dir/$arch"
}

test $# -gt 0 || set -- i386 arm64 s390x
for arch in "$@"; do test -n "${triple[$arch]-}" || die "no machine '$arch': i386, arm64 or s390x"; done
test -n "$mirror" || die "apt names no mirror of Debian's; give MIRROR"
test -r "$keyring" || die "no keyring at $keyring; give KEYRING"
install_compilers "$@"
mkdir -p "$dir"
work=$(mktemp -d "$dir/new.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
for arch in "$@"; do unpack "$arch"; done
