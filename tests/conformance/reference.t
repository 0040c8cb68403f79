#!/bin/sh
# reference.t - the reference of the conformance cases against their peers, and the judge against wrong results
# SPDX-License-Identifier: Apache-2.0
#
# Forward, of the small cases; CLATTN_FULL=1: of all, and gradients.
: "${top_srcdir=$(dirname "$0")/../..}"

python=
for p in ${PYTHON-} python3; do
    "$p" -c 'import numpy' >/dev/null 2>&1 && python=$p && break
done
if test -z "$python"; then
    echo "1..0 # SKIP no Python with numpy"
    exit 0
fi

full=${CLATTN_FULL-}
if test -n "${full#0}"; then set --; else set -- --forward-only --filter '^(g|jax|onnx|real)_'; fi
result=$("$python" -B "$top_srcdir/tests/conformance/check.py" ref "$@" 2>&1)
status=$?
echo 1..1
test $status -eq 0 || printf 'not '
echo "ok 1 - reference.py has the peers' values: $(printf '%s\n' "$result" | tail -n 1)"
test $status -eq 0 || printf '%s\n' "$result" | sed 's/^/# /'
exit $status
