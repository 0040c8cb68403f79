#!/bin/sh
# cmake.t - CMakeLists.txt has what Automake builds, and a program has the library within by add_subdirectory()
# SPDX-License-Identifier: Apache-2.0
#
# CLATTN_PART or CLATTN_FULL: builds the library, static and shared, and a program with each; installs it, too.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
command -v cmake >/dev/null || {
    skip "cmake is not installed"
    finish
}

configured() { # BUILD SOURCE ARGS...
    build=$1 source=$2
    shift 2
    cmake -S "$source" -B "$build" -DCMAKE_EXPORT_COMPILE_COMMANDS=ON "$@" >out 2>err
}
listed() { # the files that it compiles
    sed -n 's|^ *"file": "\(.*\)",*$|\1|p' "$1/compile_commands.json" | grep -F "$top_srcdir/src/" |
        sed "s|^$top_srcdir/||" | sort
}
of_this_system() { # every file of src that is not for another one
    (cd "$top_srcdir" && ls src/*/*.c | grep -v '_windows\.c$\|_macos\.c$\|/windows_[a-z]*\.c$\|/fragments\.c$' | sort)
}

configured build "$top_srcdir"
ok $? "it is configured"
listed build >files
of_this_system >wanted
test -s wanted && diff wanted files >out 2>&1
ok $? "every file of src is compiled, and no other"

# Of what the sources ask for.
asked() { (cd "$top_srcdir" && grep -oh 'HAVE_[A-Z0-9_]*\|define PRINTF_LIKE.*' src/*/*.[ch] m4/system.m4) | sort -u; }
defined() { asked | while read -r name; do grep -F "$name" "$1" | grep '^#define'; done | sort -u; }
defined "$top_builddir/config.h" >by_configure
defined build/made/config.h >by_cmake
test -s by_configure && diff by_configure by_cmake >out 2>err
ok $? "config.h has what ./configure found: $(wc -l <by_configure) lines"

# The same bytes under the same names, made without a shell.
cmake --build build --target clattn-fragments >out 2>err
bytes() { tr -d ' \n\t' <"$1" | sed 's|^.*engine/source\.h"||'; }
bytes build/made/fragments.c >by_cmake
bytes "$top_builddir/src/engine/fragments.c" >by_make
test -s by_make && cmp by_make by_cmake >out 2>err
ok $? "kernels are embedded as Automake has them"

program_with() { # ON|OFF: whether the library is shared
    configured user"$1" user -DBUILD_SHARED_LIBS="$1" -DCMAKE_BUILD_TYPE=Release &&
        cmake --build user"$1" -j 2 >out 2>err && ./user"$1"/first >out 2>err && grep -q '^CL_SUCCESS : row 0 is 1' out
}
installed() { # ON|OFF: as another system's package would
    configured of"$1" "$top_srcdir" -DBUILD_SHARED_LIBS="$1" -DCMAKE_INSTALL_PREFIX="$tmp/prefix$1" \
        -DCMAKE_INSTALL_LIBDIR=lib && cmake --build of"$1" -j 2 >out 2>err && cmake --install of"$1" >out 2>err
}
found_by_cmake() { # ON|OFF
    configured its"$1" finder -DCMAKE_PREFIX_PATH="$tmp/prefix$1" &&
        cmake --build its"$1" >out 2>err && ./its"$1"/first >out 2>err && grep -q '^CL_SUCCESS : row 0 is 1' out
}
found_by_pkg_config() { # ON|OFF
    flags=$(PKG_CONFIG_PATH=$tmp/prefix$1/lib/pkgconfig pkg-config --cflags --libs clattn) &&
        eval "${CC:-cc} '$top_srcdir/examples/first_call.c' -o by_pkg_config $flags" >out 2>err &&
        LD_LIBRARY_PATH=$tmp/prefix$1/lib ./by_pkg_config >out 2>err && grep -q '^CL_SUCCESS : row 0 is 1' out
}
if rest; then
    mkdir user finder
    cat >finder/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.13)
project(finder C)
find_package(clattn $(sed -n 's/^AC_INIT(\[clattn\], \[\(.*\)\])$/\1/p' "$top_srcdir/configure.ac") REQUIRED)
add_executable(first "$top_srcdir/examples/first_call.c")
target_link_libraries(first clattn::clattn)
END
    cat >user/CMakeLists.txt <<END
cmake_minimum_required(VERSION 3.13)
project(user C)
add_subdirectory("$top_srcdir" clattn)
add_executable(first "$top_srcdir/examples/first_call.c")
target_link_libraries(first clattn::clattn)
END
    for shared in OFF ON; do
        program_with $shared
        ok $? "a program has the library within, shared: $shared"
    done
    for shared in OFF ON; do
        installed $shared && found_by_cmake $shared
        ok $? "installed, find_package() finds it, shared: $shared"
        found_by_pkg_config $shared
        ok $? "and pkg-config, shared: $shared"
    done
    ! "${NM:-nm}" -D --defined-only userON/clattn/libclattn.so | sed 's/.* //' | grep -v '^clattn_' >out 2>err
    ok $? "the shared one shows public names only"
fi

finish
