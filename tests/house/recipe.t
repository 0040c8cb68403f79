#!/bin/sh
# recipe.t - the recipe "add a mask" works: add_mask.patch, applied to a copy of the tree, built, run, tuned and cached
# SPDX-License-Identifier: Apache-2.0
#
# make check applies it and compiles what it changes. CLATTN_PART or CLATTN_FULL: the whole tree with it, every case of
# the patch in every engine, and what the patch adds to tables left out one by one, each of which has to fail.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/lib/recipe.sh"
engines='cpu row simt naive'

recipe_open add_mask.patch 9
recipe_compiles src/problem/libclattn_core_la-feature_masks.lo src/problem/libclattn_core_la-problem.lo \
    tools/run/libtools_a-options.o tools/oracle/libtools_a-reference_rules.o
recipe_builds clattn-run clattn-tune tests/unit/member_list.t tests/kernel/forward.t

# ---- What has to hold. Each check says in `said` what it saw ----

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
members() { # what its rows say of keys, classes and programs
    "$build/tests/unit/member_list.t" >said 2>&1 && grep -q '^ok .*dilation' said && grep -q '^ok .*DILATED' said
}
# examples/first_call.c twice: each row sees its own key, whose value is 1 in row 0, then all keys.
one_call() {
    first_call -e 's/problem.causal = 1;/problem.flags = CLATTN_DILATED;/' \
        -e '/e = clattn_forward(/i\
for (problem.dilation = N; problem.dilation && !e; problem.dilation /= N)'
    grep -q '^CL_SUCCESS .*row 0 is ' said && ! grep -q 'row 0 is 1,' said
}
computed() { # one program of each engine on several sizes, and in engine row or in all the others
    cases 'dilated[0-9]' >cases
    test "$(wc -l <cases)" -ge 6 || return 1
    for engine in $engines; do
        while read -r text; do
            case $text in
            *window* | *varlen* | *causal*) test -n "$all" || test "$engine" = row || continue ;;
            esac
            right "$engine" "f32 $text" || return 1
        done <cases
    done
}
tuned() { # and what it counts is as it should be
    tuned_and_kept 'f32 b1 h2 q1 k40 d8 dilated5 off2' --dilation 5 --align 2 &&
        awk -v flops="$(json gflops)" -v ms="$(json time_ms)" \
            'BEGIN { x = flops * ms * 1e6 / (2 * 2 * 40 * 16 / 5); exit !(x > 0.999 && x < 1.001) }'
}

run_check "problem strings, options and the program's text have it" words
need_device
run_check "its member and its flag take part in what their rows say" members
run_check "it has a class of its own" classes
run_check "O and LSE are right in $engines, and NaN in V that nobody sees stays away" computed
run_check "tuned, then from the cache" tuned
run_check "clattn_forward() tells two numbers apart" one_call

# ---- Each of its rows left out ----

holds() { # $failing: what does not
    failing="problem strings, options and the program's text" && words || return 1
    members || { failing="members: $(wrong)" && return 1; }
    failing=classes && classes || return 1
    computed || { failing="O and LSE: $(wrong)" && return 1; }
    tuned || { failing="tuning and the cache: $(tail -n 1 said)" && return 1; }
}
all=
without "its fragment in CL_FILES" Makefile.am '/mask_dilated\.cl/d'
without "its row of the features" src/problem/feature_masks.c '/name = "dilated"/,/keeps = /d'
for member in flag check fragment options place words print step represent share; do
    without "its .$member" src/problem/feature_masks.c \
        "/name = \"dilated\"/,/keeps = /{/ \\.$member = /d;}"
done
without "its .keeps" src/problem/feature_masks.c 's/ *\.keeps = dilated_keeps },/},/'
for fact in 'FEATURE_HAS_HOLES | ' ' | FEATURE_KNOWS_DIAGONAL'; do
    without "$(echo "$fact" | tr -d ' |')" src/problem/feature_masks.c "/name = \"dilated\"/,/keeps = /s/$fact//"
done
without "its rule in float64" tools/oracle/reference_rules.c '/\.keep = dilated_keep/d'
without "its row of the members" src/problem/members.h '/X(dilation/d'
without "its row of the flags" src/problem/members.h '/X(CLATTN_DILATED/d'
without "what its member takes part in" src/problem/members.h '/X(dilation/s/MEMBER_PROGRAM/0/'
without "what its flag takes part in" src/problem/members.h '/X(CLATTN_DILATED/s/MEMBER_CLASS | //'
without "its cases" tests/lib/cases.h '/".*dilated/d'
without "its option" tools/run/options.c '/ROW_READ("--dilation"/d'
without "its option in clattn-run.1" tools/run/clattn-run.1 '/Fl -dilation/d'
without "its word in clattn-run.1" tools/run/clattn-run.1 '/\[dilatedD\]/d'
without "its word in clattn.h" include/clattn.h '/\[dilatedD\]/d'
with_all

finish
