#!/bin/sh
# bench.t - clattn-bench: its command line, its lines
# SPDX-License-Identifier: Apache-2.0
#
# CLATTN_PART: what make check has no time for, without what it runs.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

call=bench tiny='f32 b1 h2 q5 k9 d8 causal'
if usual; then
    run --help
    grep -q -- '--against LIST' out
    ok $? "clattn-bench --help"
    refused 1 'no problem given' --json
    refused 1 '"none" is no peer' --against none "$tiny"
    refused 1 'naive is named twice' --against=naive,naive "$tiny"
    refused 1 '--json takes no value' --json=1 "$tiny"
    refused 1 'unknown option --frobnicate' --frobnicate "$tiny"
    refused 1 '--rounds needs a value: N' "$tiny" --rounds
    refused 1 '--memory 3X: expected bytes, e.g. 8G' --memory 3X "$tiny"
    refused 1 '--memory 0: expected bytes' --memory=0 "$tiny"
    refused 1 '--plot: the name of the folder is empty' --plot '' "$tiny"
    refused 1 '--suite: there is no "none"' --suite none
    refused 1 '"f32 b1 h1 q1 k9 d8 page0": ' 'f32 b1 h1 q1 k9 d8 page0'
    refused 1 '"f32 b1 h1 q1 k9 d8 k:q8_0": ' 'f32 b1 h1 q1 k9 d8 k:q8_0'
    refused 1 '"f32 b1 h1 q1 k9 d8 splits0": ' 'f32 b1 h1 q1 k9 d8 splits0'
    run --help
    grep -q '^      prefill  *q = k from 128' out
    ok $? "clattn-bench --help names the suites"
    grep -q '^      decode  *1 to 16 queries' out
    ok $? "decode among them"

    for option in --against=naive --plot=plots --rounds=3 --json --json-file=x; do
        refused 1 "${option%%=*}: --rounds-on-stdin prints the time of each round and nothing else" --rounds-on-stdin \
            $option "$tiny"
    done
fi

call=plain
need_device
quick() { bench --memory "$memory" "$@"; } # ceilings are probed with less, and sooner
memory=2M
call=quick

# Each line of FILE is one JSON object, which has every member that clattn-bench(1) lists; prints what python makes of
# the expressions of it, o. Without python nothing is read, and only the shape of the lines is looked at.
page=$top_srcdir/bench/clattn-bench.1
members() { sed -n '/^\.\\" members/,/^\.\\" end/s/^\.It Va \([a-z_0-9]*\)$/\1/p' "$page"; }
python=$(command -v python3)
objects() { # FILE EXPRESSION: what it is of each object, a line each
    "$python" - "$1" "$2" "$(members | tr '\n' ' ')" <<'END' 2>err
import json, math, sys
def no(x):
    raise ValueError(x)
for line in open(sys.argv[1]):
    o = json.loads(line, parse_constant=no)
    missing = set(sys.argv[3].split()) - set(o)
    print('lacks %s' % missing if missing else eval('(%s)' % sys.argv[2]))
END
}
all_true() { # FILE LINES EXPRESSION
    if test -n "$python"; then
        test "$(objects "$1" "$3" | sort | uniq -c | tr -s ' ')" = " $2 True"
    else
        test "$(grep -c '^{"problem": ".*}$' "$1")" -eq "$2"
    fi
}

# ---- what make check has no time for ----

