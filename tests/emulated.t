#!/bin/sh
# emulated.t - the cases of other implementations through engine mma_nv's fragment, its instructions emulated
# SPDX-License-Identifier: Apache-2.0
#
# Those of peers.sh that the engine takes and that are small enough, with CLATTN_FULL=1 of any size and in bf16 too. With the
# smallest tile: most tiles a case, and it builds in half of the time.
. "${top_srcdir=$(dirname "$0")/..}/tests/program.sh"
. "$top_srcdir/tests/peers.sh"
need_device

tile="--engine mma_emu --tile nw1,rt1,bk16,qreg0"
within() { # MOST: a pattern of the chosen cases whose b h q k (d + dv) is at most MOST
    "$python" - "$peers/index.json" "$chosen" "$lacking" "$1" <<'END'
import json, re, sys
index, chosen, lacking, most = sys.argv[1:]
names = []
for case in json.load(open(index))['cases']:
    key, s = case['name'] + ' ' + ' '.join(case['features']), case['shape']
    if re.search(chosen, key) and not re.search(lacking, key) and max(s['D'], s['Dv']) <= 256 and \
            s['B'] * s['Hq'] * s['Tq'] * s['Tk'] * (s['D'] + s['Dv']) <= float(most):
        names.append(re.escape(case['name']))
print('^(%s) ' % '|'.join(names))
END
}

if find_peers; then
    most=1e7 types=f16
    test -z "$full" || most=inf types='f16 bf16'
    names=$(within $most 2>err) && test "$names" != '^() '
    status=$?
    ok $status "there are cases that it takes"
    test $status -ne 0 || for type in $types; do judge_peers "$names" $type "$tile"; done
fi

echo "1..$n"
exit $bad
