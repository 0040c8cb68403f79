#!/bin/sh
# rooms.t - tests/rooms, from which make quick chooses, has a line for every folder, and names tests that there are
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

. tests/lib/house.sh

# Those of a folder without a line of its own are the tests for every path, and what was changed itself.
own=$(sed -n 's/^\([a-z][^ ]*\) .*/\1/p' tests/rooms | sort -u)
result "every room is there" "$(for room in $own; do test -e "$room" || echo "$room"; done)"
result "every folder of the sources has a room" "$(
    for folder in src/*/ cl include tools bench examples python; do
        printf '%s\n' "$own" | grep -qxF "${folder%/}" || echo "$folder"
    done)"
result "every test is one" "$(
    for t in $(sed '/^#/d; s/^[^ ]* *//' tests/rooms); do
        grep -q "%D%/${t##*/}\.t" "tests/${t%/*}/Makefile.inc" || echo "$t"
    done)"
chosen=$(sh build-aux/quick.sh . src/cache/store.c tests/kernel/bad.c)
result "of a file its folder's tests are chosen, and a test itself" "$(
    for t in cache/store kernel/bad house/format; do
        printf '%s\n' "$chosen" | grep -qxF "tests/$t.t" || echo "no tests/$t.t"
    done
    printf '%s\n' "$chosen" | grep '^tests/tune')"
result "the longest line counts" "$(sh build-aux/quick.sh . offline/ptx/ptx.h | grep '^tests/unit/')"
result "what is not there is refused" "$(sh build-aux/quick.sh . no/such 2>&1 | grep -v 'no/such: there is no such')"

echo "1..$n"
exit $bad
