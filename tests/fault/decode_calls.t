#!/bin/sh
# decode_calls.t - what a step of generation asks of OpenCL: the calls of 40 steps beside those of 8
# SPDX-License-Identifier: Apache-2.0
#
# The layer of faulty_driver.h counts them for examples/generate.c. Whatever happens once is in both; the difference is
# the steps' alone, and has no allocation, no build, no reading of device memory and no waiting.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
layer=$top_builddir/tests/fault/.libs/faulty_driver.so
CLATTN_TUNE=off CLATTN_CACHE_DIR=$tmp/cache
export CLATTN_TUNE CLATTN_CACHE_DIR

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
steps() { # N: runs so many, and leaves their calls in count.N
    OPENCL_LAYERS=$layer CLATTN_EVIL="count=$tmp/count.$1" "$top_builddir/examples/generate" "$1" >out 2>err
}

test -e "$layer" || skip_all "there is no $layer: no shared objects are built here, or CL/cl_layer.h is missing"
steps 8 # compiles
status=$?
if test $status -eq 77; then
    missing_device "no OpenCL device"
    skip_all "no OpenCL device"
fi
test -e count.8 || skip_all "the ICD loader knows no layers"
ok $status "8 steps"
steps 8
steps 40
ok $? "40 steps"

# CALL TIMES, of 32 steps; names as the layer writes them.
awk 'NR == FNR { before[$1] = $2; next } $1 ~ /^cl/ && $2 != before[$1] { print $1, $2 - before[$1] }' \
    count.8 count.40 >more
own='^cl(GetCommandQueueInfo|GetMemObjectInfo|GetEventInfo|SetKernelArg|EnqueueNDRangeKernel|ReleaseEvent) '
grep -Ev "$own" more >others
test "$(cat others)" = "clEnqueueWriteBuffer 96"
ok $? "beside the example's own three copies a step, the library sets arguments, enqueues, and asks what buffers are"
awk '$1 == "clEnqueueNDRangeKernel" { good = $2 % 32 == 0 && $2 / 32 >= 4 && $2 / 32 <= 5 } END { exit !good }' more
ok $? "a step is 4 kernels, or 5 where the keys are split: $(grep NDRange more)"
echo "1..$n"
exit $bad
