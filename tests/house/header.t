#!/bin/sh
# header.t - clattn.h compiles alone, without a warning, in every language it promises
# SPDX-License-Identifier: Apache-2.0
: "${top_srcdir=$(dirname "$0")/../..}" "${CC=cc}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

n=0 bad=0
compile() { # COMPILER STANDARD SUFFIX
    n=$((n + 1))
    # Taken twice, as a program with several users of it would.
    cat >"$dir/header.$3" <<'END'
#include <clattn.h>
#include <clattn.h>
int main(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_plan_options l = CLATTN_PLAN_OPTIONS_INIT;
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    return clattn_status_string(0) == 0 || p.struct_size != sizeof p || c.struct_size != sizeof c ||
           c.problem.struct_size != sizeof p || o.struct_size != sizeof o || l.struct_size != sizeof l ||
           a.struct_size != sizeof a;
}
END
    if ! printf 'int main(void) { return 0; }\n' >"$dir/plain.$3" || ! $1 -std="$2" -c "$dir/plain.$3" -o \
        "$dir/plain.o" 2>"$dir/log"; then
        echo "ok $n - $2 # SKIP ${1%% *} does not know $2"
    elif $1 -std="$2" -Wall -Wextra -pedantic -Werror -DCL_TARGET_OPENCL_VERSION=120 -I"$top_srcdir/include" \
        $OPENCL_CFLAGS -c "$dir/header.$3" -o "$dir/header.o" 2>"$dir/log"; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2"
        sed 's/^/# /' "$dir/log"
    fi
}

for std in c99 c11 c17; do
    compile "$CC" $std c
done
for cxx in "${CXX:-c++}" g++ clang++; do
    command -v "${cxx%% *}" >/dev/null && break
done
if command -v "${cxx%% *}" >/dev/null; then
    for std in c++11 c++17; do
        compile "$cxx" $std cpp
    done
else
    n=$((n + 1))
    echo "ok $n - C++ # SKIP no C++ compiler"
fi

# A program that sees the header must stay free to choose its OpenCL version.
n=$((n + 1))
if grep -q 'define *CL_TARGET_OPENCL_VERSION' "$top_srcdir/include/clattn.h"; then
    bad=1
    printf 'not '
fi
echo "ok $n - the header leaves CL_TARGET_OPENCL_VERSION alone"

echo "1..$n"
exit $bad
