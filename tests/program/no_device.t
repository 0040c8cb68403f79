#!/bin/sh
# no_device.t - every program and example without an OpenCL device, and with a name that no device has: words that say
# what to do
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

tiny='f32 b1 h1 q4 k4 d8'
CLATTN_TUNE=off CLATTN_CACHE_DIR=$tmp/cache
export CLATTN_TUNE CLATTN_CACHE_DIR
says() { # STATUS PATTERN PROGRAM ARGS...: one line that has the pattern, and no name of a status
    want=$1 pattern=$2 name=$3
    shift 3
    program=$top_builddir/$name
    run "$@"
    test $status -eq "$want" && test "$(cat out err | wc -l)" -eq 1 && cat out err | grep -qF -- "$pattern" &&
        ! cat out err | grep -qw 'CL_[A-Z_]*'
    ok $? "$name, exit $want: $(cat out err | head -n 1)"
}

# ---- No device ----

call=blind
run --list-devices
if test $status -eq 0; then
    skip "this loader finds its drivers in another way"
else
    install='install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)'
    says 2 "there is no OpenCL device: $install" clattn-run q.npy k.npy v.npy
    says 2 "there is no OpenCL device: $install" clattn-run --device PoCL q.npy k.npy v.npy
    says 2 "there is no OpenCL device: $install" clattn-tune "$tiny"
    says 2 "there is no OpenCL device: $install" clattn-tune --list
    says 2 "there is no OpenCL device: $install" clattn-bench "$tiny"
    says 2 "there is no OpenCL device: $install" clattn-bench --device PoCL "$tiny"
    says 2 "there is no OpenCL device: $install" clattn-report
    says 2 "there is no OpenCL device: $install" clattn-report --device PoCL --output -
    for name in clattn-run clattn-tune clattn-bench clattn-report bench/clattn-record; do
        says 2 "there is no OpenCL device: $install" $name --list-devices
    done
    says 2 "there is no OpenCL device: $install" bench/clattn-record "$tiny"
    says 2 "there is no OpenCL device: $install" bench/clattn-overhead "$tiny"
    if test -x "$top_builddir/bench/clattn-nv-probes"; then
        says 2 "there is no OpenCL device: $install" bench/clattn-nv-probes
    fi
    for name in first_call generate ggml score_mod train two_devices varlen; do
        says 77 "no OpenCL device: $install" examples/$name
    done
fi

# ---- None of that name ----

call=plain program=$top_builddir/clattn-run
need_device
none='no device is called "no such thing"; there is "'
says 2 "$none" clattn-run --device 'no such thing' q.npy k.npy v.npy
says 2 "$none" clattn-tune --device 'no such thing' "$tiny"
says 2 "$none" clattn-bench --device 'no such thing' "$tiny"
says 2 "$none" clattn-report --device 'no such thing'
says 2 'no device is called "97:3"; there is "' clattn-bench --device 97:3 "$tiny"
says 2 "$none" bench/clattn-record --device 'no such thing' "$tiny"
says 2 "$none" bench/clattn-overhead 'no such thing' "$tiny"
if test -x "$top_builddir/bench/clattn-nv-probes"; then
    says 2 "$none" bench/clattn-nv-probes --device 'no such thing'
fi

# A source of an example that is not built here has the words as well.
for f in "$top_srcdir"/examples/*.c "$top_srcdir"/examples/*.cpp; do
    grep -q 'install a driver (for a CPU PoCL, in Debian pocl-opencl-icd)' "$f"
    ok $? "examples/${f##*/} says what to do without a device"
done

echo "1..$n"
exit $bad
