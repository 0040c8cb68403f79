#!/usr/bin/env bash
# try.sh - recipes of packages, tried: packaging/try.sh RELEASE, which is clattn-VERSION.tar.gz, as `make dist` makes it
# SPDX-License-Identifier: Apache-2.0
#
# Conan and Meson, of PyPI, build the library, and run a program with it. Their libmd and OpenCL are this system's: what
# ConanCenter has is stood in for. rattler-build, of PyPI too, renders conda-forge's recipe for three systems. Of vcpkg
# and Homebrew, which are no packages of PyPI, only the language is there: the port is run by CMake with functions that
# stand in for vcpkg's, and the formula is read by Ruby. Prints TAP. Needs a C compiler, cmake, libmd-dev,
# ocl-icd-opencl-dev, python3-venv, ruby.
set -u
test $# -eq 1 || { echo 'usage: packaging/try.sh RELEASE' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
release=$(realpath "$1")
version=$(basename "$release" .tar.gz)
version=${version#clattn-}
work=$(mktemp -d "${TMPDIR:-/tmp}/clattn-recipes.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
cd "$work" || exit 1
unset CC CXX CFLAGS CXXFLAGS LDFLAGS # tools look for a compiler themselves
n=0 bad=0
ok() { # STATUS DESCRIPTION
    n=$((n + 1))
    test "$1" -eq 0 && { echo "ok $n - $2"; return; }
    bad=1
    echo "not ok $n - $2"
    tail -n 30 out | sed 's/^/# /'
}

"$here/fill.sh" "$release" "file://$(dirname "$release")" https://clattn.example filled >out 2>&1
ok $? "the recipes are filled"
python3 -m venv venv && venv/bin/pip install -q conan==2.34.0 meson==1.12.1 ninja==1.13.2 py-rattler-build==0.73.0 \
    >out 2>&1
ok $? "tools are installed"
export PATH=$work/venv/bin:$PATH CONAN_HOME=$work/conan

# ---- Conan ----

stand_in() { # NAME VERSION LIBRARIES CMAKE-NAME
    mkdir -p "stands/$1"
    cat >"stands/$1/conanfile.py" <<END
import conan


class StandIn(conan.ConanFile):
    name, version = "$1", "$2"

    def package_info(self):
        self.cpp_info.includedirs = self.cpp_info.libdirs = []
        self.cpp_info.system_libs = [$3]
        self.cpp_info.set_property("cmake_file_name", "$4")
        self.cpp_info.set_property("cmake_target_name", "$4::$4")
END
    conan create "stands/$1"
}
wanted() { sed -n "s|.*requires(\"$1/\([0-9.]*\)\".*|\1|p" filled/conan/all/conanfile.py; }
{ conan profile detect && stand_in opencl-headers "$(wanted opencl-headers)" '' OpenCLHeaders &&
    stand_in opencl-icd-loader "$(wanted opencl-icd-loader)" '"OpenCL"' OpenCL &&
    stand_in libmd "$(wanted libmd)" '"md"' libmd; } >out 2>&1
ok $? "Conan has what the recipe requires"
numbers=$(echo "$version" | awk -F . '{ print $1 * 10000 + $2 * 100 + $3 }')
for shared in True False; do
    conan create filled/conan/all --version "$version" -o "clattn/*:shared=$shared" >out 2>&1 &&
        grep -qx "$numbers CL_SUCCESS" out
    ok $? "Conan's package is made and a program runs with it, shared: $shared"
done

# ---- Meson ----

mkdir -p user/subprojects
cp filled/meson/clattn.wrap user/subprojects
cp filled/conan/all/test_package/test_package.c user
cat >user/meson.build <<'END'
project('user', 'c', meson_version: '>=1.3.0')
test('runs', executable('user', 'test_package.c', dependencies: dependency('clattn')))
END
{ meson setup --wrap-mode=forcefallback built user && meson test -C built; } >out 2>&1
ok $? "Meson builds the library as a subproject, and a program runs with it"

# ---- conda-forge ----

for platform in linux-64 linux-aarch64 osx-arm64; do
    python3 - "$platform" "$version" >out 2>&1 <<'END'
import sys
from rattler_build import PlatformConfig, RenderConfig, Stage0Recipe, VariantConfig
platform, version = sys.argv[1:]
recipe = Stage0Recipe.from_file('filled/conda/recipe.yaml')
variants = VariantConfig({'c_stdlib': ['sysroot'], 'c_stdlib_version': ['2.28']}) # as conda-forge has them
rendered = recipe.render(variants, RenderConfig(PlatformConfig(target_platform=platform)))
text = str(rendered[0].recipe.to_dict())
print(text)
assert len(rendered) == 1 and "'%s'" % version in text
assert ('libmd' in text) == platform.startswith('linux')
END
    ok $? "rattler-build renders conda-forge's recipe for $platform"
done

# ---- vcpkg ----

mkdir port
cat >port/vcpkg.cmake <<'END'
set(PORT clattn)
set(CURRENT_PACKAGES_DIR "${WORK}/package")
function(vcpkg_download_distfile out)
    cmake_parse_arguments(a "" "URLS;FILENAME;SHA512" "" ${ARGN})
    file(DOWNLOAD "${a_URLS}" "${WORK}/${a_FILENAME}" EXPECTED_HASH SHA512=${a_SHA512})
    set(${out} "${WORK}/${a_FILENAME}" PARENT_SCOPE)
endfunction()
function(vcpkg_extract_source_archive out)
    cmake_parse_arguments(a "" "ARCHIVE" "" ${ARGN})
    file(MAKE_DIRECTORY "${WORK}/src")
    execute_process(COMMAND tar -x -f "${a_ARCHIVE}" -C "${WORK}/src" --strip-components 1 COMMAND_ERROR_IS_FATAL ANY)
    set(${out} "${WORK}/src" PARENT_SCOPE)
endfunction()
function(vcpkg_cmake_configure)
    cmake_parse_arguments(a "" "SOURCE_PATH" "" ${ARGN})
    execute_process(COMMAND ${CMAKE_COMMAND} -S "${a_SOURCE_PATH}" -B "${WORK}/build" -DCMAKE_INSTALL_LIBDIR=lib
        "-DCMAKE_INSTALL_PREFIX=${CURRENT_PACKAGES_DIR}" COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_install)
    execute_process(COMMAND ${CMAKE_COMMAND} --build "${WORK}/build" -j 2 --target install COMMAND_ERROR_IS_FATAL ANY)
endfunction()
function(vcpkg_cmake_config_fixup)
    cmake_parse_arguments(a "" "CONFIG_PATH" "" ${ARGN})
    file(MAKE_DIRECTORY "${CURRENT_PACKAGES_DIR}/share")
    file(RENAME "${CURRENT_PACKAGES_DIR}/${a_CONFIG_PATH}" "${CURRENT_PACKAGES_DIR}/share/${PORT}")
endfunction()
function(vcpkg_fixup_pkgconfig)
endfunction()
function(vcpkg_install_copyright)
    cmake_parse_arguments(a "" "" "FILE_LIST" ${ARGN})
    file(COPY ${a_FILE_LIST} DESTINATION "${CURRENT_PACKAGES_DIR}/share/${PORT}")
endfunction()
include("${PORTFILE}")
END
cmake "-DWORK=$work/port" "-DPORTFILE=$work/filled/vcpkg/portfile.cmake" -P port/vcpkg.cmake >out 2>&1 &&
    (cd port/package && ls include/clattn.h lib/libclattn.a share/clattn/clattn-config.cmake share/clattn/usage \
        share/clattn/COPYING) >>out 2>&1
ok $? "vcpkg's port builds, and has what a port has to have"
python3 -m json.tool filled/vcpkg/vcpkg.json >out 2>&1
ok $? "its manifest is JSON"

# ---- Homebrew ----

ruby -c filled/homebrew/clattn.rb >out 2>&1
ok $? "Homebrew's formula is Ruby"

echo "1..$n"
exit $bad
