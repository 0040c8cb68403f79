#!/usr/bin/env bash
# setup-windows.sh - what builds for Windows need on Debian, and what runs them: setup-windows.sh
# SPDX-License-Identifier: Apache-2.0
#
# Installs MinGW-w64 and wine, and makes DIR/windows with OpenCL's headers, an import library of OpenCL.dll, which has
# the names of Debian's OpenCL loader, and `wine`, which runs a program with the DLLs of MinGW and a wine of its own.
# Wine's OpenCL.dll passes calls on to Debian's loader and so to PoCL. What is there already stays. Runs on Debian 12,
# x86-64, as root or with sudo; 150 MB to fetch, a minute. Environment: CLATTN_PORTS: DIR [~/.cache/clattn-ports]
set -eu
dir=${CLATTN_PORTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-ports}
host=x86_64-w64-mingw32
packages="gcc-mingw-w64-x86-64-posix binutils-mingw-w64-x86-64 wine64 opencl-headers ocl-icd-libopencl1 binutils make"

die() { echo "setup-windows.sh: $*" >&2; exit 1; }

install_packages() {
    local p missing=() sudo=
    for p in $packages; do
        dpkg-query -W -f '${db:Status-Status}' "$p" 2>/dev/null | grep -qx installed || missing+=("$p")
    done
    test ${#missing[@]} -ne 0 || return 0
    test "$(id -u)" -eq 0 || sudo=sudo
    $sudo apt-get update
    $sudo env DEBIAN_FRONTEND=noninteractive apt-get install -y --no-install-recommends "${missing[@]}"
}

import_library() { # DIR: of the functions that the loader exports
    local loader
    loader=$(ldconfig -p | sed -n 's/.*libOpenCL\.so\.1 (.*x86-64.* => //p' | head -n 1)
    test -n "$loader" || die "no OpenCL loader of this machine"
    { echo 'LIBRARY OpenCL.dll' && echo EXPORTS && nm -D --defined-only "$loader" |
        sed -n 's/.* T \(cl[A-Z][A-Za-z0-9]*\)\(@.*\)*$/\1/p' | sort -u; } >"$1/OpenCL.def"
    $host-dlltool -d "$1/OpenCL.def" -l "$1/lib/libOpenCL.dll.a"
}

# A folder of wine's own, because ~/.wine is the user's. Its first program takes ten seconds. Once in a thousand starts
# wine ends, with 1, before it has started the program, which has printed nothing then: so it is given another try.
runner() { # FILE
    local dlls
    dlls=$(for f in libgcc_s_seh-1.dll libstdc++-6.dll libwinpthread-1.dll; do
        dirname "$($host-gcc-posix -print-file-name=$f)"
    done | grep / | sort -u | sed 's|/|\\\\|g; s|^|Z:|' | paste -sd ';' -)
    cat >"$1" <<END
#!/bin/sh
# Runs a program for Windows.
WINEPREFIX=\${WINEPREFIX-$dir/wine} WINEDEBUG=\${WINEDEBUG--all} WINEPATH="$dlls"
WINEDLLOVERRIDES='mscoree,mshtml,winemenubuilder.exe='
export WINEPREFIX WINEDEBUG WINEPATH WINEDLLOVERRIDES
said=\$(mktemp -d) || exit
trap 'rm -rf "\$said"' EXIT
for try in 1 2; do
    /usr/lib/wine/wine64 "\$@" >"\$said/out" 2>"\$said/err"
    status=\$?
    test \$status -eq 1 && ! test -s "\$said/out" && ! test -s "\$said/err" || break
done
cat "\$said/out"
cat "\$said/err" >&2
exit \$status
END
    chmod +x "$1"
}

install_packages
if test -d "$dir/windows"; then
    new=$(mktemp "$dir/new.XXXXXX") && runner "$new" && mv "$new" "$dir/windows/wine"
    exit
fi
mkdir -p "$dir"
new=$(mktemp -d "$dir/new.XXXXXX")
trap 'rm -rf "$new"' EXIT
trap 'exit 130' HUP INT TERM
mkdir "$new/include" "$new/lib"
ln -s /usr/include/CL "$new/include/CL"
import_library "$new"
runner "$new/wine"
mv -T "$new" "$dir/windows" 2>/dev/null || test -d "$dir/windows" || die "cannot make $dir/windows"
