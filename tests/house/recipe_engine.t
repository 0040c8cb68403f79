#!/bin/sh
# recipe_engine.t - the recipe "add a matrix unit" works: add_wave64.patch, applied to a copy of the tree, built and run
# SPDX-License-Identifier: Apache-2.0
#
# The patch adds a unit with waves of 64 and AMD's layout, in emulation. make check applies it and compiles what it
# changes. CLATTN_PART or CLATTN_FULL: the library with it, forward and backward cases against float64, a test that goes
# through all engines, and what the patch adds left out or made wrong piece by piece, each of which has to show.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
unset CLATTN_TUNE CLATTN_TUNE_SECONDS CLATTN_CACHE_MAX_SIZE MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
patch_file=$top_srcdir/tests/house/add_wave64.patch
copy=$tmp/copy build=$tmp/build
finish_here() {
    echo "1..$n"
    exit $bad
}

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
    finish_here
fi
# By the rules of the Makefile that is there; it is not made anew. Optimising takes longer than it saves.
build() { # TARGETS...
    fragments=$(sed -n '/^CL_FILES/,/[^\\]$/p' "$copy/Makefile.am" | tr '\\\n\t' '   ' | sed 's/CL_FILES *=//')
    test "$fragments" = "${embedded-}" || rm -f "$build/src/engine/fragments.c"
    embedded=$fragments
    (cd "$build" && make -s -o Makefile -o config.h -o stamp-h1 -o config.status -o libtool srcdir="$copy" \
        top_srcdir="$copy" VPATH="$copy" CL_FILES="$(echo $fragments)" CFLAGS=-O0 "$@") >out 2>err </dev/null
}

copy_tree >out 2>err && apply >>out 2>>err
ok $? "the patch applies"
test "$(grep -c '^+++ ' "$patch_file")" -le 5
ok $? "it touches at most five files"
mkdir "$build" && (cd "$top_builddir" && cp -p Makefile config.h stamp-h1 config.status libtool "$build") &&
    reuse_objects "$build" >out 2>err
if ! rest; then
    build src/engine/libclattn_core_la-engine.lo src/engine/libclattn_core_la-engine_mma.lo \
        src/engine/libclattn_core_la-fragments.lo
    ok $? "what it changes compiles"
    finish_here
fi
programs='clattn-run tests/kernel/forward.t tests/kernel/backward.t'
build $programs tests/kernel/rescale.t
ok $? "the tree with it builds"
test $bad -eq 0 || finish_here

# ---- What has to hold. Each check says in `said` what it saw ----

emitted() { "$build/clattn-run" --emit-source "$1" --engine mma_emu64 >said 2>&1; } # PROBLEM
words() { # needs no device: every default tile is there, and what it cannot do is refused
    emitted 'f16 b1 h1 q5 k9 d64 causal' && grep -q '^// mma_emu64 nw2,rt1,bk32,.* -DCLA_WAVE=64 ' said &&
        grep -q '^#line 1 "mma_emu64.cl"' said && emitted 'bf16 b1 h1 q5 k9 d200' &&
        emitted 'f16 b1 h1 q5 k9 d64 bwd' && ! emitted 'f32 b1 h1 q5 k9 d64' && grep -q 'f16 or in bf16' said
}
right() { # TEST PROBLEM TILE: within bound, and nothing touched that nobody sees
    CLATTN_TUNE=off CLATTN_CACHE_DIR=off CLATTN_TEST_DEVICES=$device "$build/tests/kernel/$1.t" "$2" "mma_emu64 $3" \
        >said 2>&1 && ! grep -q '^not ok\|SKIP' said && grep -q '^ok' said
}
# A problem that shows most, first: waves side by side and rows of O that are stored 8 at a time.
forward() {
    right forward 'f16 b1 h2/1 q70 k75 d64/128 causal lse' nw2,rt1,bk16,qreg0 || return 1
    test -n "$brief" && return
    right forward 'bf16 b1 h2 q37 k133 d40/72 window40,9 bias:1hqk sink lse' nw1,rt2,bk32,qreg1 &&
        right forward 'f16 b2 h2/1 q33 k70 d96/17 mask:11qk kvlen:70,9 lse' nw1,rt1,bk32,qreg0 &&
        right forward 'f16 b1 h1 q9 k40 d256 softcap3 lse' nw1,rt1,bk16,qreg0
}
backward() {
    right backward 'f16 b1 h2/1 q40 k70 d64 scale1 causal bias:1hqk lse bwd' nw1,rt1,bk16,qreg0 || return 1
    test -n "$brief" && return
    right backward 'bf16 b1 h2/1 q37 k35 d72/40 window20,9 alibi lse bwd' nw2,rt1,bk16,qreg0 &&
        right backward 'f16 b2 h1 q33 k40 d24/128 mask:11qk softcap4 sink lse bwd' nw1,rt2,bk32,qreg1
}
listed() { # among the engines of a test that names none of them
    CLATTN_PART=1/16 CLATTN_TEST_DEVICES=$device "$build/tests/kernel/rescale.t" >said 2>&1 &&
        grep -q '^ok .* mma_emu64 ' said && ! grep -q '^not ok' said
}

