#!/bin/sh
# usage.t - the command line of clattn-run as far as it needs no device: what it refuses, and how
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

run --help
test $status -eq 0 && test ! -s err &&
    test "$(grep -c '^  -' out)" -eq \
    "$(grep -c '^    ROW_\(FLAG\|LAST\|TEXT\|LIST\|READ\)(' "$top_srcdir/tools/run/options.c")"
ok $? "--help lists the options of this version"
run --version
test $status -eq 0 && grep -qx 'clattn-run [0-9.]*' out
ok $? "--version"

refused 1 'unknown option --frobnicate' --frobnicate -o o.npy q.npy k.npy v.npy
refused 1 'unknown option -x' -x q.npy k.npy v.npy
refused 1 'unknown option --causally' --causally q.npy k.npy v.npy
refused 1 '--causal takes no value' --causal=yes q.npy k.npy v.npy
refused 1 '--scale needs a value' q.npy k.npy v.npy --scale
refused 1 'Q.npy is missing'
refused 1 'V.npy is missing' q.npy k.npy
refused 1 'v.npy: one file too many' q.npy k.npy v.npy v.npy
refused 1 '--type: f8' --type f8 q.npy k.npy v.npy
refused 1 '--o-type: int8 is not f32, f16, bf16 or f64' --o-type int8 q.npy k.npy v.npy
refused 1 '--layout: bdth' --layout=bdth q.npy k.npy v.npy
refused 1 '--scale: 1x' --scale 1x q.npy k.npy v.npy
refused 1 '--scale: nan' --scale nan q.npy k.npy v.npy
refused 1 '--scale: 1e999' --scale 1e999 q.npy k.npy v.npy
refused 1 '--softcap: -1' --softcap -1 q.npy k.npy v.npy
refused 1 '--softcap: nan' --softcap=nan q.npy k.npy v.npy
refused 1 '--softcap: inf' --softcap inf q.npy k.npy v.npy
for p in 1 -0.1 nan x ''; do
    refused 1 "--dropout: $p is not a number from 0 to less than 1" --dropout "$p" q.npy k.npy v.npy
done
refused 1 '--dropout-seed: -1' --dropout-seed -1 q.npy k.npy v.npy
refused 1 '--dropout-seed: 18446744073709551616' --dropout-seed 18446744073709551616 q.npy k.npy v.npy
refused 1 '--dropout-offset: 4294967296' --dropout-offset 4294967296 q.npy k.npy v.npy
refused 1 '--dropout-seed needs --dropout as well' --dropout-seed 3 q.npy k.npy v.npy
refused 1 '--dropout-offset needs --dropout as well' --dropout-offset 3 q.npy k.npy v.npy
refused 1 '--dropout-offset: -1' --dropout-offset -1 q.npy k.npy v.npy
for window in 3 3, ,3 -2,0 0,-2 1.5,2 '1, 2' 1,2,3 2147483648,0 123456789012345678901,1; do
    refused 1 "--window: $window" --window "$window" q.npy k.npy v.npy
done
for size in 3 3, ,3 0,1 1,0 -1,2 1.5,2 '1, 2' 1,2,3 2147483648,1; do
    refused 1 "--block-size: $size is not BQ,BK, two whole numbers from 1 to 1073741824" --block-size="$size" \
        --block-map x.npy q.npy k.npy v.npy
done
refused 1 '--block-map: x.npy needs --block-size as well' --block-map x.npy q.npy k.npy v.npy
refused 1 '--block-size: 2,3 needs --block-map, or --mask to make one from' --block-size 2,3 q.npy k.npy v.npy
for splits in 0 -1 1025 1.5 x ''; do
    refused 1 "--splits: $splits is not a number of parts, 1 to 1024" --splits "$splits" q.npy k.npy v.npy
done
refused 1 '--k-type: int5 is not int8, int4, q8_0, q4_0, q4_1, q5_0 or q5_1' --k-type int5 q.npy k.npy v.npy
refused 1 '--v-type: f32 is not int8' --v-type=f32 q.npy k.npy v.npy
refused 1 '--aux: x=len2.npy needs --score-mod as well' --aux x=len2.npy q.npy k.npy v.npy
refused 1 '--dout: do.npy needs --dq, --dk, --dv or another gradient as well' --dout do.npy q.npy k.npy v.npy
refused 1 '--score-mod-grad: there are 0 of them, want one for each of 1 --score-mod' --score-mod x.cl --dout do.npy \
    --dq x.npy q.npy k.npy v.npy
