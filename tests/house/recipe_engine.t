#!/bin/sh
# recipe_engine.t - the recipe "add a matrix unit" works: add_wave64.patch, applied to a copy of the tree, built and run
# SPDX-License-Identifier: Apache-2.0
#
# The patch adds a unit with waves of 64 whose lanes are in NVIDIA's order, in emulation. make check applies it and
# compiles what it changes. CLATTN_PART or CLATTN_FULL: the library with it, forward and backward cases against float64,
# a test that goes through all engines, and what the patch adds left out or made wrong piece by piece, each of which has
# to show.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/lib/recipe.sh"

recipe_open add_wave64.patch 4
reuse_objects "$build" >out 2>err # its patch changes no header
objects=tests/emulated/libemulated_core_la
recipe_compiles $objects-engine_list.lo $objects-engine_mma_emu.lo $objects-fragments.lo
recipe_builds tests/emulated/clattn-run tests/kernel/forward.t tests/kernel/backward.t
program=$build/tests/emulated/clattn-run

# ---- What has to hold. Each check says in `said` what it saw ----

emitted() { "$program" --emit-source "$1" --engine mma_emu64 >said 2>&1; } # PROBLEM
words() { # needs no device: every default tile is there, and what it cannot do is refused
    emitted 'f16 b1 h1 q5 k9 d64 causal' && grep -q '^// mma_emu64 nw2,rt1,bk32,.* -DCLA_WAVE=64 ' said &&
        grep -q '^#line 1 "mma_emu64.cl"' said && emitted 'bf16 b1 h1 q5 k9 d200' &&
        emitted 'f16 b1 h1 q5 k9 d64 bwd' && ! emitted 'f32 b1 h1 q5 k9 d64' && grep -q 'f16 or in bf16' said
}
taken() { right "mma_emu64 $3" "$2" "$1" && ! grep -q SKIP said; } # TEST PROBLEM TILE: it has to take it
# A problem that shows most, first: waves side by side and rows of O that are stored 8 at a time.
forward() {
    taken forward 'f16 b1 h2/1 q70 k75 d64/128 causal lse' nw2,rt1,bk16,qreg0 || return 1
    test -n "$all" || return 0
    taken forward 'bf16 b1 h2 q37 k133 d40/72 window40,9 bias:1hqk sink lse' nw1,rt2,bk32,qreg1 &&
        taken forward 'f16 b2 h2/1 q33 k70 d96/17 mask:11qk kvlen:70,9 lse' nw1,rt1,bk32,qreg0 &&
        taken forward 'f16 b1 h1 q9 k40 d256 softcap3 lse' nw1,rt1,bk16,qreg0
}
backward() {
    taken backward 'f16 b1 h2/1 q40 k70 d64 scale1 causal bias:1hqk lse bwd' nw1,rt1,bk16,qreg0 || return 1
    test -n "$all" || return 0
    taken backward 'bf16 b1 h2/1 q37 k35 d72/40 window20,9 alibi lse bwd' nw2,rt1,bk16,qreg0 &&
        taken backward 'f16 b2 h1 q33 k40 d24/128 mask:11qk softcap4 sink lse bwd' nw1,rt2,bk32,qreg1
}
listed() { # among the engines of a test that names none of them; in a share that is the turn of the last one
    last=$(($(grep -o 'X([a-z0-9]*_emu[0-9]*)' "$copy/tests/emulated/engine_list.c" | wc -l) - 1))
    build tests/kernel/rescale.t && (CLATTN_PART=$last/64 && export CLATTN_PART &&
        succeeds "$build/tests/kernel/rescale.t") && grep -q '^ok .* mma_emu64 ' said
}

run_check "the program's text and its refusals have it" words
need_device
run_check "O and LSE are right" forward
run_check "so are gradients" backward
run_check "tests that go through all engines have it" listed

# ---- What it adds, left out or wrong ----

holds() { # $failing: what does not
    failing="the program's text" && words || return 1
    forward || { failing="O and LSE: $(wrong)" && return 1; }
    backward || { failing="gradients: $(wrong)" && return 1; }
}
all=
unit=tests/emulated/mma_emu64.cl engine=tests/emulated/engine_mma_emu.c
without "its fragment in EMULATED_CL_FILES" tests/emulated/Makefile.inc 's|tests/emulated/mma_emu64\.cl||'
without "its word among the engines" tests/emulated/engine_list.c 's/ X(mma_emu64)//'
for macro in COLUMN ROW PART APART; do
    without "CLA_MMA_$macro" $unit "/^#define CLA_MMA_$macro/d" "mma_unit.cl.*CLA_MMA_$macro"
done
without "cla_left" $unit '/^typedef uint2 cla_left/d' cla_left
without "cla_right" $unit '/^typedef uint2 cla_right/d' cla_right
without "cla_left_of()" $unit '/^CLA_FN cla_left cla_left_of/d' 'mma_unit.cl.*cla_left_of'
without "cla_mma()" $unit '/^CLA_FN void cla_mma/,/^}/d' 'mma_unit.cl.*cla_mma'
without "what all emulations share" $engine 's/"mma_wave\.cl", "mma_emu64\.cl"/"mma_emu64.cl"/'
for number in wave m n k rows; do
    without "its .$number (another)" $engine \
        "/\.wave = 64/s/\\.$number = [0-9]*/.$number = 2/"
done
without "its .operands" $engine '/"mma_emu64\.cl"/s/ \.operands = "mma_operands_lanes\.cl",//' CLA_TURNED
without "its .rows" $engine '/^const struct engine engine_mma_emu64/,/^}/{/\.rows = /d;}'
without "its .suits" $engine '/^const struct engine engine_mma_emu64/,/^}/{/\.suits = /d;}'
without "its .own_words" $engine '/^const struct engine engine_mma_emu64/,/^}/{/\.own_words = /d;}'
without "the tile of wide rows" $engine '/^static const struct row rows64/,/^}/{/\.widest = 256/d;}'
without "the tile of backward passes" $engine '/^static const struct row rows64/,/^}/{/\.backward/d;}'
# Where lanes hold other elements than the engine is told.
without "its columns (others)" $unit 's/\(^#define CLA_MMA_COLUMN(item)\).*/\1 ((item) \/ 4 % 16 ^ 1)/'
without "its rows (two lanes share some)" $unit 's/\(^#define CLA_MMA_ROW(column)\).*/\1 ((column) \& 14)/'
without "its parts (others)" $unit 's/\(^#define CLA_MMA_PART(item)\).*/\1 ((item) % 4 ^ 1)/'
without "where its parts lie (elsewhere)" $unit 's/\(^#define CLA_MMA_APART\).*/\1 4/'
with_all

finish
