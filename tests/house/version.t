#!/bin/sh
# version.t - one version: configure.ac, clattn.h and NEWS agree, and Python takes that of the installed library
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

. tests/lib/house.sh

version=$(sed -n 's/^AC_INIT(\[clattn\], \[\([0-9.]*\)\])$/\1/p' configure.ac)
part() { sed -n "s/^#define CLATTN_VERSION_$1 \([0-9]*\)$/\1/p" include/clattn.h; }

result "configure.ac has a version" "$(test -n "$version" || echo "AC_INIT has none")"
result "clattn.h has the same" "$(
    here=$(part MAJOR).$(part MINOR).$(part PATCH)
    test "$here" = "$version" || echo "clattn.h $here, configure.ac $version")"
result "so has NEWS, which debian.t compares with debian/changelog" "$(
    news=$(sed -n 's/^\([0-9][0-9.]*\).*/\1/p' NEWS | head -n 1)
    test "$news" = "$version" || echo "NEWS $news, configure.ac $version")"
result "no file of Python has one" "$(
    grep -nE '(^|[^A-Za-z_])version *= *"[0-9]' python/pyproject.toml python/setup.py python/clattn/*.py
    grep -q '^dynamic = \["version"[],]' python/pyproject.toml || echo "pyproject.toml does not leave it to setup.py")"

echo "1..$n"
exit $bad
