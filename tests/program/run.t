#!/bin/sh
# run.t - clattn-run at work: what it computes, prints and writes
# SPDX-License-Identifier: Apache-2.0
#
# make check has each option once, many of them in one command, as it is building kernels that takes long; CLATTN_PART
# has what each does alone, and that it does the same as other words for the same thing.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

if usual; then
    need_device
    test $status -eq 0 && grep -q '^engine ' out && test ! -e o.npy
    ok $? "without -o it computes and reports"

    refused 2 'no device is called "no such thing"; there is "' --device 'no such thing' -o o.npy q.npy k.npy v.npy
    run --list-devices
    line='^[0-9]*:[0-9]*  [A-Za-z]*  *.* / .*, driver .*, \(engine [a-z_]*\|not usable: .*\)\( (default)\)\{0,1\}$'
    test $status -eq 0 && test ! -s err && test "$(grep -c ' (default)$' out)" -eq 1 && test -z "$(grep -v "$line" out)"
    ok $? "--list-devices: $(head -n 1 out)"
    run --device "$(printf '%s' "$device" | tr 'a-z' 'A-Z')" q.npy k.npy v.npy
    test $status -eq 0
    ok $? "the name of a device in capital letters"
    on --engine none q.npy k.npy v.npy
    test $status -eq 1 || test $status -eq 3 && test "$(grep -c '^clattn-run: ' err)" -eq 1
    ok $? "an engine that does not exist is refused"
else
    need_device
fi

# Each thing on real numbers, against float64, by the engine that is built and run soonest; the first serves as the
# standard of the others. Where it does not matter what is combined with what, commands share a program: a new one takes
# most of a second.
verified() { # DESCRIPTION ARGS...
    what=$1
    shift
    rm -f o.npy lse.npy
    on --engine row --verify -o o.npy --lse lse.npy "$@"
    test $status -eq 0 && grep -q '^max-error [-+.0-9e]* bound [-+.0-9e]*$' out && test -s o.npy && test -s lse.npy
    ok $? "$what"
}
same() { # DESCRIPTION FILE FILE: equal up to rounding
    difference=$("$compare" "$2" "$3") && awk -v x="$difference" 'BEGIN { exit !(x < 1e-5) }'
    ok $? "$1 (${difference-})"
}
causal() { # causal.npy, which others are compared with
    if test ! -e causal.npy; then
        verified "causal" --causal --scale=0.25 "$Q" "$K" "$V"
        mv o.npy causal.npy
    fi
}
as_causal() { # DESCRIPTION ARGS...: and the same O
    causal
    verified "$@"
    same "the same O" o.npy causal.npy
}
Q=$data/q.npy K=$data/k.npy V=$data/v.npy L=$data/kv_len.npy
ints zero3.npy 0 0 0
ints some3.npy 5 -1 0
ints from3.npy 0 100 123
if usual; then
    verified "lengths" --kv-len "$L" "$Q" "$K" "$V"
    same "LSE as stored" lse.npy "$data/lse.npy"
    as_causal "offset 0 is causal where nq = nk" --causal --scale 0.25 --align 0 "$Q" "$K" "$V"
    as_causal "top-left too" --causal --align top-left --scale 0.25 -- "$Q" "$K" "$V"
    as_causal "and offsets of 0" "$Q" --causal "$K" --align zero3.npy --scale 0.25 "$V"
fi
offsets() {
    set -- --causal --align some3.npy --kv-len "$L" --kv-start from3.npy --q-len "$L" "$Q" "$K" "$V"
    verified "offsets and every length" "$@"
    on --json --engine row --lse lse.npy "$@"
    test $status -eq 0 && grep -q '"problem": "f32 b3 h4 q123 k123 d32 causal qlen:' out
    ok $? "a problem without words for its offsets is a string all the same"
}
due offsets
for type in f16 bf16; do
    due verified "--type $type" --type $type --causal "$Q" "$K" "$V"
done
f64() { # ARGS...: whether the device has it, which can be told of a problem that is run
    on --engine row --type f64 -o o.npy --lse lse.npy "$@"
    test $status -ne 3
}
in_f64() { # DESCRIPTION ARGS...
    what=$1
    shift
    if f64 "$@"; then
        verified "$what" --type f64 "$@"
        head -c 128 o.npy | grep -q '<f8' && head -c 128 lse.npy | grep -q '<f4'
        ok $? "O is <f8 and LSE <f4 then"
    else
        skip "no f64: $(sed 's/^clattn-run: //' err | tail -n 1)"
    fi
}
due in_f64 "--type f64" --kv-len "$L" "$Q" "$K" "$V"

# [b,n,h,d], which is [total,h,d] of equal sequences, and rows of pages.
for x in q k v; do swap "$data/$x.npy" ${x}s.npy 4 123; done
if usual; then
    causal
    verified "--layout bthd" --layout bthd --scale=0.25 --causal qs.npy ks.npy vs.npy
    "$compare" o.npy causal.npy >out
    test $? -eq 1
    ok $? "O has the axes [b,n,h,d]"
    swap o.npy back.npy 123 4
    same "the same O in the other order" back.npy causal.npy
fi

for k in K V; do # the first entry of the batch for all
    eval "tail -c +129 \"\$$k\"" | head -c 62976 | npy '<f4' '(1, 4, 123, 32)' >one_$k.npy
    tail -c 62976 one_$k.npy >raw
    cat raw raw raw | npy '<f4' '(3, 4, 123, 32)' >three_$k.npy
