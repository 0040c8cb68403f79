#!/bin/sh
# nvidia.t - the library on a pretended NVIDIA device: compiled as by NVIDIA's drivers, executed by an interpreter of PTX
# SPDX-License-Identifier: Apache-2.0
#
# See nvidia.h. The compilers are what offline/setup-nvidia-compilers.sh unpacks, in $NV_COMPILERS. make check has
# one driver, one architecture and a few problems of each kind; CLATTN_PART=1: the others, in other schedules and with other
# errors of what is approximate, and faults that have to be found. CLATTN_FULL=1: all.
. "${top_srcdir=$(dirname "$0")/..}/tests/program.sh"
layer=$top_builddir/tests/.libs/nvidia.so
nvcl=$top_builddir/offline/nvcl
compilers=${NV_COMPILERS-}
full=${CLATTN_FULL-} full=${full#0} part=${CLATTN_PART-0} part=$((part % 2))
dealt() { test -n "$full" || test "$1" = "$part"; }

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
test -e "$layer" || skip_all "there is no $layer: no shared objects are built here, or CL/cl_layer.h is missing"
test -x "$nvcl" || skip_all "there is no $nvcl"
for driver in 470 535 550; do
    test -e "$compilers/$driver/compiler.so" ||
        skip_all "no compiler of NVIDIA's driver $driver: offline/setup-nvidia-compilers.sh unpacks it"
done
test "${CLATTN_QUICK:-0}" = 0 || skip_all "it takes half a minute"
unset CLATTN_TUNE CLATTN_PART CLATTN_FULL
CLATTN_QUICK=1 CLATTN_TEST_DEVICES=NVIDIA OPENCL_LAYERS=$layer
export CLATTN_QUICK CLATTN_TEST_DEVICES
mkdir ptx

on_nvidia() { # WORDS COMMAND...: status in $status, text in out and err, what the interpreter found in findings
    words=$1
    shift
    rm -f findings && : >findings
    CLATTN_NVIDIA="nvcl=$nvcl,compilers=$compilers,cache=$tmp/ptx,findings=$tmp/findings${words:+,$words}" \
        OPENCL_LAYERS=$layer timeout -k 5 600 "$@" >out 2>err </dev/null
    status=$?
}
sound() { test $status -eq 0 && test ! -s findings && ! grep -q '^not ok' out; }
json() { sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" out; }
case_is_right() { # WORDS PROBLEM ENGINE
    on_nvidia "$1" "$top_builddir/tests/forward.t" "$2" "$3"
    sound && grep -q '^ok 1 - NVIDIA' out && ! grep -q SKIP out
    ok $? "$3, $1: $2"
}

# ---- as a user's program meets it ----

real rq.npy '<f2' 2 1 2 77 64
real rk.npy '<f2' 2 1 2 133 64
real rv.npy '<f2' 2 1 2 133 64
attention() { # WORDS ARGS...
    words=$1
    shift
    CLATTN_CACHE_DIR=$tmp/cache on_nvidia "$words" "$program" --json --verify --device NVIDIA "$@" rq.npy rk.npy rv.npy
}
where=driver=550,cc=80
attention $where --type f16 --causal --tune off
if test $status -eq 2; then
    missing_device "no PoCL"
    skip_all "no PoCL"
fi
sound && test "$(json engine)" = mma_nv && test "$(json binary)" = miss
ok $? "f16: the matrix units are chosen after their test ($(json engine), $(json binary))"
attention $where --type f16 --causal --tune off
sound && test "$(json engine)" = mma_nv && test "$(json binary)" = hit
ok $? "and from the second start on the program is loaded ($(json binary))"
attention $where --type f32 --causal --tune off
sound && test "$(json engine)" = simt
ok $? "f32: engine simt ($(json engine))"

# ---- tables of cases ----

several() { # WORDS TEST ENGINES: those of engines.t that are quick have every kind of case, pairs.t goes by types
    CLATTN_PART=$part CLATTN_FULL=$full CLATTN_TUNE=off CLATTN_CACHE_DIR=off CLATTN_TEST_ENGINES=$3 \
        on_nvidia "$1" "$top_builddir/tests/$2.t"
    sound && test "$(grep -c '^ok.*NVIDIA' out)" -gt 0
    ok $? "$2.t${3:+, engines $3}, $1: $(grep -c '^ok' out) tests, $(wc -l <findings) findings"
}
if dealt 0; then
    several $where engines 'simt mma_nv'
    for problem in 'f16 b1 h2/1 q300 k200 d64 causal lse' 'f16 b1 h2/1 q300 k200 d128 lse' 'f32 b1 h2 q300 k133 d64 causal lse'; do
        case_is_right $where,pieces=3,approximate=1 "$problem" ''
    done
fi
if dealt 1; then
    several driver=470,cc=75,approximate=-1 engines 'simt mma_nv'
    several driver=535,cc=90,schedule=highest,approximate=1 engines 'simt mma_nv'
    several driver=550,cc=90,schedule=random,seed=1,pieces=2 engines 'simt mma_nv'
    several driver=535,cc=80,schedule=random,seed=2,approximate=1,pieces=2 pairs ''
    several driver=470,cc=80,approximate=1 sizes ''
    several driver=550,cc=80,approximate=-1 dropped ''
    several driver=550,cc=80,approximate=-1 rescale ''
fi

# ---- faults ----

fault() { # ENGINE PROBLEM FROM TO N: the N-th FROM of the program is TO; some schedule shows it
    printf '%s\n' "$3" "$4" "$5" >change
    shown=
    for schedule in lowest highest random; do
        on_nvidia "$where,schedule=$schedule,seed=5,change=$tmp/change" "$top_builddir/tests/forward.t" "$2" "$1"
        sound && ! grep -q SKIP out || shown="$shown $schedule" # a skip: the engine fails its own test
    done
    test -n "$shown"
    ok $? "$1, $(test "$4" = ' ' && echo "without '$3'" || echo "'$4' for '$3'") ($5): seen by$shown"
}
# Barrier 1 of engine simt stands where keys are dropped, 5 stands before the sum of a row's weights, where nobody reads any
# more: without effect here, and so is bar.warp.sync by PTX's manual, which has mma.sync wait for all.
simt='f32 b1 h2 q77 k133 d64 causal lse' mma='f16 b1 h2 q77 k133 d64 causal lse' gone=' '
barrier='barrier(CLK_LOCAL_MEM_FENCE);'
if dealt 1; then
    for i in 2 3 4 6 7 8; do fault simt "$simt" "$barrier" "$gone" $i; done
    for i in 1 2 3 4 5; do fault mma_nv "$mma" "$barrier" "$gone" $i; done
    fault mma_nv "$mma" '16 * (j / 4) + 4 * t->c + j % 4' '16 * (j / 4) + 4 * t->c + (j ^ 1) % 4' 1
    fault mma_nv "$mma" 'key = 4 * (t->g / 2) + t->g % 2' 'key = 4 * (t->g / 2) + (t->g + 1) % 2' 1
    fault mma_nv "$mma" 'cla_pack2(x[1], x[CLA_R_N + 1])' 'cla_pack2(x[0], x[CLA_R_N])' 1
    fault mma_nv "$mma" '"+f"(*c0), "+f"(*c1)' '"=f"(*c0), "+f"(*c1)' 1
    fault mma_nv "$mma" '0x5410' '0x5411' 1
    fault mma_nv "$mma" '0x7632' '0x7631' 1
    fault mma_nv "$mma" '"f"(high), "f"(low)' '"f"(low), "f"(high)' 1
    fault mma_nv "$mma" 'cla_local_k[CLA_BK * CLA_KC]' 'cla_local_k[CLA_BK * CLA_KC - 1]' 1
    fault mma_nv "$mma" 'cla_local_v[CLA_BK * CLA_VC]' 'cla_local_v[CLA_BK * CLA_VC - 1]' 1
    fault simt "$simt" 'cla_local_kv[2 * CLA_KVSTEP]' 'cla_local_kv[2 * CLA_KVSTEP - 8]' 1
    fault simt "$simt" 'cla_local_m[3 * CLA_BQ]' 'cla_local_m[2 * CLA_BQ]' 1
fi

echo "1..$n"
exit $bad
