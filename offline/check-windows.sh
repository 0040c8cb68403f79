#!/usr/bin/env bash
# check-windows.sh - library, programs and tests for Windows, without a warning, and run: check-windows.sh DIR
# SPDX-License-Identifier: Apache-2.0
#
# Builds in DIR by MinGW-w64 and runs the tests of the list under wine, on Debian's PoCL. Each test's output is
# DIR/logs/FOLDER-NAME.log, as prove reads it; the exit status is 0 when all of them passed. Needs a configure script
# and what setup-windows.sh installs, which it starts. Environment: CLATTN_PORTS, see there; JOBS [nproc];
# WINDOWS_TESTS: other tests than those of the list.
set -u
top=$(cd "$(dirname "$0")/.." && pwd)
ports=${CLATTN_PORTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-ports}/windows
host=x86_64-w64-mingw32
jobs=${JOBS:-$(nproc)}
# Those that need no device, then of the cache, of calls, and of kernels the quick ones.
list="unit/caps unit/class unit/convert unit/division unit/extras unit/feature unit/gqa unit/hostile_problem
    unit/members unit/problem unit/problem_key unit/quantise unit/reference unit/sample unit/source unit/split
    unit/status unit/tile unit/verify unit/workload_cost tune/timing_rounds cache/killed api/api api/args
    api/plan api/device api/queues api/log kernel/varlen kernel/extremes kernel/sizes"
strict="-O2 -Wall -Wextra -Wvla -Wstrict-prototypes -Werror -std=gnu99"

test $# -eq 1 || { echo "usage: check-windows.sh DIR" >&2; exit 2; }
"$top/offline/setup-windows.sh" || exit
mkdir -p "$1/logs" && cd "$1" && rm -f logs/* || exit

build() { # configure's own probes would not survive -Werror
    local t programs=()
    for t in ${WINDOWS_TESTS-$list}; do programs+=("tests/$t.t.exe"); done
    "$top/configure" -q --host=$host CC=$host-gcc-posix CXX=no --disable-dependency-tracking --without-clblast \
        OPENCL_CFLAGS="-I$ports/include" OPENCL_LIBS="-L$ports/lib -lOpenCL" lt_cv_deplibs_check_method=pass_all &&
        make -s -j"$jobs" CFLAGS="$strict" &&
        make -s -j"$jobs" CFLAGS="$strict" examples/first_call.exe "${programs[@]}"
}

# What the header promises and nothing else, as tests/house/exports.t asks of other systems.
exports() {
    local all wanted
    all=$($host-objdump -p .libs/libclattn-*.dll |
        awk '/Name Pointer\] Table/ { on = 1; next } on && !NF { exit } on { print $NF }' | sort -u)
    wanted=$(sed -n 's/^CLATTN_API.*[ *]\(clattn_[a-z_]*\)(.*/\1/p' "$top"/include/clattn*.h | sort -u)
    test -n "$all" && test "$all" = "$wanted" && echo "ok 1 - the DLL exports what the header has" || {
        echo "not ok 1 - the DLL exports what the header has"
        diff <(echo "$all") <(echo "$wanted") | sed 's/^/# /'
    }
    echo 1..1
}

# Prints the test's lines; a program that ends badly is a failure of its own.
run() { # TEST
    local status
    timeout 300 "$ports/wine" "tests/$1.t.exe" </dev/null | tr -d '\r'
    status=${PIPESTATUS[0]}
    test "$status" -eq 0 || echo "Bail out! $1 ended with status $status"
}

bad_input() {
    bash "$top/tests/lib/bad-input.sh" "$top/examples/data/decoder_causal_layer0" "$ports/wine" "$PWD/clattn-run.exe"
}

# Its children are processes of Windows, and its results those of the driver below.
report() {
    local what="clattn-report writes a whole file, and all results are within the bound"
    timeout 300 "$ports/wine" ./clattn-report.exe --minutes 60 --parts device,checks --quiet --output report.txt \
        </dev/null
    if test "$(tail -n 1 report.txt | tr -d '\r')" = '==== end ====' && ! grep -q TROUBLE report.txt &&
        grep -q '[1-9] results are within the bound, 0 are not' report.txt; then
        echo "ok 1 - $what"
    else
        echo "not ok 1 - $what"
        sed 's/^/# /' report.txt
    fi
    echo 1..1
}

build || exit
export CLATTN_QUICK=1 CLATTN_NEED_DEVICE=1 CLATTN_TUNE=off CLATTN_CACHE_DIR=off top_srcdir=$top top_builddir=.
export POCL_EXTRA_BUILD_FLAGS=-cl-opt-disable POCL_CACHE_DIR="${CLATTN_KERNEL_CACHE:-$PWD}/pocl"
mkdir -p "$POCL_CACHE_DIR"
exports >logs/windows-exports.log
bad_input >logs/windows-bad-input.log
report >logs/windows-report.log
for t in ${WINDOWS_TESTS-$list}; do run "$t" >"logs/${t/\//-}.log" 2>&1; done
grep -hE '^(not ok|Bail)' logs/*.log
for f in logs/*.log; do
    grep -qE '^1\.\.' "$f" || { echo "$f has no end" && false; } || exit 1
done
echo "windows: $(cat logs/*.log | grep -E '^ok ' | grep -vc '# SKIP') tests passed"
! grep -qE '^(not ok|Bail)' logs/*.log