done
shared() { # ARGS...: shared.npy
    verified "keys shared by the batch" "$@" "$Q" one_K.npy one_V.npy
    mv o.npy shared.npy
}
keys_shared() {
    shared --kv-len "$L"
    verified "the same keys three times" --kv-len "$L" "$Q" three_K.npy three_V.npy
    same "give the same O" o.npy shared.npy
}
if usual; then keys_shared; fi

# What changes scores and drops keys.
mods=$top_srcdir/examples/score_mods
printf '// clattn: vector\n%s' 's = 0.5f * tanh(s / 0.5f);' >cap.cl
capped() {
    verified "--softcap" --softcap 0.5 "$Q" "$K" "$V"
    mv o.npy capped.npy
    verified "--score-mod that is width-generic" --score-mod cap.cl "$Q" "$K" "$V"
    same "softcap by hand" o.npy capped.npy
    grep '^problem' out | grep -q mod:
    test $? -eq 1
    ok $? "another text has no name in the problem string"
}
due capped
windows() {
    verified "--window" --window=10,3 "$Q" "$K" "$V"
    verified "--window to one side, elsewhere" --window -1,2 --align -9 "$Q" "$K" "$V"
    verified "--window and offsets" --window 5,-1 --align some3.npy --kv-len "$L" "$Q" "$K" "$V"
}
due windows
due as_causal "--window without bounds is none" --window -1,-1 --causal --scale=0.25 "$Q" "$K" "$V"
real bias4.npy '<f4' 4 3 4 123 1
real bias3.npy '<f4' 4 4 1 123
real bias2.npy '<f2' 2 123 123
tensor bias0.npy '<f8' 8 1
due verified "--bias with 4 axes" --bias bias4.npy --causal "$Q" "$K" "$V"
due verified "--bias with 3" --bias bias3.npy --causal "$Q" "$K" "$V"
halves() {
    verified "--bias of <f2, with 2" --bias=bias2.npy "$Q" "$K" "$V"
    grep -q '^problem .* bias:11qk:f16 ' out
    ok $? "is stored as f16"
}
due halves
due as_causal "--bias of <f8, with 1, of zeros" --bias bias0.npy --causal --scale=0.25 "$Q" "$K" "$V"
mask bytes2.npy '|u1' '\001-\377' 123 123
mask mask2.npy '|b1' '\001' 123 123
mask mask4.npy '|u1' '\001-\377' 3 1 1 123
masks() {
    verified "--mask of bytes" --mask bytes2.npy "$Q" "$K" "$V"
    mv o.npy masked.npy
    verified "--mask of bools" --mask mask2.npy "$Q" "$K" "$V"
    same "the same O" o.npy masked.npy
    verified "--mask for keys" --mask mask4.npy "$Q" "$K" "$V"
}
due masks
# Blocks of 16 queries and 40 keys: 8 by 4. cells prints 123 by 123 bytes, 1 where a condition on query, key and the
# byte m of their block says so.
map='(3 * int(q / 16) + 5 * int(k / 40)) % 4' # 0 to 3, about as many of each
cells() { # CONDITION
    awk "BEGIN { for (q = 0; q < 123; q++) for (k = 0; k < 123; k++) { m = $map; printf \"%d\", ($1) ? 1 : 0 } }" |
        tr '01' '\000\001' | npy '|u1' '(123, 123)'
}
awk "BEGIN { for (q = 0; q < 128; q += 16) for (k = 0; k < 160; k += 40) printf \"%d\", $map }" | tr '0-3' '\000-\003' |
    npy '|u1' '(8, 4)' >map.npy
