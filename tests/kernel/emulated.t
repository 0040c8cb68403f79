#!/bin/sh
# emulated.t - the cases of other implementations through engine mma_nv's fragment, its instructions emulated
# SPDX-License-Identifier: Apache-2.0
#
# Those of peers.sh that the engine takes and that are small enough, with CLATTN_FULL=1 of any size and in bf16 too. A
# 24th of them unless CLATTN_PART says which.
# With the smallest tile: most tiles a case, and it builds in half of the time.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/conformance/peers.sh"
program=$top_builddir/tests/emulated/clattn-run
need_device

lacking='int8|merge' # what the engine refuses, and what no engine computes
tile="--engine mma_emu --tile nw1,rt1,bk16,qreg0"
if find_peers; then
    most=1e7 types=f16
    test -z "$full" || most=inf types='f16 bf16'
    share=${CLATTN_PART:-0/24}
    test -z "$full" || share=
    all=$(within $most 256 "$chosen" "$share" 2>err) && test "$all" != '^() '
    status=$?
    ok $status "there are cases that it takes"
    test $status -ne 0 || for type in $types; do judge_peers "$all" $type "$tile"; done
fi

echo "1..$n"
exit $bad
