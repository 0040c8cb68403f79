#!/bin/sh
# sdist.sh - the package's source archive, with the library's sources in it: python/sdist.sh RELEASE TO [PYTHON]
# SPDX-License-Identifier: Apache-2.0
#
# RELEASE: clattn-VERSION.tar.gz, as `make dist` makes it. Leaves TO/clattn-VERSION.tar.gz. PYTHON has setuptools and
# cffi.
set -eu
test $# -ge 2 || { echo 'usage: python/sdist.sh RELEASE TO [PYTHON]' >&2; exit 2; }
here=$(cd "$(dirname "$0")" && pwd)
mkdir -p "$2"
to=$(cd "$2" && pwd) python=${3:-python3}
work=$(mktemp -d "${TMPDIR:-/tmp}/clattn-sdist.XXXXXX")
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

mkdir "$work/python" "$work/python/libclattn"
for f in build_library.py build_native.py native.c native.h native.map setup.py pyproject.toml MANIFEST.in README.md \
    clattn; do
    cp -R "$here/$f" "$work/python"
done
rm -rf "$work/python/clattn"/_native* "$work/python/clattn/__pycache__" "$work/python/clattn/bin" \
    "$work/python/clattn/lib"
tar -x -z -f "$1" -C "$work/python/libclattn" --strip-components 1
# The library and its programs need neither the figures nor the data of the tests, nor this folder once more.
(cd "$work/python/libclattn" && rm -rf bench/results bench/recordings tests/conformance/cases python)
cp "$work/python/libclattn/COPYING" "$work/python"
cd "$work/python"
env -u CLATTN_PREFIX -u CLATTN_BUNDLE "$python" setup.py -q sdist --dist-dir "$to"