size='--block-size 16,40'
cells 'm > 0 && (m == 2 || (q + k) % 3)' >thinned.npy # what is left
cells 'm == 2 || (q + k) % 3' >thin.npy               # and would be without the blocks of 0
maps() {
    cells 'm > 0' >mapped.npy
    verified "--block-map" --block-map map.npy $size "$Q" "$K" "$V"
    mv o.npy blocks.npy
    verified "a mask of the same elements" --mask mapped.npy "$Q" "$K" "$V"
    same "gives the same O" o.npy blocks.npy
}
due maps
maps_and_masks() {
    verified "--block-map and --mask" --block-map map.npy $size --mask thin.npy "$Q" "$K" "$V"
    mv o.npy blocks.npy
    verified "a mask of the same elements" --mask thinned.npy "$Q" "$K" "$V"
    same "gives the same O" o.npy blocks.npy
    verified "a map made from the mask" --mask thinned.npy $size "$Q" "$K" "$V"
    same "gives the same O" o.npy blocks.npy
}
due maps_and_masks
raw map.npy | npy '|b1' '(1, 8, 4)' >map3.npy
map_and_all() {
    verified "--block-map with all else" --block-map map3.npy $size --mask thin.npy --causal --window=40,20 \
        --bias bias3.npy --kv-len "$L" --kv-start from3.npy --q-len "$L" --type f16 --softcap 2 "$Q" "$K" "$V"
    grep -q '^problem .* blocks:16,40 ' out
    ok $? "is in the problem string"
}
due map_and_all
real alibi2.npy '<f4' 4 3 4
printf '\000\000\000\077\000\000\200\076\000\000\000\076\000\000\200\075' | npy '<f4' '(4,)' >alibi1.npy # 1/2 to 1/16
real sinks.npy '<f4' 4 4
slopes() {
    verified "--alibi for all entries" --alibi alibi1.npy --align top-left "$Q" "$K" "$V"
    mv o.npy alibi.npy
    verified "--alibi for each" --alibi alibi2.npy "$Q" "$K" "$V"
    verified "--score-mod" --score-mod "$mods/alibi.cl" "$Q" "$K" "$V"
    same "ALiBi by hand" o.npy alibi.npy
}
due slopes
real bias12.npy '<f4' 4 2 123 123
repeated() {
    verified "--repeat and --bias-slopes" --bias bias12.npy --repeat --bias-slopes alibi2.npy --causal "$Q" "$K" "$V"
    grep -q '^problem .* bias:12qk slopes ' out
    ok $? "is in the problem string"
}
due repeated
due verified "--dropout" --dropout 0.3 --dropout-seed 12345678901234567890 --dropout-offset 7 --causal "$Q" "$K" "$V"
drops() { # what --dropout-seed and --dropout-offset say shows
    verified "a seed beyond 2^32" --dropout 0.5 --dropout-seed 8589934593 "$Q" "$K" "$V"
    mv o.npy seed.npy
    for other in "--dropout-seed 1" "--dropout-seed 8589934593 --dropout-offset 1"; do
        verified "$other" --dropout 0.5 $other "$Q" "$K" "$V"
        ! cmp -s o.npy seed.npy
        ok $? "drops other weights"
    done
    verified "the same once more" --dropout 0.5 --dropout-offset 0 --dropout-seed 8589934593 "$Q" "$K" "$V"
    cmp o.npy seed.npy
    ok $? "drops the same"
}
due drops
scores() { # every stage, verified; products before anything changes or masks them, weights of what is seen
    verified "--scores of each stage" --causal --softcap 2 --dropout 0.25 --scores products=p.npy \
        --scores changed=c.npy --scores masked=m.npy --scores=weights=w.npy "$Q" "$K" "$V"
    for stage in products changed masked weights; do
        grep -q "^$stage-error .* bound " out
        ok $? "$stage are compared with float64"
    done
    grep -q "'shape': (3,4,123,123)" w.npy && grep -q "'<f4'" w.npy
    ok $? "[b,h,nq,nk] in f4"
    verified "--scores alone" --scores products=plain.npy "$Q" "$K" "$V"
    cmp -s p.npy plain.npy
    ok $? "products are those of a call without masks, to the bit"
    verified "--scores in f16" --type f16 --scores weights=w16.npy "$Q" "$K" "$V"
}
due scores
due verified "--sinks" --sinks sinks.npy --causal --align -3 "$Q" "$K" "$V"

due as_causal "--score-mod, causal" --score-mod "$mods/causal.cl" --scale=0.25 "$Q" "$K" "$V"
relative() {
    verified "--score-mod with f16" --type f16 --score-mod "$mods/relative.cl" "$Q" "$K" "$V"
    grep -q '^problem .* mod:relative ' out
    ok $? "an example has a name in the problem string"
}
due relative
real worth.npy '<f4' 4 123
ints kind.npy 0 1 2 3 2 1 0
printf '%s\n' 'const int i = q % 7, j = k % 7;' 'if (kind[i] == kind[j])' '    s += worth[k];' \
    'else if (k % 5 == b + h)' \
    '    s = -INFINITY;' >kinds.cl
due verified "--score-mod and --aux" --score-mod kinds.cl --aux worth=worth.npy --aux=kind=kind.npy "$Q" "$K" "$V"
if usual; then
    verified "two of them, and all else" --score-mod kinds.cl --aux worth=worth.npy --aux=kind=kind.npy \
        --score-mod cap.cl --softcap 2 --window=40,20 --causal --align some3.npy --bias bias3.npy --mask thin.npy \
        --block-map map3.npy $size --alibi alibi2.npy --sinks sinks.npy --kv-len "$L" --kv-start from3.npy \
        --q-len "$L" "$Q" "$K" "$V"
    grep -q '^problem .* blocks:16,40 ' out
    ok $? "a block map is in the problem string"
fi
all_in_f64() {
    set -- --score-mod kinds.cl --aux worth=worth.npy --aux=kind=kind.npy --score-mod cap.cl --softcap 2 \
        --window=40,20 --bias bias0.npy --mask mask2.npy --alibi alibi2.npy --sinks sinks.npy "$Q" "$K" "$V"
    if f64 "$@"; then
        verified "two of them in f64" --type f64 "$@"
    else
        skip "no f64"
    fi
}
due all_in_f64
if usual; then
    printf 'const int i = q;\ns += nonsense;\n' >bad.cl
    rm -f o.npy
    on -o o.npy --score-mod kinds.cl --score-mod bad.cl --aux worth=worth.npy --aux=kind=kind.npy "$Q" "$K" "$V"
    test $status -eq 1 && test ! -s out && test ! -e o.npy && grep -q 'bad\.cl:2' err && grep -q nonsense err &&
        tail -n 1 err | grep -q '^clattn-run: --score-mod: bad.cl: '
    ok $? "what the compiler says against a text is shown, with its file and line"
