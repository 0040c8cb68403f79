#!/bin/sh
# recipe.t - the recipe "add a mask" works: add_mask.patch, applied to a copy of the tree, built, run, tuned and cached
# SPDX-License-Identifier: Apache-2.0
#
# make check applies it and compiles what it changes. CLATTN_PART or CLATTN_FULL: the whole tree with it, every case of
# the patch in every engine, and what the patch adds to tables left out one by one, each of which has to fail.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
unset CLATTN_TUNE CLATTN_TUNE_SECONDS CLATTN_CACHE_MAX_SIZE MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
patch_file=$top_srcdir/tests/house/add_mask.patch
copy=$tmp/copy build=$tmp/build
engines='cpu row simt naive'

# ---- The copy, patched and built ----

copy_tree() { # without what a build inside the source tree has left there
    mkdir "$copy" && (cd "$top_srcdir" && tar cf - Makefile.am build-aux cl examples/score_mods include src \
        tests/kernel tests/lib tools) | (cd "$copy" && tar xf -) && chmod -R u+w "$copy" &&
        find "$copy" \( -name '*.o' -o -name '*.lo' -o -name '*.la' -o -name '*.a' \) -exec rm -f {} + &&
        rm -f "$copy/src/engine/fragments.c" "$copy/tools/mod_texts.c"
}
if command -v patch >/dev/null 2>&1; then
    apply() { (cd "$copy" && patch -p1 -s) <"$patch_file"; }
elif command -v git >/dev/null 2>&1; then
    apply() { (cd "$copy" && GIT_CEILING_DIRECTORIES=$tmp git apply -p1 -) <"$patch_file"; }
else
    skip "neither patch nor git is here"
    echo "1..$n"
    exit 0
fi
# By the rules of the Makefile that is there, which knows compiler and libraries; it is not made anew. Optimising takes
# longer than it saves.
build() { # TARGETS...
    fragments=$(sed -n '/^CL_FILES/,/[^\\]$/p' "$copy/Makefile.am" | tr '\\\n\t' '   ' | sed 's/CL_FILES *=//')
    test "$fragments" = "${embedded-}" || rm -f "$build/src/engine/fragments.c"
    embedded=$fragments
    (cd "$build" && make -s -o Makefile -o config.h -o stamp-h1 -o config.status -o libtool srcdir="$copy" \
        top_srcdir="$copy" VPATH="$copy" CL_FILES="$(echo $fragments)" CFLAGS=-O0 "$@") >out 2>err </dev/null
}

copy_tree >out 2>err && apply >>out 2>>err
ok $? "the patch applies"
test "$(grep -c '^+++ ' "$patch_file")" -le 9
ok $? "it touches at most nine files"
mkdir "$build" &&
    (cd "$top_builddir" && cp -p Makefile config.h stamp-h1 config.status libtool "$build")
if ! rest; then
    build src/problem/libclattn_core_la-feature_masks.lo tools/run/libtools_a-options.o \
        tools/oracle/libtools_a-reference_rules.o tests/lib/kept.o
    ok $? "what it changes compiles"
    echo "1..$n"
    exit $bad
fi
programs='clattn-run clattn-tune tests/kernel/forward.t'
build $programs
ok $? "the tree with it builds"
test $bad -eq 0 || { echo "1..$n" && exit 1; }
original=$program program=$build/clattn-run forward=$build/tests/kernel/forward.t

# ---- What has to hold. Each check says in `said` what it saw ----

