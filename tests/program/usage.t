#!/bin/sh
# usage.t - the command line of clattn-run as far as it needs no device: what it refuses, and how
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

run --help
test $status -eq 0 && test ! -s err &&
    test "$(grep -c '^  -' out)" -eq \
    "$(grep -c '^    ROW_\(FLAG\|LAST\|TEXT\|LIST\|READ\)(' "$top_srcdir/tools/options.c")"
ok $? "--help lists the options of this version"
run --version
test $status -eq 0 && grep -qx 'clattn-run [0-9.]*' out
ok $? "--version"

for option in score-mod-grad block-table k-scale k-zero v-scale v-zero k-type v-type splits merge dout dlse dq dk dv \
    dbias dsinks dslopes; do
    refused 3 "--$option is not supported by this version" -o o.npy --$option x q.npy k.npy v.npy
done
refused 3 '--splits is not' --splits=3 -o o.npy q.npy k.npy v.npy
refused 1 'unknown option --frobnicate' --frobnicate -o o.npy q.npy k.npy v.npy
refused 1 'unknown option -x' -x q.npy k.npy v.npy
refused 1 'unknown option --causally' --causally q.npy k.npy v.npy
refused 1 '--causal takes no value' --causal=yes q.npy k.npy v.npy
refused 1 '--scale needs a value' q.npy k.npy v.npy --scale
refused 1 'Q.npy is missing'
refused 1 'V.npy is missing' q.npy k.npy
refused 1 'v.npy: one file too many' q.npy k.npy v.npy v.npy
refused 1 '--type: f8' --type f8 q.npy k.npy v.npy
refused 1 '--layout: bdth' --layout=bdth q.npy k.npy v.npy
refused 1 '--scale: 1x' --scale 1x q.npy k.npy v.npy
refused 1 '--scale: nan' --scale nan q.npy k.npy v.npy
refused 1 '--scale: 1e999' --scale 1e999 q.npy k.npy v.npy
refused 1 '--softcap: -1' --softcap -1 q.npy k.npy v.npy
refused 1 '--softcap: nan' --softcap=nan q.npy k.npy v.npy
refused 1 '--softcap: inf' --softcap inf q.npy k.npy v.npy
for window in 3 3, ,3 -2,0 0,-2 1.5,2 '1, 2' 1,2,3 2147483648,0 123456789012345678901,1; do
    refused 1 "--window: $window" --window "$window" q.npy k.npy v.npy
done
refused 1 '--aux: x=len2.npy needs --score-mod as well' --aux x=len2.npy q.npy k.npy v.npy
refused 1 '--cu-q needs --cu-k as well' --cu-q len2.npy q.npy k.npy v.npy
refused 1 '--cu-k needs --cu-q as well' --cu-k len2.npy q.npy k.npy v.npy
refused 1 '--layout: bhtd contradicts --cu-q' --cu-q len2.npy --cu-k len2.npy --layout bhtd q.npy k.npy v.npy
refused 1 '--align: middle' --causal --align middle q.npy k.npy v.npy
refused 1 '--time: 0' --time 0 q.npy k.npy v.npy
refused 1 '--tile: 1 needs --engine' --tile 1 q.npy k.npy v.npy
refused 1 '--tune: never' --tune never q.npy k.npy v.npy

refused 1 'Q: none.npy: No such file' none.npy k.npy v.npy
refused 1 'K: err: it is not a .npy file' q.npy err v.npy
refused 1 'Q: two lines?.npy: No such file' "$(printf 'two\nlines\033.npy')" k.npy v.npy
tensor i1.npy '|i1' 1 2 2 7 8
refused 3 'K: i1.npy: quantised' -o o.npy q.npy i1.npy v.npy
refused 1 'Q: i1.npy: its type is |i1' i1.npy k.npy v.npy
refused 1 'Q: len2.npy: its type is <i4' len2.npy k.npy v.npy
tensor flat.npy '<f4' 4 2 4 40
refused 1 'Q: flat.npy: its shape is [2,4,40], want 4 axes, [b,h,n,d]' flat.npy k.npy v.npy
tensor k3.npy '<f4' 4 3 2 7 8
refused 1 'K: k3.npy: its shape [3,2,7,8] does not fit [2,4,5,8] of Q, q.npy: the batch axes differ' -o o.npy q.npy \
    k3.npy v.npy
