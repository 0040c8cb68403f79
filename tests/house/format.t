#!/bin/sh
# format.t - what .editorconfig asks of every text file that git tracks: line lengths, white space, the last newline
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99
if ! files=$(git ls-files 2>/dev/null) || test -z "$files"; then
    echo "1..0 # SKIP not a checkout: nothing tells which files are sources"
    exit 0
fi

# Not looked at, each for the reason beside it.
is_data() { # FILE
    case $1 in
    *.npy | *.npz | *.gguf | *.bin | *.gz) ;;              # binary
    bench/results/* | bench/recordings/*) ;;               # what programs printed, kept as it was
    reports/*.txt) ;;                                      # likewise
    examples/data/index.json) ;;                           # a list of cases, one a line
    tests/conformance/*.json | tests/conformance/*.txt) ;; # generated cases
    *.patch) ;;                                            # an empty line of context is a blank
    *) return 1 ;;
    esac
}
is_makefile() { # FILE: rules begin with a tab there
    case $1 in Makefile.am | */Makefile.inc | */Makefile | debian/rules) ;; *) return 1 ;; esac
}

. tests/lib/house.sh

limit=$(sed -n 's/^max_line_length *= *\([0-9][0-9]*\)$/\1/p' .editorconfig)
texts= spaced=
for f in $files; do
    if test -f "$f" && ! is_data "$f"; then
        texts="$texts $f"
        is_makefile "$f" || spaced="$spaced $f"
    fi
done

result ".editorconfig limits the length of lines" "$(test "${limit:-0}" -gt 0 || echo "max_line_length is missing")"
result "no line is longer than ${limit:=120}" "$(
    awk -v most="$limit" 'length($0) > most { print FILENAME ":" FNR ": " length($0) " columns" }' $texts)"
result "no line ends in white space" "$(awk '/[ \t\r]$/ { print FILENAME ":" FNR }' $texts)"
result "no tabs but in makefiles" "$(awk '/\t/ { print FILENAME ":" FNR }' $spaced)"
result "the licence stands on a line of its own" "$(
    grep -n "[A-Za-z.)] SPDX-""License" $texts | grep -v ":dnl ")"
result "every file ends in a newline" "$(
    for f in $texts; do test ! -s "$f" || test -z "$(tail -c 1 "$f")" || echo "$f"; done)"

echo "1..$n"
exit $bad
