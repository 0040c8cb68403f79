#!/bin/sh
# check-newer.sh - the quick tests on newer drivers than the system's: check-newer.sh [PLATFORM...]
# SPDX-License-Identifier: Apache-2.0
#
# In the root that setup-newer-compilers.sh makes, in $CLATTN_NEWER_ROOT or ~/.cache/clattn-offline/forky: PoCL with
# every engine, rusticl with simt and naive, and on both the f32 cases of other implementations that CLATTN_CASES
# matches. `make check-newer` calls it with top_srcdir, top_builddir, CLATTN_CONFORMANCE and PYTHON set. Runs as root:
# the driver sees this machine from inside the root, through mounts that end with each test. Prints TAP.
: "${top_srcdir=$(dirname "$0")/..}" "${top_builddir=.}"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
root=${CLATTN_NEWER_ROOT-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/forky}
peers=${CLATTN_CONFORMANCE-$top_srcdir/tests/conformance}
cases=${CLATTN_CASES-'^(onnx|jax)_'}
unset OCL_ICD_VENDORS OCL_ICD_FILENAMES LD_LIBRARY_PATH

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
test -x "$root/bin/sh" || skip_all "no root at $root: offline/setup-newer-compilers.sh makes one"
test -e "$root/etc/OpenCL/vendors/pocl.icd" || skip_all "no PoCL in $root: offline/setup-newer-compilers.sh installs it"
unshare -m true 2>/dev/null || skip_all "no mounts of one's own here: this takes root"

work=$(mktemp -d "${TMPDIR-/tmp}/clattn-newer.XXXXXX") || exit 99
trap 'rm -rf "$work"; rmdir "$root$work" 2>/dev/null' EXIT
trap 'exit 99' HUP INT TERM
mkdir -p "$work/home/cache" "$work/home/pocl"

# A program as the root sees it: enter COMMAND..., in the directory and environment of the caller.
cat >"$work/enter" <<END
#!/bin/sh
exec unshare -m sh -c '
    for d in /proc /dev /sys "$work" "$top_srcdir" "$top_builddir"; do
        mkdir -p "$root\$d" && mount --rbind "\$d" "$root\$d" || exit 99
    done
    exec chroot "$root" sh -c '\''cd "\$0" && exec "\$@"'\'' "\$PWD" "\$@"' enter "\$@"
END
printf '#!/bin/sh\nexec "%s" "%s" "$@"\n' "$work/enter" "$top_builddir/clattn-run" >"$work/clattn-run"
chmod +x "$work/enter" "$work/clattn-run"

HOME=$work/home XDG_CACHE_HOME=$work/home/cache POCL_CACHE_DIR=$work/home/pocl TMPDIR=$work POCL_SIGFPE_HANDLER=0
CLATTN_TUNE=off CLATTN_QUICK=1 RUSTICL_ENABLE=llvmpipe LC_ALL=C CLATTN_POCL_FLAGS=
export top_srcdir top_builddir HOME XDG_CACHE_HOME POCL_CACHE_DIR TMPDIR POCL_SIGFPE_HANDLER CLATTN_TUNE CLATTN_QUICK \
    RUSTICL_ENABLE LC_ALL CLATTN_POCL_FLAGS CLATTN_TEST_DEVICES CLATTN_TEST_ENGINES CLATTN_CACHE_DIR
. "$top_srcdir/tests/lib/tap.sh"
explain() { grep -v '^ok' "$work/out" | tail -n 30; }

quick_tests() { # DEVICE TESTS..., those of CLATTN_TEST_ENGINES
    CLATTN_TEST_DEVICES=$1 CLATTN_CACHE_DIR=off
    shift
    for t in "$@"; do
        (cd "$work" && ./enter "$top_builddir/tests/$t.t") >"$work/out" 2>&1
        ok $? "$CLATTN_TEST_DEVICES: $t.t, $(grep -c '^ok' "$work/out") results"
    done
}

judge_peers() { # DEVICE ARGS: the judge is outside, binaries are kept
    for python in ${PYTHON-} python3; do
        "$python" -c 'import numpy' >/dev/null 2>&1 && break
        python=
    done
    if test -z "$python" || test ! -f "$peers/run.py"; then
        n=$((n + 1))
        echo "ok $n # SKIP $1: no conformance cases at $peers, or no Python with numpy"
        return
    fi
    CLATTN_CACHE_DIR=$work/cache
    "$python" -B "$peers/run.py" --run "$work/clattn-run" --dtype f32 --forward-only --filter "$cases" \
        --timeout 600 --without 'paged|int8|merge' --args "--tune off --device '$1' $2" >"$work/out" 2>&1
    ok $? "$1: conformance in f32${2:+, $2}: $(tail -n 1 "$work/out")"
}

on_pocl() {
    CLATTN_TEST_ENGINES=
    quick_tests Portable kernel/absent api/subdevice kernel/engines kernel/matrix kernel/quantised \
        kernel/score_mods kernel/backward
    judge_peers Portable ''
}
on_rusticl() { # explicit vectors are compiled for minutes
    CLATTN_TEST_ENGINES='simt naive'
    quick_tests rusticl kernel/absent kernel/engines
    for engine in simt naive; do judge_peers rusticl "--engine $engine"; done
}

test $# -gt 0 || set -- pocl rusticl
for platform in "$@"; do
    case $platform in
    pocl | rusticl) on_"$platform" ;;
    *) echo "Bail out! no platform '$platform': pocl, rusticl" && exit 99 ;;
    esac
done
echo "1..$n"
exit $bad
