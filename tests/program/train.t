#!/bin/sh
# train.t - examples/train.c: gradients are what finite differences say, and a layer learns from them
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

CLATTN_TUNE=off
export CLATTN_TUNE
"$top_builddir/examples/train" >out 2>err
status=$?
if test $status -eq 77; then
    missing_device "no OpenCL device"
    skip "no OpenCL device"
    skip "no OpenCL device"
else
    test $status -eq 0 && grep -q '^gradients: the same bits twice, and within .* of finite differences' out
    ok $? "gradients: $(head -n 1 out)"
    # From 1.16, where weights are made up and nothing was learnt.
    test $status -eq 0 && tail -n 1 out | grep -q '^step  100: loss 0\.000'
    ok $? "after 100 steps: $(tail -n 1 out)"
fi
echo "1..$n"
exit $bad