tensor h3.npy '<f4' 4 2 3 7 8
refused 1 '[2,3,7,8] does not fit [2,4,5,8] of Q, q.npy: the query heads' q.npy h3.npy v.npy
tensor d9.npy '<f4' 4 2 2 7 9
refused 1 'the widths differ' q.npy d9.npy v.npy
tensor v6.npy '<f4' 4 2 2 6 3
refused 1 'V: v6.npy: its shape [2,2,6,3] does not fit [2,2,7,8] of K, k.npy: the numbers of rows differ' q.npy k.npy \
    v6.npy
tensor v1.npy '<f4' 4 2 1 7 3
refused 1 'the numbers of heads differ' q.npy k.npy v1.npy
tensor b1.npy '<f4' 4 1 2 7 3
refused 1 'V: b1.npy: its shape [1,2,7,3] does not fit' q.npy k.npy b1.npy
tensor d0.npy '<f4' 4 2 4 5 0
refused 1 'Q: d0.npy: its shape [2,4,5,0]' d0.npy k.npy v.npy
ints len3.npy 1 2 3
refused 1 '--kv-len: len3.npy: its shape [3] does not fit [2,4,5,8] of Q, q.npy: want [2]' --kv-len len3.npy q.npy \
    k.npy v.npy
ints len8.npy 1 8
refused 1 '--kv-len: len8.npy: value 8 at [1] is outside 0 to 7' --kv-len len8.npy q.npy k.npy v.npy
refused 1 '--q-len: len2.npy: value 7 at [1] is outside 0 to 5' --q-len len2.npy q.npy k.npy v.npy
ints neg.npy -1 0
refused 1 '--kv-start: neg.npy: value -1 at [0] is outside 0 to 7' --kv-start neg.npy q.npy k.npy v.npy
refused 1 '--q-len: q.npy: its type is <f4, want <i4' --q-len q.npy q.npy k.npy v.npy
refused 1 '--align: len3.npy: its shape' --causal --align len3.npy q.npy k.npy v.npy

for axes in '8' '4 1' '2 1 1 6' '3 1 1 1' '1 1 1 1 7' '1 5 1 7'; do
    tensor odd.npy '<f4' 4 $axes
    text="[$(echo $axes | tr ' ' ,)]"
    refused 1 "--bias: odd.npy: its shape $text does not fit [2,4,5,7] of the scores" -o o.npy --bias odd.npy q.npy \
        k.npy v.npy
    tensor odd.npy '|u1' 1 $axes
    refused 1 "--mask: odd.npy: its shape $text does not fit [2,4,5,7] of the scores" --mask odd.npy q.npy k.npy v.npy
done
refused 1 '--bias: len2.npy: its type is <i4, want <f4, <f2 or <f8' --bias len2.npy q.npy k.npy v.npy
refused 1 '--mask: q.npy: its type is <f4, want |b1 or |u1' --mask q.npy q.npy k.npy v.npy
refused 1 '--bias: none.npy: No such file' --bias none.npy q.npy k.npy v.npy
tensor four.npy '<f4' 4 4
tensor slopes.npy '<f4' 4 2 4
tensor three.npy '<f4' 4 3
refused 1 '--alibi: three.npy: its shape is [3], want [4] or [2,4]' --alibi three.npy q.npy k.npy v.npy
refused 1 '--sinks: slopes.npy: its shape is [2,4], want [4]' --sinks slopes.npy q.npy k.npy v.npy
refused 1 '--sinks: len2.npy: its type is <i4' --sinks len2.npy q.npy k.npy v.npy
echo 's += x[k];' >mod.cl
refused 1 '--score-mod: none.cl: No such file' --score-mod none.cl q.npy k.npy v.npy
refused 1 '--score-mod: .: it is not a regular file' --score-mod . q.npy k.npy v.npy
refused 1 '--score-mod: q.npy: it is no text' --score-mod q.npy q.npy k.npy v.npy
refused 1 '--aux: four.npy is not NAME=A.npy' --score-mod mod.cl --aux four.npy q.npy k.npy v.npy
refused 1 '--aux: =four.npy is not NAME=A.npy' --score-mod mod.cl --aux =four.npy q.npy k.npy v.npy
refused 1 '--aux: none.npy: No such file' --score-mod mod.cl --aux x=none.npy q.npy k.npy v.npy
refused 1 '--aux: x=len2.npy: there is a buffer of that name' --score-mod mod.cl --aux x=four.npy --aux x=len2.npy \
    q.npy k.npy v.npy
