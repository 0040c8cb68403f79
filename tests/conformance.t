#!/bin/sh
# conformance.t - clattn-run on arrays of a real model, and on the cases of other implementations
# SPDX-License-Identifier: Apache-2.0
#
# The first are in examples/data, with O and LSE as float64 gave them. The second are looked for in $CLATTN_CONFORMANCE and
# need a $PYTHON with numpy: those whose names match $CLATTN_CASES; with CLATTN_FULL=1 it is all of them, in f16 and bf16 too,
# on every engine.
: "${top_srcdir=$(dirname "$0")/..}" "${top_builddir=.}"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
LC_ALL=C
export LC_ALL
run=$top_builddir/clattn-run
compare=$top_builddir/tests/npycmp
cases=${CLATTN_CONFORMANCE-$top_srcdir/../shared/conformance}
data=$top_srcdir/examples/data
tmp=$(mktemp -d "${TMPDIR-/tmp}/clattn-conformance.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM

n=0 bad=0
ok() { # STATUS DESCRIPTION [EXPLANATION]
    n=$((n + 1))
    if test "$1" -eq 0; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2"
        test -z "${3-}" || printf '%s\n' "$3" | sed 's/^/# /'
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n # SKIP $1"
}
at_most() { awk -v x="$1" -v y="$2" 'BEGIN { exit !(x != "" && y != "" && x + 0 <= y + 0) }'; }

# ---- the devices under test, one per line; an empty line is the default ----

printf '%s\n' "${CLATTN_TEST_DEVICES-}" | tr ';' '\n' >"$tmp/devices"
first=$data/decode_step77_layer0
"$run" --tune off --device "$(sed 1q "$tmp/devices")" "$first/q.npy" "$first/k.npy" "$first/v.npy" >"$tmp/probe" 2>&1
if test $? -eq 2 && test -z "${CLATTN_TEST_DEVICES-}"; then
    echo "1..0 # SKIP no OpenCL device"
    exit 0
fi

# ---- a real model ----

# What the line of `$tmp/out` that starts with KEY says behind WORD.
said() { awk -v key="$1" -v word="$2" '$1 == key { for (i = 1; i < NF; i++) if ($i == word) print $(i + 1) }' "$tmp/out"; }

against_stored() { # WHICH KEY: the file just written against the stored one, within the bound that was printed
    difference=$("$compare" "$tmp/$1.npy" "$1.npy" 2>&1) || return 1
    at_most "$difference" "$(said "$2" bound)"
}

real_case() { # DEVICE NAME ARGS...
    device=$1 name=$2
    shift 2
    rm -f "$tmp"/*.npy
    cd "$data/$name" || exit 99
    "$run" --tune off --device "$device" "$@" --verify -o "$tmp/o.npy" --lse "$tmp/lse.npy" q.npy k.npy v.npy \
        >"$tmp/out" 2>&1
    status=$?
    test $status -eq 0 && at_most "$(said max-error max-error)" "$(said max-error bound)" &&
        against_stored o max-error && against_stored lse lse-error
    ok $? "$name${device:+ on $device}" "exit $status, ${difference-}
$(cat "$tmp/out")"
}

sed -n 's/^ *"name": *"\([^"]*\)".*/\1/p; s/^ *"args": *"\([^"]*\)".*/\1/p' "$data/index.json" | paste -d ' ' - - \
    >"$tmp/cases"
while IFS= read -r device <&3; do
    while read -r name args <&4; do
        real_case "$device" "$name" $args
    done 4<"$tmp/cases"
done 3<"$tmp/devices"
test -s "$tmp/cases"
ok $? "there are cases of a real model"

# ---- other implementations ----

# Features that this version lacks. They shrink with every version.
lacking='paged|int8|merge'
chosen=${CLATTN_CASES-'^(onnx|pt|jax)_'} types=f32
engines=default
test -z "${CLATTN_FULL-}" || chosen=. types='f32 f16 bf16' engines='cpu simt naive'

python=
for p in ${PYTHON-} python3; do
    "$p" -c 'import numpy' >/dev/null 2>&1 && python=$p && break
done
if ! test -f "$cases/run.py"; then
    skip "no conformance cases at $cases"
elif test -z "$python"; then
    skip "no Python with numpy, which judges the conformance cases"
else
    while IFS= read -r device <&3; do
        quoted=$(printf %s "$device" | sed "s/'/'\\\\''/g")
        for engine in $engines; do
            args="--tune off --device '$quoted'"
            test $engine = default || args="$args --engine $engine"
            for type in $types; do
                "$python" -B "$cases/run.py" --run "$run" --dtype $type --forward-only --filter "$chosen" \
                    --without "$lacking" --args "$args" >"$tmp/out" 2>&1
                ok $? "conformance in $type, engine $engine${device:+ on $device}: $(tail -n 1 "$tmp/out")" \
                    "$(cat "$tmp/out")"
            done
        done
    done 3<"$tmp/devices"
fi

echo "1..$n"
exit $bad
