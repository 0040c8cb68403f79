#!/bin/sh
# faulty_driver.t - a driver that fails, lies and crashes: the library under the layer of faulty_driver.h, on PoCL
# SPDX-License-Identifier: Apache-2.0
#
# Of a client's calls every 75th one fails once, of clattn-run's every 48th, and of lies that are alike one is told;
# CLATTN_PART: the others, or a share of them. CLATTN_FULL=1: all of them, and every lie is told.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
layer=$top_builddir/tests/fault/.libs/faulty_driver.so
client=$top_builddir/tests/fault/faulty_client
device='Portable Computing Language'
: "${POCL_CACHE_DIR=$tmp/pocl}" # the driver's own: builds are quick the second time
export POCL_CACHE_DIR
mkdir -p "$POCL_CACHE_DIR"
unset CLATTN_TUNE
CLATTN_TUNE_SECONDS=20 # of a search: it ends by itself long before that, even where builds are slow
export CLATTN_TUNE_SECONDS

skip_all() {
    echo "1..0 # SKIP $1"
    exit 0
}
layered() { # WORDS COMMAND...: status in $status, text in out and err, what the layer saw in log and count
    words=$1
    shift
    rm -f log count
    OPENCL_LAYERS=$layer CLATTN_EVIL="log=$tmp/log,count=$tmp/count${words:+,$words}" CLATTN_CACHE_DIR=$cache \
        timeout -k 5 "${limit-120}" "$@" >out 2>err </dev/null
    status=$?
    test -e log || : >log
}
fresh() { # a cache directory that is not there yet
    caches=$((${caches-0} + 1)) cache=$tmp/cache$caches
}
like() { # CACHE: a copy of it
    fresh
    cp -pR "$1" "$cache"
}
attention() { # WORDS TUNE ARGS...: through clattn-run, on tensors that are compiled and run in no time
    words=$1 tune=$2
    shift 2
    layered "$words" "$program" --json --verify --device "$device" --causal --tune "$tune" "$@" rq.npy rk.npy rv.npy
}
client() { # WORDS ARGS...: through evilrun
    words=$1
    shift
    layered "$words" "$client" device="$device" "$@"
}
json() { # KEY: its string
    sed -n "s/.*\"$1\": \"\([^\"]*\)\".*/\1/p" out
}
value() { # KEY: the first that evilrun printed
    sed -n "s/^$1=//p" out | head -n 1
}
seen() { # TEXT: lines of the log that begin so
    grep -c "^$1" log
}
right() { test $status -eq 0 && grep -q '"max_error": [0-9]' out; } # --verify exits 4 otherwise
computed_right() { test "$(grep -c '^verdict=right$' out)" -eq 2 && ! grep -q 'verdict=[wn]\|touched=y' out; }
verdicts_right() { test $status -eq 0 && computed_right; }
nothing_left() { test -e count && ! grep '^left-' count | grep -qv ' 0$'; }
options_of() { # CONFIG: the build options that it alone has
    echo "${1#* }" | tr 'a-z,' 'A-Z ' | sed 's/\([A-Z][A-Z]*\)\([0-9]\)/-DCLA_\1=\2/g; s/.*/ & /'
}

test -e "$layer" || skip_all "there is no $layer: no shared objects are built here, or CL/cl_layer.h is missing"
real rq.npy '<f4' 4 1 2 37 16
real rk.npy '<f4' 4 1 2 45 16
real rv.npy '<f4' 4 1 2 45 16
fresh
attention '' off
if test $status -eq 2; then
    missing_device "no PoCL"
    skip_all "no PoCL"
fi
test -e count || skip_all "the ICD loader knows no layers"
right && nothing_left && test "$(json binary)" = miss && test "$(seen 'clBuildProgram source')" -ge 1
ok $? "a program is compiled"
plain=$cache
fresh && cp -pR "$plain" "$cache"
attention '' off
right && nothing_left && test "$(json binary)" = hit && test "$(seen 'clBuildProgram source')" -eq 0 &&
    test "$(seen clCreateProgramWithBinary)" -ge 1
