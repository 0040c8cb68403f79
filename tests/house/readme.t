#!/bin/sh
# readme.t - README's commands are found as they stand, and its section "Install it" has all that a prefix needs
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

. tests/lib/house.sh

dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
commands() { sh build-aux/readme.sh "$@"; }

cat >"$dir/README" <<'END'
First
-----
Words.

    one $HOME "a  b"
        deeper

Second
------
    two
  not this
A last line
-----------
No commands.
END
result "a section's commands are printed as they stand" "$(
    printf '%s\n' 'one $HOME "a  b"' '    deeper' >"$dir/want"
    commands First "$dir/README" | diff "$dir/want" -)"
result "the next section has its own" "$(
    echo two >"$dir/want"
    commands Second "$dir/README" | diff "$dir/want" -)"
result "sections without commands and those that are not there fail" "$(
    commands 'A last line' "$dir/README" && echo none
    commands Third "$dir/README" && echo missing
    commands Fir "$dir/README" && echo part)"

commands 'Install it' >"$dir/install" || exit 99
result "these are commands of a shell" "$(sh -n "$dir/install" 2>&1)"
result "\"Install it\" comes right after \"Try it\"" "$(
    awk '/^-+$/ { if (last == "Try it" && before != "Install it") print "after it: " before; last = before }
        { before = $0 }' README)"
result "it installs, and exports what each of shell, linker and pkg-config searches" "$(
    for line in 'make -C build install prefix=$HOME/clattn' 'export PATH=$HOME/clattn/bin:' \
        'export LD_LIBRARY_PATH=$HOME/clattn/lib' 'export PKG_CONFIG_PATH=$HOME/clattn/lib/pkgconfig'; do
        grep -qF -- "$line" "$dir/install" || echo "$line"
    done)"
result "it runs a tool, and all examples by make and by CMake" "$(
    for line in 'clattn-run --causal --verify' 'cc examples/first_call.c' 'make -C examples run' \
        'make -C examples attention' 'cmake -S examples' 'ctest'; do
        grep -qF -- "$line" "$dir/install" || echo "$line"
    done)"
commands 'Use it from Python' >"$dir/python" || exit 99
result "\"Use it from Python\" installs the package on the prefix of \"Install it\", and tests it" "$(
    sh -n "$dir/python" 2>&1
    for line in 'apt-get install python3-venv python3-dev pkg-config gcc' 'CLATTN_PREFIX=$HOME/clattn ' \
        "pip install './python[test]'" 'python -m pytest python/tests'; do
        grep -qF -- "$line" "$dir/python" || echo "$line"
    done)"

result "the lines of C are those of examples/first_call.c" "$(
    commands 'A first program' | sed '/first call compiles/q' >"$dir/printed"
    sed -n '/clattn_forward_args args/,/first call compiles/s/^    //p' examples/first_call.c >"$dir/first"
    test -s "$dir/first" && diff "$dir/first" "$dir/printed")"
result "those of Python are those of python/README.md, which are run" "$(
    commands 'A first program' | sed '1,/first call compiles/d' >"$dir/printed"
    sed -n '/^```python$/,/^```$/p' python/README.md | grep -v '^```\|^print\|^$' >"$dir/first"
    test -s "$dir/first" && diff "$dir/first" "$dir/printed")"

echo "1..$n"
exit $bad
