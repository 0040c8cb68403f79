#!/bin/sh
# places.t - a cache on a disk that is full, small or only read, results on such a disk, and no /proc
# SPDX-License-Identifier: Apache-2.0
#
# Each place is mounted in a name space of its own, which takes the rights of root; without them all is skipped. Two
# starts of each command: the second one finds what the first could keep. CLATTN_PART: also gradients, examples/generate
# and records that are handed over.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
CLATTN_TUNE=off
export CLATTN_TUNE

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
mkdir place
unshare -m sh -c "mount -t tmpfs -o size=64k none '$tmp/place'" 2>err || skip_all "no rights to mount: $(head -n 1 err)"
"$program" --list-devices >out 2>err || {
    missing_device "no OpenCL device"
    skip_all "no OpenCL device"
}

# What makes the place at $place; its last command may fail: a full disk is.
filled='mount -t tmpfs -o mode=0700,size=64k none "$place"; cat /dev/zero >"$place/rest"'
small='mount -t tmpfs -o mode=0700,size=16k none "$place"'
nameless='mount -t tmpfs -o mode=0700,size=64k,nr_inodes=4 none "$place"'
locked='mount -t tmpfs -o mode=0700,size=64k none "$place"; mount -o remount,ro "$place"'
gone='mount -t tmpfs -o size=64k none /proc; rm -rf "$place"; mkdir "$place"'

there() { # MAKING COMMAND...: the command where $place has been made so; status in $status, text in out and err
    making=$1
    shift
    place=$tmp/place CLATTN_CACHE_DIR=$tmp/place making=$making \
        timeout -k 5 300 unshare -m sh -c 'eval "$making" 2>/dev/null; "$@"' sh "$@" >out 2>err </dev/null
    status=$?
}
twice='"$@" && "$@"'
right() {
    test $status -eq 0 && test "$(grep -c '"max_error": [0-9]' out)" -eq 2 && test ! -s err
}

real rq.npy '<f4' 4 1 2 37 16
real rk.npy '<f4' 4 1 2 45 16
real rv.npy '<f4' 4 1 2 45 16
real rdo.npy '<f4' 4 1 2 37 16
attended() {
    there "$making" sh -c "$twice" sh "$program" --json --verify --causal rq.npy rk.npy rv.npy
    right
    ok $? "attention, $what: right twice, and nothing is printed"
    there "$making" "$top_builddir/clattn-tune" --cache-stat
    test $status -eq 0 && test -s out
    ok $? "clattn-tune --cache-stat, $what"
}
graded() {
    there "$making" sh -c "$twice" sh "$program" --json --verify --causal --dout rdo.npy --dq dq.npy \
        rq.npy rk.npy rv.npy
    right
    ok $? "gradients, $what"
}
generated() {
    there "$making" sh -c "$twice" sh "$top_builddir/examples/generate" 8
    test $status -eq 0
    ok $? "examples/generate, $what"
}
for place_of in 'full:filled' 'small:small' 'without names for files:nameless' 'only read:locked' \
    'without /proc:gone'; do
    what=${place_of%:*}
    eval "making=\$${place_of#*:}"
    if usual; then attended; fi
    due graded
    due generated
done

# Results: a failure in words, and no part of a file.
if usual; then
    for option in -o --lse; do
        there "$filled" sh -c '"$@"; e=$?; ls "$place"; exit $e' \
            sh "$program" $option "$tmp/place/x.npy" --causal rq.npy rk.npy rv.npy
        test $status -eq 1 && test "$(cat out)" = rest && grep -q "$tmp/place/x.npy" err && grep -qi 'no space' err
        ok $? "$option on a full disk: it says so, and leaves nothing ($status: $(head -n 1 err))"
    done
fi

# Records: what is tuned cannot be kept, and is handed over elsewhere only.
tune='f32 b1 h1 q2 k3 d8'
if usual; then
    there "$filled" "$top_builddir/clattn-tune" --in-process --effort quick --time 0.1 "$tune"
    test $status -eq 5 && test -s err
    ok $? "clattn-tune on a full disk: it says so ($status: $(head -n 1 err))"
fi
records() {
    CLATTN_CACHE_DIR=$tmp/kept "$top_builddir/clattn-tune" --in-process --effort quick --time 60 "$tune" >out 2>err &&
        CLATTN_CACHE_DIR=$tmp/kept "$top_builddir/clattn-tune" --export kept.txt >out 2>err && test -s kept.txt
    ok $? "a record elsewhere"
    there "$filled" sh -c 'CLATTN_CACHE_DIR=$1 "$2" --export "$place/x"; e=$?; ls "$place"; exit $e' sh "$tmp/kept" \
        "$top_builddir/clattn-tune"
    test $status -ne 0 && test "$(cat out)" = rest && grep -qi 'no space' err
    ok $? "clattn-tune --export on a full disk: it says so, and leaves nothing ($status: $(head -n 1 err))"
    there "$filled" "$top_builddir/clattn-tune" --import kept.txt
    test $status -ne 0 && test -s err
    ok $? "clattn-tune --import into a full disk: it says so ($status: $(head -n 1 err))"
}
due records

finish
