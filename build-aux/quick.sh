#!/bin/sh
# quick.sh - which tests make quick runs: quick.sh SRCDIR [PATH...]
# SPDX-License-Identifier: Apache-2.0
#
# Prints the tests that tests/rooms has for these files and folders, without any for what git says was changed since the
# last commit, or in it where nothing was changed since.
cd "$1" && shift || exit

die() {
    printf 'make quick: %s\n' "$*" >&2
    exit 1
}
changed() { # files, one per line
    git status --porcelain --no-renames --untracked-files=all | cut -c4- | grep . || git show --pretty= --name-only
}

if test $# -eq 0; then
    git rev-parse --git-dir >/dev/null 2>&1 || die "without git nobody knows what was changed: ROOM='PATH...' says it"
    set -- $(changed)
fi
for path; do
    test -e "$path" || test $# -gt 1 || die "$path: there is no such file or folder"
    for suffix in c cpp t; do # a test itself, or what a script of a test's name is given
        t=${path%."$suffix"}
        case $path in tests/lib/*) ;; tests/*/*."$suffix")
            test -e "$t.t" && echo "$t.t" && continue
            grep -q "%D%/${t##*/}\.t" "${t%/*}/Makefile.inc" && echo "$t.t" ;;
        esac
    done
    awk -v path="$path/" '
        /^#/ || ($1 != "*" && (index(path, $1 "/") != 1 || length($1) < length(best))) { next }
        $1 != "*" && $1 != best { best = $1; tests = "" }
        { room = $1; sub(/^[^ ]+ +/, "") }
        room == "*" { always = always " " $0 }
        room != "*" { tests = tests " " $0 }
        END {
            n = split(always tests, test)
            for (i = 1; i <= n; i++) print "tests/" test[i] ".t"
        }' tests/rooms
done | sort -u
