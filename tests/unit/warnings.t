#!/bin/sh
# warnings.t - no program has anything that a compiler warns of, whatever the engine, the types and the features
# SPDX-License-Identifier: Apache-2.0
#
# By the newest clang that is installed, as many programs as it takes to have each fragment in one, and one text of each
# kind that is written for a program; CLATTN_PART=1: all, by each. All that it can warn of but what fragments leave
# unused: they are the same in every program. Optimisers warn as well: of some forward passes on CPUs, CLATTN_PART=1: of
# all.
# -Wno-psabi: vectors are those of a device that no compiler is told of.
: "${top_builddir=.}"
tmp=$(mktemp -d "${TMPDIR-/tmp}/clattn-warnings.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM

compilers= versions=
for c in ${CLANG-clang clang-14 clang-15 clang-19}; do # names, as what they are links to may be a compiler's cache
    version=$("$c" --version 2>/dev/null | head -n 1)
    case "$version:$versions" in :* | *:*"<$version>"*) continue ;; esac
    compilers="$compilers $c" versions="$versions<$version>"
done
if test -z "$compilers"; then
    echo "1..0 # SKIP no clang"
    exit 0
fi

first=$(echo $compilers | cut -d' ' -f1) # mostly PoCL's own
test "${CLATTN_PART-0}" != 0 || compilers=${compilers##* } # make check asks the newest
n=0 bad=0
report() { # DESCRIPTION FILE: bad when the file has lines, which explain
    n=$((n + 1))
    if test ! -s "$2"; then
        echo "ok $n - $1"
    else
        bad=1
        echo "not ok $n - $1"
        sort "$2" | uniq -c | sort -rn | head -n 20 | sed 's/^/# /'
    fi
}

with_each_fragment() { # FILE...: those that have one that no earlier file has, CLATTN_PART=1: all
    if test "${CLATTN_PART-0}" = 0; then
        awk '/^#line 1 "/ && !($3 in seen) { seen[$3]; if (last != FILENAME) print last = FILENAME }' "$@"
    else
        printf '%s\n' "$@"
    fi
}

# compile COMPILER FILE OPTION...: by the build options in the file's first line but those of one vendor
compile() {
    compiler=$1 file=$2
    shift 2
    "$compiler" -x cl -Xclang -finclude-default-header -Xclang -fdeclare-opencl-builtins -Wall -Wextra \
        -Wno-unused-function -Wno-unused-parameter -Wno-psabi "$@" \
        $(sed -n '1s/^[^-]*-/-/p' "$file" | tr ' ' '\n' | grep -v -e '^-cl-intel' -e '^-cl-nv') "$file" 2>&1 |
        grep -E 'warning:|error:'
}

"$top_builddir/tests/unit/print_programs" "$tmp" >"$tmp/out" 2>&1 || echo "print_programs failed" >>"$tmp/out"
report "every kernel of every plan has a program" "$tmp/out"
: >"$tmp/none"
test "$(ls "$tmp" | grep -c '\.cl$')" -gt 100 || echo "there are but few" >"$tmp/none"
report "$(ls "$tmp" | grep -c '\.cl$') programs" "$tmp/none"
with_each_fragment "$tmp"/*.cl >"$tmp/chosen"
for c in $compilers; do
    while read -r f; do
        compile "$c" "$f" -target spir64-unknown-unknown -fsyntax-only
    done <"$tmp/chosen" >"$tmp/said"
    report "$c finds nothing to warn of" "$tmp/said"
done
while read -r f; do
    case ${CLATTN_PART-0}:${f##*/} in
    0:simt.* | 0:mma_emu.* | 0:naive.* | 0:*backward*) ;;
    *) compile "$first" "$f" -target x86_64-unknown-unknown -mavx2 -mfma -O3 -S -o /dev/null ;;
    esac
done <"$tmp/chosen" >"$tmp/said"
report "nor does $first where it optimises" "$tmp/said"

# The test is one: a program with something to warn of.
{
    cat "$(ls "$tmp"/*.cl | head -n 1)"
    echo '__kernel void warned(__global int *x) { int y; x[0] = 1; }'
} >"$tmp/bad.cl"
compile "$first" "$tmp/bad.cl" -target spir64-unknown-unknown -fsyntax-only >"$tmp/said"
test -s "$tmp/said" || echo "nothing" >"$tmp/none"
report "but of a variable that is never used" "$tmp/none"

echo "1..$n"
exit $bad
