#!/bin/sh
# install.sh EXAMPLES DESTDIR LIBDIR: README's program builds against what is installed, shared and static, and runs;
# the other examples build by their Makefile.
# SPDX-License-Identifier: Apache-2.0
set -eu
examples=$1 destdir=$2 libdir=$3
: "${CC=cc}" "${CFLAGS=}" "${LDFLAGS=}" "${PKG_CONFIG=pkg-config}"
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

if ! $PKG_CONFIG --version >/dev/null 2>&1; then
    echo "install.sh: skipped, there is no pkg-config"
    exit 0
fi
PKG_CONFIG_PATH=$destdir$libdir/pkgconfig${PKG_CONFIG_PATH+:$PKG_CONFIG_PATH}
export PKG_CONFIG_PATH
test -z "$destdir" || export PKG_CONFIG_SYSROOT_DIR="$destdir"

flags=$($PKG_CONFIG --cflags clattn)
build() { # NAME LIBS
    $CC -std=c99 -Wall -Wextra -Werror $CFLAGS $flags "$examples/first_call.c" -o "$dir/$1" $LDFLAGS $2
}
run() { # NAME: 77 is the example's way to say that there is no device
    status=0
    LD_LIBRARY_PATH=$destdir$libdir${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH} "$dir/$1" || status=$?
    case $status in
    0) echo "install.sh: $1 example: ok" ;;
    77) echo "install.sh: $1 example: built; not run, no OpenCL device" ;;
    *) echo "install.sh: $1 example: exit status $status" >&2; exit 1 ;;
    esac
}

if test -f "$destdir$libdir/libclattn.so"; then
    build shared "$($PKG_CONFIG --libs clattn)"
    run shared
fi
if test -f "$destdir$libdir/libclattn.a"; then
    build static "$($PKG_CONFIG --static --libs clattn | sed 's/-lclattn/-l:libclattn.a/')"
    run static
fi

mkdir "$dir/examples"
cp "$examples"/*.c "$examples/Makefile" "$dir/examples/"
LD_LIBRARY_PATH=$destdir$libdir${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH} CLATTN_TUNE=off MAKEFLAGS= \
    make -C "$dir/examples" CC="$CC" CFLAGS="-std=c99 -Wall -Wextra -Werror $CFLAGS" LDFLAGS="$LDFLAGS" \
    PKG_CONFIG="$PKG_CONFIG" run
