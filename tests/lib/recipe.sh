# recipe.sh - what the tests of HACKING's recipes share. Sourced behind program.sh
# SPDX-License-Identifier: Apache-2.0
#
# recipe_open applies a patch of tests/house to a copy of the tree. make check compiles what it changes
# (recipe_compiles) and looks whether all that `without` takes away is there. CLATTN_PART or CLATTN_FULL: recipe_builds
# the programs that run_check asks, and `without` takes away pieces of the patch, or makes them wrong, one at a time,
# each of which has to fail: in a share of CLATTN_PART a share of them. The test says by `holds` what has to hold then.
unset CLATTN_TUNE CLATTN_TUNE_SECONDS CLATTN_CACHE_MAX_SIZE MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
copy=$tmp/copy build=$tmp/build

copy_tree() { # without what a build inside the source tree has left there
    mkdir "$copy" && (cd "$top_srcdir" && tar cf - Makefile.am build-aux cl examples/score_mods include src \
        tests/api tests/emulated tests/house tests/kernel tests/lib tests/unit tools) | (cd "$copy" && tar xf -) &&
        chmod -R u+w "$copy" &&
        find "$copy" \( -name '*.o' -o -name '*.lo' -o -name '*.la' -o -name '*.a' \) -exec rm -f {} + &&
        rm -f "$copy/src/engine/fragments.c" "$copy/tests/emulated/fragments.c" "$copy/tools/mod_texts.c"
}
if command -v patch >/dev/null 2>&1; then
    apply() { (cd "$copy" && patch -p1 -s -F0) <"$1"; }
elif command -v git >/dev/null 2>&1; then
    apply() { (cd "$copy" && GIT_CEILING_DIRECTORIES=$tmp git apply -p1 -) <"$1"; }
else
    skip "neither patch nor git is here"
    finish
fi
recipe_open() { # PATCH FILES: which may touch so many
    patch_file=$top_srcdir/tests/house/$1
    copy_tree >out 2>err && apply "$patch_file" >>out 2>>err
    ok $? "the patch applies"
    test "$(grep -c '^+++ ' "$patch_file")" -le "$2"
    ok $? "it touches at most $2 files"
    mkdir "$build" &&
        (cd "$top_builddir" && cp -p Makefile config.h stamp-h1 config.status libtool "$build")
}

files_of() { # VARIABLE FILE: the words of a list in a makefile of the copy
    awk -v name="$1" '$1 == name && $2 == "=" { on = 1 } on { print } on && !/\\$/ { exit }' "$copy/$2" |
        sed "s/^$1 =//; s/\\\\$//" | xargs
}
# By the rules of the Makefile that is there, which knows compiler and libraries; it is not made anew, but told of
# new fragments. Optimising takes longer than it saves. Where it fails, `said` has the compiler's words.
build() { # TARGETS...
    fragments=$(files_of CL_FILES Makefile.am)
    emulated=$(files_of EMULATED_CL_FILES tests/emulated/Makefile.inc)
    test "$fragments $emulated" = "${embedded-}" ||
        rm -f "$build/src/engine/fragments.c" "$build/tests/emulated/fragments.c"
    embedded="$fragments $emulated"
    (cd "$build" && make -s -o Makefile -o config.h -o stamp-h1 -o config.status -o libtool srcdir="$copy" \
        top_srcdir="$copy" VPATH="$copy" CL_FILES="$fragments" EMULATED_CL_FILES="$emulated" CFLAGS=-O0 \
        "$@") >out 2>err </dev/null || {
        cat out err >said
        return 1
    }
}
embeds() { # every fragment of the patch is among those of the library, or of the tests'
    for name in $(sed -n 's|^+++ b/\(.*\.cl\)$|\1|p' "$patch_file"); do
        case $name in tests/*) table=tests/emulated ;; *) table=src/engine ;; esac
        grep -q "^ *{ *\"${name##*/}\"" "$build/$table/fragments.c" || return 1
    done
}
recipe_compiles() { # OBJECTS...
    rest || {
        build src/engine/fragments.c tests/emulated/fragments.c "$@" && embeds
        ok $? "what it changes compiles"
        need_device() { :; }
    }
    all=yes # of what takes longer than one omission is worth
}
recipe_builds() { # PROGRAMS...
    rest || return 0
    programs=$*
    build $programs
    ok $? "the tree with it builds"
    test $bad -eq 0 || finish
    program=$build/clattn-run
    cp /dev/null said
}

