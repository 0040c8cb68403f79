#!/bin/sh
# add_engine.t - an engine is added by its file, its fragment, a word in the table of engines and the lists of files
# SPDX-License-Identifier: Apache-2.0
#
# In a copy of the sources: an engine that is engine naive under another name. No other file changes; with CLATTN_PART,
# in the first share, it is built, and then programs take it by name, it has its place among the others, and the tests
# run it.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
copy=$tmp/copy build=$tmp/copy/trial-build
unset MAKEFLAGS MFLAGS MAKELEVEL

done_testing() {
    echo "1..$n"
    exit $bad
}
config_status=$top_builddir/config.status
for tool in "$config_status" tar automake "${MAKE-make}"; do
    command -v "$tool" >/dev/null || { skip "needs $tool" && done_testing; }
done

usual || shares 0 || finish

# ---- the recipe ----

# The sources alone: a build may lie among them, and a release's may be read-only.
inside=${top_builddir#"$top_srcdir"/}
mkdir "$copy" original && (cd "$top_srcdir" && tar cf - --exclude=.git --exclude='./build*/tests' --exclude='./_*' \
    --exclude="./$inside" --exclude='*.o' --exclude='*.lo' --exclude=.libs --exclude=.deps --exclude=autom4te.cache \
    --exclude=config.status --exclude=config.h --exclude=bench/results .) | (cd "$copy" && tar xf -) &&
        chmod -R u+w "$copy"
ok $? "the sources are copied"
cp -R "$copy/." original

changed() { # FILE SED: the line that says so
    sed "$2" "original/$1" >"$copy/$1"
    test "$(diff "original/$1" "$copy/$1" | grep -c '^>')" -eq 1
    ok $? "one line of $1"
}
new() { # FILE FROM: like it, under another name
    sed 's/naive/trial/g' "original/$2" >"$copy/$1"
    ok $? "new: $1"
}
new cl/engines/engine_trial.cl cl/engines/engine_naive.cl
new src/engine/engine_trial.c src/engine/engine_naive.c
changed src/engine/engine_list.h '/^#define ENGINES(X)/s/$/ X(trial)/'
changed src/engine/Makefile.inc 's|^\(.*\)engine_simt\.c.*|&\n\1engine_trial.c \\|'
changed Makefile.am 's|cl/engines/engine_simt\.cl|& cl/engines/engine_trial.cl|'

diff -rq original "$copy" >out
sed -e 's|^Files original/\(.*\) and .* differ$|\1|' -e "s|^Only in $copy/*\(.*\): |\1/|" out | sort >files
printf '%s\n' Makefile.am cl/engines/engine_trial.cl src/engine/Makefile.inc \
    src/engine/engine_list.h src/engine/engine_trial.c | cmp -s - files
ok $? "that is all: $(tr '\n' ' ' <files)"

no_objection() { # TEST of this folder
    (top_srcdir=$copy top_builddir=$build && export top_srcdir top_builddir && sh "$copy/tests/house/$1.t") >out 2>err
    test $? = 0 && ! grep -q '# SKIP' out
    ok $? "$1.t has nothing against it"
}
no_objection conditionals
rest || done_testing

# ---- what comes of it ----

# As this build was configured: with what that found out, and its objects. Those of the tables include what changed.
given=$("$config_status" --config 2>/dev/null)
(cd "$copy" && automake && mkdir trial-build && cd trial-build &&
    sed -n '/^## Cache variables/,/^## Output/p' "$top_builddir/config.log" |
    awk -v quote="'" '/_cv_/ && !/^ac_cv_env_/ && gsub(quote, quote) % 2 == 0' >config.cache &&
    touch ../src/engine/engine_list.c ../tests/emulated/engine_list.c &&
    eval "../configure -q $given" --cache-file=config.cache --disable-shared --enable-static \
        --disable-dependency-tracking && reuse_objects "$build") >out 2>err
ok $? "it is configured"
test $bad = 0 || done_testing
(cd "$build" && "${MAKE-make}" -s clattn-run tests/kernel/engines.t) >out 2>err
ok $? "it builds"
test $bad = 0 || done_testing

no_objection layering

program=$build/clattn-run
plain --emit-source 'f32 b1 h2 q5 k7 d8 causal' --engine trial >out 2>err
test $? = 0 && grep -q '^// trial wg32,bk8 ' out && grep -q '^#line 1 "engine_trial.cl"$' out &&
    ! grep -q engine_naive out
ok $? "its program is made of its fragment"
plain --emit-source 'f32 b1 h2 q5 k7 d8' --engine trail >out 2>err
grep -q 'is none of .*naive.* trial' err
ok $? "its name is among the engines"

need_device
on --engine trial --causal --verify --json q.npy k.npy v.npy
test $status = 0 && grep -q '"engine": "trial", "tile": "wg32,bk8"' out
ok $? "it computes what it should"

# Whose rank another has too is listed all the same, behind it.
(top_builddir=$build CLATTN_QUICK=1 CLATTN_TEST_ENGINES='trial' &&
    export top_builddir CLATTN_QUICK CLATTN_TEST_ENGINES &&
    cd "$build" && tests/kernel/engines.t) >out 2>err
test $? = 0 && grep -q '^ok .* trial wg' out && ! grep -q '^not ok' out
ok $? "engines.t runs it: $(grep -c '^ok .* trial wg' out) cases"
done_testing
