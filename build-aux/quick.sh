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

test_of() { # FILE: the test that it is, or that runs it
    case $1 in tests/lib/*) ;; tests/*/*.*)
        t=${1%.*}.t
        if test -e "$t" || grep -qs "%D%/${t##*/}" "${t%/*}/Makefile.inc"; then echo "$t"; fi ;;
    esac
}

for path; do
    test -e "$path" || die "$path: there is no such file or folder"
done
if test $# -eq 0; then
    git rev-parse --git-dir >/dev/null 2>&1 || die "without git nobody knows what was changed: ROOM='PATH...' says it"
    set -- $(changed)
fi
for path; do
    test_of "$path"
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
