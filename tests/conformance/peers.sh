# peers.sh - the cases of other implementations, through clattn-run. Sourced behind program.sh
# SPDX-License-Identifier: Apache-2.0
#
# They lie beside this file, see README there, and need a $PYTHON with numpy. Those whose names match $CLATTN_CASES are
# judged, with CLATTN_FULL=1 all. Without numpy that is a skip, but a failure where CLATTN_CASES asks for some.
# CLATTN_CONFORMANCE names another folder with a run.py that takes the same options, for cases that are kept elsewhere.
peers=${CLATTN_CONFORMANCE-$top_srcdir/tests/conformance}
chosen=${CLATTN_CASES-'^jax_|^g_merge|^g_paged9_|^g_int8_group32'}
test -z "$full" || chosen=.
printf '%s\n' "${CLATTN_TEST_DEVICES-}" | tr ';' '\n' >devices # under test, one per line; an empty line is the default
lacking= # a pattern of features that are left out; none of those that this version has
direction=--forward-only

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

judge_peers() { # NAMES TYPE [ARGS [OPTIONS]]: on every device that is tested; ARGS are clattn-run's, OPTIONS run.py's
    names=$1 type=$2 args=${3-} options=${4-}
    while IFS= read -r device <&3; do
        quoted=$(printf %s "$device" | sed "s/'/'\\\\''/g")
        "$python" -B "$peers/run.py" --run "$program" --dtype "$type" $direction $options \
            --filter "$names" --without "$lacking" --args "--tune off --device '$quoted' $args" >out 2>err
        ok $? "conformance in $type${options:+ $options}${args:+, $args}${device:+ on $device}: $(tail -n 1 out)"
    done 3<devices
}

unoptimised() { # from here on, on PoCL
    POCL_EXTRA_BUILD_FLAGS=${POCL_EXTRA_BUILD_FLAGS-${CLATTN_POCL_FLAGS--cl-opt-disable}}
    export POCL_EXTRA_BUILD_FLAGS
}

judge_gradients() { # NAMES TYPE [ARGS]: likewise, gradients too, of the cases that have some and are NAMES
    lacking='paged|int8|merge' direction=
    judge_peers "$1" "$2" "${3-}" "--timeout 240"
    lacking= direction=--forward-only
}

share() { # NAMES PART: a pattern of the cases chosen by NAMES; PART is N/M: of every M-th
    within inf inf "$1" "$2"
}
within() { # MOST WIDEST NAMES PART: likewise, b h q k (d + dv) at most MOST, d and dv at most WIDEST
    "$python" -B "$top_srcdir/tests/conformance/within.py" "$peers" "$lacking" "$@"
}
