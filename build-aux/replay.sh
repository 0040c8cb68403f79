#!/bin/sh
# replay.sh TEST.log: prints what a test of `make check` printed and fails where it failed, so that prove can sum up a
# run without repeating it: prove -e 'sh build-aux/replay.sh' build/tests/*/*.log
# SPDX-License-Identifier: Apache-2.0
cat "$1"
! grep -qs '^:test-global-result: \(FAIL\|ERROR\|XPASS\)' "${1%.log}.trs"