refused 1 '--score-mod-grad: there are 2 of them, want one for each of 1 --score-mod' --score-mod x.cl --dout do.npy \
    --dq x.npy --score-mod-grad x.cl --score-mod-grad=x.cl q.npy k.npy v.npy
for option in dlse dq dk dv dbias dslopes dsinks score-mod-grad daux; do
    refused 1 "--$option: x.npy needs --dout as well" --$option x.npy q.npy k.npy v.npy
done
refused 1 '--dout: --merge only merges' --merge --dout x.npy --dq y.npy q.npy k.npy
refused 1 '--scores: --merge only merges' --merge --scores weights=y.npy q.npy k.npy
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
refused 1 'Q: i1.npy: its type is |i1' i1.npy k.npy v.npy
refused 1 'K: len2.npy: its type is <i4, want f4, f2, i1 or f8' q.npy len2.npy v.npy
refused 1 'Q: len2.npy: its type is <i4' len2.npy k.npy v.npy
tensor flat.npy '<f4' 4 2 4 40
tensor line.npy '>f4' 4 40
tensor five.npy '<f4' 4 1 2 4 5 8
refused 1 'Q: line.npy: its shape is [40], want [b,h,n,d], [h,n,d] or [n,d]' line.npy k.npy v.npy
refused 1 'Q: five.npy: its shape is [1,2,4,5,8], want [b,n,h,d], [n,h,d] or [n,d]' --layout bthd five.npy k.npy v.npy
refused 1 'K: k.npy: its shape [2,2,7,8] does not fit [2,4,40] of Q, flat.npy: the batch axes differ' flat.npy k.npy \
    v.npy
refused 1 '--kv-len: len2.npy: its shape [2] does not fit [2,4,40] of Q, flat.npy: want [1]' --kv-len len2.npy \
    flat.npy flat.npy flat.npy
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
tensor k0.npy '<f4' 4 2 2 0 8
tensor v0.npy '<f4' 4 2 2 0 3
refused 1 '--kv-len: len2.npy: value 5 at [0] is not 0' --kv-len len2.npy q.npy k0.npy v0.npy
refused 1 '--kv-start: neg.npy: value -1 at [0] is not 0' --kv-start neg.npy q.npy k0.npy v0.npy
refused 1 '--q-len: q.npy: its type is <f4, want i1 to i8 or u1 to u8' --q-len q.npy q.npy k.npy v.npy
refused 1 '--align: len3.npy: its shape' --causal --align len3.npy q.npy k.npy v.npy

# What a file says of its type is what the message says.
for type in '>f4' '>f8' '<i8' '>i2' '|b1' '>u8'; do
    size=${type#??}
    tensor odd.npy "$type" $size 2
    case $type in
    *f*) refused 1 "--kv-len: odd.npy: its type is $type, want i1 to i8 or u1 to u8" --kv-len odd.npy q.npy k.npy \
        v.npy ;;
    *) refused 1 "--bias: odd.npy: its type is $type, want f4, f2 or f8" --bias odd.npy q.npy k.npy v.npy ;;
    esac
done
printf '\000\000\000\000\000\000\000\001\000\000\000\001\000\000\000\000' | npy '>i8' '(2,)' >wide.npy
refused 1 '--kv-len: wide.npy: the value at [1], of type >i8, is outside -2147483648 to 2147483647' --kv-len wide.npy \
    q.npy k.npy v.npy

# No output onto an input, or another output, by whatever name.
mkdir -p folder
ln -s q.npy link.npy && ln k.npy hard.npy && ln -s ../ folder/up && ln -s folder/up/v.npy far_link.npy
cksum q.npy k.npy v.npy len2.npy >sums
kept() { # PATTERN ARGS...: refused before a device is looked for, and all files stay as they are
    refused 1 "$@"
    cksum q.npy k.npy v.npy len2.npy | cmp -s - sums
    ok $? "and they stay as they are"
}
call=blind
kept '-o: q.npy: that is the file of Q, q.npy, which is only read' -o q.npy q.npy k.npy v.npy
kept '-o: ./q.npy: that is the file of Q, q.npy' -o ./q.npy q.npy k.npy v.npy
kept "--lse: $tmp/k.npy: that is the file of K, k.npy" --lse "$tmp/k.npy" q.npy k.npy v.npy
kept '-o: link.npy: that is the file of Q, q.npy' -o link.npy q.npy k.npy v.npy
kept '-o: q.npy: that is the file of Q, link.npy' -o q.npy link.npy k.npy v.npy
kept '-o: hard.npy: that is the file of K, k.npy' -o hard.npy q.npy k.npy v.npy
kept '-o: far_link.npy: that is the file of V, folder/../v.npy' -o far_link.npy q.npy k.npy folder/../v.npy
kept '-o: x.npy: that is the file of --block-map' --block-map x.npy --block-size 2,3 -o x.npy q.npy k.npy v.npy
for option in bias mask alibi sinks q-len kv-len kv-start align block-table k-scale v-scale; do
    kept "-o: x.npy: that is the file of --$option, x.npy" --causal --$option x.npy -o x.npy q.npy k.npy v.npy
