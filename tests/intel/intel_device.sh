# intel_device.sh - what tests on the pretended Intel device share. Sourced behind program.sh
# SPDX-License-Identifier: Apache-2.0
#
# See intel_machine.c. Compiler and driver are in what offline/setup-newer-compilers.sh makes, in $CLATTN_NEWER_ROOT or
# ~/.cache/clattn-offline/forky. make check has a few problems of each kind; CLATTN_PART=1: the others, N/M: a share of
# them, CLATTN_FULL=1: all.
layer=$top_builddir/tests/intel/.libs/intel_device.so
root=${CLATTN_NEWER_ROOT-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/forky}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
test -e "$layer" || skip_all "there is no $layer: no shared objects are built here, or CL/cl_layer.h is missing"
test -x "$root/wrap/ocloc" || skip_all "no ocloc in $root: offline/setup-newer-compilers.sh installs it"
clbuild=$top_builddir/offline/clbuild
has_driver() { test -x "$clbuild" && test -e "$root/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so"; }
platform=Intel variable=CLATTN_INTEL
own="intelcl=$top_srcdir/offline/compilers/intelcl.sh,clbuild=$clbuild,root=$root"
kept=${CLATTN_KERNEL_CACHE-$tmp}/intel # what was compiled before, for all of these tests
. "$top_srcdir/tests/pretended/device.sh"
