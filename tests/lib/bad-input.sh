#!/bin/sh
# bad-input.sh - gives clattn-run damaged files and wrong arguments: bad-input.sh DATA COMMAND...
# SPDX-License-Identifier: Apache-2.0
#
# For clattn-run as it is installed, or under wine; tests/program has far more of the kind for one that was just
# built. DATA has q.npy, k.npy and v.npy; a path in COMMAND is absolute. Each file is damaged in one of many ways, the
# same ones every time: it is refused in words, or read where it is still an array. Each argument is refused in words.
# Prints TAP. Needs perl.
set -u
. "$(dirname "$0")/tap.sh"
explain() { cat err; }
data=$1
shift
tmp=$(mktemp -d "${TMPDIR-/tmp}/clattn-bad.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM
cp "$data/q.npy" "$data/k.npy" "$data/v.npy" "$tmp" && cd "$tmp" || exit 99

run() { # COMMAND...: its status in $status
    timeout 120 "$@" >out 2>err </dev/null
    status=$?
}
told() { tr -d '\r' <err | grep -q '^clattn-run: '; } # of what a program prints; a driver and wine may print as well

# The I-th damage: an end that is missing, other bytes in the header or anywhere, bytes that are left out or put in.
damage() { # I
    perl -e 'my ($i) = @ARGV; srand(77 + $i); local $/; open(F, "<:raw", "q.npy"); my $x = <F>; my $n = length $x;
        my $at = int rand($i % 3 ? 128 : $n); my $byte = chr int rand 256;
        if ($i % 5 == 0) { $x = substr($x, 0, int rand $n) }
        elsif ($i % 5 == 1) { substr($x, $at, 1) = "" }
        elsif ($i % 5 == 2) { substr($x, $at, 0) = $byte }
        elsif ($i % 5 == 3) { substr($x, $at, 1) = $byte }
        else { substr($x, int rand 128, 1) = (0 .. 9, "(", ")", ",", "<", "f", "i", "\n")[rand 17] }
        open(F, ">:raw", "bad.npy"); print F $x' "$1"
}
refused=0
for i in $(seq 60); do
    damage "$i"
    run "$@" bad.npy k.npy v.npy
    case $status in
    0) ;;
    1 | 3) told && refused=$((refused + 1)) || status=99 ;;
    esac
    test $status -eq 0 || test $status -eq 1 || test $status -eq 3
    ok $? "damage $i: $status"
done
test $refused -ge 30 && test $refused -lt 60
ok $? "many were refused, and not all: $refused"

: >empty.npy
mkdir folder
for arguments in 'none.npy k.npy v.npy' 'empty.npy k.npy v.npy' 'folder k.npy v.npy' 'q.npy k.npy' \
    '--scale nan q.npy k.npy v.npy' '--window 1 q.npy k.npy v.npy' '--type f7 q.npy k.npy v.npy' \
    '--splits -1 q.npy k.npy v.npy' '--causal=2 q.npy k.npy v.npy' '-o none/o.npy q.npy k.npy v.npy' \
    '--kv-len q.npy q.npy k.npy v.npy' '--bias k.npy --nonsense q.npy k.npy v.npy'; do
    run "$@" $arguments
    test $status -eq 1 && told
    ok $? "$arguments: $status, $(head -n 1 err | tr -d '\r')"
done
echo "1..$n"
exit $bad
