# amd_device.sh - what tests on the pretended AMD device share. Sourced behind program.sh
# SPDX-License-Identifier: Apache-2.0
#
# See amd_machine.c. The drivers are what offline/setup-amd-drivers.sh makes, in $AMD_DRIVERS. make check has a few
# problems of each kind; CLATTN_PART=1: the others, N/M: a share of them, CLATTN_FULL=1: all.
layer=$top_builddir/tests/amd/.libs/amd_device.so
amdcl=$top_builddir/offline/amdcl
drivers=${AMD_DRIVERS-}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
test -e "$layer" || skip_all "there is no $layer: no shared objects are built here, or CL/cl_layer.h is missing"
test -x "$amdcl" || skip_all "there is no $amdcl"
for root in rocm5 rocm6; do
    test -e "$drivers/$root/ready" || skip_all "no driver of AMD's in $root: offline/setup-amd-drivers.sh makes one"
done
"$amdcl" "$drivers/rocm6" >/dev/null 2>&1 ||
    skip_all "AMD's driver cannot be entered: that takes root, or user namespaces"
platform=AMD variable=CLATTN_AMD own="amdcl=$amdcl,drivers=$drivers"
kept=${CLATTN_KERNEL_CACHE-$tmp}/amd # what was compiled before, for all of these tests
. "$top_srcdir/tests/pretended/device.sh"
where=driver=6,gfx=1100