fi
# Their gradients, beside those of what the library does itself.
real do.npy '<f4' 4 3 4 123 32
gradients() { # DESCRIPTION ARGS...
    what=$1
    shift
    rm -f d[qkv].npy
    on --dout do.npy --dq dq.npy --dk dk.npy --dv dv.npy "$@" "$Q" "$K" "$V"
    test $status -eq 0 && test -s dq.npy && test -s dk.npy && test -s dv.npy
    ok $? "$what"
}
printf '// clattn: vector\n%s\n%s' 'const real t = tanh(s / 0.5f);' 'ds *= 1.0f - t * t;' >capgrad.cl
cap_gradients() {
    gradients "gradients with --softcap" --softcap 0.5
    for x in q k v; do mv d$x.npy of-d$x.npy; done
    gradients "--score-mod-grad" --score-mod cap.cl --score-mod-grad capgrad.cl
    for x in q k v; do same "the same d$x" d$x.npy of-d$x.npy; done
}
due cap_gradients
echo 's += worth[k];' >worth.cl
echo 'worth_index = k; worth_grad = ds;' >worthgrad.cl
worth_gradients() {
    raw worth.npy | npy '<f4' '(1, 1, 1, 123)' >worths.npy
    gradients "--dbias" --causal --bias worths.npy --dbias dworths.npy
    for x in q k v; do mv d$x.npy of-d$x.npy; done
    raw dworths.npy | npy '<f4' '(123,)' >of-dworth.npy
    gradients "--daux" --causal --score-mod worth.cl --score-mod-grad worthgrad.cl --aux worth=worth.npy \
        --daux worth=dworth.npy
    for x in q k v; do same "the same d$x" d$x.npy of-d$x.npy; done
    difference=$("$compare" dworth.npy of-dworth.npy) && awk -v x="$difference" 'BEGIN { exit !(x < 0.01) }'
    ok $? "the same dworth, of sums up to 1156 (${difference-})"
}
due worth_gradients
due gradients "two of them" --score-mod cap.cl --score-mod worth.cl --score-mod-grad capgrad.cl \
    --score-mod-grad=worthgrad.cl --aux worth=worth.npy
bad_derivative() {
    echo 'ds *= nonsense;' >badgrad.cl
    on --dout do.npy --dq dq.npy --score-mod cap.cl --score-mod-grad badgrad.cl "$Q" "$K" "$V"
    test $status -eq 1 && grep -q 'derivative of cap\.cl:1' err && grep -q nonsense err &&
        tail -n 1 err | grep -q '^clattn-run: --score-mod-grad: badgrad.cl: '
    ok $? "what the compiler says against a derivative is shown"
}
due bad_derivative
mod_refusals() {
    mod="--score-mod worth.cl --score-mod-grad worthgrad.cl --aux worth=worth.npy --aux kind=kind.npy --dout do.npy"
    refused 3 '--verify: gradients of score_mods are not checked' --device "$device" --verify --causal \
        --score-mod worth.cl --score-mod-grad worthgrad.cl --aux worth=worth.npy --daux worth=dw.npy --dout do.npy \
        --dq dq.npy --dk dk.npy --dv dv.npy "$Q" "$K" "$V"
    refused 1 '--daux: dw.npy is not NAME=D.npy' --device "$device" $mod --daux dw.npy "$Q" "$K" "$V"
    refused 1 '--daux: wort=dw.npy: there is no --aux' --device "$device" $mod --daux wort=dw.npy "$Q" "$K" "$V"
    refused 1 '--daux: kind=dw.npy: only a buffer of <f4' --device "$device" $mod --daux kind=dw.npy "$Q" "$K" "$V"
    refused 1 '--daux: worth=x: it is written already' --device "$device" $mod --daux worth=dw.npy --daux worth=x \
        "$Q" "$K" "$V"
    tensor four.npy "<f4" 4 4
    echo "s += x[k];" >mod.cl
    refused 1 'means something else in a score_mod' --device "$device" --score-mod mod.cl --aux k=four.npy q.npy k.npy \
        v.npy
}
if usual; then
    gradients "--score-mod-grad and --daux" --causal --score-mod worth.cl --score-mod-grad worthgrad.cl \
        --aux worth=worth.npy --daux worth=dworth.npy
    grep -q "'shape': (123,)" dworth.npy
    ok $? "the gradient has the shape of its buffer"
    mod_refusals
fi

# Varlen sequences.
for x in q k v; do
    raw ${x}s.npy | npy '<f4' '(369, 4, 32)' >${x}p.npy
