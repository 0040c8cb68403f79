#!/bin/sh
# oclgrind.sh TEST...: runs one TAP test on Oclgrind; what Oclgrind finds makes it fail.
# SPDX-License-Identifier: Apache-2.0
log=$1.oclgrind
rm -f "$log"
# matrix.t: races and bounds alone. Each of its cases is clean in a process of its own; behind another one Oclgrind
# 21.10 takes values for uninitialized that were written.
uninitialized=--uninitialized
case $1 in *matrix.t) uninitialized= ;; esac
CLATTN_TEST_DEVICES=Oclgrind CLATTN_QUICK=1 ${OCLGRIND-oclgrind} --data-races $uninitialized --max-errors 1000 \
    --log "$log" "$@"
status=$?
# It does so of what pass merge reads, too: the states that the kernel before it has written.
if test -s "$log"; then
    awk 'BEGIN { RS = ""; ORS = "\n\n" } !(/ninitialized/ && /Kernel: cla_merge/)' "$log" >"$log.tmp" &&
        mv "$log.tmp" "$log"
fi
if test -s "$log"; then
    sed 's/^/# /' "$log"
    echo "Bail out! oclgrind: $(grep -m 1 . "$log")"
fi
exit $status