done
kept '-o: x.npy: that is the file of --bias-slopes' --bias y.npy --bias-slopes x.npy -o x.npy q.npy k.npy v.npy
kept '-o: x.npy: that is the file of --cu-q' --cu-q x.npy --cu-k y.npy -o x.npy q.npy k.npy v.npy
kept '-o: y.npy: that is the file of --cu-k' --cu-q x.npy --cu-k y.npy -o y.npy q.npy k.npy v.npy
kept '-o: z.npy: that is the file of --k-zero' --k-scale x.npy --k-zero z.npy -o z.npy q.npy k.npy v.npy
kept '-o: z.npy: that is the file of --v-zero' --v-scale x.npy --v-zero z.npy -o z.npy q.npy k.npy v.npy
kept '-o: x.cl: that is the file of --score-mod' --score-mod x.cl -o x.cl q.npy k.npy v.npy
kept '-o: x.npy: that is the file of --aux' --score-mod x.cl --aux a=x.npy -o x.npy q.npy k.npy v.npy
kept '-o: op.npy: that is the file of O_PARTS' -o op.npy --merge op.npy lp.npy
kept '--lse: lp.npy: that is the file of LSE_PARTS' --lse lp.npy --merge op.npy lp.npy
back() { kept "$@" --dout do.npy --dlse dl.npy q.npy k.npy v.npy; }
back '--dq: do.npy: that is the file of --dout' --dq do.npy
back '--dk: dl.npy: that is the file of --dlse' --dk dl.npy
back '--dv: v.npy: that is the file of V' --dv v.npy
for option in dbias dslopes dsinks; do
    back "--$option: q.npy: that is the file of Q" --$option q.npy
done
kept '--scores: q.npy: that is the file of Q' --scores weights=q.npy q.npy k.npy v.npy
kept '--scores: o.npy: -o, o.npy, writes the same file' -o o.npy --scores masked=o.npy q.npy k.npy v.npy
kept '--scores: new.npy: --scores, ./new.npy, writes the same file' --scores masked=./new.npy --scores weights=new.npy \
    q.npy k.npy v.npy
back '--daux: q.npy: that is the file of Q' --score-mod x.cl --score-mod-grad y.cl --aux a=x.npy --daux a=q.npy
back '--dq: y.cl: that is the file of --score-mod-grad' --score-mod x.cl --score-mod-grad y.cl --dq y.cl
kept '--lse: o.npy: -o, o.npy, writes the same file' -o o.npy --lse o.npy q.npy k.npy v.npy
kept '--lse: folder/up/o.npy: -o, o.npy, writes the same file' -o o.npy --lse folder/up/o.npy q.npy k.npy v.npy
back '--dk: new.npy: --dq, ./new.npy, writes the same file' --dq ./new.npy --dk new.npy
: >there.npy && ln there.npy also.npy
kept '--lse: also.npy: -o, there.npy, writes the same file' -o there.npy --lse also.npy q.npy k.npy v.npy

