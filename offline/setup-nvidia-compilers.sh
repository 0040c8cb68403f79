#!/usr/bin/env bash
# setup-nvidia-compilers.sh - the OpenCL compilers of NVIDIA's drivers, no GPU needed: setup-nvidia-compilers.sh [DIR]
# SPDX-License-Identifier: Apache-2.0
#
# Unpacks those of drivers 470, 535 and 550 from Debian's non-free packages as DIR/470 .. DIR/550
# [~/.cache/clattn-offline/nvidia], for check.sh and cases.py. Nothing is installed; what is there already stays.
# Runs on Debian, as root or not; 70 MB to fetch and 220 MB to keep, some seconds. The compilers are NVIDIA's, and so is
# their licence. Environment: MIRROR [the one that the system's packages come from], KEYRING [Debian's].
set -eu
dir=${1:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/nvidia}
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' 'Origin: Debian' |
    grep -v security | head -n 1)}
keyring=${KEYRING:-/usr/share/keyrings/debian-archive-keyring.gpg}

die() { echo "setup-nvidia-compilers.sh: $*" >&2; exit 1; }

# apt with lists and archives of its own; of the system's configuration proxies and the like remain.
own_apt() { # SUITE ARGUMENTS...
    local at=$work/apt-$1
    shift
    apt-get -qq -o Dir::Etc::SourceList=/dev/null -o Dir::Etc::SourceParts="$at/sources" \
        -o Dir::Etc::Preferences=/dev/null -o Dir::Etc::PreferencesParts=/dev/null \
        -o Dir::State="$at/state" -o Dir::State::status=/dev/null \
        -o Dir::Cache="$at/cache" -o APT::Architecture=amd64 -o APT::Architectures=amd64 -o APT::Sandbox::User= \
        -o Acquire::Languages=none "$@"
}
know() { # SUITE: its lists
    local at=$work/apt-$1
    test ! -d "$at" || return 0
    mkdir -p "$at/sources" "$at/state/lists/partial" "$at/cache/archives/partial"
    printf 'Types: deb\nURIs: %s\nSuites: %s\nComponents: non-free\nSigned-By: %s\n' "${mirror%/}" "$1" "$keyring" \
        >"$at/sources/debian.sources"
    own_apt "$1" update
}

# A driver's folder gets its name when all of it is there.
unpack() { # DRIVER SUITE PACKAGE LIBRARY
    local new=$work/$1 found
    test ! -d "$dir/$1" || return 0
    know "$2"
    mkdir "$new"
    (cd "$new" && own_apt "$2" download "$3" && dpkg -x ./*.deb . && rm ./*.deb)
    found=$(find "$new" -type f -name "$4.$1.*")
    test -n "$found" || die "$3 of $2 has no $4.$1 but $(find "$new" -type f -name "$4.*" -printf '%f ')"
    ln -s "${found#"$new/"}" "$new/compiler.so"
    mv -T "$new" "$dir/$1" 2>/dev/null || test -d "$dir/$1" || die "cannot make $dir/$1" # or another made it meanwhile
}

test -n "$mirror" || die "apt names no mirror of Debian's; give MIRROR"
test -r "$keyring" || die "no keyring at $keyring; give KEYRING"
mkdir -p "$dir"
work=$(mktemp -d "$dir/new.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
unpack 470 bookworm libnvidia-tesla-470-compiler libnvidia-compiler.so
unpack 535 bookworm libnvidia-nvvm4 libnvidia-nvvm.so
unpack 550 trixie libnvidia-nvvm4 libnvidia-nvvm.so
for driver in 470 535 550; do readlink -f "$dir/$driver/compiler.so"; done
