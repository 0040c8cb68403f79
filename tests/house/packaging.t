#!/bin/sh
# packaging.t - recipes in packaging/ say of version, licence and dependencies what the sources say, and can be filled
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

. tests/lib/house.sh

LC_ALL=C
export LC_ALL
work=$(mktemp -d "${TMPDIR:-/tmp}/clattn-packaging.XXXXXX") || exit 99
trap 'rm -rf "$work"' EXIT
trap 'exit 99' HUP INT TERM
version=$(sed -n 's/^AC_INIT(\[clattn\], \[\([0-9.]*\)\])$/\1/p' configure.ac)
recipes='vcpkg/vcpkg.json vcpkg/portfile.cmake conan/all/conanfile.py conan/all/conandata.yml conan/config.yml
    conda/recipe.yaml homebrew/clattn.rb meson/clattn.wrap'

lacking() { # TEXT FILE...: those that lack it
    text=$1
    shift
    for f; do grep -qF -e "$text" "packaging/$f" || echo "packaging/$f lacks $text"; done
}
result "no recipe has a version, an address or a sum of its own" "$(
    for f in $recipes; do
        grep -nE "(^|[^0-9.])$version([^0-9.]|\$)|[0-9a-f]{40}" "packaging/$f" | sed "s|^|packaging/$f: |"
    done
    lacking @VERSION@ $(echo $recipes | tr ' ' '\n' | grep -v 'conanfile\|clattn\.rb')
    lacking @URL@ vcpkg/portfile.cmake conan/all/conandata.yml conda/recipe.yaml homebrew/clattn.rb meson/clattn.wrap
    lacking @SHA256@ conan/all/conandata.yml conda/recipe.yaml homebrew/clattn.rb meson/clattn.wrap
    lacking @SHA512@ vcpkg/portfile.cmake)"
licence=$(sed -n '1,5s/.*SPDX-License-Identifier: //p' include/clattn.h)
result "all that name a licence name that of clattn.h, $licence" "$(
    test -n "$licence" || echo "clattn.h has none"
    for f in vcpkg/vcpkg.json conan/all/conanfile.py conda/recipe.yaml homebrew/clattn.rb; do
        grep -qE "license\"?:? ?=? ?\"?$licence\"?,?\$" "packaging/$f" || echo "packaging/$f"
    done
    lacking COPYING vcpkg/portfile.cmake conan/all/conanfile.py conda/recipe.yaml)"

# ./configure and CMakeLists.txt ask for these, where libmd is asked for on neither Windows nor macOS.
result "what the sources need is what the recipes were written for" "$(
    asked=$(grep -hoE 'AC_MSG_ERROR\(\[(clattn needs [A-Za-z]+|OpenCL)' m4/*.m4 configure.ac | sed 's/.*\[//' | sort -u)
    wanted=$(printf 'OpenCL\nclattn needs POSIX\nclattn needs libmd')
    test "$asked" = "$wanted" || printf 'configure asks for:\n%s\n' "$asked"
    found=$(grep -hoE '^ *(find_package|find_library)\([A-Za-z_ ]+' CMakeLists.txt | sed 's/ REQUIRED//; s/ *//' | sort)
    wanted=$(printf 'find_library(MD_LIBRARY md\nfind_package(OpenCL\nfind_package(Threads')
    test "$found" = "$wanted" || printf 'CMake asks for:\n%s\n' "$found")"
result "every recipe asks for libmd and OpenCL" "$(
    lacking '"libmd' vcpkg/vcpkg.json conan/all/conanfile.py homebrew/clattn.rb
    lacking 'then: libmd' conda/recipe.yaml
    lacking '"opencl"' vcpkg/vcpkg.json
    for f in conan/all/conanfile.py conda/recipe.yaml homebrew/clattn.rb; do
        lacking opencl-headers "$f"
        lacking opencl-icd-loader "$f"
    done)"

# A release with what fill.sh looks into.
mkdir "$work/clattn-$version"
cp configure.ac "$work/clattn-$version"
(cd "$work" && tar -c -z -f "clattn-$version.tar.gz" "clattn-$version")
fill() { sh packaging/fill.sh "$work/clattn-$version.tar.gz" "$@"; }
result "fill.sh fills each of them" "$(
    fill https://a.example/releases/ https://a.example "$work/filled" 2>&1 || echo "fill.sh fails"
    sum=$(sha256sum <"$work/clattn-$version.tar.gz" | sed 's/ .*//')
    for f in $recipes; do
        test -s "$work/filled/$f" || echo "there is no $f"
        ! grep -n '@' "$work/filled/$f" || echo "is left in $f"
    done
    for f in conan/all/conandata.yml conda/recipe.yaml homebrew/clattn.rb meson/clattn.wrap; do
        grep -q "https://a.example/releases/clattn-$version.tar.gz" "$work/filled/$f" || echo "$f: address"
        grep -q "$sum" "$work/filled/$f" || echo "$f: sum"
    done)"
result "it refuses what is no release, and addresses that would break a recipe" "$(
    cp "$work/clattn-$version.tar.gz" "$work/clattn-9.9.9.tar.gz"
    ! sh packaging/fill.sh "$work/clattn-9.9.9.tar.gz" https://a.example https://a.example "$work/other" 2>/dev/null ||
        echo "takes a release of another version"
    ! fill 'https://a.example/"; exit' https://a.example "$work/other" 2>/dev/null || echo "takes a quote"
    test ! -e "$work/other" || echo "leaves files")"

echo "1..$n"
exit $bad