# Nothing is computed for an output that cannot be written: a device is not even looked for.
mkfifo fifo
refused 1 '-o: folder: it is a folder' -o folder q.npy k.npy v.npy
refused 1 '-o: none/o.npy: No such file' --lse lse.npy -o none/o.npy q.npy k.npy v.npy
refused 1 '-o: q.npy/o.npy: Not a directory' -o q.npy/o.npy q.npy k.npy v.npy
refused 1 '-o: fifo: it is a pipe, and an output takes the place of a regular file: name one' -o fifo q.npy k.npy v.npy
refused 1 '-o: /dev/null: it is a device, and an output takes' -o /dev/null q.npy k.npy v.npy
refused 1 '-o: /dev/stdout: it is standard output, where the report goes' --json -o /dev/stdout q.npy k.npy v.npy
refused 1 '-o: out: it is standard output, where the report goes' -o out q.npy k.npy v.npy
for output in '-o' '--lse' '--dq'; do
    { blind $output /dev/stdout --dout do.npy --dk dk.npy --json q.npy k.npy v.npy 2>err </dev/null
      echo $? >status; } | cat >out
    test "$(cat status)" -eq 1 && test ! -s out && test "$(wc -l <err)" -eq 1 &&
        grep -q "^clattn-run: $output: /dev/stdout: it is a pipe, and an output takes the place of a regular file" err
    ok $? "$output /dev/stdout into a pipe: $(cat err)"
done
refused 1 '--lse: none/x: No such file' --lse none/x q.npy k.npy v.npy
refused 1 '--scores: none/x: No such file' --scores products=none/x q.npy k.npy v.npy
for value in s.npy =s.npy weight=s.npy weightss=s.npy; do
    refused 1 "--scores: $value is not STAGE=S.npy, of stage products, changed, masked or weights" --scores $value \
        q.npy k.npy v.npy
done
refused 1 '--scores: masked=t.npy: it is written already' --scores masked=s.npy --scores=masked=t.npy q.npy k.npy v.npy
for option in dq dk dv dbias dslopes dsinks; do
    refused 1 "--$option: none/x: No such file" --$option none/x --dout do.npy q.npy k.npy v.npy
done
refused 1 '--daux: none/x: No such file' --score-mod x.cl --score-mod-grad y.cl --aux a=x.npy --daux a=none/x \
    --dout do.npy q.npy k.npy v.npy
refused 1 '--lse: none/x: No such file' --lse none/x --merge op.npy lp.npy
if test "$(id -u)" -eq 0; then skip "root may write everywhere"; else
    mkdir closed && chmod 500 closed
    refused 1 '-o: closed/o.npy: Permission denied' -o closed/o.npy q.npy k.npy v.npy
fi
refused 3 '--verify: gradients of score_mods are not checked' --verify --score-mod x.cl --score-mod-grad y.cl \
    --dout do.npy --dq dq.npy q.npy k.npy v.npy
call=plain

# Quantised K and V.
tensor scale.npy '<f4' 4 2 2 7 1
tensor vi1.npy '|i1' 1 2 2 7 3
refused 1 'K: i1.npy: its type is |i1, which needs --k-scale as well' -o o.npy q.npy i1.npy v.npy
refused 1 'V: vi1.npy: its type is |i1, which needs --v-scale as well' q.npy k.npy vi1.npy
refused 1 '--k-zero: scale.npy needs --k-scale as well' --k-zero scale.npy q.npy i1.npy v.npy
refused 1 '--v-zero: scale.npy needs --v-scale as well' --v-zero scale.npy --k-scale scale.npy q.npy i1.npy v.npy
refused 1 '--k-scale: scale.npy: its elements are those of K, k.npy, whose type is <f4 and not |i1' --k-scale \
    scale.npy q.npy k.npy v.npy
refused 1 '--v-type: the width of V, v.npy, is 3, and no multiple of 2' --v-type int4 q.npy k.npy v.npy
refused 1 '--k-type: the width of K, k.npy, is 8, and no multiple of 32' --k-type q8_0 q.npy k.npy v.npy
refused 1 '--k-type: the width of K, k.npy, is 8, and no multiple of 32' --k-type q4_0 q.npy k.npy v.npy
refused 1 '--k-type: the elements of K, i1.npy, are |i1: want int8 or int4' --k-type q4_0 --k-scale scale.npy q.npy \
    i1.npy v.npy
for axes in '2 2 7' '2 2 7 3' '3 1 1 1' '2 2 6 1' '1 4 1 1' '2 2 7 16' '2 2 7 1 1' '2 2 7 0'; do
    tensor odd.npy '<f4' 4 $axes
    text="[$(echo $axes | tr ' ' ,)]"
    refused 1 "--k-scale: odd.npy: its shape $text does not fit [2,2,7,8] of K, i1.npy: want axes of 1" -o o.npy \
        --k-scale odd.npy q.npy i1.npy v.npy
    refused 1 "--k-zero: odd.npy: its shape $text does not fit [2,2,7,8] of K, i1.npy: want axes of 1" \
        --k-scale scale.npy --k-zero odd.npy q.npy i1.npy v.npy