class_of() { "$build/clattn-tune" --device "$device" --classes "$1" 2>&1; }
json() { sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p' said | tail -n 1; }

words() { # needs no device
    "$program" --help | grep -q -e '--dilation D' && grep -q '^\.It Fl -dilation' "$copy/tools/run/clattn-run.1" &&
        grep -qF '[dilatedD]' "$copy/tools/run/clattn-run.1" && grep -qF '[dilatedD]' "$copy/include/clattn.h" &&
        "$program" --emit-source 'f32 b1 h1 q5 k9 d8 dilated3' >said 2>&1 && grep -q -e '-DCLA_DILATION=3 ' said &&
        grep -q '^#line 1 "mask_dilated.cl"' said && ! "$program" --emit-source 'f32 b1 h1 q5 k9 d8 dilated0' >said 2>&1
}
classes() { # a class of its own, whatever the number, its words in their place
    class_of 'f32 b1 h8 q64 k256 d64 dilated7 causal window9,9 softcap3 lse' >said &&
        test "$(cat said)" = 'f32 b1 h8 q128 k256 d64 causal window256,256 dilated2 softcap30' &&
        test "$(class_of 'f32 b1 h8 q64 k256 d64 dilated3')" != "$(class_of 'f32 b1 h8 q64 k256 d64')"
}
# examples/first_call.c twice: each row sees its own key, whose value is 1 in row 0, then all keys.
one_call() {
    mkdir -p "$copy/examples" && sed -e 's/problem.causal = 1;/problem.flags = CLATTN_DILATED;/' \
        -e '/e = clattn_forward(/i\
for (problem.dilation = N; problem.dilation && !e; problem.dilation /= N)' \
        "$top_srcdir/examples/first_call.c" >"$copy/examples/first_call.c"
    build examples/first_call && (cd "$build" && CLATTN_TUNE=off CLATTN_CACHE_DIR=off ./examples/first_call) >>out 2>&1
    cat out err >said
    grep -q '^CL_SUCCESS .*row 0 is ' said && ! grep -q 'row 0 is 1,' said
}
cases() { # of the patch
    sed -n 's/^[^"]*//; s/"\([^"]*\)",*/\1\n/gp' "$copy/tests/lib/cases.h" | sed -n 's/^ *\(.*dilated[0-9].*\)/\1/p'
}
right() { # ENGINE CASE: within bound, and nothing touched that no query sees
    CLATTN_TUNE=off CLATTN_CACHE_DIR=off CLATTN_TEST_DEVICES=$device "$forward" "f32 $2" "$1" >said 2>&1 &&
        ! grep -q '^not ok' said && grep -q '^ok' said
}
computed() { # one program of each engine on several sizes, and in engine row or in all the others
    test "$(cases | wc -l)" -ge 6 || return 1
    cases >cases
    for engine in $engines; do
        while read -r text; do
            case $text in
            *window* | *varlen* | *causal*) test -n "$all" || test "$engine" = row || continue ;;
            esac
            right "$engine" "$text" || return 1
        done <cases
    done
}
one='b1 h2 q1 k40 d8 dilated5 off2' # made of one query, since few rows are tuned soonest
real q1.npy '<f4' 4 1 2 1 8 && real k1.npy '<f4' 4 1 2 40 8 && real v1.npy '<f4' 4 1 2 40 8
tuned() { # candidates are found right, the winner's program is kept, and what it computes and counts is as it should be
    rm -rf cache && CLATTN_CACHE_DIR=$tmp/cache && export CLATTN_CACHE_DIR
    "$build/clattn-tune" --device "$device" --in-process --effort quick --time 200 --json "f32 $one" >said 2>&1 &&
        grep -q '"result": "tuned"' said && test "$(sed -n 's/.*"tried": \([0-9]*\).*/\1/p' said)" -gt \
        "$(sed -n 's/.*"refused": \([0-9]*\).*/\1/p' said)" || return 1
    for start in first second; do
        "$program" --device "$device" --dilation 5 --align 2 --verify --time 3 --json q1.npy k1.npy v1.npy >said 2>&1 ||
            return 1
    done
    test "$(json binary)" = hit && test "$(json source)" = cached && test "$(json problem)" = "f32 $one" &&
        awk -v flops="$(json gflops)" -v ms="$(json time_ms)" \
            'BEGIN { x = flops * ms * 1e6 / (2 * 2 * 40 * 16 / 5); exit !(x > 0.999 && x < 1.001) }'
}

on q.npy k.npy v.npy
blind_here=
if test $status -eq 2 && test -z "$device"; then
    missing_device "no OpenCL device"
    blind_here=yes
fi
cp /dev/null said
run_check() { # DESCRIPTION CHECK ARGS...
    what=$1
    shift
    "$@"
    result=$?
    cp said out
    : >err
    ok $result "$what"
}
run_check "problem strings, options and the program's text have it" words
if test -n "$blind_here"; then
    skip "no OpenCL device"
    echo "1..$n"
    exit $bad
fi
run_check "it has a class of its own" classes
run_check "O and LSE are right in $engines, and NaN in V that nobody sees stays away" computed
run_check "tuned, then from the cache" tuned
run_check "clattn_forward() tells two numbers apart" one_call

# ---- Each of its rows left out ----

without() { # WHAT FILE SED-SCRIPT: that has to be noticed
    cp -p "$copy/$2" kept_file && sed -e "$3" kept_file >changed_file && ! cmp -s kept_file changed_file &&
        cat changed_file >"$copy/$2" || exit 99
    failing=
    if ! build $programs; then
        failing="make"
    elif ! words; then
        failing="problem strings, options and the program's text"
    elif ! classes; then
        failing="classes"
    elif ! computed; then
        failing="O and LSE: $(grep '^not ok\|^# [^P]' said | tail -n 1)"
    elif ! tuned; then
        failing="tuning and the cache: $(tail -n 1 said)"
    fi
    cat kept_file >"$copy/$2"
    test -n "$failing"
    cp said out
    ok $? "without $1 this fails: $(printf %s "$failing" | tr -d '#' | cut -c1-300)"
}
if test -n "$all"; then
    all=
    without "its fragment in CL_FILES" Makefile.am '/mask_dilated\.cl/d'
    without "its row of the features" src/problem/feature_masks.c '/name = "dilated"/,/keeps = /d'
    for member in applies flag check fragment options place words print step represent share; do
        without "its .$member" src/problem/feature_masks.c \
            "/name = \"dilated\"/,/keeps = /{/ \\.$member = /d;}"
    done
    without "its .keeps" src/problem/feature_masks.c 's/ *\.keeps = dilated_keeps },/},/'
    for fact in 'FEATURE_HAS_HOLES | ' ' | FEATURE_KNOWS_DIAGONAL'; do
        without "$(echo "$fact" | tr -d ' |')" src/problem/feature_masks.c "/name = \"dilated\"/,/keeps = /s/$fact//"
    done
    without "its rule in float64" tools/oracle/reference_rules.c '/\.keep = dilated_keep/d'
    without "its row of what may be read" tests/lib/kept.c '/\.keeps = dilated_keeps/d'
    without "its cases" tests/lib/cases.h '/".*dilated/d'
    without "its option" tools/run/options.c '/ROW_READ("--dilation"/d'
    without "its option in clattn-run.1" tools/run/clattn-run.1 '/Fl -dilation/d'
    without "its word in clattn-run.1" tools/run/clattn-run.1 '/\[dilatedD\]/d'
    without "its word in clattn.h" include/clattn.h '/\[dilatedD\]/d'
    build $programs && words && classes && computed && tuned
    ok $? "with all of it back all holds"
fi

echo "1..$n"
exit $bad
