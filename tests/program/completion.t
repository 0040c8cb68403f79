#!/bin/sh
# completion.t - what shells offer for a command line that is begun
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

PATH=$top_builddir:$PATH
completion=$top_srcdir/completion

# Prints the words that SHELL offers for the last of the words given, one a line.
offered() { # SHELL WORDS...
    shell=$1
    shift
    if test "$shell" = bash; then
        bash -c '. "$0" && _clattn "$1" "${@: -1}" "${@: -2:1}" && printf "%s\n" "${COMPREPLY[@]}"' \
            "$completion/clattn.bash" "$@" >out 2>err
    else
        fish -c 'source $argv[1]; complete -C "$argv[2..-1]"' "$completion/clattn.fish" "$@" >offers 2>err
        cut -f 1 offers >out
    fi
}
offers() { # WORDS OF A LINE: each of WORDS, separated by blanks, is among them; SHELL
    words=$(echo $1) line=$2
    offered "$3" $line "$4"
    missing=
    for w in $words; do grep -qx -- "$w" out || missing="$missing $w"; done
    test -s out && test -z "$missing"
    ok $? "$3: $line $4: $words"
}
options() { # FILE: the options of its table that users are told of
    sed -n 's/^ *ROW_[A-Z]*("\(-[-a-z]*\)", .*/\1/p' "$top_srcdir/$1" |
        grep -vx -- '--child\|--seconds\|--from-recorded'
}

for shell in bash fish; do
    if ! command -v $shell >/dev/null; then
        for i in 1 2 3 4 5 6 7 8 9 10 11; do skip "there is no $shell"; done
        continue
    fi
    long=$(options tools/run/options.c | grep -- '^--') && offers "$long" clattn-run $shell --
    offers "$(options tools/tune/tune_options.c)" clattn-tune $shell --
    offers "$(options bench/run/bench_options.c)" clattn-bench $shell --
    offers "$(options tools/report/report_options.c)" clattn-report $shell --
    parts=$(sed -n '/parts_table/,/^}/s/^    { "\([a-z-]*\)".*/\1/p' "$top_srcdir/tools/report/parts.c")
    offers "$parts" 'clattn-report --parts' $shell ''
    offers '--k-scale --k-zero --k-type' clattn-run $shell --k-
    ! grep -v '^--k-' out >/dev/null
    ok $? "$shell: nothing else"
    offers 'f32 f16 bf16 f64' 'clattn-run --o-type' $shell ''
    offers 'int8 int4 q8_0 q4_0 q4_1 q5_0 q5_1' 'clattn-run --v-type' $shell ''
    offers 'readonly record' 'clattn-run --tune' $shell r
    offers 'exhaustive' 'clattn-tune --effort' $shell e
done
if command -v zsh >/dev/null; then
    zsh -n "$completion/_clattn" >out 2>err && head -n 1 "$completion/_clattn" | grep -q '^#compdef clattn-run clattn-'
    ok $? "zsh: the programs' --help is read"
else
    skip "there is no zsh"
fi
echo "1..$n"
exit $bad
