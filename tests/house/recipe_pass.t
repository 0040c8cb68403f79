#!/bin/sh
# recipe_pass.t - the recipe "add a pass" works: add_pass.patch, applied to a copy of the tree, built, run and cached
# SPDX-License-Identifier: Apache-2.0
#
# make check applies it and compiles what it changes. CLATTN_PART or CLATTN_FULL: the whole tree with it, keys in two
# parts in every engine, type and way of calling, and what the patch adds left out piece by piece, each of which has to
# fail. In the copy pass merge computes wrong of two parts: what is right was computed by the pass that is added.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/lib/recipe.sh"
engines='row cpu simt naive mma_emu'

recipe_open add_pass.patch 5
recipe_compiles src/engine/libclattn_core_la-pass.lo src/engine/libclattn_core_la-pass_forward.lo \
    src/engine/libclattn_core_la-params_list.lo
change cl/passes/merge.cl 's/sum == 1 ? 1 : 1 \/ sum;/(a->parts == 2 ? 2 : 1) \/ sum;/'
recipe_builds clattn-run tests/kernel/forward.t tests/kernel/merge.t

# ---- What has to hold. Each check says in `said` what it saw ----

words() { # needs no device: plans have it, but for those of gradients, and where a row has the same bits in every batch
    "$program" --emit-source 'f32 b1 h1 q5 k9 d8' --kernel cla_merge_two >said 2>&1 &&
        grep -q '^#line 1 "merge_two.cl"' said || return 1
    for word in invariant bwd; do
        "$program" --emit-source "f32 b1 h1 q5 k9 d8 $word" >said 2>&1 &&
            ! "$program" --emit-source "f32 b1 h1 q5 k9 d8 $word" --kernel cla_merge_two >said 2>&1 || return 1
    done
}
# Of plans: more rows than a work-group has, rows that one part or both see nothing for, rows of sequences, and calls
# that want no LSE; in three parts as before.
echo 'f32 b2 h4/2 q3 k700 d24/20 splits2 lse
bf16 b2 h2 q33 k300 d32 splits2 causal sink o:f32
f64 b4 h4/2 q2 k600 d16 splits2 kvlen:600,1,0,333 kvstart:5,0,0,300 lse
f16 b4 h4/2 q9 k300 d16 varlen causal splits2 lse
f16 b1 h2 q9 k300 d16 splits3 lse' >cases
computed() { # in every engine, or where a piece is left out in one
    for engine in $engines; do
        while read -r text; do
            case $engine:$text in mma*:f32* | mma*:f64*) continue ;; esac # which it does not take
            right "$engine" "$text" || return 1
        done <cases
    done
}
merged() { # partial results of callers, in every share alike
    (unset CLATTN_PART CLATTN_FULL && succeeds "$build/tests/kernel/merge.t")
}
# examples/first_call.c: where all scores are 0, row q is the mean of rows 1, 2, .. q + 1, and those of the second part
# are seen by the later rows alone.
one_call() {
    first_call -e 's/k\[i\] = (float)(i % 5)/k[i] = 0/' \
        -e 's/problem.causal = 1;/problem.causal = 1, problem.splits = 2;/'
    grep -q '^CL_SUCCESS .*row 0 is 1, row 255 is 128.5' said
}
real q2.npy '<f4' 4 1 2 3 8 && real k2.npy '<f4' 4 1 2 40 8 && real v2.npy '<f4' 4 1 2 40 8
cached() { # what was kept is right, too
    rm -rf cache && CLATTN_CACHE_DIR=$tmp/cache && export CLATTN_CACHE_DIR
    for binary in miss hit; do
        "$program" --device "$device" --tune off --engine row --splits 2 --verify --json q2.npy k2.npy v2.npy \
            >said 2>&1 && test "$(json binary)" = $binary || return 1
    done
}
judged() { # its own judge finds a kernel that computes wrong: that of pass merge is taken away meanwhile
    cp -p "$copy/cl/passes/merge_two.cl" kept_kernel && cp -p "$copy/src/engine/pass_forward.c" kept_row
    sed 's|o / l, at\.o|2 * o / l, at.o|' kept_kernel >"$copy/cl/passes/merge_two.cl"
    sed '/^const struct pass pass_forward_merge = /,/^};/{/\.judged = /d;}' kept_row >"$copy/src/engine/pass_forward.c"
    build clattn-run && ! cmp -s kept_kernel "$copy/cl/passes/merge_two.cl" && {
        untuned "$program" --device "$device" --engine naive --tile wg32,bk8 q2.npy k2.npy v2.npy
        grep -q 'it computes something else' said
    }
    found=$?
    cat kept_kernel >"$copy/cl/passes/merge_two.cl" && cat kept_row >"$copy/src/engine/pass_forward.c"
    return $found
}

run_check "plans of forward calls have it" words
need_device
run_check "O and LSE of two parts are right in $engines" computed
run_check "partial results of callers are merged right" merged
run_check "clattn_forward() computes right" one_call
run_check "it is kept in the cache, and right from there" cached
run_check "a kernel of it that computes wrong is refused" judged

# ---- Each of its pieces left out ----

holds() { # $failing: what does not
    failing="the program's text" && words || return 1
    computed || { failing="O and LSE: $(wrong)" && return 1; }
    merged || { failing="callers' merges: $(wrong)" && return 1; }
    failing="no judge sees a wrong kernel" && judged || return 1
}
in_row='/^const struct pass pass_forward_merge_two = /,/^};/'
in_slots='/^static const struct slot merge_two_slots/,/^};/'
engines=row
without "its fragment in CL_FILES" Makefile.am '/merge_two\.cl/d'
without "its name among the passes" src/engine/pass.h '/X(MERGE_TWO/d'
without "its name among those that read parts" src/engine/params_list.c 's/ | MERGE_TWO//'
for member in kernel calls judged applies slots options items groups; do
    without "its .$member" src/engine/pass_forward.c "$in_row{/ \\.$member = /d;}"
done
without "forward calls in .calls" src/engine/pass_forward.c "${in_row}s/PASS_CALL_FORWARD | //"
without "callers' merges in .calls" src/engine/pass_forward.c "${in_row}s/ | PASS_CALL_MERGE//"
for slot in args.h slots_acc write_output_type env.cl slots_write_params merge_two.cl; do
    without "its slot $slot" src/engine/pass_forward.c "$in_slots{/$slot/d;}"
done
without "what problems it is not for" src/engine/pass_forward.c \
    '/^static bool has_two/,/^}/s/ && !(p->flags & CLATTN_BATCH_INVARIANT)//'
without "pass merge leaving it two parts" src/engine/pass_forward.c '/a->parts == 2 && has_two/,/return 0;/d'
with_all

finish