on q.npy k.npy v.npy
blind_here=
if test $status -eq 2 && test -z "$device"; then
    missing_device "no OpenCL device"
    blind_here=yes
fi
brief=
run_check() { # DESCRIPTION CHECK
    cp /dev/null said
    "$2"
    result=$?
    cp said out
    : >err
    ok $result "$1"
}
run_check "the program's text and its refusals have it" words
if test -n "$blind_here"; then
    skip "no OpenCL device"
    finish_here
fi
run_check "O and LSE are right" forward
run_check "so are gradients" backward
run_check "tests that go through all engines have it" listed

# ---- What it adds, left out or wrong ----

brief=yes
said_wrong() { awk '/^not ok/ { on = 1; next } on' said | head -n 1; } # the first words about it
without() { # WHAT FILE SED-SCRIPT [NAME]: that has to be noticed, in words that have the name
    cp -p "$copy/$2" kept_file && sed -e "$3" kept_file >changed_file && ! cmp -s kept_file changed_file &&
        cat changed_file >"$copy/$2" || exit 99
    failing=
    if ! build $programs; then
        failing="make"
    elif ! words; then
        failing="the program's text"
    elif ! forward; then
        failing="O and LSE: $(said_wrong)"
    elif ! backward; then
        failing="gradients: $(said_wrong)"
    fi
    cat kept_file >"$copy/$2"
    test -n "$failing" && grep -q "${4-}" said
    cp said out
    ok $? "$1: this fails: $(printf %s "$failing" | tr -d '#' | cut -c1-300)"
}
unit=cl/engines/mma_emu64.cl engine=src/engine/engine_mma.c
if test $bad -eq 0; then
    without "without its fragment in CL_FILES" Makefile.am 's|cl/engines/mma_emu64\.cl||'
    without "without its word among the engines" src/engine/engine.c 's/ X(mma_emu64)//'
    for macro in COLUMN ROW PART APART; do
        without "without CLA_MMA_$macro" $unit "/^#define CLA_MMA_$macro/d" "mma_unit.cl.*CLA_MMA_$macro"
    done
    without "without cla_left" $unit '/^typedef uint2 cla_left/d' cla_left
    without "without cla_left_of()" $unit '/^CLA_FN cla_left cla_left_of/d' 'mma_unit.cl.*cla_left_of'
    without "without cla_mma()" $unit '/^CLA_FN void cla_mma/,/^}/d' 'mma_unit.cl.*cla_mma'
    without "without what all emulations share" $engine 's/"mma_wave\.cl", "mma_emu64\.cl"/"mma_emu64.cl"/'
    for number in wave m n k rows; do
        without "another .$number" $engine \
            "/\"mma_emu64\.cl\"/s/\\.$number = [0-9]*/.$number = 2/"
    done
    without "without its .rows" $engine '/^const struct engine engine_mma_emu64/,/^}/{/\.rows = /d;}'
    without "without its .suits" $engine '/^const struct engine engine_mma_emu64/,/^}/{/\.suits = /d;}'
    without "without its .own_words" $engine '/^const struct engine engine_mma_emu64/,/^}/{/\.own_words = /d;}'
    without "without the tile of wide rows" $engine '/^static const struct row rows64/,/^}/{/\.widest = 256/d;}'
    without "without the tile of backward passes" $engine '/^static const struct row rows64/,/^}/{/\.backward/d;}'
    # Where lanes hold other elements than the engine is told.
    without "columns that are others" $unit 's/\(^#define CLA_MMA_COLUMN(item)\).*/\1 ((item) % 16 ^ 1)/'
    without "rows that two lanes share" $unit 's/\(^#define CLA_MMA_ROW(column)\).*/\1 ((column) \& 14)/'
    without "parts that are others" $unit 's/\(^#define CLA_MMA_PART(item)\).*/\1 ((item) \/ 16 % 4 ^ 1)/'
    without "parts that lie otherwise" $unit 's/\(^#define CLA_MMA_APART\).*/\1 8/'
    build $programs && words && forward && backward
    ok $? "with all of it back all holds"
fi
finish_here
