# device.sh - what tests on all pretended devices share. Sourced by nvidia_device.sh and amd_device.sh, with
#     platform=NVIDIA variable=CLATTN_NVIDIA     what the names of its devices begin with, and where its layer looks
#     own=WORD=VALUE,..                          what it is always told
#     kept=DIR                                   what was compiled before
# SPDX-License-Identifier: Apache-2.0
test "${CLATTN_QUICK:-0}" = 0 || skip_all "it takes half a minute"
unset CLATTN_TUNE CLATTN_PART CLATTN_FULL
CLATTN_QUICK=1 CLATTN_TEST_DEVICES=$platform
export CLATTN_QUICK CLATTN_TEST_DEVICES
mkdir -p "$kept"

pretend() { # WORDS: what is behind the layer from now on; findings has what the interpreter finds
    rm -f findings && : >findings
    export "$variable=$own,cache=$kept,findings=$tmp/findings${1:+,$1}"
}
on_device() { # WORDS COMMAND...: status in $status, text in out and err
    pretend "$1"
    shift
    OPENCL_LAYERS=$layer timeout -k 5 600 "$@" >out 2>err </dev/null
    status=$?
}
sound() { test $status -eq 0 && test ! -s findings && ! grep -q '^not ok' out; }
json() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" out; }
case_is_right() { # WORDS PROBLEM ENGINE [TEST]
    on_device "$1" "$top_builddir/tests/kernel/${4-forward}.t" "$2" "$3"
    sound && grep -q "^ok 1 - $platform" out && ! grep -q SKIP out
    ok $? "$3, $1: $2"
}
several() { # WORDS TEST ENGINES [VARIABLE=VALUE...]: of engines.t the quick ones, which have every kind of case
    words=$1 test=$2 engines=$3
    shift 3
    on_device "$words" env CLATTN_PART="$part" CLATTN_FULL="$full" CLATTN_TUNE=off CLATTN_CACHE_DIR=off \
        CLATTN_TEST_ENGINES="$engines" "$@" "$top_builddir/tests/kernel/$test.t"
    sound && test "$(grep -c "^ok.*$platform" out)" -gt 0
    ok $? "$test.t${engines:+, engines $engines}, $words: $(grep -c '^ok' out) tests, $(wc -l <findings) findings"
}
fault() { # ENGINE PROBLEM FROM TO N WORDS: the N-th FROM of the program is TO; some schedule shows it
    printf '%s\n' "$3" "$4" "$5" >change
    shown=
    for schedule in lowest highest random; do
        on_device "$6,schedule=$schedule,seed=5,change=$tmp/change" "$top_builddir/tests/kernel/forward.t" "$2" "$1"
        sound && ! grep -q SKIP out || shown=$schedule # a skip: the engine fails its own test
        test -z "$shown" || break
    done
    test -n "$shown"
    ok $? "$1, $6, $(test "$4" = ' ' && echo "without '$3'" || echo "'$4' for '$3'") ($5): seen by $shown"
}
peers_are_right() { # WORDS TYPE ENGINE NAMES: the cases of other implementations, by peers.sh
    pretend "$1"
    OPENCL_LAYERS=$layer
    export OPENCL_LAYERS
    judge_peers "$4" "$2" "--engine $3"
    unset OPENCL_LAYERS
    test ! -s findings
    ok $? "and nothing was found: $1"
}
