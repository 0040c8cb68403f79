#!/bin/sh
# files.t - .npy files of all kinds that clattn-run reads: types, orders of bytes and elements, numbers of axes
# SPDX-License-Identifier: Apache-2.0
#
# Each kind holds the numbers of a plain file, so that O must be the same to the last bit. make check has some of each;
# CLATTN_PART: all.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

need_device
as() { "$top_builddir/tests/lib/npyas" "$@" || echo "Bail out! npyas $*"; } # IN OUT TYPE C|F [AXIS...]
computes() { # ARGS...: O and LSE in o.npy and lse.npy
    rm -f o.npy lse.npy
    on $engine -o o.npy --lse lse.npy "$@"
}
standard() { # ARGS...: what later ones are compared with
    computes "$@"
    mv o.npy plain_o.npy && mv lse.npy plain_lse.npy
    ok $? "as it is: $*"
}
alike() { # DESCRIPTION ARGS...: the same data, whatever its axes are
    what=$1
    shift
    computes "$@"
    test $status -eq 0 && raw o.npy >a && raw plain_o.npy >b && cmp -s a b && raw lse.npy >a && raw plain_lse.npy >b &&
        cmp -s a b
    ok $? "the same: $what"
}
axes() { # FILE SHAPE
    head -c 128 "$1" | grep -qaF "'shape': $2"
    ok $? "$1 has the axes $2"
}
engine='--engine naive' # is built soonest
Q=$data/q.npy K=$data/k.npy V=$data/v.npy L=$data/kv_len.npy

# ---- Types and orders ----

of_type() { # TYPE ORDER
    for x in q k v; do as "$data/$x.npy" $x.npy "$1" $2; done
    alike "Q, K and V of $1 in $2 order" --type f32 --kv-len "$L" q.npy k.npy v.npy
}
lengths_of() { # TYPE
    as "$L" lengths.npy "$1" C
    alike "lengths of $1" --type f32 --kv-len lengths.npy "$Q" "$K" "$V"
}
types() {
    standard --type f32 --kv-len "$L" "$Q" "$K" "$V"
    for type in '>f4' '<f8' '>f8'; do
        for order in C F; do
            case $type$order in '>f4C' | '>f8F') of_type "$type" $order ;; *) rest && of_type "$type" $order ;; esac
        done
    done
    as "$Q" q.npy '<f4' F
    alike "Q in Fortran order alone" --kv-len "$L" q.npy "$K" "$V"
    for type in '|u1' '>i1' '<i2' '>u2' '>i4' '<u4' '<i8' '>i8' '>u8'; do
        case $type in '>u2' | '<i8') lengths_of "$type" ;; *) rest && lengths_of "$type" ;; esac
    done
}
if usual || shares 0; then types; fi
halves() {
    for x in q k v; do as "$data/$x.npy" $x.npy '<f2' C && as $x.npy ${x}_big.npy '>f2' F; done
    standard --causal q.npy k.npy v.npy
    grep -q '^problem  f16 ' out
    ok $? "which is stored as f16"
    alike "halves, big-endian and in Fortran order" --causal q_big.npy k_big.npy v_big.npy
}
due halves

# ---- Whatever else is read ----

pages_of_model() {
    for x in 0 1 2 3 4 5 6 7 8; do echo $x; done >order
    ints table.npy $(cat order)
    as table.npy table.npy '<i4' C 3 3
    for x in k v; do raw "$data/$x.npy" | npy '<f4' '(9, 41, 4, 32)' >${x}_pages.npy; done
}
if usual; then
    real bias.npy '<f4' 4 4 123 123
    mask mask.npy '|u1' '\001-\377' 123 123
    real slopes.npy '<f4' 4 3 4
    echo 's += x[q] + kind[k];' >mod.cl
    real x.npy '<f4' 4 123
    set --
    for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do set -- "$@" 0 1 2 3 2 1; done
    ints kind.npy "$@" 0 1 1
    pages_of_model
    standard --block-table table.npy --bias bias.npy --mask mask.npy --alibi slopes.npy --score-mod mod.cl \
        --aux x=x.npy --aux kind=kind.npy "$Q" k_pages.npy v_pages.npy
    as bias.npy b.npy '>f4' F && as mask.npy m.npy '>u1' F && as slopes.npy s.npy '>f8' F && as x.npy y.npy '>f4' F
    as kind.npy n.npy '<i8' C && as table.npy t.npy '>i8' F && as k_pages.npy k.npy '>f4' F
    alike "tables of pages, bias, mask, slopes and captured buffers" --block-table t.npy --bias b.npy --mask m.npy \
        --alibi s.npy --score-mod mod.cl --aux x=y.npy --aux kind=n.npy "$Q" k.npy v_pages.npy
