#!/bin/sh
# generate.t - examples/generate.c: every token that is generated step by step is that of one forward pass
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

CLATTN_TUNE=off
export CLATTN_TUNE
"$top_builddir/examples/generate" >out 2>err
status=$?
if test $status -eq 77; then
    missing_device "no OpenCL device"
    skip "no OpenCL device"
else
    test $status -eq 0 && grep -q '^128 tokens after .* tokens per second' out
    ok $? "each of 128 tokens of two sequences, over a paged int8 cache: $(head -n 1 out)"
fi
echo "1..$n"
exit $bad
