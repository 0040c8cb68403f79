#!/bin/sh
# recipe_type.t - the recipe "add a storage type" works: add_type.patch, applied to a copy of the tree, built and run
# SPDX-License-Identifier: Apache-2.0
#
# make check applies it and compiles what it changes. CLATTN_PART or CLATTN_FULL: the whole tree with it, every case of
# the patch in every engine, hand-made bytes, caches that are appended to, tuned, cached and in one call; then what the
# patch adds is left out bit by bit, each of which has to fail.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/lib/recipe.sh"
engines='cpu row simt naive'

recipe_open add_type.patch 8
recipe_compiles src/problem/libclattn_core_la-problem_type.lo tools/oracle/libtools_a-convert.o tests/kernel/forward.o
recipe_builds clattn-run clattn-tune tests/kernel/forward.t tests/api/append.t tests/unit/problem_type.t

# ---- What has to hold. Each check says in `said` what it saw ----

tables() { # need no device
    "$build/tests/unit/problem_type.t" >said 2>&1 && grep -q '^ok .*f8e4m3' said &&
        (top_srcdir=$copy && export top_srcdir && sh "$copy/tests/house/types.t") >said 2>&1 &&
        grep -q '^ok .*f8e4m3' said
}
words() { # neither do these
    "$program" --help >said && grep -q 'quantise K: .* f8e4m3;' said && ! grep -q 'device: .*f8e4m3' said &&
        "$program" --emit-source 'f32 b1 h1 q5 k9 d8 k:f8e4m3' >said 2>&1 && grep -q -e '-DCLA_TK=f8e4m3 ' said &&
        grep -q '^#line 1 "dtype_f8e4m3.cl"' said || return 1
    for problem in 'f32 b1 h1 q5 k9 d8 o:f8e4m3' 'f8e4m3 b1 h1 q5 k9 d8' 'f64 b1 h1 q5 k9 d8 v:f8e4m3' \
        'f32 b1 h1 q5 k9 d8 k:f8e4m3:16' 'f32 b1 h1 q5 k9 d8 k:f8e4m3z' 'f32 b1 h1 q5 k9 d8 k:f8e4m3 bwd'; do
        ! "$program" --emit-source "$problem" >said 2>&1 || return 1
    done
    ! "$program" --emit-source 'f32 b1 h1 q5 k9 d8 k:f8' >said 2>&1 && grep -q 'expected f32, .* or f8e4m3$' said
}
classes() { # a class of its own
    class_of 'f32 b1 h8 q64 k256 d64 k:f8e4m3 v:f8e4m3 lse' >said &&
        test "$(cat said)" = 'f32 b1 h8 q128 k256 d64 k:f8e4m3 v:f8e4m3'
}
computed() { # all in engine row, whose programs compile soonest, and some in the others
    cases f8e4m3 >cases
    test "$(wc -l <cases)" -ge 9 || return 1
    for engine in $engines; do
        while read -r text; do
            case $engine:$text in
            row:* | *:b1*d41/26*) ;;
            *page* | *varlen* | *int4*) test -n "$all" || continue ;;
            *) continue ;;
            esac
            right "$engine" "f32 $text" || return 1
        done <cases
    done
    right cpu 'bf16 b2 h4/2 q33 k70 d64 k:f8e4m3 v:f8e4m3 causal lse'
}
# O is V where there is one key: 0.3, ties downwards and upwards, what is too large, subnormal numbers, a tie of the
# smallest with 0, and a number that is there.
tensor q2.npy '<f4' 4 1 1 1 8 && tensor k2.npy '<f4' 4 1 1 1 8
bytes() { for x in $(echo "$1" | sed 's/\(..\)\(..\)\(..\)\(..\) */0x\4 0x\3 0x\2 0x\1 /g'); do byte $((x)); done; }
bytes '3e99999a 3f880000 3f980000 c3fa0000 3b400000 3a83126f 3a800000 43700000' | npy '<f4' '(1, 1, 1, 8)' >v2.npy
bytes '3ea00000 3f800000 3fa00000 c3e00000 3b800000 3b000000 00000000 43700000' >want
rounded() {
    for engine in $engines; do
        "$program" --device "$device" --tune off --engine "$engine" --v-type f8e4m3 -o o2.npy q2.npy k2.npy v2.npy \
            >said 2>&1 && raw o2.npy >got && cmp got want >said 2>&1 || return 1
    done
}
appended() { # new rows, rounded as they should be
    CLATTN_TEST_DEVICES=$device CLATTN_CACHE_DIR=off "$build/tests/api/append.t" f8e4m3 f8e4m3 >said 2>&1 &&
        grep -q '^ok .* f8e4m3' said
}
tuned() { # no candidate is refused, and what it reads is as it should be
    tuned_and_kept 'f32 b1 h2 q1 k40 d8 k:f8e4m3 v:f8e4m3' --k-type f8e4m3 --v-type f8e4m3 &&
        grep -q '"refused": 0,' tuning && awk -v speed="$(json gbytes_s)" -v ms="$(json time_ms)" \
        'BEGIN { x = speed * ms * 1e6 / (2 * 2 * 8 * 4 + 2 * 2 * 40 * 8); exit !(x > 0.999 && x < 1.001) }'
}
# examples/first_call.c with bytes as K and V: keys are alike, values 1 and 2 by turns.
one_call() {
    first_call -e 's/^static float .*/static float q[N * D], o[N * D];\
static unsigned char k[N * D], v[N * D];/' \
        -e 's/k\[i\] = .*/k[i] = 0x38, v[i] = (unsigned char)(i \/ D % 2 ? 0x40 : 0x38);/' \
        -e 's/problem.causal = 1;/&\
problem.k_type = problem.v_type = CLATTN_F8E4M3;/'
    grep -q '^CL_SUCCESS .*row 0 is 1, row 255 is 1\.5$' said
}