done
ints equal.npy 0 123 246 369
ints cuq.npy 0 100 100 369
ints cuk.npy 0 1 120 369
sequences() {
    causal
    verified "varlen sequences" --cu-q equal.npy --cu-k equal.npy --causal --scale=0.25 qp.npy kp.npy vp.npy
    grep -q "'shape': (369,4,32)" o.npy && grep -q "'shape': (4,369)" lse.npy
    ok $? "O has the axes [total,h,d] and LSE [h,total]"
    raw o.npy | npy '<f4' '(3, 123, 4, 32)' >padded.npy
    swap padded.npy back.npy 123 4
    same "the O of padded ones" back.npy causal.npy
    ints varq.npy 0 62 185 369
    verified "those of the word varlen" --cu-q varq.npy --cu-k varq.npy --causal --scale=0.25 qp.npy kp.npy vp.npy
    ints none.npy 0
    tensor qb0.npy '<f4' 4 0 4 32
    tensor kb0.npy '<f4' 4 0 2 32
    tensor vb0.npy '<f4' 4 0 2 32
    verified "no sequences" --cu-q none.npy --cu-k none.npy --causal --scale=0.25 qb0.npy kb0.npy vb0.npy
}
due sequences
uneven() { # TYPE COMMAND...
    type=$1
    shift
    "$@" --cu-q cuq.npy --cu-k cuk.npy --causal --alibi alibi2.npy --window=100,30 qp.npy kp.npy vp.npy
    test $status -ne 3 || return # no f64, which is skipped
    grep -q "^problem *$type b3 h4 q269 k249 d32 causal window100,30 alibi qlen:100,0,269 kvlen:1,119,249 lse\$" out
    ok $? "the problem string has words for padded ones that compute the same"
}
if usual; then uneven f64 in_f64 "uneven sequences, in f64"; fi
due uneven f32 verified "uneven sequences"
real bias.npy '<f4' 4 1 4 269 1
mask mask.npy '|u1' '\001-\377' 3 1 1 249
ints len3.npy 200 50 100
due verified "with bias, mask and lengths" --cu-q cuq.npy --cu-k cuk.npy --bias bias.npy --mask mask.npy \
    --kv-len len3.npy --sinks sinks.npy --score-mod "$mods/relative.cl" qp.npy kp.npy vp.npy
mask mapv.npy '|u1' '\001-\377' 3 1 17 7
due verified "with a block map" --cu-q cuq.npy --cu-k cuk.npy --causal --block-map mapv.npy --block-size 16,40 \
    qp.npy kp.npy vp.npy

# Pages of 41 rows, from ks.npy and vs.npy, [b,n,h,d]; then the same pages in the opposite order.
page=20992
for x in k v; do
    raw ${x}s.npy >rows && npy '<f4' '(9, 41, 4, 32)' <rows >${x}pages.npy
    for i in 8 7 6 5 4 3 2 1 0; do tail -c +$((i * page + 1)) rows | head -c $page; done | npy '<f4' '(9, 41, 4, 32)' \
        >${x}back.npy
done
table() { # FILE ENTRIES...: of three sequences
    target=$1
    shift
    ints flat.npy "$@"
    raw flat.npy | npy '<i4' "(3, $(($# / 3)))" >"$target"
}
table forth.npy 0 1 2 3 4 5 6 7 8
table order.npy 8 7 6 5 4 3 2 1 0
table unread.npy 0 -1 65535 3 4 -1 6 7 8
if usual; then
    as_causal "--block-table" --block-table forth.npy --causal --scale=0.25 "$Q" kpages.npy vpages.npy
    as_causal "pages in another order" --block-table order.npy --causal --scale=0.25 "$Q" kback.npy vback.npy
fi
short_pages() {
    causal
    verified "pages, with Q and O in the other order" --layout bthd --block-table forth.npy --causal --scale=0.25 \
        qs.npy kpages.npy vpages.npy
    swap o.npy back.npy 123 4
    same "the same O again" back.npy causal.npy
    ints within3.npy 41 82 100
    verified "lengths of padded keys" --kv-len within3.npy "$Q" "$K" "$V"
    mv o.npy within.npy
    verified "and of pages, where entries behind them lead nowhere" --block-table unread.npy --kv-len within3.npy "$Q" \
        kpages.npy vpages.npy
    same "give the same O" o.npy within.npy
    grep -q '^problem *f32 b3 h4 q123 k123 d32 page41 kvlen:41,82,100 lse$' out
    ok $? "the problem string has a word for pages"
}
due short_pages
shared_pages() {
    shared
    table alike.npy 0 1 2 0 1 2 0 1 2
    verified "pages that sequences share" --block-table alike.npy "$Q" kpages.npy vpages.npy
    same "are keys shared by the batch" o.npy shared.npy
    verified "entries that are no page" --block-table unread.npy "$Q" kpages.npy vpages.npy
    tensor notable.npy '<i4' 4 3 0
    verified "no entries at all" --block-table notable.npy "$Q" kpages.npy vpages.npy
}
due shared_pages

# Quantised K and V: of floats, and of bytes with scales of every shape.
quantised() { # k|v TYPE
    verified "--$1-type $2" --$1-type $2 "$Q" "$K" "$V"
    grep -q "^problem .* $1:$2 lse$" out
    ok $? "is in the problem string"
}
for type in int8 int4 q8_0 q4_0 q4_1 q5_0 q5_1; do
    for x in k v; do due quantised $x $type; done
