# debian-root.sh - Debian roots of their own, beside the system: what the scripts that make them share. Sourced
# SPDX-License-Identifier: Apache-2.0
#
# $dir is the root. Environment: MIRROR [the one that the system's packages come from], DEBOOTSTRAP_OPTS.
export DEBIAN_FRONTEND=noninteractive
mirror=${MIRROR:-$(apt-get indextargets --format '$(SITE)' 'Created-By: Packages' | grep -v security | head -n 1)}

apt_inside() { chroot "$dir" apt-get -o Acquire::Check-Valid-Until=false -o Dpkg::Use-Pty=0 "$@"; }

new_root() { # SUITE: where there is none yet
    local script=/usr/share/debootstrap/scripts/$1
    test ! -x "$dir/bin/sh" || return 0
    command -v debootstrap >/dev/null || apt-get install -y --no-install-recommends debootstrap
    test -e "$script" || script=${script%/*}/sid # a debootstrap older than the suite
    mkdir -p "$(dirname "$dir")"
    # shellcheck disable=SC2086 # options are words
    debootstrap --variant=minbase ${DEBOOTSTRAP_OPTS-} "$1" "$dir" "${mirror%/}" "$script"
}

# wrap NAME LIBRARIES PROGRAM ARGUMENTS...: $dir/wrap/NAME runs a program of the root from outside of it
wrap() {
    local to=$dir/wrap/$1 path=$2
    shift 2
    mkdir -p "$dir/wrap"
    printf '#!/bin/sh\nexec %s --library-path %s %s "$@"\n' "$dir/usr/lib64/ld-linux-x86-64.so.2" "$path" "$*" >"$to"
    chmod +x "$to"
}