run_check "every table has it" tables
run_check "options, problem strings and the program's text have it, where it may be" words
need_device
run_check "it has a class of its own" classes
run_check "O and LSE are right in $engines" computed
run_check "values are rounded to nearest, ties to even" rounded
run_check "new rows are appended to caches" appended
run_check "tuned, then from the cache" tuned
run_check "clattn_forward() takes it" one_call

# ---- What it consists of, left out ----

holds() { # $failing: what does not
    tables || { failing="tables: $(wrong)" && return 1; }
    failing="problem strings, options and the program's text" && words || return 1
    failing=classes && classes || return 1
    failing="what is rounded" && rounded || return 1
    computed || { failing="O and LSE: $(wrong)" && return 1; }
    appended || { failing="new rows: $(wrong)" && return 1; }
    tuned || { failing="tuning and the cache: $(tail -n 1 said)" && return 1; }
}
all=
without "its fragment in CL_FILES" Makefile.am '/dtype_f8e4m3\.cl/d'
for word in CLA_STORAGE CLA_BYTES cla_load cla_raw cla_unpack4 cla_loadn cla_store; do
    without "its $word" cl/storage/dtype_f8e4m3.cl "/^#define ${word}_f8e4m3/d"
done
without "its NaN" cl/storage/dtype_f8e4m3.cl 's/x != x ?/0 ?/'
without "its number" include/clattn.h '/CLATTN_F8E4M3 = 14/d'
without "what its bytes mean" include/clattn.h '/f8e4m3 d bytes/d'
without "its number for C++" include/clattn.hpp '/f8e4m3 = CLATTN_F8E4M3/d'
row='/\[CLATTN_F8E4M3\]'
without "its row" src/problem/problem_type.c "$row/d"
without "its name" src/problem/problem_type.c "$row/s/\"f8e4m3\"/\"f8\"/"
without "what may be of it" src/problem/problem_type.c "$row/s/PROBLEM_KEYS/0/"
without "its bytes" src/problem/problem_type.c "$row/s/1, 1, 0/1, 0, 0/"
without "its .store" src/problem/problem_type.c "$row/s/store_f8e4m3/NULL/"
without "its .load" src/problem/problem_type.c "$row/s/load_f8e4m3/NULL/"
without "its row of tools" tools/oracle/convert.c "$row/d"
without "its .store of tools" tools/oracle/convert.c "$row/s/store_f8e4m3/NULL/"
without "its .load of tools" tools/oracle/convert.c "$row/s/load_f8e4m3/NULL/"
without "its cases" tests/lib/cases.h '/^    "b.*f8e4m3/d'
without "its case for every engine" tests/lib/cases.h 's/, "b2 h4\/2 q37 k83 d41\/26 k:f8e4m3 v:f8e4m3 causal lse"//'
without "its name in clattn-run.1" tools/run/clattn-run.1 's/f8e4m3/f8/g'
with_all

finish
