# nvidia_device.sh - what tests on the pretended NVIDIA device share. Sourced behind program.sh
# SPDX-License-Identifier: Apache-2.0
#
# See nvidia_machine.c. The compilers are what offline/setup-nvidia-compilers.sh unpacks, in $NV_COMPILERS. make check
# has a few problems of each kind; CLATTN_PART=1: the others, N/M: a share of them, CLATTN_FULL=1: all.
layer=$top_builddir/tests/nvidia/.libs/nvidia_device.so
nvcl=$top_builddir/offline/nvcl
compilers=${NV_COMPILERS-}

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
test -e "$layer" || skip_all "there is no $layer: no shared objects are built here, or CL/cl_layer.h is missing"
test -x "$nvcl" || skip_all "there is no $nvcl"
for driver in 470 535 550; do
    test -e "$compilers/$driver/compiler.so" ||
        skip_all "no compiler of NVIDIA's driver $driver: offline/setup-nvidia-compilers.sh unpacks it"
done
platform=NVIDIA variable=CLATTN_NVIDIA own="nvcl=$nvcl,compilers=$compilers"
kept=${CLATTN_KERNEL_CACHE-$tmp}/ptx/$(cksum <"$nvcl" | tr ' ' -) # what it compiled before, for all of these tests
. "$top_srcdir/tests/pretended/device.sh"
where=driver=550,cc=80