refused 1 '--aux: i1.npy: its type is |i1, want <f4 or <i4' --score-mod mod.cl --aux x=i1.npy q.npy k.npy v.npy
tensor no.npy '<f4' 4 0
refused 1 '--aux: no.npy: its shape is [0]' --score-mod mod.cl --aux x=no.npy q.npy k.npy v.npy
set --
for i in 1 2 3 4 5 6 7 8 9; do set -- "$@" --score-mod mod.cl; done
refused 1 '--score-mod: mod.cl: at most 8' "$@" q.npy k.npy v.npy

tensor qp.npy '<f4' 4 9 4 8
tensor kp.npy '<f4' 4 6 2 8
tensor vp.npy '<f4' 4 6 2 3
ints cuq.npy 0 3 3 9
ints cuk.npy 0 4 5 6
packed() { # STATUS-AND-PATTERN... CU-Q CU-K ARGS...
    want=$1 what=$2 first=$3 second=$4
    shift 4
    refused "$want" "$what" -o o.npy --cu-q "$first" --cu-k "$second" "$@"
}
packed 1 'Q: q.npy: its shape is [2,4,5,8], want 3 axes, [total,h,d]' cuq.npy cuk.npy q.npy kp.npy vp.npy
packed 1 '--cu-q: q.npy: its type is <f4, want <i4' q.npy cuk.npy qp.npy kp.npy vp.npy
packed 1 '--cu-k: len2.npy: it begins with 5' cuq.npy len2.npy qp.npy kp.npy vp.npy
ints end.npy 0 3 3 8
packed 1 '--cu-q: end.npy: it ends with 8, not with the rows of Q, qp.npy, which is [9,4,8]' end.npy cuk.npy qp.npy \
    kp.npy vp.npy
ints down.npy 0 7 3 9
packed 1 '--cu-q: down.npy: value 3 at [2] is less than the one before' down.npy cuk.npy qp.npy kp.npy vp.npy
ints two.npy 0 4 6
packed 1 '--cu-k: two.npy: its shape [3] does not fit [4] of --cu-q, cuq.npy' cuq.npy two.npy qp.npy kp.npy vp.npy
npy '<i4' '(0,)' </dev/null >none.npy
packed 1 '--cu-q: none.npy: its shape is [0], want [b+1]' none.npy cuk.npy qp.npy kp.npy vp.npy
rm none.npy
packed 1 '--kv-len: len2.npy: its shape [2] does not fit [9,4,8] of Q, qp.npy: want [3]' cuq.npy cuk.npy --kv-len \
    len2.npy qp.npy kp.npy vp.npy
tensor odd.npy '<f4' 4 3 1 9 1
packed 1 '--bias: odd.npy: its shape [3,1,9,1] does not fit [3,4,6,4] of the scores' cuq.npy cuk.npy --bias odd.npy \
    qp.npy kp.npy vp.npy

call=blind
run --emit-source 'f16 b1 h2 q64 k64 d64 causal'
test $status -eq 0 && test ! -s err && grep -q __kernel out
ok $? "--emit-source needs no device"
refused 1 "--emit-source: 'f16 b1 nonsense'" --emit-source 'f16 b1 nonsense'
run --emit-source 'f32 b1 h2 q9 k9 d8 softcap5 mod:document,softcap'
test $status -eq 0 && grep -qF 's = document[q] == document[k] ? s : -INFINITY;' out &&
    grep -q '#line 1 "softcap.cl"' out
ok $? "--emit-source finds the score_mods that a problem names"
refused 1 'there is no such score_mod' --emit-source 'f32 b1 h1 q1 k1 d8 mod:nonsense'
refused 3 "--emit-source: 'f32 b1 h1 q1 k1 d8 page16'" --emit-source 'f32 b1 h1 q1 k1 d8 page16'
refused 1 'takes no files' --emit-source 'f32 b1 h1 q1 k1 d8' q.npy k.npy v.npy
refused 1 'computes nothing' --emit-source 'f32 b1 h1 q1 k1 d8' --json
refused 1 'engine "none" is none of' --emit-source 'f32 b1 h1 q1 k1 d8' --engine none
run q.npy k.npy v.npy
if test $status -eq 0; then skip "this loader finds its drivers in another way"; else
    refused 2 'there is no OpenCL device' -o o.npy q.npy k.npy v.npy
fi

echo "1..$n"
exit $bad