done
refused 1 '--k-scale: len2.npy: its type is <i4, want f4, f2 or f8' --k-scale len2.npy q.npy i1.npy v.npy
refused 1 '--v-scale: none.npy: No such file' --v-scale none.npy q.npy k.npy vi1.npy
tensor groups8.npy '<f4' 4 1 1 1 8
tensor groups4.npy '<f4' 4 1 1 1 4
refused 1 '--k-zero: groups4.npy: it has 4 groups, where --k-scale, groups8.npy, has 8' --k-scale groups8.npy \
    --k-zero groups4.npy q.npy i1.npy v.npy
refused 1 'V: vi1.npy: its width 3 is odd, where int4 has two elements in a byte' --v-type int4 --v-scale scale.npy \
    q.npy k.npy vi1.npy
for byte in 010 367; do
    { zeros 223 && printf "\\$byte"; } | npy '|i1' '(2, 2, 7, 8)' >far.npy
    refused 1 "K: far.npy: it has an element of $(test $byte = 010 && echo 8 || echo -9), and int4 has -8 to 7" \
        --k-type int4 --k-scale scale.npy q.npy far.npy v.npy
done

# Pages.
tensor pk.npy '<f4' 4 5 3 2 8
tensor pv.npy '<f4' 4 5 3 2 3
tensor table.npy '<i4' 4 2 4
refused 1 'K: line.npy: its shape is [40], want [pages,page,h,d] or [pages,page,d]' -o o.npy --block-table table.npy \
    q.npy line.npy pv.npy
tensor pv4.npy '<f4' 4 4 3 2 3
refused 1 'V: pv4.npy: its shape [4,3,2,3] does not fit [5,3,2,8] of K, pk.npy: the numbers of pages differ' \
    --block-table table.npy q.npy pk.npy pv4.npy
tensor pv2.npy '<f4' 4 5 2 2 3
refused 1 'the numbers of rows differ' --block-table table.npy q.npy pk.npy pv2.npy
tensor pk0.npy '<f4' 4 5 0 2 8
refused 1 'K: pk0.npy: its shape [5,0,2,8] has pages of 0 rows' --block-table table.npy q.npy pk0.npy pv.npy
tensor table3.npy '<i4' 4 3 4
refused 1 '--block-table: table3.npy: its shape [3,4] does not fit [2,4,5,8] of Q, q.npy: want [2,max_pages]' \
    --block-table table3.npy q.npy pk.npy pv.npy
refused 1 '--block-table: len2.npy: its shape [2] does not fit' --block-table len2.npy q.npy pk.npy pv.npy
refused 1 '--block-table: q.npy: its type is <f4, want i1 to i8 or u1 to u8' --block-table q.npy q.npy pk.npy pv.npy
refused 1 '--block-table: none.npy: No such file' --block-table none.npy q.npy pk.npy pv.npy
refused 1 '--block-table: table.npy contradicts --cu-q' --block-table table.npy --cu-q len2.npy --cu-k len2.npy q.npy \
    pk.npy pv.npy
ints len13.npy 1 13
refused 1 '--kv-len: len13.npy: value 13 at [1] is outside 0 to 12' --block-table table.npy --kv-len len13.npy q.npy \
    pk.npy pv.npy

# Merging.
tensor op.npy '<f4' 4 3 2 5 8
tensor lp.npy '<f4' 4 3 2 5
refused 1 '--merge takes two files, O_PARTS.npy and LSE_PARTS.npy, not 1' --merge op.npy
refused 1 '--merge takes two files, O_PARTS.npy and LSE_PARTS.npy, not 3' --merge op.npy lp.npy v.npy
refused 1 '--merge takes no value' --merge=op.npy lp.npy
tensor lp4.npy '<f4' 4 3 2 4
refused 1 'LSE_PARTS: lp4.npy: its shape [3,2,4] does not fit [3,2,5,8] of O_PARTS, op.npy: want the axes but the' \
    -o o.npy --merge op.npy lp4.npy
