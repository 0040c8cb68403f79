#!/bin/sh
# tables.sh - all tables of cases on pretended devices: tables.sh VENDOR BUILD DIR [PATTERN]
# SPDX-License-Identifier: Apache-2.0
#
# For hours, by hand: amd.t and intel.t have a few of these. VENDOR is amd or intel, BUILD is where make check ran. DIR
# keeps what was compiled, and in DIR/results a line for each job: passed, skipped, failed tests, findings, seconds,
# exit status, and the job, which is
#     WORDS ; ENGINES ; TEST [PROBLEM]
# A job that has a line is not run again, so that what was cut off goes on where it was: remove the line of a job that
# is to run again. PATTERN chooses jobs (grep -E): '/[a-z_]*$' those that are programs of tests.
# Output of what failed is kept in DIR/failed. Jobs are problems of tests/lib/cases.h and pairs.t by turns, each on one
# target by engine simt and on one by the matrix unit, and among them programs of tests, quick cases of each.
# Environment: SECONDS_EACH [400], after which a job has failed; AMD_DRIVERS, see offline/setup-amd-drivers.sh;
# CLATTN_NEWER_ROOT, see offline/setup-newer-compilers.sh.
# Exit status: 0 all are right, 1 some are not.
set -eu
test $# -ge 3 || { echo "usage: tables.sh VENDOR BUILD DIR [PATTERN]" >&2 && exit 2; }
source=$(cd "$(dirname "$0")/../.." && pwd) vendor=$1
build=$(cd "$2" && pwd)
mkdir -p "$3/cache" "$3/failed"
dir=$(cd "$3" && pwd) pattern=${4-.}
kept=${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline
case $vendor in
amd)
    platform=AMD variable=CLATTN_AMD own=amdcl=$build/offline/amdcl,drivers=${AMD_DRIVERS-$kept/amd}
    targets='driver=6,gfx=1100 wmma
driver=6,gfx=1201 wmma
driver=6,gfx=942 mfma
driver=6,gfx=90a mfma
driver=5,gfx=1100 wmma
driver=5,gfx=942 mfma
driver=5,gfx=90a mfma'
    ;;
intel)
    platform=Intel variable=CLATTN_INTEL own=intelcl=$source/offline/compilers/intelcl.sh
    own=$own,clbuild=$build/offline/clbuild,root=${CLATTN_NEWER_ROOT-$kept/forky}
    targets='gpu=bmg dpas
gpu=pvc dpas
driver=1,gpu=dg2 dpas8
gpu=acm-g10 dpas8'
    ;;
*) echo "tables.sh: $vendor is neither amd nor intel" >&2 && exit 2 ;;
esac
units='kernel/engines kernel/paged' # which CLATTN_TEST_ENGINES has run on matrix units
engines='kernel/quantised kernel/rounding' # and those that have cases of other engines only
programs='kernel/backward kernel/merge api/append api/rotary kernel/scores kernel/dropped kernel/captured kernel/varlen
    kernel/sizes kernel/splits kernel/bad kernel/bad_gradients kernel/rescale kernel/extremes
    kernel/invariant kernel/score_mods kernel/wide_lse'

# Every program on every target in the end, each on one target first.
program_jobs() {
    for test in $units $engines $programs; do echo "$test"; done | awk -v targets="$targets" '
        BEGIN {
            n = split(targets, row, "\n")
            split("approximate=1 schedule=highest,approximate=-1 schedule=random,seed=2", words, " ")
        }
        { test[NR] = $0 }
        function job(t, engine, name) {
            split(row[t % n + 1], target, " ")
            print target[1] "," words[++at % 3 + 1], ";", engine == "unit" ? target[2] : engine, ";", name
        }
        END {
            for (pass = 0; pass < n; pass++)
                for (i = 1; i <= NR; i++) {
                    job(i + pass, i <= '"$(echo $units $engines | wc -w)"' ? "simt" : "", test[i])
                    if (i <= '"$(echo $units | wc -w)"')
                        job(i + pass, "unit", test[i])
                }
        }'
}