lengths() {
    memory=64M
    run --device "$device" --rounds 1 --json 'f32 b2 h2 q1 k4096 d32 page16 kvlen:100,28'
    all_true out 1 'o["bytes"] == 4 * 32 * 2 * (2 * 2 + 2 * 128) and o["roofline_fraction"] <= 1'
    ok $? "keys behind the lengths are not counted as read"
    memory=2M
}
due lengths
words() {
    run --device "$device" --against naive --rounds 1 \
        'f32 b3 h2 q33 k40 d16 varlen causal blocks:8,16 mod:document,tanh_gate,relative' 'f16 b2 h4/2 q3 k3 d16'
    test $status -eq 0 && test "$(grep -c ' times ours$' out)" -eq 2
    ok $? "sequences, blocks and several score_mods"
}
due words
scores() {
    run --device "$device" --against naive --rounds 1 \
        'f32 b2 h4/2 q2 k40 d16 causal window20,3 softcap5 alibi bias:1hqk:f16 mask:b1qk blocks:8,16 sink seed1' \
        "$tiny mod:nonsense" nonsense
    test "$(grep -c ' times ours$' out)" -eq 1
    ok $? "whatever problem strings have words for that changes scores"
    grep -q 'of the roofline: not known, blocks are skipped  naive' out
    ok $? "no share where nobody knows how much was done"
    test $status -eq 1 && grep -q 'there is no such score_mod' err &&
        test "$(grep -c '^clattn-bench: "nonsense"' err)" -eq 1
    ok $? "but not a score_mod that nobody knows, nor nonsense"
}
due scores
caches() {
    run --device "$device" --against naive --rounds 1 'f16 b2 h2 q3 k40 d32 page7 k:int4z v:q8_0 o:f32' \
        'f16 b2 h4/2 q2 k40 d32 causal page16 k:int8:16z v:q4_0 splits3 kvlen:40,9' \
        'f32 b3 h2 q2 k30 d32 varlen k:q8_0 v:int8:16 splits2'
    test $status -eq 0 && test "$(grep -c ' times ours$' out)" -eq 3
    ok $? "caches and parts"
}
due caches
plain_peer() {
    run --device "$device" --against plain --rounds 1 'f32 b1 h2 q2 k40 d32 causal sink page16 k:int8z v:q4_0 splits3'
    test $status -eq 0 && grep -q ' times ours$' out
    ok $? "and the same without what changes scores"
}
due plain_peer
next() {
    run --device "$device" nonsense "$tiny"
    test $status -eq 1 && test "$(wc -l <out)" -eq 1 && test "$(grep -c '^clattn-bench: "nonsense"' err)" -eq 1
    ok $? "a bad problem does not stop the next"
}
due next
clblast() { # what a first call and others say, where it was built with it
    bench --device "$device" --rounds 1 --against clblast "$@" >out 2>err </dev/null
    status=$?
    ! grep -q 'built without CLBlast' err || { skip 'built without CLBlast' && return 1; }
}
clblast_memory() {
    clblast --memory 3M --json 'f32 b1 h8 q512 k512 d8' 'f32 b1 h1 q2 k2 d8' || return
    test $status -eq 0 && all_true out 2 '(o["clblast_missing"] is None) == (o["clblast_ms"] is not None) and
        (o["clblast_ms"] is None) == ("q512" in o["problem"])'
    ok $? "a peer that needs more is left out of its problem"
}
due clblast_memory
clblast_words() {
    clblast --memory 2M 'f32 b1 h1 q2 k2 d8' || return
    words='unfused, \(untuned parameters\|parameters as CLBlast has them\)'
    test $status -eq 0 && grep -q "  CLBlast, $words [0-9.]* ms, " out
    ok $? "CLBlast's figure says what it is"
}
due clblast_words
# A gnuplot that says no to what it is not asked; it draws where there is one.
pictures() {
    real_gnuplot=$(command -v gnuplot)
    mkdir -p plotter && cat >plotter/gnuplot <<'END'
#!/bin/sh
test $# -eq 2 && test "$1" = -d && grep -q "^set output '\./it''s/" "$2" && echo "$2" >>drawn &&
    if test -n "$real_gnuplot"; then "$real_gnuplot" "$@"; fi
END
    chmod +x plotter/gnuplot
    export real_gnuplot
    PATH=$PWD/plotter:$PATH plots="it's"
    run --device "$device" --memory 16M --rounds 1 --against naive --plot "$plots" "$tiny" \
        'f32 b1 h2 q5 k17 d8 causal' 'f32 b1 h2 q5 k9 d8'
    test $status -eq 0 && test "$(cat drawn)" = "./it's/throughput.gp
./it's/roofline.gp"
    ok $? "--plot has two pictures drawn"
    test "$(grep -c '^\$t[0-3] << EOD$' "$plots/throughput.gp")" -eq 4 &&
        test "$(grep -c '^9 [0-9]' "$plots/throughput.gp")" -eq 4 &&
        test "$(grep -c '^17 [0-9]' "$plots/throughput.gp")" -eq 2 &&
        grep -q "title 'clattn: causal'" "$plots/throughput.gp" &&
        grep -q "title 'naive: causal'" "$plots/throughput.gp" &&
        grep -q "^set title 'Throughput of attention: f32 b1 h2 q5 d8'.*driver" "$plots/throughput.gp"
    ok $? "a line for each kind of problem and each peer, a point for each length"
    roof="title 'roof, f32: [0-9.]* GFLOP/s, memory at [0-9]* MiB [0-9.e+]* GB/s'"
    test "$(grep -c "$roof" "$plots/roofline.gp")" -eq 1 &&
        test "$(grep -c '^\$r[0-9]* << EOD$' "$plots/roofline.gp")" -eq 4 &&
        grep -q "^set logscale y" "$plots/roofline.gp"
    ok $? "a roofline"
    PATH=${PATH#*:}
    if test -n "$real_gnuplot"; then
        grep -q '<svg' "$plots/throughput.svg" && grep -q '<svg' "$plots/roofline.svg"
        ok $? "gnuplot draws them"
    else
        skip 'no gnuplot is installed'
    fi
}
due pictures
failing_plot() {
    mkdir -p failing && printf '#!/bin/sh\nexit 1\n' >failing/gnuplot && chmod +x failing/gnuplot
    PATH=$PWD/failing:$PATH
    run --device "$device" --rounds 1 --plot plots "$tiny"
    PATH=${PATH#*:}
    test $status -eq 3 && grep -q 'gnuplot failed on ./plots/throughput.gp' err
    ok $? "a gnuplot that fails is told"
}
due failing_plot
usual || finish
two='f32 b2 h2 q3 k3 d8 causal' # by the same kernels

# ---- one of each kind ----

run --device="$device" --against naive "$tiny" "$two"
test $status -eq 0 && test "$(wc -l <out)" -eq 2 &&
    test "$(grep -c 'GFLOP/s.*  naive [0-9.]* ms, [0-9.]* times ours$' out)" -eq 2
ok $? "clattn-bench prints one line per problem"
awk '{
        for (i = 2; i < NF; i++) if ($(i + 1) ~ /^ms/) { if ($(i - 1) == "naive") theirs = $i; else ours = $i }
        if (sprintf("%.2f", theirs / ours) != $(NF - 2)) bad = 1
    } END { exit bad || NR != 2 }' out
ok $? "a ratio is that of the times beside it"
grep -q '^clattn-bench: 1 of 2: f32 b1 h2 q5 k9 d8 causal$' err && grep -q '^clattn-bench: 2 of 2: f32 b2 ' err
ok $? "how far it is goes to standard error"
run --device="$device" --quiet --json --against=naive --json-file figures.json "$tiny" "$two"
test $status -eq 0 && grep -q "^{\"problem\": \"$tiny\", .*\"naive_ms\": [0-9].*\"naive_agrees\": true,.*}\$" out
ok $? "or one object"
! grep -q 'of 2' err
ok $? "how far it is goes nowhere where it is to be quiet"
figure='[0-9].*'
grep -q "\"peak_gflops\": $figure\"read_gbytes_s\": $figure\"roofline_fraction\": $figure" out
ok $? "the ceilings of the device are probed"
cmp -s out figures.json && test "$(wc -l <figures.json)" -eq 2
ok $? "--json-file writes the same"
test "$(members | wc -l)" -ge 30 && all_true out 2 'o["rounds"] == 11 and not o["partial"]'
ok $? "it is JSON with all members that the manual page has"
all_true out 2 'abs(o["naive_ratio"] / (o["naive_ms"] / o["time_ms"]) - 1) < 1e-8'
ok $? "with the ratio of the times in it"
all_true out 2 '0 < o["roofline_fraction"] <= 1 and len(o["ceilings"]) == 6 and
    abs(o["roofline_fraction"] - o["gflops"] / o["roof_gflops"]) < 1e-6 and
    abs(o["roof_gflops"] / min(o["peak_gflops"], o["peak_gbytes_s"] * o["intensity"]) - 1) < 1e-6'
ok $? "and the share of the smaller ceiling"
all_true out 2 'all(a["gbytes_s"] >= b["gbytes_s"] for a, b in zip(o["ceilings"], o["ceilings"][1:])) and
    any(c["gbytes_s"] == o["peak_gbytes_s"] and c["bytes"] == o["size_class_bytes"] for c in o["ceilings"])'
ok $? "ceilings of all sizes, that of the problem's among them"
refused 1 '--json-file ./no/such: ' --device "$device" --json-file ./no/such "$tiny"
refused 1 '--json-file /dev/stdout: it is standard output, where --json prints' --device "$device" --json-file \
    /dev/stdout "$tiny"

# Memory.
call=bench
run --device "$device" --rounds 1 --memory 1M "$tiny" 'f32 b1 h8 q1024 k1024 d64' "$tiny"
test $status -eq 3 && test "$(wc -l <out)" -eq 2 && grep -q 'q1024 k1024 d64: skipped: .*the limit .*is 1 MiB' err
ok $? "a problem that needs more memory is skipped, in words"
run --device "$device" --rounds 1 'f32 b1000000 h1000000 q1000000 k1 d64'
test $status -eq 3 && grep -q 'skipped: .*\(TiB\|too much to count\)' err
ok $? "without an option what there is is the limit"

call=quick
# A signal. SIGTERM, because shells start what is in the background with SIGINT ignored.
"$top_builddir/clattn-bench" --memory 2M --device "$device" --rounds 100000 --json --json-file part.json "$tiny" \
    "$two" >out 2>err </dev/null &
child=$!
for i in 1 2 3 4 5 6 7 8 9 10; do
    grep -q ' 1 of 2: f32 b1 h2 ' err && break
    sleep 1
done
kill -TERM $child
wait $child
status=$?
test $status -eq 5 && test "$(wc -l <out)" -eq 1 && cmp -s out part.json &&
    grep -q 'interrupted: 1 of 2 problems were measured' err
ok $? "a signal ends it after the round, with a status of its own"
all_true out 1 'o["partial"] is True and 1 <= o["rounds"] < 100000 == o["rounds_asked"] and o["time_ms"] > 0'
ok $? "what was measured is printed, and marked as partial"

# What --plot needs is looked for before anything is measured.
mkdir -p plotter && printf '#!/bin/sh\n' >plotter/gnuplot
unplotted() { PATH=$tmp/nowhere:$tmp/plotter "$top_builddir/clattn-bench" --memory 64M "$@"; }
call=unplotted
refused 3 '--plot plots: there is no gnuplot to draw with (Debian: gnuplot-nox)' --device "$device" --plot plots "$tiny"
chmod +x plotter/gnuplot
refused 1 '--plot q.npy/plots: Not a directory' --device "$device" --plot q.npy/plots "$tiny"
refused 1 '--plot q.npy: Not a directory' --device "$device" --plot q.npy "$tiny"
test ! -e plots
ok $? "and nothing is made"
call=quick

run --device 'no such thing' "$tiny"
test $status -eq 2
ok $? "no such device"

finish