done
different_types() {
    verified "K and V of different types" --k-type q4_0 --v-type int8 --type f16 --causal "$Q" "$K" "$V"
    grep -q '^problem .* k:q4_0 v:int8 ' out
    ok $? "are in the problem string"
}
due different_types
real k8.npy '|i1' 1 3 4 123 32
real v8.npy '|i1' 1 3 4 123 32
printf '\000\000\200\074' | npy '<f4' '(1, 1, 1, 1)' >tensor1.npy # 1/64
printf '\000\000\100\100' | npy '<f4' '(1, 1, 1, 1)' >three1.npy  # 3
printf '\000\000\200\074\000\000\000\075\000\000\200\073\000\000\000\074' >scales # 1/64, 1/32, 1/256, 1/128
npy '<f4' '(1, 4, 1, 1)' <scales >head1.npy
npy '<f4' '(1, 1, 4, 1)' <scales >head2.npy # of [b,n,h,d], and of pages
head -c 8 scales | npy '<f4' '(1, 1, 1, 2)' >group1.npy
for i in 1 2 3 4 5 6 7 8; do cat scales; done | npy '<f4' '(1, 1, 1, 32)' >channel1.npy
tokens() { # a scale for each
    test -e token1.npy ||
        awk 'BEGIN { for (i = 0; i < 369; i++) print }' | while read -r line; do cat scales; done |
        npy '<f4' '(3, 4, 123, 1)' >token1.npy
}
bytes() {
    verified "|i1 with a scale" --k-scale tensor1.npy --v-scale tensor1.npy "$Q" k8.npy v8.npy
    grep -q '^problem *f32 b3 h4 q123 k123 d32 k:int8 v:int8 lse$' out
    ok $? "is int8"
    verified "and with a zero point" --k-scale tensor1.npy --k-zero three1.npy --v-scale tensor1.npy "$Q" k8.npy v8.npy
    grep -q ' k:int8z v:int8 ' out
    ok $? "which the problem string has a letter for"
}
due bytes
if usual; then
    verified "floats that are made q4_0, and |i1 with a scale for each group and a zero point" --k-type q4_0 \
        --v-scale group1.npy --v-zero three1.npy --type f16 --causal "$Q" "$K" v8.npy
    grep -q ' k:q4_0 v:int8:16z ' out
    ok $? "are in the problem string"
fi
group_scales() {
    verified "a scale for each head, and for each group" --k-scale head1.npy --v-scale group1.npy "$Q" k8.npy v8.npy
    grep -q ' k:int8 v:int8:16 ' out
    ok $? "and a number for"
}
due group_scales
token_scales() {
    tokens
    verified "for each token, and for each channel" --k-scale token1.npy --v-scale channel1.npy "$Q" k8.npy v8.npy
}
due token_scales
scaled_keys() {
    tokens
    verified "K alone" --k-scale token1.npy --causal "$Q" k8.npy "$V"
}
due scaled_keys
due verified "V alone, in f16" --v-scale tensor1.npy --v-zero three1.npy --type f16 --causal "$Q" "$K" v8.npy
shared_bytes() {
    real one8.npy '|i1' 1 1 4 123 32
    verified "shared by the batch" --k-scale head1.npy --v-scale channel1.npy "$Q" one8.npy one8.npy
}
due shared_bytes
nibbles() {
    tokens
    raw k8.npy | tr '\010-\367' '\000-\007\370-\377' | npy '|i1' '(3, 4, 123, 32)' >k4.npy
    verified "--k-type int4 of |i1" --k-type int4 --k-scale token1.npy --k-zero three1.npy "$Q" k4.npy "$V"
    grep -q ' k:int4z ' out
    ok $? "is int4"
}
due nibbles
swapped_bytes() {
    raw k8.npy | npy '|i1' '(3, 123, 4, 32)' >k8s.npy
    verified "--layout bthd" --layout bthd --k-scale head2.npy --v-type int8 qs.npy k8s.npy vs.npy
}
due swapped_bytes
paged_bytes() {
    raw k8.npy | npy '|i1' '(9, 41, 4, 32)' >k8pages.npy
    verified "in pages" --block-table order.npy --k-scale head2.npy --v-type q8_0 --causal "$Q" k8pages.npy vback.npy
}
due paged_bytes
varlen_bytes() {
    raw k8.npy | npy '|i1' '(369, 4, 32)' >k8p.npy
    npy '<f4' '(1, 4, 1)' <scales >head3.npy
    verified "varlen" --cu-q cuq.npy --cu-k cuk.npy --k-scale head3.npy --v-type int8 qp.npy k8p.npy vp.npy
}
due varlen_bytes

# Parts of the keys.
if usual; then # by the kernel of causal.npy
    as_causal "--splits" --splits 4 --causal --scale=0.25 "$Q" "$K" "$V"
    grep -q ' causal .*splits4 ' out
    ok $? "the problem string has a word for it"
    as_causal "as many as there may be" --splits=1024 --causal --scale=0.25 "$Q" "$K" "$V"
fi
invariant() {
    as_causal "--batch-invariant" --batch-invariant --causal --scale=0.25 "$Q" "$K" "$V"
    grep -q ' causal .*invariant ' out
    ok $? "the problem string has a word for it"
}
due invariant
if usual; then
    ints half3.npy 62 62 62
    rm -f o_both lse_both
    for end in --kv-len --kv-start; do
        verified "half of the keys" $end half3.npy "$Q" "$K" "$V"
        raw o.npy >>o_both && raw lse.npy >>lse_both
    done
    npy '<f4' '(2, 3, 4, 123, 32)' <o_both >o_parts.npy
    npy '<f4' '(2, 3, 4, 123)' <lse_both >lse_parts.npy
    verified "--merge" --merge o_parts.npy lse_parts.npy
    grep -q "'shape': (3,4,123,32)" o.npy && grep -q "'shape': (3,4,123)" lse.npy
    ok $? "O and LSE have the axes of a part"
    mv o.npy merged.npy && mv lse.npy merged_lse.npy
    verified "all keys at once" "$Q" "$K" "$V"
    same "give the same O" o.npy merged.npy
    same "and LSE" lse.npy merged_lse.npy
