#!/bin/sh
# folders.t - folders with white space in their names: refused by configure and make where nothing could be installed,
# and right in what clattn.pc says of those that it was moved to
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

MAKEFLAGS=
export MAKEFLAGS
unset CONFIG_SITE

# ---- configure ----

refused_by_configure() { # PATTERN ARGS...
    pattern=$1
    shift
    sh "$configure" -q "$@" >out 2>err </dev/null
    test $? -eq 1 && test ! -s out && grep -qF -- "configure: error: $pattern" err && test ! -e config.status
    ok $? "configure $*: $(head -n 1 err)"
}
configure=$top_srcdir/configure
if test -f "$configure"; then
    mkdir made && cd made || exit 99
    for folder in prefix exec-prefix bindir sbindir libexecdir sysconfdir includedir datarootdir datadir libdir \
        mandir; do
        name=$(echo $folder | tr - _)
        refused_by_configure "$name is '/opt/a b': clattn cannot be installed into a folder with white space" \
            "--$folder=/opt/a b"
    done
    tab=$(printf 'a\tb')
    refused_by_configure "prefix is '/opt/$tab': clattn cannot" "--prefix=/opt/$tab"
    mkdir "$tmp/a b" && ln -s "$configure" "$top_srcdir/build-aux" "$top_srcdir/include" "$tmp/a b/"
    configure="$tmp/a b/configure"
    refused_by_configure "the source folder is '$tmp/a b': it cannot be used by a name with" --prefix=/opt/ab
    cd "$tmp" || exit 99
else
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13; do skip "there is no configure"; done
fi

# ---- make ----

if test -f "$top_builddir/Makefile"; then
    for given in 'prefix=/opt/a b' 'DESTDIR=/tmp/a b' 'libdir=/opt/a b' 'bindir=/opt/a b' 'includedir=/opt/a b'; do
        make -C "$top_builddir" all-local "$given" >out 2>err </dev/null
        test $? -ne 0 && grep -q '^make: clattn cannot be installed into a folder with white space in its name: ' err
        ok $? "make $given: $(head -n 1 err)"
    done
    make -C "$top_builddir" -n install 'prefix=/opt/a b' 2>/dev/null </dev/null |
        grep -q 'cannot be installed into a folder'
    ok $? "make install looks at that"
    make -C "$top_builddir" all-local prefix=/opt/ab >out 2>err </dev/null
    ok $? "make prefix=/opt/ab"
else
    for i in 1 2 3 4 5 6 7; do skip "there is no Makefile"; done
fi

# ---- clattn.pc ----

if pkg-config --version >/dev/null 2>&1 && test -f "$top_builddir/clattn.pc"; then
    mkdir pc && cp "$top_builddir/clattn.pc" pc
    flags=$(PKG_CONFIG_PATH=$tmp/pc pkg-config --define-variable=libdir='/a b/lib' \
        --define-variable=includedir='/a b/include' --cflags --libs clattn 2>err)
    eval "set -- $flags"
    for flag in '-I/a b/include' '-L/a b/lib'; do
        found=1
        for x in "$@"; do test "$x" != "$flag" || found=0; done
        ok $found "pkg-config quotes $flag: $flags"
    done
else
    for i in 1 2; do skip "there is no pkg-config, or no clattn.pc"; done
fi

echo "1..$n"
exit $bad
