#!/bin/sh
# packages.sh - Debian's packages of the last commit: build-aux/packages.sh FOLDER leaves libclattn0, libclattn-dev and
# clattn-tools there
# SPDX-License-Identifier: Apache-2.0
#
# As root or with sudo, in a git checkout: releases have no debian/, which is Debian's part and not upstream's. Installs
# what debian/control asks for and lintian, builds in a scratch folder without make check, and fails where lintian has
# an error or a warning.
set -eu
LC_ALL=C.UTF-8
export LC_ALL

die() {
    printf 'packages.sh: %s\n' "$*" >&2
    exit 1
}
test $# -eq 1 || die 'usage: build-aux/packages.sh FOLDER'
mkdir -p "$1"
to=$(cd "$1" && pwd)
cd "$(dirname "$0")/.."
git rev-parse -q --verify HEAD:debian/control >/dev/null || die 'this is no git checkout of clattn'

sudo=
test "$(id -u)" -eq 0 || sudo=sudo
apt_get() { $sudo env DEBIAN_FRONTEND=noninteractive apt-get -y --no-install-recommends "$@"; }

scratch=$(mktemp -d "${TMPDIR:-/tmp}/clattn-packages.XXXXXX")
trap 'rm -rf "$scratch"' EXIT
trap 'exit 1' HUP INT TERM

# What upstream releases, then Debian's folder in it.
version=$(git show HEAD:debian/changelog | sed -n '1s/^clattn (\(.*\)-[^-]*) .*/\1/p')
git archive --prefix="clattn-$version/" -o "$scratch/clattn_$version.orig.tar.gz" HEAD . ':!debian' ':!.ci'
tar -x -z -f "$scratch/clattn_$version.orig.tar.gz" -C "$scratch"
git archive HEAD debian | tar -x -C "$scratch/clattn-$version"
cd "$scratch/clattn-$version"

export DEB_BUILD_OPTIONS="nocheck noautodbgsym parallel=$(nproc)" DEB_BUILD_PROFILES=nocheck
command -v lintian >/dev/null && dpkg-checkbuilddeps 2>/dev/null || {
    $sudo apt-get update
    apt_get install build-essential dpkg-dev lintian
    apt_get build-dep -P nocheck ./
}
dpkg-buildpackage --no-sign
cd ..
# These packages are not uploaded to Debian, so they close no bug that announces them there.
lintian --allow-root --suppress-tags initial-upload-closes-no-bugs --fail-on error,warning ./*.changes
cp ./*.deb "$to"