ok $? "and the second time taken from its binary"

fresh
client '' list
default=$(value config-0) other=$(value config-1)
its=$(options_of "$other")
two="build-only=$its,build-only=$(options_of "$default")" # a search between these
test $status -eq 0 && test -n "$other"
ok $? "there is another configuration than '$default': '$other'"

# ---- 21: binaries ----

lied() { # WORD
    word=$1
    like "$plain"
    attention $word off
    right && nothing_left && test "$(json binary)" = miss && test "$(seen clCreateProgramWithBinary)" -ge 1 &&
        test "$(seen 'clBuildProgram source')" -ge 1
    ok $? "$word: compiled again"
    attention '' off
    right && test "$(json binary)" = hit
    ok $? "$word: and kept again"
}
if usual; then lied binary-wrong; fi
for word in binary-status binary-build-fails binary-kernel-missing; do due lied $word; done
shrinks() {
    fresh
    attention '' off --engine naive
    right && like "$cache"
    attention '' off --engine naive
    right && test "$(json binary)" = hit
    ok $? "a kernel of groups of items, from its binary"
    attention binary-group-shrinks off --engine naive
    right && nothing_left && test "$(json binary)" = miss
    ok $? "binary-group-shrinks: compiled again"
}
due shrinks

kept_not() { # WORD
    word=$1
    fresh
    attention $word off
    right && nothing_left && test "$(json binary)" = miss && test -z "$(find "$cache/bin" -type f 2>/dev/null)"
    ok $? "$word: the result is right, nothing is kept"
    attention '' off
    right && test "$(json binary)" = miss && test -n "$(find "$cache/bin" -type f)"
    ok $? "$word: until a driver does better"
}
if usual; then kept_not binary-size=4G; fi
for word in binary-size=0 binaries-fail; do due kept_not $word; done

