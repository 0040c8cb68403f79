# program.sh - what the tests of programs share: running one, judging it, making .npy files. Sourced by them
# SPDX-License-Identifier: Apache-2.0
: "${top_srcdir=$(dirname "$0")/../..}" "${top_builddir=.}"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
LC_ALL=C
export LC_ALL
case ${CLATTN_CONFORMANCE-/} in /*) ;; *) CLATTN_CONFORMANCE=$PWD/$CLATTN_CONFORMANCE ;; esac # the test goes elsewhere
program=$top_builddir/clattn-run
compare=$top_builddir/tests/lib/npycmp
data=$top_srcdir/examples/data/encoder_layer0
tmp=$(mktemp -d "${TMPDIR-/tmp}/clattn-run.XXXXXX") || exit 99
trap 'rm -rf "$tmp"' EXIT
trap 'exit 99' HUP INT TERM
cd "$tmp" || exit 99

. "$top_srcdir/tests/lib/tap.sh"
explain() {
    sed 's/^/out: /' out
    sed 's/^/err: /' err
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
        if test "$x" -lt 0; then printf '\377\377\377\377'; else byte $((x % 256)) && byte $((x / 256)) &&
            printf '\000\000'; fi
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

# ---- refusals ----

refused() { # STATUS PATTERN ARGS...: one line on stderr that has PATTERN, nothing else, no file
    want=$1 pattern=$2
    shift 2
    rm -f o.npy lse.npy
    run "$@"
    test $status -eq "$want" && test ! -s out && test "$(wc -l <err)" -eq 1 &&
        grep -q '^clattn-[rb][a-z]*: ' err && grep -qF -- "$pattern" err &&
        test ! -e o.npy && test ! -e lse.npy && test -z "$(ls -A | grep '^\.clattn')"
    ok $? "exit $want, \"$pattern\": $(printf %s "$*" | tr '\n\033' '  ')"
}

# ---- how much runs ----

# What make check runs is usual; what it has no time for is dealt out, as harness_rest() and harness_shares() do in C:
# "if turn" is true where it is the turn of what follows, "due COMMAND..." runs a command then. With CLATTN_PART a
# program need not run again what is usual, as make check has run it.
full=${CLATTN_FULL-} full=${full#0} part=${CLATTN_PART:-0}
usual() { test -n "$full" || test "$part" = 0; }
rest() { test -n "$full" || test "$part" != 0; }
shares() { # I
    case $full:$part in
    :*/*) test $(($1 % ${part#*/})) -eq $((${part%/*} % ${part#*/})) ;;
    *) rest ;;
    esac
}
turn() {
    turns=$((${turns-0} + 1))
    shares $turns
}
due() { if turn; then "$@"; fi; }
finish() { # the end of such a program
    test $n -gt 0 || skip "this share has nothing of it"
    echo "1..$n"
    exit $bad
}

# ---- another build ----

# Objects of this build, for one in DIR of a copy of the sources whose files are as old as these, but for some that were
# changed: make compiles these alone, and whatever is not built here. It does not know who includes a changed header.
reuse_objects() { # DIR
    grep -q '^build_old_libs=yes' "$top_builddir/libtool" || return 0
    (cd "$top_builddir" &&
        find src tools tests/emulated tests/lib tests/kernel -name '*.o' -o -name '*.lo' -o -name .dirstamp |
        tar cf - -T -) | (cd "$1" && tar xf -)
}

# ---- devices ----

# Where devices must be (CLATTN_NEED_DEVICE=1, as in .ci/run), a test that cannot run without them has failed.
missing_device() {
    test "${CLATTN_NEED_DEVICE:-0}" = 0 || {
        echo "Bail out! CLATTN_NEED_DEVICE is set: $1"
        exit 99
    }
}

device=${CLATTN_TEST_DEVICES-} device=${device%%;*}
on() { run --tune off --device "$device" "$@"; }
need_device() { # leaves a first run without -o in $status, out and err
    on q.npy k.npy v.npy
    if test $status -eq 2 && test -z "$device"; then
        missing_device "no OpenCL device"
        skip "no OpenCL device"
        echo "1..$n"
        exit $bad
    fi
}
