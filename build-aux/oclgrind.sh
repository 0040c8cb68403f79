#!/bin/sh
# oclgrind.sh TEST...: runs one TAP test on Oclgrind; what Oclgrind finds makes it fail.
# SPDX-License-Identifier: Apache-2.0
log=$1.oclgrind
rm -f "$log"
# matrix.t, engines.t, append.t, rotary.t, backward.t and scores.t: races and bounds alone. Each of their cases is clean
# in a process of its own, backward.t's and scores.t's where the plan tries no sample; behind another one Oclgrind 21.10
# takes values for uninitialized that were written, e.g. the states that pass merge reads.
uninitialized=--uninitialized
case $1 in *matrix.t | *engines.t | *append.t | *rotary.t | *backward.t | *scores.t) uninitialized= ;; esac
CLATTN_TEST_DEVICES=Oclgrind CLATTN_QUICK=1 ${OCLGRIND-oclgrind} --data-races $uninitialized --max-errors 20 \
    --log "$log" "$@"
status=$?
if test -s "$log"; then
    sed 's/^/# /' "$log"
    echo "Bail out! oclgrind: $(grep -m 1 . "$log")"
fi
exit $status