# ---- What has to hold. Each check says in `said` what it saw ----

run_check() { # DESCRIPTION CHECK ARGS...
    rest || return 0
    what=$1
    shift
    "$@"
    result=$?
    cp said out
    : >err
    ok $result "$what"
}
class_of() { "$build/clattn-tune" --device "$device" --classes "$1" 2>&1; }
json() { sed -n 's/.*"'"$1"'": *"\{0,1\}\([^",}]*\).*/\1/p' said | tail -n 1; }
cases() { # SED-PATTERN: those of the copy's cases that match it
    sed -n 's/^[^"]*//; s/"\([^"]*\)",*/\1\n/gp' "$copy/tests/lib/cases.h" | sed -n "s/^ *\\(.*$1.*\\)/\\1/p"
}
untuned() { # COMMAND...: with nothing that was kept before
    CLATTN_TUNE=off CLATTN_CACHE_DIR=off CLATTN_TEST_DEVICES=$device "$@" >said 2>&1
}
succeeds() { untuned "$@" && ! grep -q '^not ok' said && grep -q '^ok' said; } # TEST ARGS...
right() { # ENGINE[ TILE] PROBLEM [TEST]: within bound, and nothing touched that no query sees
    succeeds "$build/tests/kernel/${3-forward}.t" "$2" "$1"
}
wrong() { # what right() complains of: the first words about what failed last
    awk '/^not ok/ { what = $0; on = 1; next } /^ok/ { on = 0 } on && /^# [^P]/ { what = $0; on = 0 }
        END { print what == "" ? $0 : what }' said
}
first_call() { # SED-ARGS...: what examples/first_call.c, changed so, says
    cp /dev/null said
    mkdir -p "$copy/examples" && sed "$@" "$top_srcdir/examples/first_call.c" >"$copy/examples/first_call.c" &&
        build examples/first_call && untuned "$build/examples/first_call"
}

# Of one query, since few rows are tuned soonest: candidates are found right, and the winner's program is kept. `tuning`
# has what clattn-tune said, `said` what the second run says.
tuned_and_kept() { # PROBLEM OPTIONS...: those of clattn-run that make it of the files
    tuned_problem=$1
    shift
    real q1.npy '<f4' 4 1 2 1 8 && real k1.npy '<f4' 4 1 2 40 8 && real v1.npy '<f4' 4 1 2 40 8
    rm -rf cache && CLATTN_CACHE_DIR=$tmp/cache && export CLATTN_CACHE_DIR
    "$build/clattn-tune" --device "$device" --in-process --effort quick --time 200 --json "$tuned_problem" \
        >said 2>&1 && cp said tuning && grep -q '"result": "tuned"' tuning &&
        test "$(sed -n 's/.*"tried": \([0-9]*\).*/\1/p' tuning)" -gt \
            "$(sed -n 's/.*"refused": \([0-9]*\).*/\1/p' tuning)" || return 1
    for start in first second; do
        "$program" --device "$device" "$@" --verify --time 3 --json q1.npy k1.npy v1.npy >said 2>&1 || return 1
    done
    test "$(json binary)" = hit && test "$(json source)" = cached && test "$(json problem)" = "$tuned_problem"
}

# ---- Pieces left out ----

missing=
change() { # FILE SED-SCRIPT: of the copy; what it was is in kept_file
    cp -p "$copy/$1" kept_file && sed -e "$2" kept_file >changed_file && cat changed_file >"$copy/$1" || exit 99
    ! cmp -s kept_file changed_file || missing="$missing; $1 has nothing for $2"
}
without() { # WHAT FILE SED-SCRIPT [PATTERN]: that has to be noticed, in words that match the pattern
    rest || {
        change "$2" "$3"
        cat kept_file >"$copy/$2"
        return
    }
    turn || return 0
    change "$2" "$3"
    failing=make
    build $programs && holds && failing=
    cat kept_file >"$copy/$2"
    cp said out
    test -z "${4-}" || grep -q -e "$4" said || failing=
    test -n "$failing"
    ok $? "without $1 this fails: $(printf %s "$failing" | tr -d '#' | cut -c1-300)"
}
restored() { build $programs && holds; }
with_all() {
    test -z "$missing"
    ok $? "all pieces to leave out are there$missing"
    run_check "with all of it back all holds" restored
}
