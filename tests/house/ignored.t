#!/bin/sh
# ignored.t - what is built in place in examples, by make and as their comments say, is nothing that git speaks of
# SPDX-License-Identifier: Apache-2.0
: "${top_builddir:=build}" "${CC:=cc}" "${CXX:=c++}"
top_builddir=$(cd "$top_builddir" && pwd)
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99
if ! git ls-files --error-unmatch examples/Makefile >/dev/null 2>&1; then
    echo "1..0 # SKIP not a checkout: git ignores nothing here"
    exit 0
fi
if ! test -f "$top_builddir/.libs/libclattn.so"; then
    echo "1..0 # SKIP no shared library was built"
    exit 0
fi

. tests/lib/house.sh

top=$PWD
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
unset GIT_DIR GIT_WORK_TREE
MAKEFLAGS= CLATTN_TUNE=off LD_LIBRARY_PATH=$top_builddir/.libs${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
export MAKEFLAGS CLATTN_TUNE LD_LIBRARY_PATH

# The examples as they are here, in a repository of their own.
git ls-files examples .gitignore | tar cf - -T - | (cd "$dir" && tar xf -) && cd "$dir" && git init -q . &&
    git add -A >/dev/null 2>&1 && git -c user.name=test -c user.email=test commit -qm test || exit 99
cat >"$dir/.git/pkg-config" <<END
#!/bin/sh
case \$1 in
--cflags) echo "-I$dir/.git/include ${OPENCL_CFLAGS-}" ;;
--libs) echo "-L$dir/.git/libs -lclattn ${OPENCL_LIBS--lOpenCL}" ;;
esac
END
chmod +x "$dir/.git/pkg-config" && ln -s "$top/include" .git/include && ln -s "$top_builddir/.libs" .git/libs
untold() { git -C "$dir" status --porcelain --untracked-files=all; }

result "a copy of the examples is clean" "$(untold)"
result "make all attention" "$(
    make -s -C examples all attention CC="$CC" CXX="$CXX" PKG_CONFIG="$dir/.git/pkg-config" 2>&1)"
result "what make leaves in examples is ignored" "$(test -x examples/first_call || echo 'nothing is built'; untold)"
result "and what make run and the commands in the sources leave" "$(
    for f in $(sed -n 's/^PROGRAMS = //p' examples/Makefile); do : >"examples/$f.out"; done
    : >examples/a.out
    untold)"
result "and what CMake makes in a folder build" "$(
    mkdir examples/build && : >examples/build/CMakeCache.txt
    untold)"
result "make clean removes the programs" "$(
    make -s -C examples clean 2>&1
    for f in $(sed -n 's/^PROGRAMS = //p' examples/Makefile) attention; do test ! -e "examples/$f" || echo "$f"; done)"

echo "1..$n"
exit $bad
