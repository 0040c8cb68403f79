#!/bin/sh
# amd_tables.sh - all tables of cases on the pretended AMD device: amd_tables.sh BUILD DIR [PATTERN]
# SPDX-License-Identifier: Apache-2.0
#
# For hours, by hand: amd.t has a few of these. BUILD is where make check ran. DIR keeps what was compiled, and in
# DIR/results a line for each job: passed, skipped, failed tests, findings, seconds, exit status, and the job, which is
#     DRIVER GFX WORDS ; ENGINES ; TEST [PROBLEM]
# A job that has a line is not run again, so that what was cut off goes on where it was: remove the line of a job that
# is to run again. PATTERN chooses jobs (grep -E).
# Output of what failed is kept in DIR/failed. Jobs are problems of tests/lib/cases.h and pairs.t by turns, each on one
# target by engine simt and on one by the matrix unit, and among them programs of tests, quick cases of each.
# Environment: AMD_DRIVERS, see offline/setup-amd-drivers.sh; SECONDS_EACH [400], after which a job has failed.
# Exit status: 0 all are right, 1 some are not.
set -eu
test $# -ge 2 || { echo "usage: amd_tables.sh BUILD DIR [PATTERN]" >&2 && exit 2; }
build=$(cd "$1" && pwd)
mkdir -p "$2/cache" "$2/failed"
dir=$(cd "$2" && pwd) pattern=${3-.}
drivers=${AMD_DRIVERS-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/amd}
engines='kernel/engines kernel/quantised kernel/paged kernel/rounding' # which take CLATTN_TEST_ENGINES
programs='kernel/backward kernel/merge api/append api/rotary kernel/scores kernel/dropped kernel/captured kernel/varlen
    kernel/sizes kernel/splits kernel/bad kernel/bad_gradients kernel/rescale kernel/extremes
    kernel/invariant kernel/score_mods kernel/wide_lse'
targets='6 1100 wmma
6 1201 wmma
6 942 mfma
6 90a mfma
5 1100 wmma
5 942 mfma
5 90a mfma'

# Every program on every target in the end, each on one target first.
program_jobs() {
    for test in $engines $programs; do echo "$test"; done | awk -v targets="$targets" '
        BEGIN {
            n = split(targets, row, "\n")
            split("approximate=1 schedule=highest,approximate=-1 schedule=random,seed=2", words, " ")
        }
        { test[NR] = $0 }
        function job(t, engine, name) {
            split(row[t % n + 1], target, " ")
            print target[1], target[2], words[++at % 3 + 1], ";", engine == "unit" ? target[3] : engine, ";", name
        }
        END {
            for (pass = 0; pass < n; pass++)
                for (i = 1; i <= NR; i++) {
                    takes = i <= '"$(echo $engines | wc -w)"'
                    job(i + pass, takes ? "simt" : "", test[i])
                    if (takes)
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
            print target[1], target[2], words[t % 3 + 1], ";", engine == "unit" ? target[3] : engine, ";", test, problem
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
    where=${1%% ;*} rest=${1#* ; }
    chosen=${rest%%;*} test=${rest#*; }
    chosen=$(echo $chosen)
    set -- $where
    problem=${test#* } name=${test%% *}
    test "$problem" != "$test" || problem=
    rm -f "$dir/findings" && : >"$dir/findings"
    began=$(date +%s) status=0
    told=amdcl=$build/offline/amdcl,drivers=$drivers,cache=$dir/cache,findings=$dir/findings
    CLATTN_AMD="$told,driver=$1,gfx=$2,$3" CLATTN_TEST_DEVICES=AMD CLATTN_TUNE=off \
        OPENCL_LAYERS=$build/tests/amd/.libs/amd_device.so CLATTN_CACHE_DIR=$dir/kept \
        CLATTN_QUICK=$(test -z "$problem" && echo 1 || echo 0) CLATTN_TEST_ENGINES=$chosen \
        timeout -k 5 "${SECONDS_EACH-400}" "$build/tests/$name.t" ${problem:+"$problem" "$chosen"} \
        >"$dir/out" 2>&1 </dev/null || status=$?
    # Lists that lie, in varlen.t, have sequences share rows.
    test "$name" != kernel/varlen || sed -i '/^race between groups: /d' "$dir/findings"
    failed=$(grep -c '^not ok' "$dir/out" || true) findings=$(wc -l <"$dir/findings")
    test $status -eq 0 || test "$failed" -gt 0 || failed=1
    skipped=$(grep -c '^ok.*# SKIP\|^1\.\.0 # SKIP' "$dir/out" || true)
    passed=$(grep '^ok' "$dir/out" | grep -vc '# SKIP' || true)
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
