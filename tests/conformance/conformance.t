#!/bin/sh
# conformance.t - clattn-run on arrays of a real model, and on the cases of other implementations
# SPDX-License-Identifier: Apache-2.0
#
# The first are in examples/data. They are verified by our own reference and compared with what is stored there of O and
# LSE; as cases of peers.sh, all of O is judged again. make check has a few of those cases in f32, and gradients of one;
# CLATTN_PART=N/M has every M-th, CLATTN_FULL=1 all of them, in f16 and bf16 too, on every engine. Gradients are judged
# in all three types then, those in 16 bits of kernels that PoCL did not optimise, as that takes most of the time.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/conformance/peers.sh"
need_device

# ---- a real model ----

at_most() { awk -v x="$1" -v y="$2" 'BEGIN { exit !(x != "" && y != "" && x + 0 <= y + 0) }'; }
# What the line of `out` that starts with KEY says behind WORD.
said() { awk -v key="$1" -v word="$2" '$1 == key { for (i = 1; i < NF; i++) if ($i == word) print $(i + 1) }' out; }

against_stored() { # WHICH MOST: the file just written against the stored one, of other hands, if there is one
    test -e "$models/$name/$1.npy" || return 0
    difference=$("$compare" "got-$1.npy" "$models/$name/$1.npy" 2>&1) || return 1
    at_most "$difference" "$2"
}

real_case() { # DEVICE NAME ARGS...
    device=$1 name=$2
    shift 2
    rm -f got-*.npy
    (cd "$models/$name" && exec "$program" --tune off --device "$device" "$@" --verify -o "$tmp/got-o.npy" \
        --lse "$tmp/got-lse.npy") >out 2>err </dev/null
    status=$?
    test $status -eq 0 && at_most "$(said max-error max-error)" "$(said max-error bound)" &&
        against_stored o 0.001 && against_stored lse 0.002 # scores up to 31000: a unit in the last place is 0.002
    ok $? "$name${device:+ on $device} (exit $status, ${difference-})"
}

# Scores there are up to 31000 in size, and weights what is left of differences of such. Q is as good a dO as any: it
# has the shape of O.
real_gradients() { # TYPE DEVICE NAME ARGS...: gradients of the same are finite, and what float64 says
    type=$1 device=$2 name=$3
    shift 3
    (cd "$models/$name" && exec "$program" --tune off --device "$device" --type "$type" "$@" --verify --dout q.npy \
        --dq "$tmp/got-dq.npy" --dk "$tmp/got-dk.npy" --dv "$tmp/got-dv.npy") >out 2>err </dev/null
    status=$?
    test $status -eq 0 && test "$(grep -c '^d[qkv]-error ' out)" -eq 3
    ok $? "gradients of $name in $type${device:+ on $device} (exit $status)"
}

models=$top_srcdir/examples/data
sed -n 's/^ *"name": *"\([^"]*\)".*/\1/p; s/^ *"args": *"\([^"]*\)".*/\1/p' "$models/index.json" |
    paste -d ' ' - - >cases
of_each() { # COMMAND...: of each device and case
    while IFS= read -r on <&3; do
        while read -r name args <&4; do
            "$@" "$on" "$name" $args
        done 4<cases
    done 3<devices
}
# make check has two of them.
only() { # NAME COMMAND...: of this case
    grep "^$1 " all >cases
    shift
    "$@"
    cp all cases
}
cp cases all
if usual; then
    only encoder_layer0 of_each real_case
    only cross_decode of_each real_case
fi
due only decoder_causal_layer0 of_each real_case
due only decode_step77_layer0 of_each real_case
due of_each real_gradients f32
test -s cases
ok $? "there are cases of a real model"

# ---- other implementations ----

if find_peers; then
    if test -z "$full"; then
        lacking='paged|int8|merge'
        small=$(within 3e7 128 'backward' "${CLATTN_PART-0/256}")
        small_f16=$(within 3e7 128 'backward' "${CLATTN_PART-}")
        small_bf16=$(within 3e7 128 'backward' "${CLATTN_PART-}")
        all_small=$(within 3e7 128 'backward' 0/1)
        lacking=
        test -z "${CLATTN_PART-}" || lacking=$all_small # some share judges their O and LSE beside their gradients
        judge_peers "$(share "^real_|$chosen" "${CLATTN_PART-0/8}")" f32
        lacking=
        due judge_peers '^g_int8_channelz_17' f32 '' --int4
        due judge_peers '^g_paged9_' f32 '' --int4
        judge_gradients "$small" f32
        unoptimised
        if rest; then judge_gradients "$small_f16" f16; fi
        if rest; then judge_gradients "$small_bf16" bf16; fi
    else
        for engine in cpu row simt naive; do
            for type in f32 f16 bf16; do
                judge_peers "$chosen" $type "--engine $engine"
                judge_peers "$chosen" $type "--engine $engine" --int4
            done
        done
        for type in f32 f16 bf16; do
            judge_gradients backward $type "--engine cpu"
        done
    fi
fi

# ---- a real model in 16 bits ----

test -n "$full" || unoptimised # it is storing that differs
due of_each real_gradients f16
due of_each real_gradients bf16

finish
