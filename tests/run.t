#!/bin/sh
# run.t - the command line of clattn-run: what it takes, what it refuses and how, what it prints and writes
# SPDX-License-Identifier: Apache-2.0
: "${top_srcdir=$(dirname "$0")/..}" "${top_builddir=.}"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
LC_ALL=C
export LC_ALL
program=$top_builddir/clattn-run
compare=$top_builddir/tests/npycmp
data=$top_srcdir/examples/data/encoder_layer0
tmp=$(mktemp -d "${TMPDIR-/tmp}/clattn-run.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM
cd "$tmp" || exit 99

n=0 bad=0
ok() { # STATUS DESCRIPTION
    n=$((n + 1))
    if test "$1" -eq 0; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2"
        sed 's/^/# out: /' out
        sed 's/^/# err: /' err
    fi
}
skip() {
    n=$((n + 1))
    echo "ok $n # SKIP $1"
}
plain() { "$program" "$@"; }
bench() { "$top_builddir/clattn-bench" "$@"; }
blind() { OCL_ICD_VENDORS=$tmp/none OCL_ICD_FILENAMES='' "$program" "$@"; } # no loader finds a driver there
call=plain
run() { # ARGS...: status in $status, text in out and err
    $call "$@" >out 2>err </dev/null
    status=$?
}

# ---- making files ----

byte() { printf "\\$(printf %03o "$1")"; }
npy() { # TYPE SHAPE, data on stdin
    header="{'descr': '$1', 'fortran_order': False, 'shape': $2, }"
    printf '\223NUMPY\001\000'
    byte $(((${#header} + 1) % 256))
    byte $(((${#header} + 1) / 256))
    printf '%s\n' "$header"
    cat
}
zeros() { head -c "$1" /dev/zero; }
tensor() { # FILE TYPE ELEMENT-SIZE DIMS...: zeros
    file=$1 type=$2 count=$3 shape=
    shift 3
    for x in "$@"; do
        count=$((count * x)) shape="$shape$x, "
    done
    zeros $count | npy "$type" "($shape)" >"$file"
}
ints() { # FILE VALUES..., each -1 to 65535
    file=$1
    shift
    for x in "$@"; do
        if test "$x" -lt 0; then printf '\377\377\377\377'; else byte $((x % 256)) && byte $((x / 256)) && printf '\000\000'; fi
    done | npy '<i4' "($#,)" >"$file"
}
raw() { # FILE: the data behind its header
    set -- "$1" $(od -An -tu1 -j8 -N2 "$1")
    tail -c +$((11 + $2 + 256 * $3)) "$1"
}
real() { # FILE TYPE ELEMENT-SIZE DIMS...: bytes of real numbers, in their order
    file=$1 type=$2 count=$3 shape=
    shift 3
    for x in "$@"; do
        count=$((count * x)) shape="$shape$x, "
    done
    for i in 1 2 3 4; do raw "$data/k.npy" && raw "$data/v.npy"; done | head -c $count | npy "$type" "($shape)" >"$file"
}
mask() { # FILE TYPE BYTES DIMS...: bytes, a good part of them 0
    target=$1 kind=$2 most=$3
    shift 3
    real bytes.npy '|u1' 1 "$@"
    raw bytes.npy | tr '\000-\100' '\000' | tr '\001-\377' "$most" | npy "$kind" "($shape)" >"$target"
}
swap() { # IN OUT H N: [b,H,N,32] of <f4 becomes [b,N,H,32]
    raw "$1" | od -An -v -tx1 | awk -v h="$3" -v n="$4" '
        function put(s, i) { for (i = 1; i <= length(s); i += 2) printf "%s ", substr(s, i, 2) }
        { gsub(/ /, ""); all[NR - 1] = $0 }
        END {
            for (b = 0; (b + 1) * h * n * 8 <= NR; b++)
                for (y = 0; y < n; y++)
                    for (x = 0; x < h; x++)
                        for (i = 0; i < 8; i++)
                            put(all[((b * h + x) * n + y) * 8 + i])
        }' | tr ' ' '\n' | awk '
        BEGIN { for (i = 0; i < 256; i++) octal[sprintf("%02x", i)] = sprintf("\\%03o", i) }
        { line = line octal[$1]; if (NR % 256 == 0) { print line; line = "" } }
        END { print line }' | while read -r line; do printf "$line"; done | npy '<f4' "(3, $4, $3, 32)" >"$2"
}

tensor q.npy '<f4' 4 2 4 5 8
tensor k.npy '<f4' 4 2 2 7 8
tensor v.npy '<f4' 4 2 2 7 3
ints len2.npy 5 7

# ---- what needs no device ----

run --help
test $status -eq 0 && test ! -s err && test "$(grep -c '^  -' out)" -eq "$(grep -c '^    ROW_\(FLAG\|TEXT\|LIST\)(' "$top_srcdir/tools/options.c")"
ok $? "--help lists the options of this version"
run --version
test $status -eq 0 && grep -qx 'clattn-run [0-9.]*' out
ok $? "--version"

refused() { # STATUS PATTERN ARGS...: one line on stderr that has PATTERN, nothing else, no file
    want=$1 pattern=$2
    shift 2
    rm -f o.npy lse.npy
    run "$@"
    # A driver may have its own say there: PoCL counts the warnings of its compiler.
    test $status -eq "$want" && test ! -s out && test "$(grep -vc 'warnings* generated' err)" -eq 1 &&
        grep -q '^clattn-[rb][a-z]*: ' err && grep -qF -- "$pattern" err &&
        test ! -e o.npy && test ! -e lse.npy && test -z "$(ls -A | grep '^\.clattn')"
    ok $? "exit $want, \"$pattern\": $(printf %s "$*" | tr '\n\033' '  ')"
}

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
refused 3 '--tune: full: tuning is not in this version' --tune full q.npy k.npy v.npy

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
refused 1 'K: k3.npy: its shape [3,2,7,8] does not fit [2,4,5,8] of Q, q.npy: the batch axes differ' -o o.npy q.npy k3.npy v.npy
tensor h3.npy '<f4' 4 2 3 7 8
refused 1 '[2,3,7,8] does not fit [2,4,5,8] of Q, q.npy: the query heads' q.npy h3.npy v.npy
tensor d9.npy '<f4' 4 2 2 7 9
refused 1 'the widths differ' q.npy d9.npy v.npy
tensor v6.npy '<f4' 4 2 2 6 3
refused 1 'V: v6.npy: its shape [2,2,6,3] does not fit [2,2,7,8] of K, k.npy: the numbers of rows differ' q.npy k.npy v6.npy
tensor v1.npy '<f4' 4 2 1 7 3
refused 1 'the numbers of heads differ' q.npy k.npy v1.npy
tensor b1.npy '<f4' 4 1 2 7 3
refused 1 'V: b1.npy: its shape [1,2,7,3] does not fit' q.npy k.npy b1.npy
tensor d0.npy '<f4' 4 2 4 5 0
refused 1 'Q: d0.npy: its shape [2,4,5,0]' d0.npy k.npy v.npy
ints len3.npy 1 2 3
refused 1 '--kv-len: len3.npy: its shape [3] does not fit [2,4,5,8] of Q, q.npy: want [2]' --kv-len len3.npy q.npy k.npy v.npy
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
    refused 1 "--bias: odd.npy: its shape $text does not fit [2,4,5,7] of the scores" -o o.npy --bias odd.npy q.npy k.npy v.npy
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
refused 1 '--aux: x=len2.npy: there is a buffer of that name' --score-mod mod.cl --aux x=four.npy --aux x=len2.npy q.npy k.npy v.npy
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
packed 1 '--cu-q: end.npy: it ends with 8, not with the rows of Q, qp.npy, which is [9,4,8]' end.npy cuk.npy qp.npy kp.npy vp.npy
ints down.npy 0 7 3 9
packed 1 '--cu-q: down.npy: value 3 at [2] is less than the one before' down.npy cuk.npy qp.npy kp.npy vp.npy
ints two.npy 0 4 6
packed 1 '--cu-k: two.npy: its shape [3] does not fit [4] of --cu-q, cuq.npy' cuq.npy two.npy qp.npy kp.npy vp.npy
npy '<i4' '(0,)' </dev/null >none.npy
packed 1 '--cu-q: none.npy: its shape is [0], want [b+1]' none.npy cuk.npy qp.npy kp.npy vp.npy
rm none.npy
packed 1 '--kv-len: len2.npy: its shape [2] does not fit [9,4,8] of Q, qp.npy: want [3]' cuq.npy cuk.npy --kv-len len2.npy qp.npy kp.npy vp.npy
tensor odd.npy '<f4' 4 3 1 9 1
packed 1 '--bias: odd.npy: its shape [3,1,9,1] does not fit [3,4,6,4] of the scores' cuq.npy cuk.npy --bias odd.npy qp.npy kp.npy vp.npy

call=blind
run --emit-source 'f16 b1 h2 q64 k64 d64 causal'
test $status -eq 0 && test ! -s err && grep -q __kernel out
ok $? "--emit-source needs no device"
refused 1 "--emit-source: 'f16 b1 nonsense'" --emit-source 'f16 b1 nonsense'
run --emit-source 'f32 b1 h2 q9 k9 d8 softcap5 mod:document,softcap'
test $status -eq 0 && grep -qF 's = document[q] == document[k] ? s : -INFINITY;' out && grep -q '#line 1 "softcap.cl"' out
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

call=bench tiny='f32 b1 h2 q5 k9 d8 causal'
run --help
grep -q -- '--against LIST' out
ok $? "clattn-bench --help"
refused 1 'no problem given' --json
refused 1 '"none" is no peer' --against none "$tiny"
refused 1 'naive is named twice' --against=naive,naive "$tiny"
refused 1 '--json takes no value' --json=1 "$tiny"
call=plain

# ---- what needs a device ----

device=${CLATTN_TEST_DEVICES-} device=${device%%;*}
on() { run --tune off --device "$device" "$@"; }
on q.npy k.npy v.npy
if test $status -eq 2 && test -z "$device"; then
    skip "no OpenCL device"
    echo "1..$n"
    exit $bad
fi
test $status -eq 0 && grep -q '^engine ' out && test ! -e o.npy
ok $? "without -o it computes and reports"

refused 2 'no device is called "no such thing"; there is "' --device 'no such thing' -o o.npy q.npy k.npy v.npy
on --engine none q.npy k.npy v.npy
test $status -eq 1 || test $status -eq 3 && test "$(grep -c '^clattn-run: ' err)" -eq 1
ok $? "an engine that does not exist is refused"

# Each thing on real numbers, against float64; the first serves as the standard of the others.
verified() { # DESCRIPTION ARGS...
    what=$1
    shift
    rm -f o.npy lse.npy
    on --verify -o o.npy --lse lse.npy "$@"
    test $status -eq 0 && grep -q '^max-error [-+.0-9e]* bound [-+.0-9e]*$' out && test -s o.npy && test -s lse.npy
    ok $? "$what"
}
same() { # DESCRIPTION FILE FILE: equal up to rounding
    difference=$("$compare" "$2" "$3") && awk -v x="$difference" 'BEGIN { exit !(x < 1e-5) }'
    ok $? "$1 (${difference-})"
}
Q=$data/q.npy K=$data/k.npy V=$data/v.npy L=$data/kv_len.npy
verified "lengths" --kv-len "$L" "$Q" "$K" "$V"
same "O as stored" o.npy "$data/o.npy"
verified "causal" --causal --scale=0.25 "$Q" "$K" "$V"
mv o.npy causal.npy
verified "offset 0 is causal where nq = nk" --causal --scale 0.25 --align 0 "$Q" "$K" "$V"
same "the same O" o.npy causal.npy
verified "top-left too" --causal --align top-left --scale 0.25 -- "$Q" "$K" "$V"
same "the same O" o.npy causal.npy
ints zero3.npy 0 0 0
verified "and offsets of 0" "$Q" --causal "$K" --align zero3.npy --scale 0.25 "$V"
same "the same O" o.npy causal.npy
ints some3.npy 5 -1 0
ints from3.npy 0 100 123
verified "offsets and every length" --causal --align some3.npy --kv-len "$L" --kv-start from3.npy --q-len "$L" "$Q" "$K" "$V"
for type in f16 bf16; do
    verified "--type $type" --type $type --causal "$Q" "$K" "$V"
done
on --type f64 "$Q" "$K" "$V"
if test $status -eq 3; then skip "no f64: $(sed 's/^clattn-run: //' err | tail -n 1)"; else
    verified "--type f64" --type f64 --kv-len "$L" "$Q" "$K" "$V"
    head -c 128 o.npy | grep -q '<f8' && head -c 128 lse.npy | grep -q '<f4'
    ok $? "O is <f8 and LSE <f4 then"
fi

swap "$Q" qs.npy 4 123 && swap "$K" ks.npy 4 123 && swap "$V" vs.npy 4 123
verified "--layout bthd" --layout bthd --scale=0.25 --causal qs.npy ks.npy vs.npy
"$compare" o.npy causal.npy >out
test $? -eq 1
ok $? "O has the axes [b,n,h,d]"
swap o.npy back.npy 123 4
same "the same O in the other order" back.npy causal.npy

on --causal --scale=0.25 -o o.npy "$Q" "$K" "$V" && cp o.npy one.npy
for k in K V; do # the first entry of the batch for all
    eval "tail -c +129 \"\$$k\"" | head -c 62976 | npy '<f4' '(1, 4, 123, 32)' >one_$k.npy
    tail -c 62976 one_$k.npy >raw
    cat raw raw raw | npy '<f4' '(3, 4, 123, 32)' >three_$k.npy
done
verified "keys shared by the batch" "$Q" one_K.npy one_V.npy
mv o.npy shared.npy
verified "the same keys three times" "$Q" three_K.npy three_V.npy
same "give the same O" o.npy shared.npy

# What changes scores and drops keys.
mods=$top_srcdir/examples/score_mods
verified "--softcap" --softcap 0.5 "$Q" "$K" "$V"
mv o.npy capped.npy
verified "--window" --window=10,3 "$Q" "$K" "$V"
verified "--window to one side, elsewhere" --window -1,2 --align -9 "$Q" "$K" "$V"
verified "--window without bounds is none" --window -1,-1 --causal --scale=0.25 "$Q" "$K" "$V"
same "the same O" o.npy causal.npy
verified "--window and offsets" --window 5,-1 --align some3.npy --kv-len "$L" "$Q" "$K" "$V"
real bias4.npy '<f4' 4 3 4 123 1
verified "--bias with 4 axes" --bias bias4.npy "$Q" "$K" "$V"
real bias3.npy '<f4' 4 4 1 123
verified "--bias with 3" --bias bias3.npy --causal "$Q" "$K" "$V"
real bias2.npy '<f2' 2 123 123
verified "--bias of <f2, with 2" --bias=bias2.npy "$Q" "$K" "$V"
grep -q '^problem .* bias:11qk:f16 ' out
ok $? "is stored as f16"
tensor bias0.npy '<f8' 8 1
verified "--bias of <f8, with 1" --bias bias0.npy --causal --scale=0.25 "$Q" "$K" "$V"
same "zeros change nothing" o.npy causal.npy
mask mask2.npy '|u1' '\001-\377' 123 123
verified "--mask of bytes" --mask mask2.npy "$Q" "$K" "$V"
mv o.npy masked.npy
mask mask2.npy '|b1' '\001' 123 123
verified "--mask of bools" --mask mask2.npy "$Q" "$K" "$V"
same "the same O" o.npy masked.npy
mask mask4.npy '|u1' '\001-\377' 3 1 1 123
verified "--mask for keys" --mask mask4.npy --causal "$Q" "$K" "$V"
real alibi2.npy '<f4' 4 3 4
printf '\000\000\000\077\000\000\200\076\000\000\000\076\000\000\200\075' | npy '<f4' '(4,)' >alibi1.npy # 1/2 to 1/16
verified "--alibi for all entries" --alibi alibi1.npy --align top-left "$Q" "$K" "$V"
mv o.npy alibi.npy
verified "--alibi for each" --alibi alibi2.npy "$Q" "$K" "$V"
real sinks.npy '<f4' 4 4
verified "--sinks" --sinks sinks.npy --causal --align -3 "$Q" "$K" "$V"

verified "--score-mod" --score-mod "$mods/alibi.cl" "$Q" "$K" "$V"
same "ALiBi by hand" o.npy alibi.npy
verified "--score-mod, causal" --score-mod "$mods/causal.cl" --scale=0.25 "$Q" "$K" "$V"
same "the same O" o.npy causal.npy
verified "--score-mod with f16" --type f16 --score-mod "$mods/relative.cl" "$Q" "$K" "$V"
grep -q '^problem .* mod:relative ' out
ok $? "an example has a name in the problem string"
printf '// clattn: vector\n%s' 's = 0.5f * tanh(s / 0.5f);' >cap.cl
verified "--score-mod that is width-generic" --score-mod cap.cl "$Q" "$K" "$V"
same "softcap by hand" o.npy capped.npy
grep '^problem' out | grep -q mod:
test $? -eq 1
ok $? "another text has none"
real worth.npy '<f4' 4 123
ints kind.npy 0 1 2 3 2 1 0
printf '%s\n' 'const int i = q % 7, j = k % 7;' 'if (kind[i] == kind[j])' '    s += worth[k];' 'else if (k % 5 == b + h)' \
    '    s = -INFINITY;' >kinds.cl
verified "--score-mod and --aux" --score-mod kinds.cl --aux worth=worth.npy --aux=kind=kind.npy "$Q" "$K" "$V"
verified "two of them, and all else" --score-mod kinds.cl --aux worth=worth.npy --aux=kind=kind.npy --score-mod cap.cl \
    --softcap 2 --window=40,20 --causal --align some3.npy --bias bias3.npy --mask mask2.npy --alibi alibi2.npy \
    --sinks sinks.npy --kv-len "$L" --kv-start from3.npy --q-len "$L" "$Q" "$K" "$V"
if "$program" --device "$device" --type f64 q.npy k.npy v.npy >/dev/null 2>&1; then
    verified "and in f64" --type f64 --score-mod kinds.cl --aux worth=worth.npy --aux=kind=kind.npy --score-mod cap.cl \
        --softcap 2 --window=40,20 --bias bias0.npy --mask mask2.npy --alibi alibi2.npy --sinks sinks.npy "$Q" "$K" "$V"
else
    skip "no f64"
fi
printf 'const int i = q;\ns += nonsense;\n' >bad.cl
rm -f o.npy
on -o o.npy --score-mod kinds.cl --score-mod bad.cl --aux worth=worth.npy --aux=kind=kind.npy "$Q" "$K" "$V"
test $status -eq 1 && test ! -s out && test ! -e o.npy && grep -q 'bad\.cl:2' err && grep -q nonsense err &&
    tail -n 1 err | grep -q '^clattn-run: --score-mod: bad.cl: '
ok $? "what the compiler says against a text is shown, with its file and line"
refused 1 'means something else in a score_mod' --device "$device" --score-mod mod.cl --aux k=four.npy q.npy k.npy v.npy

# Packed sequences; qs.npy and its kin hold [b,n,h,d], which is [total,h,d] of equal sequences.
for x in q k v; do
    raw ${x}s.npy | npy '<f4' '(369, 4, 32)' >${x}p.npy
done
ints equal.npy 0 123 246 369
ints cuq.npy 0 100 100 369
ints cuk.npy 0 1 120 369
verified "packed sequences" --cu-q equal.npy --cu-k equal.npy --causal --scale=0.25 qp.npy kp.npy vp.npy
grep -q "'shape': (369,4,32)" o.npy && grep -q "'shape': (4,369)" lse.npy
ok $? "O has the axes [total,h,d] and LSE [h,total]"
raw o.npy | npy '<f4' '(3, 123, 4, 32)' >padded.npy
swap padded.npy back.npy 123 4
same "the O of padded ones" back.npy causal.npy
verified "uneven ones" --cu-q cuq.npy --cu-k cuk.npy --causal --alibi alibi2.npy --window=100,30 qp.npy kp.npy vp.npy
grep -q '^problem *f32 b3 h4 q269 k249 d32 causal window100,30 alibi qlen:100,0,269 kvlen:1,119,249 lse$' out
ok $? "the problem string has words for padded ones that compute the same"
real bias.npy '<f4' 4 1 4 269 1
mask mask.npy '|u1' '\001-\377' 3 1 1 249
ints len3.npy 200 50 100
verified "with bias, mask and lengths" --cu-q cuq.npy --cu-k cuk.npy --bias bias.npy --mask mask.npy --kv-len len3.npy \
    --sinks sinks.npy --score-mod "$mods/relative.cl" qp.npy kp.npy vp.npy
ints varq.npy 0 62 185 369
verified "those of the word varlen" --cu-q varq.npy --cu-k varq.npy qp.npy kp.npy vp.npy
ints none.npy 0
tensor qb0.npy '<f4' 4 0 4 8
tensor kb0.npy '<f4' 4 0 2 8
tensor vb0.npy '<f4' 4 0 2 3
verified "no sequences" --cu-q none.npy --cu-k none.npy qb0.npy kb0.npy vb0.npy

tensor k0.npy '<f4' 4 2 2 0 8
tensor v0.npy '<f4' 4 2 2 0 3
tensor q0.npy '<f4' 4 2 4 0 8
tensor zero.npy '<f4' 4 2 4 5 3
verified "no keys" q.npy k0.npy v0.npy
same "give O = 0" o.npy zero.npy
verified "no queries" q0.npy k.npy v.npy
verified "neither" --causal q0.npy k0.npy v0.npy
tensor qb0.npy '<f4' 4 0 4 5 8
tensor kb0.npy '<f4' 4 0 2 7 8
tensor vb0.npy '<f4' 4 0 2 7 3
verified "no batch" qb0.npy kb0.npy vb0.npy
tensor q8.npy '<f8' 8 2 4 5 8
verified "<f8 input" q8.npy k.npy v.npy
grep -q '^problem *f32 ' out
ok $? "is stored as f32"
tensor q2.npy '<f2' 2 2 4 5 8
verified "<f2 queries" q2.npy k.npy v.npy
grep -q '^problem *f16 b2 h4/2 q5 k7 d8/3 lse$' out
ok $? "make the problem f16"

on --json --time 3 --verify -o o.npy "$Q" "$K" "$V"
keys='version platform device problem engine tile source plan_ms time_ms gflops gbytes_s max_error bound binary'
pattern=
for key in $keys; do pattern="$pattern, \"$key\": \\(\"[^\"]*\"\\|[-+.0-9e]*\\|null\\)"; done
test $status -eq 0 && test "$(wc -l <out)" -eq 1 && grep -qx "{${pattern#, }}" out
ok $? "--json prints one object with the keys of the manual"
grep -q '"source": "default".*"max_error": [0-9].*"binary": null' out && ! grep -q '"time_ms": null' out
ok $? "with what was measured"
on --json "$Q" "$K" "$V"
test $status -eq 0 && grep -q '"time_ms": null, "gflops": null, "gbytes_s": null, "max_error": null, "bound": null' out
ok $? "and null for what was not"

on --json --causal --align some3.npy --kv-len "$L" "$Q" "$K" "$V"
test $status -eq 0 && grep -q '"problem": "f32 b3 h4 q123 k123 d32 causal kvlen:' out
ok $? "a problem without words for its offsets is a string all the same"

config=$(sed -n 's/.*"engine": "\([^"]*\)", "tile": "\([^"]*\)".*/\1 \2/p' out)
on --json --engine "${config%% *}" --tile "${config#* }" "$Q" "$K" "$V"
test $status -eq 0 && grep -qF "\"engine\": \"${config%% *}\", \"tile\": \"${config#* }\"" out
ok $? "--engine and --tile take what was reported ($config)"

# Outputs, all or none.
mkdir directory
refused 1 '--lse: directory: it is not a regular file' -o o.npy --lse directory --device "$device" q.npy k.npy v.npy
refused 1 '-o: none/o.npy: No such file' --lse lse.npy -o none/o.npy --device "$device" q.npy k.npy v.npy
refused 1 'writes the same file' -o o.npy --lse o.npy --device "$device" q.npy k.npy v.npy
refused 1 'writes the same file' -o o.npy --lse directory/.././o.npy --device "$device" q.npy k.npy v.npy
cp zero.npy mode.npy && chmod 604 mode.npy
on -o mode.npy q.npy k.npy v.npy
test $status -eq 0 && test -n "$(find mode.npy -perm 604)"
ok $? "a file that is replaced keeps its mode"
on -o q8.npy q8.npy k.npy v.npy
test $status -eq 0 && "$compare" q8.npy zero.npy >/dev/null
ok $? "an output may replace an input"
if test -w /dev/full; then
    "$program" --device "$device" q.npy k.npy v.npy >/dev/full 2>err </dev/null
    test $? -eq 1 && grep -q 'standard output cannot be written' err
    ok $? "a full standard output is an error"
else
    skip "no /dev/full"
fi
test -z "$(ls -A | grep '^\.clattn')"
ok $? "no temporary file is left"

# ---- clattn-bench ----

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
