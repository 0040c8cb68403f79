#!/bin/sh
# quiet.t - a call opens no file, starts no program and compiles nothing, whatever its lengths, from the first one on
# SPDX-License-Identifier: Apache-2.0
#
# Drivers that compile, or look for what they compiled, at the first call of a kind open files then: this shows whether
# the library has had them do it when the plan was made.
: "${top_srcdir=$(dirname "$0")/../..}" "${top_builddir=.}"
. "$top_srcdir/tests/lib/tap.sh"
top_builddir=$(cd "$top_builddir" && pwd)
LC_ALL=C
export LC_ALL
client=$top_builddir/tests/api/quietrun
tmp=$(mktemp -d "${TMPDIR-/tmp}/clattn-quiet.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM
cd "$tmp" || exit 99
POCL_CACHE_DIR=$tmp/pocl # of PoCL's own, empty at first
ASAN_OPTIONS=${ASAN_OPTIONS+$ASAN_OPTIONS:}detect_leaks=0 # which cannot be looked for under strace
export POCL_CACHE_DIR ASAN_OPTIONS
mkdir "$POCL_CACHE_DIR" || exit 99

explain() { test -z "${3-}" || head -n 20 "$3"; } # ok STATUS DESCRIPTION [FILE]
skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
bpf= # where it can, the kernel passes over other system calls, of which PoCL has many
strace -f --seccomp-bpf true >/dev/null 2>&1 && bpf=--seccomp-bpf
traced() { strace -f $bpf -s 200 -o trace -e trace=file "$@"; }

# What opens or changes something between the marks. Looking is left out: PoCL asks whether a kernel is still on disk
# before it uses what it has in memory.
between() {
    awk '/clattn-mark-end/ { on = 0 } on; /clattn-mark-begin/ { on = 1 }' trace |
        grep -v -E -e 'clattn-mark' -e '^[0-9]+ +(\+\+\+|---) ' \
            -e '^[0-9]+ +(<\.\.\. )?(f?access(at2?)?|[a-z]*stat[a-z0-9]*|readlink(at)?|getcwd)[( ]'
}

quiet() { # DEVICE WHAT BINARY: with the caches as they are
    traced "$client" "$1" "$tmp/cache" >out 2>err
    status=$?
    cat err >>out
    test $status -eq 0 && grep -q '^verdict=right$' out
    ok $? "$2: all is right, $1" out
    test "$(grep -c "^binary=$3\$" out)" -eq 2
    ok $? "$2: the plans are made as they should be" out
    grep -q '^compiles=0$' out
    ok $? "$2: no program is built" out
    test "$(grep -c clattn-mark trace)" -eq 2
    ok $? "$2: there is a trace" out
    between >lines
    test ! -s lines
    ok $? "$2: no file is opened and no program started" lines
}

strace --version >/dev/null 2>&1 || skip_all "no strace"
traced true >/dev/null 2>&1 && test -s trace || skip_all "strace may not look at programs here"
if test -n "${CLATTN_TEST_DEVICES-}"; then
    printf '%s\n' "$CLATTN_TEST_DEVICES" | tr ';' '\n' | grep . >devices
else
    "$client" list >devices
fi
if test ! -s devices; then
    test "${CLATTN_NEED_DEVICE:-0}" = 0 || { echo "Bail out! CLATTN_NEED_DEVICE is set: no OpenCL device" && exit 99; }
    skip_all "no OpenCL device"
fi
while read -r device <&3; do
    rm -rf "$tmp/cache"
    quiet "$device" "compiled" 1
    quiet "$device" "loaded" 2
done 3<devices

echo "1..$n"
exit $bad
