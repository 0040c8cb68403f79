#!/bin/sh
# install.sh EXAMPLES DESTDIR PREFIX LIBDIR INCLUDEDIR: README's program and one in C++ build against what is installed,
# by pkg-config and by CMake, shared and static, also where it was moved to, and run; all examples by their own files.
# SPDX-License-Identifier: Apache-2.0
set -eu
examples=$1 destdir=$2 prefix=$3 libdir=$4 includedir=$5
: "${CC=cc}" "${CXX=c++}" "${CFLAGS=}" "${CXXFLAGS=}" "${LDFLAGS=}" "${PKG_CONFIG=pkg-config}" "${CMAKE=cmake}"
export CC CXX CFLAGS CXXFLAGS LDFLAGS
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

say() { echo "install.sh: $*"; }
die() {
    say "$*" >&2
    exit 1
}

mkdir "$dir/examples"
cp "$examples"/*.c "$examples"/*.cpp "$examples/CMakeLists.txt" "$examples/Makefile" "$dir/examples/"
ln -s examples/first_call.c "$dir/example.c"
ln -s examples/attention.cpp "$dir/example.cpp"

cxx=
if echo 'int main() { if (int i = 0; i) return 1; }' >"$dir/try.cpp" &&
    $CXX -std=c++17 -c "$dir/try.cpp" -o "$dir/try.o" 2>/dev/null; then
    cxx=yes
else
    say "C++ skipped, there is no C++17 compiler"
fi

run() { # WHAT PROGRAM: 77 is the example's way to say that there is no device
    status=0
    "$2" >"$dir/out" 2>&1 || status=$?
    case $status in
    0) say "$1: ok" ;;
    77) say "$1: built; not run, no OpenCL device" ;;
    *) cat "$dir/out" >&2; die "$1: exit status $status" ;;
    esac
}

# Static programs must not need the shared library, nor shared ones do without.
is_kind() { # KIND PROGRAM
    case $1:$(ldd "$2" 2>/dev/null | grep -c libclattn) in
    shared:0 | static:[1-9]) die "$2 is not $1" ;;
    esac
}

# ---- by pkg-config ----

build() { # KIND LIBS
    $CC -std=c99 -Wall -Wextra -Werror $CFLAGS $flags "$dir/example.c" -o "$dir/$1" $LDFLAGS $2
    is_kind "$1" "$dir/$1"
    run "$1 example" "$dir/$1"
    test -n "$cxx" || return 0
    $CXX -std=c++17 -Wall -Wextra -Wpedantic -Werror $CXXFLAGS $flags "$dir/example.cpp" -o "$dir/$1-cxx" $LDFLAGS $2
    is_kind "$1" "$dir/$1-cxx"
    run "$1 example in C++" "$dir/$1-cxx"
}
by_pkg_config() (
    PKG_CONFIG_PATH=$destdir$libdir/pkgconfig${PKG_CONFIG_PATH+:$PKG_CONFIG_PATH}
    LD_LIBRARY_PATH=$destdir$libdir${LD_LIBRARY_PATH+:$LD_LIBRARY_PATH}
    export PKG_CONFIG_PATH LD_LIBRARY_PATH
    test -z "$destdir" || export PKG_CONFIG_SYSROOT_DIR="$destdir"
    flags=$($PKG_CONFIG --cflags clattn)
    for standard in c99 c11; do
        $CC -std=$standard -Wall -Wextra -Wpedantic -Werror $CFLAGS $flags -fsyntax-only "$dir/example.c"
    done
    test -z "$cxx" || $CXX -x c++ -std=c++17 -Wall -Wextra -Wpedantic -Werror $CXXFLAGS $flags -fsyntax-only \
        "$dir/example.c"
    ! test -f "$destdir$libdir/libclattn.so" || build shared "$($PKG_CONFIG --libs clattn)"
    ! test -f "$destdir$libdir/libclattn.a" ||
        build static "$($PKG_CONFIG --static --libs clattn | sed 's/-lclattn/-l:libclattn.a/')"
    CLATTN_TUNE=off MAKEFLAGS= make -C "$dir/examples" CC="$CC" CFLAGS="-std=c99 -Wall -Wextra -Werror $CFLAGS" \
        CXX="$CXX" LDFLAGS="$LDFLAGS" PKG_CONFIG="$PKG_CONFIG" ${cxx:+attention} run
)
if $PKG_CONFIG --version >/dev/null 2>&1; then
    by_pkg_config
else
    say "pkg-config skipped, there is none"
fi

# ---- by CMake ----

version=$(sed -n 's/^set(PACKAGE_VERSION "\(.*\)")$/\1/p' "$destdir$libdir/cmake/clattn/clattn-config-version.cmake")
minor=${version%.*}
next=${minor%.*}.$((${minor#*.} + 1))

# Targets and programs of a language; what is there, as the caller says; which versions are taken.
write_project() { # LANGUAGE SUFFIX
    cat >"$dir/CMakeLists.txt" <<PROJECT
cmake_minimum_required(VERSION 3.7)
project(example $1)
set(CMAKE_CXX_STANDARD 17)
find_package(clattn $minor REQUIRED)
foreach(kind clattn shared static)
    if(TARGET clattn::\${kind})
        add_executable(\${kind} example.$2)
        target_link_libraries(\${kind} clattn::\${kind})
    endif()
endforeach()
foreach(kind shared static)
    find_package(clattn QUIET COMPONENTS \${kind})
    if(HAS_\${kind} AND NOT clattn_\${kind}_FOUND OR NOT HAS_\${kind} AND clattn_FOUND)
        message(FATAL_ERROR "component \${kind}: '\${HAS_\${kind}}' '\${clattn_FOUND}'")
    endif()
endforeach()
set(there "\${clattn_DIR}")
foreach(asked $version 0 $next 99)
    set(clattn_DIR "\${there}" CACHE PATH "" FORCE)
    find_package(clattn \${asked} QUIET)
    list(APPEND taken "\${asked} \${clattn_FOUND}")
endforeach()
if(NOT taken STREQUAL "$version 1;0 0;$next 0;99 0")
    message(FATAL_ERROR "versions that are taken: \${taken}")
endif()
PROJECT
}
has() { test -f "$1" && echo ON || echo OFF; } # FILE
by_cmake() { # WHERE PREFIX LIBDIR
    case $3 in */lib) found=-DCMAKE_PREFIX_PATH=$2 ;; *) found=-Dclattn_DIR=$3/cmake/clattn ;; esac
    for language in C ${cxx:+CXX}; do
        suffix=$(test $language = C && echo c || echo cpp)
        write_project $language $suffix
        rm -rf "$dir/build"
        { $CMAKE -S "$dir" -B "$dir/build" "$found" -DHAS_shared="$(has "$3/libclattn.so")" \
            -DHAS_static="$(has "$3/libclattn.a")" &&
            $CMAKE --build "$dir/build"; } >"$dir/log" 2>&1 || {
            cat "$dir/log" >&2
            die "CMake, $1, $language: failed"
        }
        for kind in shared static clattn; do
            test -x "$dir/build/$kind" || continue
            is_kind $kind "$dir/build/$kind"
            run "CMake, $1, $kind example in $language" "$dir/build/$kind"
        done
    done
}
all_by_cmake() { # -DVARIABLE=FOLDER
    cd "$dir/examples"
    # A compiler of several words, as with ccache, is too much for CMake's check_language().
    printf '#!/bin/sh\nexec %s "$@"\n' "$CXX" >"$dir/cxx"
    chmod +x "$dir/cxx"
    test -z "$cxx" || export CXX="$dir/cxx"
    { $CMAKE -S . -B build "$1" && $CMAKE --build build && cd build && CLATTN_TUNE=off ctest; } >"$dir/log" 2>&1 || {
        cat "$dir/log" >&2
        die "CMake, all examples: failed"
    }
    grep 'tests passed' "$dir/log"
}
if $CMAKE --version >/dev/null 2>&1; then
    by_cmake installed "$destdir$prefix" "$destdir$libdir"
    (all_by_cmake "-Dclattn_DIR=$destdir$libdir/cmake/clattn")
    case $libdir:$includedir in
    "$prefix"/*:"$prefix"/*)
        lib=$dir/moved${libdir#"$prefix"} include=$dir/moved${includedir#"$prefix"}
        mkdir -p "$lib/cmake" "$include"
        cp -R "$destdir$libdir"/libclattn* "$lib"
        cp -R "$destdir$libdir/cmake/clattn" "$lib/cmake"
        cp "$destdir$includedir"/clattn*.h* "$include"
        grep -n "$prefix" "$lib"/cmake/clattn/* && die "CMake's files name the prefix"
        by_cmake moved "$dir/moved" "$lib"
        ;;
    *) say "CMake, moved: skipped, libraries and headers share no prefix" ;;
    esac
else
    say "CMake skipped, there is none"
fi