fi
tables() {
    pages_of_model
    standard --block-table table.npy "$Q" k_pages.npy v_pages.npy
    as table.npy t.npy '>i8' F && as k_pages.npy k.npy '>f4' F
    alike "tables of pages" --block-table t.npy "$Q" k.npy v_pages.npy
}
due tables

# ---- Axes ----

raw "$Q" | head -c 62976 | npy '<f4' '(1, 4, 123, 32)' >q.npy
raw "$K" | head -c 62976 | npy '<f4' '(1, 4, 123, 32)' >k.npy
raw "$V" | head -c 62976 | npy '<f4' '(1, 4, 123, 32)' >v.npy
for x in q k v; do as $x.npy ${x}3.npy '<f4' F 4 123 32 && as $x.npy ${x}2.npy '<f4' C 492 32; done
if usual; then # with lengths, as there is a kernel for that
    ints length.npy 100
    standard --kv-len length.npy q.npy k.npy v.npy
    alike "[h,n,d]" --kv-len length.npy q3.npy k3.npy v3.npy
    axes o.npy '(4,123,32)'
    axes lse.npy '(4,123)'
    alike "Q has four axes and K and V three" --kv-len length.npy q.npy k3.npy v3.npy
    axes o.npy '(1,4,123,32)'
fi
swapped() {
    standard --layout bthd q.npy k.npy v.npy
    alike "[n,h,d]" --layout bthd q3.npy k3.npy v3.npy
    axes o.npy '(4,123,32)'
    axes lse.npy '(123,4)'
}
due swapped
for x in q k v; do as $x.npy $x.npy '<f4' C 1 1 492 32; done
rows() {
    standard --window 9,0 q.npy k.npy v.npy
    alike "[n,d]" --window 9,0 q2.npy k2.npy v2.npy
    axes o.npy '(492,32)'
    axes lse.npy '(492,)'
    alike "[n,d] in the other layout" --window 9,0 --layout bthd q2.npy k2.npy v2.npy
}
due rows
sequences() {
    ints cu.npy 0 100 492
    for x in q k v; do as $x.npy $x.npy '<f4' C 492 1 32; done
    standard --cu-q cu.npy --cu-k cu.npy q.npy k.npy v.npy
    alike "[total,d]" --cu-q cu.npy --cu-k cu.npy q2.npy k2.npy v2.npy
    axes o.npy '(492,32)'
    axes lse.npy '(492,)'
}
due sequences
pages() {
    ints table.npy 1 0
    as table.npy table.npy '<i4' C 1 2
    for x in q k v; do as $x.npy $x.npy '<f4' C 1 1 492 32; done
    for x in k v; do as $x.npy ${x}4.npy '<f4' C 2 246 1 32 && as $x.npy ${x}3.npy '>f4' F 2 246 32; done
    standard --block-table table.npy q2.npy k4.npy v4.npy
    alike "[pages,page,d]" --block-table table.npy q2.npy k3.npy v3.npy
}
due pages

# Gradients have the axes of what they belong to.
gradients() {
    engine=
    for x in q k v; do as $x.npy ${x}4.npy '<f4' C 1 3 164 32 && as $x.npy ${x}3.npy '<f4' F 3 164 32; done
    computes --causal --dout v4.npy --dq dq4.npy --dk dk4.npy --dv dv4.npy q4.npy k4.npy v4.npy
    four=$status
    raw lse.npy | npy '<f4' '(3, 164)' >dlse.npy
    computes --causal --dout v3.npy --dq dq3.npy --dk dk3.npy --dv dv3.npy q3.npy k3.npy v3.npy
    test $four -eq 0 && test $status -eq 0
    ok $? "gradients"
    for x in dq dk dv; do
        raw ${x}4.npy >a && raw ${x}3.npy >b && cmp -s a b
        ok $? "the same $x"
        axes ${x}3.npy '(3,164,32)'
    done
    computes --causal --dout v3.npy --dlse dlse.npy --dq dq3.npy q3.npy k3.npy v3.npy
    test $status -eq 0
    ok $? "--dlse has the axes of LSE"
    refused 1 '--dout: v4.npy: its shape is [1,3,164,32], want [3,164,32]' --dout v4.npy --dq x.npy q3.npy k3.npy v3.npy
}
due gradients

finish