fi
real op.npy '<f4' 4 5 7 12
real lp.npy '<f4' 4 5 7
any_parts() {
    verified "parts of anything" --merge op.npy lp.npy
    real op1.npy '<f4' 4 1 12
    real lp1.npy '<f4' 4 1
    verified "one part of one row" --merge op1.npy lp1.npy
    tensor op0.npy '<f4' 4 0 7 12
    tensor lp0.npy '<f4' 4 0 7
    tensor none7.npy '<f4' 4 7 12
    verified "no parts" --merge op0.npy lp0.npy
    same "give O = 0" o.npy none7.npy
    tensor opr.npy '<f4' 4 3 0 12
    tensor lpr.npy '<f4' 4 3 0
    verified "no rows" --merge opr.npy lpr.npy
    grep -q "'shape': (0,12)" o.npy
    ok $? "give none"
}
due any_parts
due verified "parts in f16" --type f16 --merge op.npy lp.npy

nothing() { # HK D DV: no keys, no queries, no batch; and <f8
    tensor rows.npy '<f4' 4 2 4 5 "$2"
    tensor keys.npy '<f4' 4 2 "$1" 7 "$2"
    tensor values.npy '<f4' 4 2 "$1" 7 "$3"
    tensor no_rows.npy '<f4' 4 2 4 0 "$2"
    tensor no_keys.npy '<f4' 4 2 "$1" 0 "$2"
    tensor no_values.npy '<f4' 4 2 "$1" 0 "$3"
    verified "no keys" rows.npy no_keys.npy no_values.npy
    tensor zero.npy '<f4' 4 2 4 5 "$3"
    same "give O = 0" o.npy zero.npy
    verified "no queries" no_rows.npy keys.npy values.npy
    verified "neither" no_rows.npy no_keys.npy no_values.npy
    tensor b0.npy '<f4' 4 0 4 5 "$2"
    tensor kb0.npy '<f4' 4 0 "$1" 7 "$2"
    tensor vb0.npy '<f4' 4 0 "$1" 7 "$3"
    verified "no batch" b0.npy kb0.npy vb0.npy
    tensor wide.npy '<f8' 8 2 4 5 "$2"
    verified "<f8 input" wide.npy keys.npy values.npy
    grep -q '^problem *f32 ' out
    ok $? "is stored as f32"
}
if usual; then nothing 4 32 32; fi # by a kernel that there is
due nothing 2 8 3                  # shared heads, and other widths
tensor k0.npy '<f4' 4 2 2 0 8
tensor v0.npy '<f4' 4 2 2 0 3
tensor zero.npy '<f4' 4 2 4 5 3
tensor qb0.npy '<f4' 4 0 4 5 8
tensor kb0.npy '<f4' 4 0 2 7 8
tensor vb0.npy '<f4' 4 0 2 7 3
# Gradients, of O and LSE that the same call computed.
graded() { # DESCRIPTION GRADIENTS ARGS...: each of these is written, and is what float64 says
    what=$1 wanted=$2 good=0
    shift 2
    for x in $wanted; do
        rm -f $x.npy
        set -- "--$x" $x.npy "$@"
    done
    on --engine cpu --verify "$@"
    test $status -eq 0 && test "$(grep -c '^[a-z]*-error ' out)" -eq $(($(echo $wanted | wc -w) + 2)) || good=1
    for x in $wanted; do
        grep -q "^$x-error [-+.0-9e]* bound [-+.0-9e]*$" out && test -s $x.npy || good=1
    done
    ok $good "$what"
}
orders() {
    graded "gradients" "dq dk dv" --causal --dout "$V" --dlse "$data/lse.npy" "$Q" "$K" "$V"
    mv dq.npy plain.npy
    graded "--layout bthd" "dq dk" --causal --dout vs.npy --dlse "$data/lse.npy" --layout bthd qs.npy ks.npy vs.npy
    swap dq.npy back.npy 123 4
    same "the same dQ in the other order" back.npy plain.npy
    graded "of keys shared by the batch" "dk dv" --causal --dout "$V" "$Q" one_K.npy one_V.npy
    grep -q "'shape': (1,4,123,32)" dk.npy
    ok $? "are summed over it"
    on --json --engine cpu --verify --causal --dout "$V" --dq dq.npy "$Q" "$K" "$V"
    test $status -eq 0 && ! grep -q '"max_error": null' out
    ok $? "--json has the error of the worst"
}
due orders
values() {
    graded "of V alone, with lengths, in f16" dv --kv-len "$L" --q-len "$L" --dout "$V" --type f16 "$Q" "$K" "$V"
    grep -q '^problem *f16 .* o:f32' out
    ok $? "--dout keeps O in f32, since gradients are only as good as it"
}
due values
narrow() {
    on --json --engine cpu --verify --dout "$V" --dq dq.npy --type bf16 --o-type bf16 "$Q" "$K" "$V"
    test $status -eq 0 && grep -q '"problem": "bf16 ' out && ! grep -q ' o:' out
    ok $? "unless --o-type says otherwise"
}
due narrow
real gq.npy '<f4' 4 2 4 9 8
real gk.npy '<f4' 4 2 2 40 8
real gv.npy '<f4' 4 2 2 40 6
real gdo.npy '<f4' 4 2 4 9 6
real gdlse.npy '<f4' 4 2 4 9
real gbias.npy '<f4' 4 1 1 9 1
if usual; then # of the kernels that tests of such calls have
    graded "of what changes scores" "dq dk dv dbias dslopes dsinks" --causal --bias gbias.npy --alibi alibi1.npy \
        --sinks alibi1.npy --dout gdo.npy --dlse gdlse.npy gq.npy gk.npy gv.npy
    grep -q "'shape': (1,1,9,1)" dbias.npy && grep -q "'shape': (4,)" dslopes.npy && grep -q "'shape': (4,)" dsinks.npy
    ok $? "have the shapes of what they belong to"
