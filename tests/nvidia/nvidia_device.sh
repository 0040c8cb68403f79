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
test "${CLATTN_QUICK:-0}" = 0 || skip_all "it takes half a minute"
unset CLATTN_TUNE CLATTN_PART CLATTN_FULL
CLATTN_QUICK=1 CLATTN_TEST_DEVICES=NVIDIA
export CLATTN_QUICK CLATTN_TEST_DEVICES
ptx=${CLATTN_KERNEL_CACHE-$tmp}/ptx/$(cksum <"$nvcl" | tr ' ' -) # what it compiled before, for all of these tests
mkdir -p "$ptx"

pretend() { # WORDS: what is behind the layer from now on; findings has what the interpreter finds
    rm -f findings && : >findings
    CLATTN_NVIDIA="nvcl=$nvcl,compilers=$compilers,cache=$ptx,findings=$tmp/findings${1:+,$1}"
    export CLATTN_NVIDIA
}
on_nvidia() { # WORDS COMMAND...: status in $status, text in out and err
    pretend "$1"
    shift
    OPENCL_LAYERS=$layer timeout -k 5 600 "$@" >out 2>err </dev/null
    status=$?
}
sound() { test $status -eq 0 && test ! -s findings && ! grep -q '^not ok' out; }
json() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" out; }
case_is_right() { # WORDS PROBLEM ENGINE [TEST]
    on_nvidia "$1" "$top_builddir/tests/kernel/${4-forward}.t" "$2" "$3"
    sound && grep -q '^ok 1 - NVIDIA' out && ! grep -q SKIP out
    ok $? "$3, $1: $2"
}
where=driver=550,cc=80