refused 1 'LSE_PARTS: op.npy: its shape [3,2,5,8] does not fit [3,2,5,8] of O_PARTS' --merge op.npy op.npy
refused 1 'O_PARTS: none.npy: No such file' --merge none.npy lp.npy
refused 1 'LSE_PARTS: len2.npy: its type is <i4' --merge op.npy len2.npy
refused 1 'O_PARTS: i1.npy: its type is |i1, want f4, f2 or f8' --merge i1.npy lp.npy
tensor flat1.npy '<f4' 4 3
refused 1 'O_PARTS: flat1.npy: its shape is [3], want [S,...,dv]' --merge flat1.npy flat1.npy
tensor wide0.npy '<f4' 4 3 5 0
tensor wide0l.npy '<f4' 4 3 5
refused 1 'O_PARTS: wide0.npy: its shape [3,5,0] has a width of 0' --merge wide0.npy wide0l.npy
for option in --causal --scale=1 --softcap=2 --dropout=0.1 --window=1,2 --align=3 --bias=x --mask=x \
    --alibi=x --bias-slopes=x --repeat --sinks=x \
    --score-mod=x --q-len=x --kv-len=x --kv-start=x --block-table=x --k-scale=x --v-scale=x --k-type=int8 \
    --v-type=q4_0 --splits=2 --batch-invariant --layout=bhtd --o-type=f16; do
    refused 1 "${option%%=*}: --merge only merges what was computed before" $option --merge op.npy lp.npy
done
refused 1 '--block-map: --merge only' --block-map x --block-size 2,3 --merge op.npy lp.npy
refused 1 '--cu-q: --merge only' --cu-q x --cu-k x --merge op.npy lp.npy

for axes in '8' '4 1' '2 1 1 6' '3 1 1 1' '1 1 1 1 7' '1 5 1 7'; do
    tensor odd.npy '<f4' 4 $axes
    text="[$(echo $axes | tr ' ' ,)]"
    refused 1 "--bias: odd.npy: its shape $text does not fit [2,4,5,7] of the scores" -o o.npy --bias odd.npy q.npy \
        k.npy v.npy
    tensor odd.npy '|u1' 1 $axes
    refused 1 "--mask: odd.npy: its shape $text does not fit [2,4,5,7] of the scores" --mask odd.npy q.npy k.npy v.npy
done
refused 1 '--bias: len2.npy: its type is <i4, want f4, f2 or f8' --bias len2.npy q.npy k.npy v.npy
refused 1 '--mask: q.npy: its type is <f4, want b1 or u1' --mask q.npy q.npy k.npy v.npy
refused 1 '--bias: none.npy: No such file' --bias none.npy q.npy k.npy v.npy
tensor four.npy '<f4' 4 4
tensor slopes.npy '<f4' 4 2 4
tensor three.npy '<f4' 4 3
refused 1 '--alibi: three.npy: its shape is [3], want [4] or [2,4]' --alibi three.npy q.npy k.npy v.npy
refused 1 '--bias-slopes: three.npy needs --bias as well' --bias-slopes three.npy q.npy k.npy v.npy
refused 1 '--bias-slopes: three.npy contradicts --alibi' --bias-slopes three.npy --bias x --alibi x q.npy k.npy v.npy
refused 1 '--repeat needs --bias or --mask as well' --repeat q.npy k.npy v.npy
tensor bias2.npy '<f4' 4 2 5 7
refused 1 '--bias: bias2.npy: its shape [2,5,7] does not fit' --bias bias2.npy q.npy k.npy v.npy
tensor bias3.npy '<f4' 4 3 5 7
refused 1 'of the scores, [b,h,nq,nk]: want axes of 1 or of that size; of b and h also 2 to 9' --repeat \
    --bias bias3.npy q.npy k.npy v.npy
refused 1 '--bias-slopes: three.npy: its shape is [3], want [4] or [2,4]' --repeat --bias bias2.npy \
    --bias-slopes three.npy q.npy k.npy v.npy
refused 1 '--sinks: slopes.npy: its shape is [2,4], want [4]' --sinks slopes.npy q.npy k.npy v.npy
refused 1 '--sinks: len2.npy: its type is <i4' --sinks len2.npy q.npy k.npy v.npy
tensor do.npy '<f4' 4 2 4 5 3
tensor of.npy '|i1' 1 2 4 5 3
refused 1 '--dout: of.npy: its type is |i1, want f4, f2 or f8' --dout of.npy --dq x.npy q.npy k.npy v.npy
refused 1 '--dout: q.npy: its shape is [2,4,5,8], want [2,4,5,3]' --dout q.npy --dq x.npy q.npy k.npy v.npy
refused 1 '--dlse: len2.npy: its type is <i4, want f4, f2 or f8' --dout do.npy --dlse len2.npy --dq x.npy q.npy \
    k.npy v.npy