fi
graded_all() {
    graded "of all that changes scores" "dq dk dv dbias dslopes dsinks" --softcap 0.5 --bias bias3.npy \
        --alibi alibi1.npy --sinks alibi1.npy --dout "$V" --dlse "$data/lse.npy" "$Q" "$K" "$V"
    grep -q "'shape': (4,1,123)" dbias.npy && grep -q "'shape': (4,)" dslopes.npy && grep -q "'shape': (4,)" dsinks.npy
    ok $? "have the shapes of what they belong to"
}
due graded_all
due graded "with a block map and a mask" "dq dk dv" --block-map map.npy $size --mask thin.npy --causal --dout "$V" \
    "$Q" "$K" "$V"
due graded "of varlen sequences" "dq dk dv dsinks" --causal --cu-q cuq.npy --cu-k cuk.npy --sinks alibi1.npy \
    --dout vp.npy qp.npy kp.npy vp.npy
due graded "of dropout" "dq dk dv" --dropout 0.6 --dropout-seed 5 --causal --dout gdo.npy gq.npy gk.npy gv.npy
due graded "without keys" "dq dk dsinks" --sinks alibi1.npy --dout zero.npy q.npy k0.npy v0.npy
tensor ob0.npy '<f4' 4 0 4 5 3
due graded "without a batch" "dq dk dv dsinks" --sinks alibi1.npy --dout ob0.npy qb0.npy kb0.npy vb0.npy

halved() {
    tensor q2.npy '<f2' 2 2 4 5 8
    verified "<f2 queries" q2.npy k.npy v.npy
    grep -q '^problem *f16 b2 h4/2 q5 k7 d8/3 lse$' out
    ok $? "make the problem f16"
}
due halved

# What is printed, and what is written.
usual || finish
on --json --engine row --time 3 --verify -o o.npy "$Q" "$K" "$V"
keys='version platform device problem engine tile source plan_ms time_ms gflops gbytes_s max_error bound binary'
pattern=
for key in $keys; do pattern="$pattern, \"$key\": \\(\"[^\"]*\"\\|[-+.0-9e]*\\|null\\)"; done
test $status -eq 0 && test "$(wc -l <out)" -eq 1 && grep -qx "{${pattern#, }}" out
ok $? "--json prints one object with the keys of the manual"
grep -q '"source": "default".*"max_error": [0-9].*"binary": null' out && ! grep -q '"time_ms": null' out
ok $? "with what was measured"
on --json --engine row "$Q" "$K" "$V"
test $status -eq 0 && grep -q '"time_ms": null, "gflops": null, "gbytes_s": null, "max_error": null, "bound": null' out
ok $? "and null for what was not"

config=$(sed -n 's/.*"engine": "\([^"]*\)", "tile": "\([^"]*\)".*/\1 \2/p' out)
on --json --engine "${config%% *}" --tile "${config#* }" "$Q" "$K" "$V"
test $status -eq 0 && grep -qF "\"engine\": \"${config%% *}\", \"tile\": \"${config#* }\"" out
ok $? "--engine and --tile take what was reported ($config)"

# Outputs, all or none.
mkdir directory
refused 1 '--lse: directory: it is a folder' -o o.npy --lse directory --device "$device" q.npy k.npy v.npy
refused 1 '-o: none/o.npy: No such file' --lse lse.npy -o none/o.npy --device "$device" q.npy k.npy v.npy
refused 1 'writes the same file' -o o.npy --lse o.npy --device "$device" q.npy k.npy v.npy
refused 1 'writes the same file' -o o.npy --lse directory/.././o.npy --device "$device" q.npy k.npy v.npy
tensor mode.npy '<f4' 4 2 4 5 3 && chmod 604 mode.npy
on -o mode.npy q.npy k.npy v.npy
test $status -eq 0 && test -n "$(find mode.npy -perm 604)"
ok $? "a file that is replaced keeps its mode"
tensor q8.npy '<f8' 8 2 4 5 8
cp q8.npy before.npy
refused 1 'which is only read' -o q8.npy --device "$device" q8.npy k.npy v.npy
cmp before.npy q8.npy
ok $? "an output does not replace an input"
if test -w /dev/full; then
    "$program" --device "$device" q.npy k.npy v.npy >/dev/full 2>err </dev/null
    test $? -eq 1 && grep -q 'standard output cannot be written' err
    ok $? "a full standard output is an error"
else
    skip "no /dev/full"
fi
test -z "$(ls -A | grep '^\.clattn')"
ok $? "no temporary file is left"

finish
