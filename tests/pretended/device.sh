# device.sh - what tests on all pretended devices share. Sourced by nvidia_device.sh, amd_device.sh and
# intel_device.sh, with
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
verdicts=$tmp/cache # on matrix units, which take longest: programs are the same in every schedule
real_inputs() { # rq.npy, rk.npy and rv.npy
    real rq.npy '<f4' 4 1 2 77 64
    real rk.npy '<f4' 4 1 2 133 64
    real rv.npy '<f4' 4 1 2 133 64
}
attention() { # WORDS ARGS...: of these; status 2 where there is no PoCL
    words=$1
    shift
    CLATTN_CACHE_DIR=$verdicts on_device "$words" "$program" --json --verify --tune off --device $platform "$@" \
        rq.npy rk.npy rv.npy
}
needs_pocl() { # behind the first of them
    test $status -eq 2 || return 0
    missing_device "no PoCL"
    skip_all "no PoCL"
}
right() { sound && grep -q '"bound": [0-9.e-]*[1-9]' out; } # something was judged
computes() { # ENGINE BINARY DESCRIPTION: that engine, right, and its program was built (miss) or loaded (hit)
    right && test "$(json engine)" = "$1" && test "$(json binary)" = "$2"
    ok $? "$3 ($(json engine), $(json binary))"
}
tuner() { # WORDS ARGS...
    words=$1
    shift
    CLATTN_CACHE_DIR=$tmp/tuned on_device "$words" "$top_builddir/clattn-tune" --device $platform "$@"
}
tuned() { # WORDS PROBLEM: the record is kept, and the next start takes it. What is measured means nothing
    tuner "$1" --effort quick --time 60 "$2"
    sound
    ok $? "clattn-tune ends ($(tail -n 1 out))"
    tuner "$1" --list
    sound && test "$(grep -c ' \(simt\|mma_nv\|mfma\|wmma\|dpas8*\) ' out)" -eq 1
    ok $? "and has kept what it found ($(tail -n 1 out))"
    tuner "$1" --verify
    sound
    ok $? "which computes what it should ($(tail -n 1 out))"
}
case_is_right() { # WORDS PROBLEM ENGINE [TEST [LAYOUT]]
    CLATTN_CACHE_DIR=$verdicts on_device "$1" "$top_builddir/tests/kernel/${4-forward}.t" "$2" "$3" ${5+"$5"}
    sound && grep -q "^ok 1 - $platform" out && ! grep -q SKIP out
    ok $? "$3, $1: $2${5+, $5}"
}
several() { # WORDS TEST ENGINES [VARIABLE=VALUE...]: of engines.t the quick ones, which have every kind of case
    words=$1 test=$2 engines=$3
    shift 3
    on_device "$words" env CLATTN_PART="$part" CLATTN_FULL="$full" CLATTN_TUNE=off CLATTN_CACHE_DIR="$verdicts" \
        CLATTN_TEST_ENGINES="$engines" "$@" "$top_builddir/tests/kernel/$test.t"
    sound && test "$(grep -c "^ok.*$platform" out)" -gt 0
    ok $? "$test.t${engines:+, engines $engines}, $words: $(grep -c '^ok' out) tests, $(wc -l <findings) findings"
}
planned() { # ENGINE LINES WORDS PROBLEM [FOLDER]: what a handle takes by itself; LINES of the log say why no other one
    CLATTN_CACHE_DIR=${5-off} on_device "$3" "$top_builddir/tests/pretended/planned" "$4"
    sound && grep -q "^ok 1 - .*, $1 [a-z]*[0-9]" out && test "$(grep -c '^# log: ' out)" -eq "$2" &&
        test "$(grep -c '^# log: engine [a-z_]* is not used: it failed its self-test on this device' out)" -eq "$2"
    ok $? "$3, $4: $1$(sed -n 's/^# log: /; /p' out)"
}
# Something was found or computed wrong, or the engine fails its own test (a skip). A program that is not built shows no
# fault, nor does time that runs out.
shows() {
    test $status -le 1 && ! grep -q ': a program is not built$' err && { ! sound || grep -q SKIP out; }
}
fault() { # ENGINE PROBLEM FROM TO N WORDS [LAYOUT]: the N-th FROM of the program is TO; some schedule shows it
    printf '%s\n' "$3" "$4" "$5" >change
    shown=
    for schedule in lowest highest random; do
        # A verdict on matrix units that another fault has left would show this one.
        CLATTN_CACHE_DIR=off on_device "$6,schedule=$schedule,seed=5,change=$tmp/change" \
            "$top_builddir/tests/kernel/forward.t" "$2" "$1" ${7+"$7"}
        ! shows || shown=$schedule
        test -z "$shown" || break
    done
    test -n "$shown"
    ok $? "$1, $6${7+, $7}, $(test "$4" = ' ' && echo "without '$3'" || echo "'$4' for '$3'") ($5): seen by $shown"
}
none='^() ' # what within of peers.sh says where a share has no case
peers_are_right() { # WORDS TYPE ENGINE NAMES: the cases of other implementations, by peers.sh
    if test "$4" = "$none"; then
        skip "this share has no case: $1"
        return
    fi
    pretend "$1"
    OPENCL_LAYERS=$layer
    export OPENCL_LAYERS
    judge_peers "$4" "$2" "--engine $3"
    unset OPENCL_LAYERS
    test ! -s findings
    ok $? "and nothing was found: $1"
}
