#!/bin/sh
# bench.t - clattn-bench: its command line, its lines
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

call=bench tiny='f32 b1 h2 q5 k9 d8 causal'
run --help
grep -q -- '--against LIST' out
ok $? "clattn-bench --help"
refused 1 'no problem given' --json
refused 1 '"none" is no peer' --against none "$tiny"
refused 1 'naive is named twice' --against=naive,naive "$tiny"
refused 1 '--json takes no value' --json=1 "$tiny"
refused 1 'unknown option --frobnicate' --frobnicate "$tiny"
refused 1 '--rounds needs a value: N' "$tiny" --rounds
refused 1 '--suite: there is no "none"' --suite none
refused 1 '"f32 b1 h1 q1 k9 d8 page0": ' 'f32 b1 h1 q1 k9 d8 page0'
refused 1 '"f32 b1 h1 q1 k9 d8 k:q8_0": ' 'f32 b1 h1 q1 k9 d8 k:q8_0'
refused 1 '"f32 b1 h1 q1 k9 d8 splits0": ' 'f32 b1 h1 q1 k9 d8 splits0'
run --help
grep -q '^      prefill  *q = k from 128' out
ok $? "clattn-bench --help names the suites"
grep -q '^      decode  *1 to 16 queries' out
ok $? "decode among them"

call=plain
need_device
call=bench
run --device="$device" --against naive "$tiny" 'f16 b2 h4/2 q3 k3 d16'
test $status -eq 0 && test "$(wc -l <out)" -eq 2 &&
    test "$(grep -c 'GFLOP/s.*  naive [0-9.]* ms, [0-9.]* times ours$' out)" -eq 2
ok $? "clattn-bench prints one line per problem"
run --device "$device" --json --against=naive "$tiny"
test $status -eq 0 && grep -q "^{\"problem\": \"$tiny\", .*\"naive_ms\": [0-9].*\"naive_agrees\": true}\$" out
ok $? "or one object"
run --device "$device" --against naive --rounds 1 \
    'f32 b2 h4/2 q2 k40 d16 causal window20,3 softcap5 alibi bias:1hqk:f16 mask:b1qk blocks:8,16 sink seed1' \
    'f32 b3 h2 q33 k40 d16 varlen causal blocks:8,16 mod:document,tanh_gate,relative'
test $status -eq 0 && test "$(grep -c ' times ours$' out)" -eq 2
ok $? "whatever problem strings have words for"
run --device "$device" --against naive --rounds 1 \
    'f32 b2 h4/2 q2 k40 d32 causal page16 k:int8:16z v:q4_0 splits3 kvlen:40,9' \
    'f16 b2 h2 q3 k40 d32 page7 k:int4z v:q8_0 o:f32' 'f32 b3 h2 q2 k30 d32 varlen k:q8_0 v:int8:16 splits2'
test $status -eq 0 && test "$(grep -c ' times ours$' out)" -eq 3
ok $? "caches and parts among it"
run --device "$device" --against plain --rounds 1 'f32 b1 h2 q2 k40 d32 causal sink page16 k:int8z v:q4_0 splits3'
test $status -eq 0 && grep -q ' times ours$' out
ok $? "and the same without what changes scores"
run --device "$device" --rounds 1 "$tiny" "$tiny mod:nonsense"
test $status -eq 1 && test "$(wc -l <out)" -eq 1 && grep -q 'there is no such score_mod' err
ok $? "but not a score_mod that nobody knows"
run --device="$device" --rounds 1 --json "$tiny"
figure='[0-9].*'
test $status -eq 0 && grep -q "\"peak_gflops\": $figure\"read_gbytes_s\": $figure\"roofline_fraction\": $figure" out
ok $? "the ceilings of the device are probed"

# A gnuplot that draws nothing, and says no to what it is not asked.
mkdir -p plotter && printf \
    '#!/bin/sh\ntest $# -eq 2 && test "$1" = -d && grep -q "^set output .\\./plots/" "$2" && echo "$2" >>drawn\n' \
    >plotter/gnuplot &&
    chmod +x plotter/gnuplot
PATH=$PWD/plotter:$PATH
run --device "$device" --rounds 1 --against naive --plot plots "$tiny" 'f32 b1 h2 q5 k17 d8 causal' 'f32 b1 h2 q5 k9 d8'
test $status -eq 0 && test "$(cat drawn)" = './plots/throughput.gp
./plots/roofline.gp'
ok $? "--plot has two pictures drawn"
test "$(grep -c '^\$t[0-9]*_[01] << EOD$' plots/throughput.gp)" -eq 4 &&
    test "$(grep -c '^9 [0-9]' plots/throughput.gp)" -eq 4 &&
    test "$(grep -c '^17 [0-9]' plots/throughput.gp)" -eq 2 &&
        grep -q "title 'f32 b1 h2 d8 causal, naive'" plots/throughput.gp
ok $? "a line for each kind of problem and each peer, a point for each length"
test "$(grep -o 'roofline, float' plots/roofline.gp | wc -l)" -eq 1 &&
    test "$(grep -c '^\$r[0-9]* << EOD$' plots/roofline.gp)" -eq 2
ok $? "a roofline"
printf '#!/bin/sh\nexit 1\n' >plotter/gnuplot
run --device "$device" --rounds 1 --plot plots "$tiny"
test $status -eq 3 && grep -q 'gnuplot failed on ./plots/throughput.gp' err
ok $? "a gnuplot that fails is told"
PATH=${PATH#*:}
if command -v gnuplot >/dev/null; then
    run --device "$device" --rounds 1 --plot 'it'"'"'s' 'f32 b1 h2 q5 k9 d8'
    test $status -eq 0 && grep -q '<svg' "it's/throughput.svg" && grep -q '<svg' "it's/roofline.svg"
    ok $? "gnuplot draws them"
else
    skip 'no gnuplot is installed'
fi

run --device "$device" nonsense "$tiny"
test $status -eq 1 && test "$(wc -l <out)" -eq 1 && test "$(grep -c '^clattn-bench: "nonsense"' err)" -eq 1
ok $? "a bad problem does not stop the next"
run --device 'no such thing' "$tiny"
test $status -eq 2
ok $? "no such device"

echo "1..$n"
exit $bad
