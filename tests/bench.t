#!/bin/sh
# bench.t - clattn-bench: its command line, its lines
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/..}/tests/program.sh"

call=bench tiny='f32 b1 h2 q5 k9 d8 causal'
run --help
grep -q -- '--against LIST' out
ok $? "clattn-bench --help"
refused 1 'no problem given' --json
refused 1 '"none" is no peer' --against none "$tiny"
refused 1 'naive is named twice' --against=naive,naive "$tiny"
refused 1 '--json takes no value' --json=1 "$tiny"

call=plain
need_device
call=bench
run --device="$device" --against naive "$tiny" 'f16 b2 h4/2 q3 k3 d16'
test $status -eq 0 && test "$(wc -l <out)" -eq 2 && test "$(grep -c 'GFLOP/s.*  naive [0-9.]* ms, [0-9.]* times ours$' out)" -eq 2
ok $? "clattn-bench prints one line per problem"
run --device "$device" --json --against=naive "$tiny"
test $status -eq 0 && grep -q "^{\"problem\": \"$tiny\", .*\"naive_ms\": [0-9].*\"naive_agrees\": true}\$" out
ok $? "or one object"
run --device "$device" --against naive --rounds 1 'f32 b2 h4/2 q33 k40 d16 causal window20,3 softcap5 alibi sink seed1' \
    'f32 b2 h4/2 q33 k40 d16 bias:1hqk mask:b1qk blocks:8,16' 'f32 b2 h2 q33 k40 d16 bias:bh1k:f16 blocks:8,16' \
    'f32 b3 h2 q33 k40 d16 varlen causal mod:document,tanh_gate,relative'
test $status -eq 0 && test "$(grep -c ' times ours$' out)" -eq 4
ok $? "whatever problem strings have words for"
run --device "$device" --rounds 1 "$tiny" "$tiny mod:nonsense"
test $status -eq 1 && test "$(wc -l <out)" -eq 1 && grep -q 'there is no such score_mod' err
ok $? "but not a score_mod that nobody knows"
run --device "$device" nonsense "$tiny"
test $status -eq 1 && test "$(wc -l <out)" -eq 1 && test "$(grep -c '^clattn-bench: "nonsense"' err)" -eq 1
ok $? "a bad problem does not stop the next"
run --device 'no such thing' "$tiny"
test $status -eq 2
ok $? "no such device"

echo "1..$n"
exit $bad
