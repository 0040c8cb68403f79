# peers.sh - the cases of other implementations, through clattn-run. Sourced behind program.sh
# SPDX-License-Identifier: Apache-2.0
#
# They are looked for in $CLATTN_CONFORMANCE and need a $PYTHON with numpy: those whose names match $CLATTN_CASES, with
# CLATTN_FULL=1 all of them. Where they are missing that is a skip, but a failure where CLATTN_CASES asks for some.
peers=${CLATTN_CONFORMANCE-$top_srcdir/../shared/conformance}
chosen=${CLATTN_CASES-'^jax_'}
full=${CLATTN_FULL-} full=${full#0}
test -z "$full" || chosen=.
printf '%s\n' "${CLATTN_TEST_DEVICES-}" | tr ';' '\n' >devices # under test, one per line; an empty line is the default
lacking='paged|int8|merge' # features that this version lacks; they shrink with every version

find_peers() { # sets $python; or says what is missing
    for python in ${PYTHON-} python3; do
        "$python" -c 'import numpy' >/dev/null 2>&1 && break
        python=
    done
    missing=
    test -n "$python" || missing="no Python with numpy, which judges the conformance cases"
    test -f "$peers/run.py" || missing="no conformance cases at $peers"
    test -z "$missing" && return
    if test -n "${CLATTN_CASES-}"; then ok 1 "$missing"; else skip "$missing"; fi
    return 1
}

judge_peers() { # NAMES TYPE [ARGS]: on every device that is tested
    names=$1 type=$2 args=${3-}
    while IFS= read -r device <&3; do
        quoted=$(printf %s "$device" | sed "s/'/'\\\\''/g")
        "$python" -B "$peers/run.py" --run "$program" --dtype "$type" --forward-only --filter "$names" \
            --without "$lacking" --args "--tune off --device '$quoted' $args" >out 2>err
        ok $? "conformance in $type${args:+, $args}${device:+ on $device}: $(tail -n 1 out)"
    done 3<devices
}

share() { # NAMES PART: a pattern of the cases chosen by NAMES; PART is N/M: of every M-th
    within inf inf "$1" "$2"
}
within() { # MOST WIDEST NAMES PART: likewise, b h q k (d + dv) at most MOST, d and dv at most WIDEST
    "$python" - "$peers/index.json" "$lacking" "$@" <<'END'
import json, re, sys
index, lacking, most, widest, chosen, part = sys.argv[1:]
names = []
for case in json.load(open(index))['cases']:
    key, s = case['name'] + ' ' + ' '.join(case['features']), case['shape']
    if re.search(chosen, key) and not re.search(lacking, key) and max(s['D'], s['Dv']) <= float(widest) and \
            s['B'] * s['Hq'] * s['Tq'] * s['Tk'] * (s['D'] + s['Dv']) <= float(most):
        names.append(re.escape(case['name']))
n, m = map(int, part.split('/')) if '/' in part else (0, 1)
print('^(%s) ' % '|'.join(names[n % m::m]))
END
}
