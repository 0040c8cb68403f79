#!/bin/sh
# examples.t - the examples that compare their results with plain loops; README has the first one
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"

CLATTN_TUNE=off
export CLATTN_TUNE

example() { # NAME PATTERN: what it prints last
    "$top_builddir/examples/$1" >out 2>err
    status=$?
    if test $status -eq 77; then
        missing_device "no OpenCL device"
        skip "$1: no OpenCL device"
    else
        test $status -eq 0 && tail -n 1 out | grep -q "$2"
        ok $? "$1: $(tail -n 1 out) $(head -n 3 err)"
    fi
}
example first_call '^CL_SUCCESS : row 0 is 1, row 255 is '
example varlen '^3 sequences, 158 rows: largest error '
example score_mod '^4 heads, 90 rows, a bias for 17 distances: largest error '
example two_devices '^400 keys on .*: largest error '
example ggml '^all nodes are right$'

# A result with a NaN in it, as a layer under the loader reads it, has no error below any bound.
layer=$top_builddir/tests/fault/.libs/faulty_driver.so
with_nan() { # NAME BYTES: of the results that it reads
    OPENCL_LAYERS=$layer CLATTN_EVIL=log=$tmp/log,read-nan=$2 "$top_builddir/examples/$1" >out 2>err
    status=$?
    if test $status -eq 77; then
        skip "$1: no OpenCL device"
    elif test ! -s log; then
        skip "the loader takes no layers"
    else
        test $status -eq 1 && grep -q 'largest error -*nan' out
        ok $? "$1 with a NaN: status $status, $(tail -n 1 out)"
    fi
    rm -f log
}
with_nan varlen 80896
with_nan score_mod 46080
with_nan two_devices 1280

# From its first #define on, indented by four spaces.
sed -n '/^#define/,$p' "$top_srcdir/examples/first_call.c" >program
sed -n '/^    #define/,/^    }$/s/^ \{0,4\}//p' "$top_srcdir/doc/using" >printed
test -s program && cmp -s program printed
ok $? "doc/using has examples/first_call.c"
echo "1..$n"
exit $bad
