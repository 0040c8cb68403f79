# recipe.sh - what the tests of HACKING's recipes share. Sourced behind program.sh
# SPDX-License-Identifier: Apache-2.0
#
# recipe_open applies a patch of tests/house to a copy of the tree. make check compiles what it changes, and ends there:
# recipe_compiles. CLATTN_PART or CLATTN_FULL: recipe_builds the programs that run_check asks, and `without` takes rows
# of the patch away again, one at a time, each of which has to fail: of a share of CLATTN_PART a share of them. The test
# says by `holds` what has to hold then.
unset CLATTN_TUNE CLATTN_TUNE_SECONDS CLATTN_CACHE_MAX_SIZE MAKEFLAGS MFLAGS MAKELEVEL MAKEOVERRIDES
copy=$tmp/copy build=$tmp/build

recipe_end() {
    echo "1..$n"
    exit $bad
}
copy_tree() { # without what a build inside the source tree has left there
    mkdir "$copy" && (cd "$top_srcdir" && tar cf - Makefile.am build-aux cl examples/score_mods include src \
        tests/api tests/house tests/kernel tests/lib tests/unit tools) | (cd "$copy" && tar xf -) &&
        chmod -R u+w "$copy" &&
        find "$copy" \( -name '*.o' -o -name '*.lo' -o -name '*.la' -o -name '*.a' \) -exec rm -f {} + &&
        rm -f "$copy/src/engine/fragments.c" "$copy/tools/mod_texts.c"
}
if command -v patch >/dev/null 2>&1; then
    apply() { (cd "$copy" && patch -p1 -s) <"$1"; }
elif command -v git >/dev/null 2>&1; then
    apply() { (cd "$copy" && GIT_CEILING_DIRECTORIES=$tmp git apply -p1 -) <"$1"; }
else
    skip "neither patch nor git is here"
    recipe_end
fi
recipe_open() { # PATCH FILES: which may touch so many
    copy_tree >out 2>err && apply "$top_srcdir/tests/house/$1" >>out 2>>err
    ok $? "the patch applies"
    test "$(grep -c '^+++ ' "$top_srcdir/tests/house/$1")" -le "$2"
    ok $? "it touches at most $2 files"
    mkdir "$build" &&
        (cd "$top_builddir" && cp -p Makefile config.h stamp-h1 config.status libtool "$build")
}

# By the rules of the Makefile that is there, which knows compiler and libraries; it is not made anew, but told of new
# fragments and sources. Optimising takes longer than it saves.
build() { # TARGETS...
    fragments=$(sed -n '/^CL_FILES/,/[^\\]$/p' "$copy/Makefile.am" | tr '\\\n\t' '   ' | sed 's/CL_FILES *=//')
    test "$fragments" = "${embedded-}" || rm -f "$build/src/engine/fragments.c"
    embedded=$fragments
    (cd "$build" && make -s -o Makefile -o config.h -o stamp-h1 -o config.status -o libtool srcdir="$copy" \
        top_srcdir="$copy" VPATH="$copy" CL_FILES="$(echo $fragments)" CFLAGS=-O0 "$@") >out 2>err </dev/null
}
recipe_compiles() { # OBJECTS...
    rest || {
        build "$@"
        ok $? "what it changes compiles"
        recipe_end
    }
    all=yes # of what takes longer than one omission is worth
}
recipe_builds() { # PROGRAMS...
    programs=$*
    build $programs
    ok $? "the tree with it builds"
    test $bad -eq 0 || recipe_end
    original=$program program=$build/clattn-run forward=$build/tests/kernel/forward.t
    cp /dev/null said
}

# ---- What has to hold. Each check says in `said` what it saw ----

recipe_device() { # in blind_here whether there is none
    on q.npy k.npy v.npy
    blind_here=
    if test $status -eq 2 && test -z "$device"; then
        missing_device "no OpenCL device"
        blind_here=yes
    fi
}
run_check() { # DESCRIPTION CHECK ARGS...
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
right() { # ENGINE PROBLEM: within bound, and nothing touched that no query sees
    CLATTN_TUNE=off CLATTN_CACHE_DIR=off CLATTN_TEST_DEVICES=$device "$forward" "$2" "$1" >said 2>&1 &&
        ! grep -q '^not ok' said && grep -q '^ok' said
}
wrong() { grep '^not ok\|^# [^P]' said | tail -n 1; } # what right() complains of

# ---- Rows left out ----

without() { # WHAT FILE SED-SCRIPT: that has to be noticed
    turn || return 0
    cp -p "$copy/$2" kept_file && sed -e "$3" kept_file >changed_file && ! cmp -s kept_file changed_file &&
        cat changed_file >"$copy/$2" || exit 99
    failing="make"
    build $programs && holds && failing=
    cat kept_file >"$copy/$2"
    cp said out
    test -n "$failing"
    ok $? "without $1 this fails: $(printf %s "$failing" | tr -d '#' | cut -c1-300)"
}
with_all() {
    build $programs && holds
    ok $? "with all of it back all holds"
}