refused 1 '--dlse: four.npy: its shape is [4], want [2,4,5]' --dout do.npy --dlse four.npy --dq x.npy q.npy k.npy v.npy
echo 's += x[k];' >mod.cl
refused 1 '--score-mod: none.cl: No such file' --score-mod none.cl q.npy k.npy v.npy
refused 1 '--score-mod: .: it is not a regular file' --score-mod . q.npy k.npy v.npy
refused 1 '--score-mod: q.npy: it is no text' --score-mod q.npy q.npy k.npy v.npy
refused 1 '--aux: four.npy is not NAME=A.npy' --score-mod mod.cl --aux four.npy q.npy k.npy v.npy
refused 1 '--aux: =four.npy is not NAME=A.npy' --score-mod mod.cl --aux =four.npy q.npy k.npy v.npy
refused 1 '--aux: none.npy: No such file' --score-mod mod.cl --aux x=none.npy q.npy k.npy v.npy
refused 1 '--aux: x=len2.npy: there is a buffer of that name' --score-mod mod.cl --aux x=four.npy --aux x=len2.npy \
    q.npy k.npy v.npy
tensor bools.npy '|b1' 1 4
refused 1 '--aux: bools.npy: its type is |b1, want f4, i1 to i8 or u1 to u8' --score-mod mod.cl --aux x=bools.npy \
    q.npy k.npy v.npy
refused 1 '--aux: wide.npy: the value at [1], of type >i8' --score-mod mod.cl --aux x=wide.npy q.npy k.npy v.npy
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
packed 1 'Q: q.npy: its shape is [2,4,5,8], want [total,h,d] or [total,d]' cuq.npy cuk.npy q.npy kp.npy vp.npy
packed 1 '--cu-q: q.npy: its type is <f4, want i1 to i8 or u1 to u8' q.npy cuk.npy qp.npy kp.npy vp.npy
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

# Block maps: 3 by 3 blocks of 2 queries and 3 keys, of 5 queries and 7 keys.
call=blind
fits() { # DESCRIPTION ARGS...: all files are taken, and a device is looked for
    what=$1
    shift
    run "$@" q.npy k.npy v.npy
    test $status -ne 1
    ok $? "$what"
}
size='--block-size 2,3'
tensor zeros.npy '|u1' 1 3 3
refused 1 '--block-map: none.npy: No such file' --block-map none.npy $size q.npy k.npy v.npy
refused 1 '--block-map: q.npy: its type is <f4, want b1 or u1' --block-map q.npy $size q.npy k.npy v.npy
for axes in '3 4' '2 3' '3 1 3 3' '2 2 3 3' '1 1 1 3 3' '0 3'; do
    tensor odd.npy '|u1' 1 $axes
    text="[$(echo $axes | tr ' ' ,)]"
    refused 1 "--block-map: odd.npy: its shape $text does not fit [2,4,3,3] of the blocks, [b,h,nq/BQ,nk/BK]: want" \
        --block-map odd.npy $size q.npy k.npy v.npy
done
for axes in '3 3' '1 3' '3' '1' '2 1 3 3' '2 4 3 3' '4 1 1'; do
    tensor good.npy '|b1' 1 $axes
    fits "--block-map with axes $axes" --block-map good.npy $size
done
printf '\001\001\001\001\001\002\001\001\001' | npy '|u1' '(3, 3)' >map.npy # of queries 2 and 3 and key 6
{ printf '\001\001\001\001\001\001\001%.0s' 1 2 3 4 5; } >keep
npy '|u1' '(5, 7)' <keep >keep.npy
{ head -c 27 keep && zeros 1 && head -c 7 keep; } | npy '|b1' '(5, 7)' >drop.npy # query 3, key 6
{ head -c 20 keep && zeros 1 && head -c 14 keep; } | npy '|u1' '(5, 7)' >beside.npy # query 2, key 6
fits "2 without a mask" --block-map map.npy $size
fits "2 where the mask keeps all" --block-map map.npy $size --mask keep.npy
fits "2 above the diagonal, outside a window, and behind lengths" --block-map map.npy $size --mask keep.npy --causal \
    --window 0,0 --kv-len len2.npy
