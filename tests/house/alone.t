#!/bin/sh
# alone.t - the repository needs nothing that lies beside it, and stays small
# SPDX-License-Identifier: Apache-2.0
#
# Looks at the files that git tracks: a release has some of them, and files made by the autotools, which are not ours.
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

most=10500000 # bytes: room for text to grow, none for what a program made
most_each=300000
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
test -e .git || skip_all "no git checkout: only there is it known which files are ours"
git ls-files >/dev/null 2>&1 || skip_all "git does not list the files of this checkout"

. tests/lib/house.sh

# Written so that they do not match themselves.
beside='[.][.]/shared(/|[^a-z]|$)'
somewhere='(^|[^A-Za-z0-9_.})/*])/(work|home|Users|mnt|media|scratch)(/|[^A-Za-z0-9_.-]|$)'
result "nothing refers to a folder beside the repository" "$(git grep -nIE "$beside")"
result "no path of one machine" "$(git grep -nIE "$somewhere")"

size=$(git ls-files -z | xargs -0 cat 2>/dev/null | wc -c)
result "all files together have at most $most bytes" "$(
    test "$size" -gt 0 && test "$size" -le $most && exit
    echo "they have $size; the largest:"
    git ls-files -z | xargs -0 wc -c | grep -v ' total$' | sort -rn | head -n 10)"
result "no file has more than $most_each bytes" "$(
    git ls-files -z | xargs -0 wc -c | awk -v most=$most_each '$2 != "total" && $1 > most')"
echo "# $size bytes"

echo "1..$n"
exit $bad