# A plan has two binaries, and those of its kernels and their first runs are all there when one of these crashes.
crashes() { # WHERE/TIMES
    where=$1
    times=${where#*/} where=${where%/*}
    like "$plain"
    for i in $(seq "$times"); do
        attention $where off
        test $status -eq 139
        ok $? "$where: the process dies of binary $i ($status)"
        attention $where off
        test $status -eq 139
        ok $? "$where: the next one, too: the first may have died of anything ($status)"
    done
    attention $where off
    right && nothing_left && test "$(seen clCreateProgramWithBinary)" -eq 0
    ok $? "$where: the start after that leaves the binaries alone"
    test -n "$full" || return 0
    attention $where off
    right && test "$(seen clCreateProgramWithBinary)" -eq 0
    ok $? "$where: so does the fourth"
}
if usual; then crashes binary-crash/2; fi
for where in binary-crash=build/2 binary-crash=kernel/1 binary-crash=enqueue/1; do due crashes $where; done

# ---- 22: builds ----

fails_once() {
    fresh
    attention build-fails=1 off
    right && nothing_left && test "$(json engine) $(json tile)" != "$default"
    ok $? "a build that fails: '$(json engine) $(json tile)' takes over from '$default'"
}
due fails_once
fails_with() { # LOG
    log=$1
    said='300 unended'
    test $log = build-log=unended || said='104857600 ended'
    fresh
    attention build-fails=1,$log off
    right && nothing_left && test "$(seen "build-log $said\$")" -ge 1
    ok $? "the same with $log"
    fresh
    attention build-fails-all,$log off
    test $status -eq 3 && nothing_left && test ! -s out && grep -q CLATTN_ERROR_BUILD err &&
        test "$(wc -c <err)" -lt 100000
    ok $? "all builds fail, $log: words ($status)"
}
due fails_with build-log=100M
if usual; then
    fails_with build-log=unended
    grep -q 'evil: no' err && ! grep -q 'e\{293\}' err
    ok $? "with the beginning of the log, and no byte behind its end"
fi
only=$two
test -z "$full" || only=
only_naive() { # TUNE
    fresh
    attention build-fails-but-naive $1
    right && nothing_left && test "$(json engine)" = naive
    ok $? "--tune $1: all builds fail but naive ones"
}
due only_naive off
if usual; then only_naive quick; fi
nth_fails() { # K
    fresh
    attention "build-fails=$1${only:+,$only}" quick
    right && nothing_left
    ok $? "--tune quick: build $1 fails"
}
if usual; then nth_fails 1; fi
due nth_fails 2
for k in ${full:+3 4 5 6 7 8}; do nth_fails $k; done
all_fail() {
    fresh
    attention build-fails-all quick
    test $status -eq 3 && nothing_left && grep -q CLATTN_ERROR_BUILD err
    ok $? "--tune quick: all builds fail"
}
due all_fail
slow_build() {
    fresh
    CLATTN_TUNE_SECONDS=0.3 # and builds that take longer
    attention build-slow=${full:+3}0.4 quick
    CLATTN_TUNE_SECONDS=20
    right && nothing_left && test "$(grep '^clBuildProgram source .*-DCLA_D=' log | sort -u | wc -l)" -eq 1
    ok $? "--tune quick: after a build that used up the limit none is begun of another configuration"
}
due slow_build

# ---- 23: every call fails once, and from then on ----

numbers() { # WORD LAST MOST: so many up to the last one; MOST dealt: one in 48 of those that fail alone, or a share
    most=$3
    if test "$most" = dealt; then
        most=4
        test "$1" = fail-from || {
            rest || seq 1 48 "$2"
            for i in $(seq 1 "$2"); do if shares "$i"; then echo "$i"; fi; done
            return
        }
    fi
    seq 1 $((($2 + most - 1) / most)) "$2"
    echo "$2"
}
counted() { sed -n "s/^$1 //p" count; }
told() { # WORD N: as many calls were made to fail as this says; a search may have fewer of them than N
    case $1 in
    fail) test "$(counted failed)" -eq 1 ;;
    *) test "$(counted failed)" -eq $(($(counted all) - $2 + 1)) ;;
    esac || test "$(counted all)" -lt "$2"
}
bore_it() { # the command is right, or says that it could not be
    case $how,$status in
    attention,0) right ;;
    client,0) verdicts_right ;;
    *,2 | *,3) ;;
    *) false ;;
    esac && nothing_left
}
storm() { # DESCRIPTION MOST CACHE WORDS HOW COMMAND...: HOW attention or client
    what=$1 all_of=$2 from=$3 also=$4 how=$5
    shift 5
    ran=0 wrong=
    fresh && test -z "$from" || like "$from"
    $how "$also" "$@"
    last=$(counted all)
    for word in fail fail-from; do
        for n_th in $(numbers $word "$last" "$all_of"); do
            rm -rf "$cache" && fresh && test -z "$from" || like "$from"
            $how "$word=$n_th${also:+,$also}" "$@"
            ran=$((ran + 1))
            bore_it && told $word "$n_th" || {
                wrong="$wrong $word=$n_th:$status"
                cp out bad.out && cp err bad.err && grep '^left-.* [^0]' count >>bad.err
            }
        done
    done
    test -z "$wrong" || { cp bad.out out && cp bad.err err; }
    test -z "$wrong" && test $ran -gt 0
    ok $? "$what: $ran times one of $last calls fails; badly:${wrong:- never}"
}
few=${full:+99999} few=${few:-2} dealt=${full:+99999} dealt=${dealt:-dealt} some=${full:+150} some=${some:-2}
storm "first start" $dealt '' '' attention off
due storm "later starts" $few "$plain" '' attention off
# Much faster in one process, whose store must stay as it is; still, it is hundreds of starts.
limit=600
CLATTN_TUNE=readonly
export CLATTN_TUNE
like "$plain"
step=75 from=1
test "$part$full" = 0 || step=1
case $full:$part in :*/*) step=${part#*/} from=$((${part%/*} % step + 1)) ;; esac
for calls in run one; do
    client '' $calls
    last=$(counted all)
    verdicts_right && nothing_left
    ok $? "a client's calls, $calls: right"
    for word in fail fail-from; do
        client '' "storm=$word,$last,$step,$from" $calls
        times=$((last / step))
        test $status -eq 0 && nothing_left && test "$last" -gt 50 && test "$(counted failed)" -ge $times
        ok $? "a client's calls, $calls: $word, $times times of $last; badly:$(sed -n 's/^bad=/ /p' out | tr -d '\n')"
    done
done
unset CLATTN_TUNE limit
searched() {
    storm "a search" $some '' "$two" attention quick
    attention '' off
    right
    ok $? "and what is left of it serves the next start"
}
due searched

# ---- 24: results ----

wins() { # CONFIG WORDS: it is what a search finds, if not at first, since other programs may disturb the clocks
    for try in 1 2 3 4; do
        fresh
        client "$2" tune=$CLATTN_TUNE_SECONDS run
        verdicts_right && nothing_left && test "$(value tuned)" = "$1" && test "$(value config)" = "$1" && return
    done
    return 1
}

client "result=$its:right" trial="$other"
test $status -eq 0 && nothing_left && test "$(value trial)" = CL_SUCCESS && test "$(value timed)" = CL_SUCCESS
ok $? "a trial of it passes"
for how in wrong lse nan overrun half inputs second; do # a tenth of a second for each
    fresh
    client "result=$its:$how" trial="$other"
    test $status -eq 3 && nothing_left && test "$(value trial)" = CLATTN_ERROR_WRONG_RESULT
    ok $? "result=..:$how: a trial says so ($(value trial))"
done
fresh
CLATTN_TUNE=off
export CLATTN_TUNE
client "result=$its:nan" set="$other" run
unset CLATTN_TUNE
test "$(value set)" = CLATTN_ERROR_WRONG_RESULT && test "$(value config)" != "$other" && computed_right && nothing_left
ok $? "clattn_set_config() does not take it ($(value set))"

# What a compiler gets wrong, where nobody measures: OPTIONS are in the programs that it does.
CLATTN_TUNE=off
export CLATTN_TUNE
told_once() {
    test "$(grep -c '^log=' out)" -eq 1 && grep -q "^log=using $1.* instead of $default.*: it " out
}
for how in wrong half ${full:+lse nan overrun}; do
    fresh
    client "result=$(options_of "$default"):$how" run
    verdicts_right && nothing_left && test "$(value config)" = "$other" && told_once "$other"
    ok $? "a program that is compiled wrong ($how) is not used: '$(value config)' is"
done
missing=1
if test -n "$full" || turn; then # engine simt builds for long
    missing=2
    fresh
    client "result= -DCLA_NV=:wrong,result= -DCLA_NR=:nan" run # engines cpu and row
    verdicts_right && nothing_left && told_once simt && case $(value config) in simt*) ;; *) false ;; esac
    ok $? "two engines: the next one is used ($(value config)), with a line of the log for all"
fi
client '' run
verdicts_right && test "$(value config)" = "$default" && test "$(value compiles)" -eq $missing
ok $? "no binary of theirs was kept"
all_wrong() {
    fresh
    wrongs=3
    test -z "$full" || wrongs=4
    client 'result= -DCLA:nan' run=naive run="$default" run="$default" ${full:+run}
    test "$(grep -c '^plan=CLATTN_ERROR_WRONG_RESULT$' out)" -eq $wrongs && test $status -eq 3 && nothing_left &&
        ! grep -q ^verdict= out && test -z "$(find "$cache/bin" -type f 2>/dev/null)"
    ok $? "all: CLATTN_ERROR_WRONG_RESULT, also for what is asked for, which nothing else replaces ($(value plan))"
    builds=$(grep '^clBuildProgram source' log | grep -cF -- "$(options_of "$default" | sed 's/ $//')")
    test "$builds" -eq 1
    ok $? "and none is compiled twice by the same handle ($builds)"
}
due all_wrong

# The same of gradients, of which each is judged: what sums one of them up, or writes it, is wrong.
wrong_gradients() {
    fresh
    client '' gradients
    gradients=$(value config)
    test $status -eq 0 && nothing_left && test "$(value gradients)" = CL_SUCCESS && test -n "$gradients"
    ok $? "a plan for gradients: '$gradients'"
    for what in sum_dbias:dBias backward_keys:dBias sum_dslopes:dSlopes sum_dsinks:dSinks; do
        fresh
        client "result= cla_${what%:*} :last" gradients="$gradients"
        test $status -eq 3 && nothing_left && test "$(value gradients)" = CLATTN_ERROR_WRONG_RESULT &&
            grep -q "^words=.*${what#*:}, row" out && test -z "$(find "$cache/bin" -type f 2>/dev/null)"
        ok $? "cla_${what%:*} is wrong: so is ${what#*:}, and there is no plan ($(value gradients))"
    done
    rest || return 0
    fresh
    client 'result= cla_sum_dslopes :last' gradients
    test $status -eq 3 && nothing_left && test "$(value gradients)" = CLATTN_ERROR_WRONG_RESULT
    ok $? "nor with any other tile ($(value gradients))"
}
due wrong_gradients
unset CLATTN_TUNE

test -z "$full" || two=
two="slow=!$its${two:+,$two}"
fastest() {
    wins "$other" "$two"
    ok $? "the one that is faster by far wins a search ($(value tuned))"
}
due fastest
loses() { # HOW
    fresh
    client "$two,result=$its:$1" tune=$CLATTN_TUNE_SECONDS run
    computed_right && nothing_left && test "$(value tuned)" != "$other" && test "$(value config)" != "$other"
    ok $? "unless its results are bad: $1 ($(value tuned))"
}
for how in wrong ${full:+lse nan overrun half inputs second}; do due loses $how; done
only_right() {
    wins "$other" "build-only=$its,build-only=$(options_of "$default"),result=$(options_of "$default"):wrong"
    ok $? "where only one is right, that is it, even when it is not the table's choice ($(value tuned))"
}
due only_right
bad_ones="build-only=$(options_of "$default"),result=$(options_of "$default"):wrong"
test -z "$full" || bad_ones='result= -DCLA_NV=:wrong,result= -DCLA_TX=:nan' # engines cpu and simt
for tune in quick ${full:+auto full}; do
    fresh
    attention "$bad_ones" $tune
    right && nothing_left && test "$(json engine)" = naive
    ok $? "--tune $tune: where all others are wrong, naive is left ($(json engine))"
done

fresh
attention "crash=$its${only:+,$only}" quick
test $status -eq 139
ok $? "a configuration that crashes when it is tried ($status)"
attention "crash=$its${only:+,$only}" quick
test $status -eq 139
ok $? "is tried once more ($status)"
attention "crash=$its${only:+,$only}" quick
right && nothing_left && test "$(json engine) $(json tile)" != "$other" &&
    ! grep -qF -- "$its" log && ! grep -q -- "${its% }\$" log
ok $? "is not tried again"

# ---- 27: clocks ----

untimed() {
    wins "$other" "time=none,$two"
    ok $? "time=none: the fastest wins all the same ($(value tuned))"
}

for time in ${full:+none constant zero equal backwards 10x}; do
    wins "$other" "time=$time,$two"
    ok $? "time=$time: the fastest wins all the same ($(value tuned))"
done
test -n "$full" || due untimed

finish