# Words and targets by turns. What has no gradients, or is no problem of matrix units, is left out here.
problem_jobs() {
    { "$build/tests/lib/print_cases" && "$build/tests/kernel/pairs.t" --list; } | sed 's/ seed[0-9]*//' |
        awk -v targets="$targets" '
        BEGIN {
            n = split(targets, row, "\n")
            split("approximate=1 schedule=highest,approximate=-1 schedule=random,seed=3", words, " ")
        }
        function job(engine, test, problem,    t) {
            t = engine == "unit" ? at_unit++ : at++
            split(row[t % n + 1], target, " ")
            print target[1] "," words[t % 3 + 1], ";", engine == "unit" ? target[2] : engine, ";", test, problem
        }
        seen[$0]++ || /^f64.* [kvo]:/ { next } # f64 goes with f64 only: it is refused
        {
            bwd = !/ page| splits| [kv]:(int|q)/
            job("simt", "kernel/forward", $0)
            if (bwd)
                job("simt", "kernel/backward", $0 " bwd")
            if (/^b?f16 / && !/ [kv]:/) {
                job("unit", "kernel/forward", $0)
                if (bwd)
                    job("unit", "kernel/backward", $0 " bwd")
            }
        }' | awk '{ print NR * 7919 % 10007, $0 }' | sort -n | cut -d' ' -f2-
}

jobs() { # a program, some problems, and so on
    program_jobs >"$dir/programs"
    problem_jobs | awk -v programs="$dir/programs" '
        { print }
        NR % 4 == 0 && (getline job <programs) > 0 { print job }
        END { while ((getline job <programs) > 0) print job }'
}

run() { # JOB
    words=${1%% ;*} rest=${1#* ; }
    chosen=${rest%%;*} test=${rest#*; }
    chosen=$(echo $chosen)
    problem=${test#* } name=${test%% *}
    test "$problem" != "$test" || problem=
    rm -f "$dir/findings" && : >"$dir/findings"
    began=$(date +%s) status=0
    env "$variable=$own,cache=$dir/cache,findings=$dir/findings,$words" CLATTN_TEST_DEVICES=$platform CLATTN_TUNE=off \
        OPENCL_LAYERS="$build/tests/$vendor/.libs/${vendor}_device.so" CLATTN_CACHE_DIR="$dir/kept" \
        CLATTN_QUICK=$(test -z "$problem" && echo 1 || echo 0) CLATTN_TEST_ENGINES="$chosen" \
        timeout -k 5 "${SECONDS_EACH-400}" "$build/tests/$name.t" ${problem:+"$problem" "$chosen"} \
        >"$dir/out" 2>&1 </dev/null || status=$?
    # Lists that lie, in varlen.t, have sequences share rows.
    test "$name" != kernel/varlen || sed -i '/^race between groups: /d' "$dir/findings"
    failed=$(grep -c '^not ok' "$dir/out" || true) findings=$(wc -l <"$dir/findings")
    test $status -eq 0 || test "$failed" -gt 0 || failed=1
    skipped=$(grep -c '^ok.*# SKIP\|^1\.\.0 # SKIP' "$dir/out" || true)
    passed=$(grep '^ok' "$dir/out" | grep -vc '# SKIP' || true)
    test $((passed + skipped + failed)) -gt 0 || failed=1 # it has no test
    if test "$failed" -gt 0 || test "$findings" -gt 0; then
        { echo "$job" && cat "$dir/out" "$dir/findings"; } >"$dir/failed/$(echo "$job" | cksum | cut -d' ' -f1)"
    fi
    echo "$passed $skipped $failed $findings $(($(date +%s) - began)) $status $job" >>"$dir/results"
}

touch "$dir/results"
cut -d' ' -f7- "$dir/results" >"$dir/done"
jobs | grep -E -- "$pattern" >"$dir/jobs"
while IFS= read -r job; do
    grep -Fxq -- "$job" "$dir/done" || run "$job"
done <"$dir/jobs"
awk '{ passed += $1; skipped += $2; failed += $3; found += $4; seconds += $5 }
    END {
        printf "%d jobs, %d s: %d tests passed, %d skipped, %d failed, %d findings\n", NR, seconds, passed, skipped,
            failed, found
        exit failed + found > 0
    }' "$dir/results"
