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
test "${CLATTN_QUICK:-0}" = 0 || skip_all "it takes half a minute"
unset CLATTN_TUNE CLATTN_PART CLATTN_FULL
CLATTN_QUICK=1 CLATTN_TEST_DEVICES=AMD
export CLATTN_QUICK CLATTN_TEST_DEVICES
objects=${CLATTN_KERNEL_CACHE-$tmp}/amd # what was compiled before, for all of these tests
mkdir -p "$objects"

pretend() { # WORDS: what is behind the layer from now on; findings has what the interpreter finds
    rm -f findings && : >findings
    CLATTN_AMD="amdcl=$amdcl,drivers=$drivers,cache=$objects,findings=$tmp/findings${1:+,$1}"
    export CLATTN_AMD
}
on_amd() { # WORDS COMMAND...: status in $status, text in out and err
    pretend "$1"
    shift
    OPENCL_LAYERS=$layer timeout -k 5 600 "$@" >out 2>err </dev/null
    status=$?
}
sound() { test $status -eq 0 && test ! -s findings && ! grep -q '^not ok' out; }
json() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" out; }
case_is_right() { # WORDS PROBLEM ENGINE [TEST]
    on_amd "$1" "$top_builddir/tests/kernel/${4-forward}.t" "$2" "$3"
    sound && grep -q '^ok 1 - AMD' out && ! grep -q SKIP out
    ok $? "$3, $1: $2"
}
where=driver=6,gfx=1100