words='is 2, which says that the mask keeps all of it, but --mask,'
refused 1 "--block-map: map.npy: block [0,0,1,2] $words drop.npy, drops [0,0,3,6]" --block-map map.npy $size \
    --mask drop.npy q.npy k.npy v.npy
refused 1 "--block-map: map.npy: block [0,0,1,2] $words beside.npy, drops [0,0,2,6]" --block-map map.npy $size \
    --mask beside.npy q.npy k.npy v.npy
{ head -c 13 keep && zeros 1; } | npy '|u1' '(2, 1, 1, 7)' >entries.npy
refused 1 "--block-map: map.npy: block [1,0,1,2] $words entries.npy, drops [1,0,2,6]" --block-map map.npy $size \
    --mask entries.npy q.npy k.npy v.npy
{ zeros 68 && printf '\002\001\001\001'; } | npy '|u1' '(2, 4, 3, 3)' >one.npy # the last heads' blocks [1,2] on
fits "2 in one head, where the mask keeps all" --block-map one.npy $size --mask keep.npy
refused 1 "--block-map: one.npy: block [1,3,1,2] $words drop.npy, drops [1,3,3,6]" --block-map one.npy $size \
    --mask drop.npy q.npy k.npy v.npy
fits "where the mask decides, it may drop" --block-map zeros.npy $size --mask drop.npy

run --emit-source 'f16 b1 h2 q64 k64 d64 causal'
test $status -eq 0 && test ! -s err && grep -q __kernel out
ok $? "--emit-source needs no device"
refused 1 "--emit-source: 'f16 b1 nonsense'" --emit-source 'f16 b1 nonsense'
run --emit-source 'f32 b1 h2 q9 k9 d8 softcap5 mod:document,softcap'
test $status -eq 0 && grep -qF 's = document[q] == document[k] ? s : -INFINITY;' out &&
    grep -q '#line 1 "softcap.cl"' out
ok $? "--emit-source finds the score_mods that a problem names"
refused 1 'there is no such score_mod' --emit-source 'f32 b1 h1 q1 k1 d8 mod:nonsense'
refused 1 "--emit-source: 'f32 b1 h1 q1 k1 d8 page'" --emit-source 'f32 b1 h1 q1 k1 d8 page'
refused 1 "--emit-source: 'f32 b1 h1 q1 k1 d8 k:int3'" --emit-source 'f32 b1 h1 q1 k1 d8 k:int3'
refused 3 "--emit-source: 'f32 b1 h1 q1 k1 d8 page4 bwd'" --emit-source 'f32 b1 h1 q1 k1 d8 page4 bwd'
run --emit-source 'f32 b1 h1 q9 k9 d8 causal softcap5 bwd'
test $status -eq 0 && test ! -s err && grep -q cla_backward_keys out
ok $? "--emit-source knows gradients"
run --emit-source 'f32 b1 h1 q1 k9 d32 page16 k:q8_0 v:int8:16z splits2 o:f16'
test $status -eq 0 && test ! -s err && grep -q __kernel out
ok $? "--emit-source knows pages, quantised types, parts and types of O"
refused 1 'takes no files' --emit-source 'f32 b1 h1 q1 k1 d8' q.npy k.npy v.npy
refused 1 'computes nothing' --merge --emit-source 'f32 b1 h1 q1 k1 d8'
refused 1 'computes nothing' --emit-source 'f32 b1 h1 q1 k1 d8' --json
refused 1 'engine "none" is none of' --emit-source 'f32 b1 h1 q1 k1 d8' --engine none
refused 1 'engine "mma_emu" is none of' --emit-source 'f16 b1 h1 q1 k1 d8' --engine mma_emu # which tests alone have
run q.npy k.npy v.npy
if test $status -eq 0; then skip "this loader finds its drivers in another way"; else
    refused 2 'there is no OpenCL device' -o o.npy q.npy k.npy v.npy
    refused 2 'there is no OpenCL device: install a driver' --list-devices
fi
for option in -h --help; do
    run "$option"
    test $status -eq 0 && test ! -s err && grep -q '^usage: clattn-run ' out
    ok $? "$option: $(head -n 1 out)"
done
for option in -V --version; do
    run "$option"
    test $status -eq 0 && test ! -s err && grep -q '^clattn-run [0-9]*\.[0-9]*\.[0-9]*$' out
    ok $? "$option: $(cat out)"
done

echo "1..$n"
exit $bad
