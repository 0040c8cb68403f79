#!/bin/sh
# debian.t - what debian/ says of version, library and files is what the sources say. Releases have no debian/
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

. tests/lib/house.sh

test -d debian || {
    echo '1..0 # SKIP this is a release, which has no debian/'
    exit 0
}

result "debian/changelog has the version of NEWS" "$(
    news=$(sed -n 's/^\([0-9][0-9.]*\).*/\1/p' NEWS | head -n 1)
    mine=$(sed -n '1s/^clattn (\([0-9.]*\).*/\1/p' debian/changelog)
    test "$news" = "$mine" || echo "NEWS $news, debian/changelog $mine")"
result "the library's package is named by its interface" "$(
    so=$(sed -n 's/.*-version-info \([0-9]*\):[0-9]*:\([0-9]*\).*/\1 \2/p' Makefile.am)
    so=$((${so% *} - ${so#* }))
    grep -qx "Package: libclattn$so" debian/control || echo "libclattn$so is not in debian/control"
    grep -q "^libclattn.so.$so libclattn$so " "debian/libclattn$so.symbols" || echo "libclattn$so.symbols")"
result "its symbols have the version that the linker gives them" "$(
    node=$(sed -n '1s/ {$//p' src/clattn.map)
    grep -qF "(symver)$node " debian/libclattn0.symbols || echo "$node")"
result "each package has files, and each file a package that is there" "$(
    for p in $(sed -n 's/^Package: //p' debian/control); do
        test -s "debian/$p.install" || echo "debian/$p.install"
    done
    for f in debian/*.install debian/*.examples debian/*.docs; do
        p=${f#debian/}
        grep -qx "Package: ${p%.*}" debian/control || echo "$f"
    done)"
result "every manual page is in a package" "$(
    sed -n 's/^dist_man[135]_MANS = //p' Makefile.am | tr ' ' '\n' | while read -r page; do
        found=
        for pattern in $(cat debian/*.install); do
            case usr/share/man/man${page##*.}/${page##*/} in $pattern) found=yes ;; esac
        done
        test -n "$found" || echo "$page"
    done)"
result "what Debian builds with, bootstrap installs" "$(
    sed -n '/^Build-Depends:/,/^Standards/s/^ \([a-z-]*\),$/\1/p' debian/control | while read -r p; do
        grep -q "[ ']$p\\([ ']\\|\$\\)" bootstrap || echo "$p"
    done)"

echo "1..$n"
exit $bad
