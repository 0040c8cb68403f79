#!/bin/sh
# refpeer.t - our float64 reference against the one of the conformance cases, which other hands wrote
# SPDX-License-Identifier: Apache-2.0
: "${top_srcdir=$(dirname "$0")/../..}" "${top_builddir=.}"
top_srcdir=$(cd "$top_srcdir" && pwd) top_builddir=$(cd "$top_builddir" && pwd)
cases=$top_srcdir/tests/conformance

python=
for p in ${PYTHON-} python3; do
    "$p" -c 'import numpy' >/dev/null 2>&1 && python=$p && break
done
if test -z "$python"; then
    echo "1..0 # SKIP no Python with numpy"
else
    exec "$python" -B "$top_srcdir/tests/unit/refpeer.py" "$top_builddir/tests/unit/refrun" "$cases"
fi
