#!/bin/sh
# fill.sh - recipes of packages, filled with a release: packaging/fill.sh RELEASE ADDRESS HOMEPAGE TO
# SPDX-License-Identifier: Apache-2.0
#
# RELEASE: clattn-VERSION.tar.gz, as `make dist` makes it. ADDRESS: of the folder where everyone can fetch that file;
# HOMEPAGE: of the project. Leaves the recipes in TO, each in a folder of its own, with the version of the release, its
# address and sums of its bytes in place of @VERSION@, @URL@, @SHA256@, @SHA512@ and @HOMEPAGE@. README says what to do
# with them.
set -eu
test $# -eq 4 || { echo 'usage: packaging/fill.sh RELEASE ADDRESS HOMEPAGE TO' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
release=$1 address=${2%/} homepage=$3
name=$(basename "$release")
version=$(expr "$name" : 'clattn-\([0-9][0-9.]*\)\.tar\.gz$') || {
    echo "fill.sh: $name is no clattn-VERSION.tar.gz" >&2
    exit 2
}
case $address$homepage in
*[!A-Za-z0-9._~:/?%+@=-]*)
    echo 'fill.sh: an address has a character that none should have' >&2
    exit 2
    ;;
esac
inside=$(tar -x -z -O -f "$release" "clattn-$version/configure.ac" | sed -n 's/^AC_INIT(\[clattn\], \[\(.*\)\])$/\1/p')
test "$inside" = "$version" || { echo "fill.sh: $name is of version $inside" >&2; exit 2; }
sum() { "$1" <"$release" | sed 's/ .*//'; }
sha256=$(sum sha256sum) sha512=$(sum sha512sum)
mkdir -p "$4"
to=$(cd "$4" && pwd)
cd "$here"
find . -type f ! -name README ! -name '*.sh' | while read -r f; do
    mkdir -p "$to/$(dirname "$f")"
    sed -e "s|@VERSION@|$version|g" -e "s|@URL@|$address/$name|g" -e "s|@HOMEPAGE@|$homepage|g" \
        -e "s|@SHA256@|$sha256|g" -e "s|@SHA512@|$sha512|g" "$f" >"$to/$f"
done
! grep -rn '@[A-Z0-9]*@' "$to"
