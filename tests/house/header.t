#!/bin/sh
# header.t - clattn.h, clattn_tune.h and clattn.hpp compile alone, without a warning, in every language they promise
# SPDX-License-Identifier: Apache-2.0
: "${top_srcdir=$(dirname "$0")/../..}" "${CC=cc}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT

# Taken twice, as a program with several users of it would.
cat >"$dir/header.c" <<'END'
#include <clattn.h>
#include <clattn.h>
int main(void)
{
    clattn_problem p = CLATTN_PROBLEM_INIT;
    clattn_workload c = CLATTN_WORKLOAD_INIT;
    clattn_options o = CLATTN_OPTIONS_INIT;
    clattn_plan_options l = CLATTN_PLAN_OPTIONS_INIT;
    clattn_forward_args a = CLATTN_FORWARD_ARGS_INIT;
    clattn_tune_options t = CLATTN_TUNE_OPTIONS_INIT; /* of clattn_tune.h */
    return clattn_status_string(0) == 0 || p.struct_size != sizeof p || c.struct_size != sizeof c ||
           c.problem.struct_size != sizeof p || o.struct_size != sizeof o || l.struct_size != sizeof l ||
           a.struct_size != sizeof a || t.struct_size != sizeof t;
}
END
cp "$dir/header.c" "$dir/header.cpp"
cat >"$dir/tune.c" <<'END'
#include <clattn_tune.h>
#include <clattn_tune.h>
int main(void)
{
    clattn_tune_options o = CLATTN_TUNE_OPTIONS_INIT;
    clattn_counters c = CLATTN_COUNTERS_INIT;
    return clattn_version() == 0 || o.struct_size != sizeof o || c.struct_size != sizeof c;
}
END
cp "$dir/tune.c" "$dir/tune.cpp"
# Inline functions and templates are compiled only where they are used.
cat >"$dir/objects.cpp" <<'END'
#include <clattn.hpp>
#include <clattn.hpp>
int main()
{
    try {
        const clattn::device d = clattn::default_device();
        const clattn::handle handle(nullptr, d.id);
        const clattn::problem problem = clattn::problem().type(clattn::f32).heads(4, 2).width(16).score_mod("s = 1;");
        clattn::plan plan(handle, problem), other(plan);
        other = std::move(plan);
        const clattn::forward_args args(clattn::tensor(nullptr).bnhd(1, 1, 1), nullptr, nullptr, nullptr);
        const clattn::backward_args gradients(args, nullptr, nullptr, nullptr, nullptr);
        other.forward(nullptr, args, { nullptr });
        handle.backward(nullptr, problem, gradients);
        return other.workspace_size(args) != other.workspace_size(gradients) ||
               other.config() == handle.source(problem);
    } catch (const clattn::error &e) {
        return e.status() != 0 && e.detail() != nullptr;
    }
}
END

n=0 bad=0
compile() { # COMPILER STANDARD SUFFIX [FILE]
    n=$((n + 1))
    if ! printf 'int main(void) { return 0; }\n' >"$dir/plain.$3" || ! $1 -std="$2" -fsyntax-only "$dir/plain.$3" \
        2>"$dir/log"; then
        echo "ok $n - $2 # SKIP ${1%% *} does not know $2"
    elif $1 -std="$2" -Wall -Wextra -pedantic -Werror -DCL_TARGET_OPENCL_VERSION=120 -I"$top_srcdir/include" \
        $OPENCL_CFLAGS -fsyntax-only "$dir/${4-header}.$3" 2>"$dir/log"; then
        echo "ok $n - $1 $2${4+ $4}"
    else
        bad=1
        echo "not ok $n - $1 $2${4+ $4}"
        sed 's/^/# /' "$dir/log"
    fi
}

for std in c99 c11 c17; do
    compile "$CC" $std c
    compile "$CC" $std c tune
done
found=
for cxx in "${CXX:-c++}" g++ clang++; do
    command -v "${cxx%% *}" >/dev/null || continue
    case $found in *" $cxx "*) continue ;; '') compile "$cxx" c++11 cpp ;; esac
    found="$found $cxx "
    for std in c++17 c++20; do
        compile "$cxx" $std cpp
        compile "$cxx" $std cpp tune
        compile "$cxx" $std cpp objects
    done
done
if test -z "$found"; then
    n=$((n + 1))
    echo "ok $n - C++ # SKIP no C++ compiler"
fi

# A program that sees the header must stay free to choose its OpenCL version.
n=$((n + 1))
if grep -q 'define *CL_TARGET_OPENCL_VERSION' "$top_srcdir"/include/clattn*.h*; then
    bad=1
    printf 'not '
fi
echo "ok $n - the headers leave CL_TARGET_OPENCL_VERSION alone"

echo "1..$n"
exit $bad
