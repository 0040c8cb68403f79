#!/bin/sh
# tune.t - clattn-tune: its command line, what it keeps, and what it survives
# SPDX-License-Identifier: Apache-2.0
#
# make check tunes in one process, where it can, since a process for each configuration takes five times as long.
# CLATTN_PART: with processes, and what takes longer, as a signal in the middle of a class does, which waits until
# something is proven to be faster.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
attention=$program program=$top_builddir/clattn-tune layer=$top_builddir/tests/fault/.libs/faulty_driver.so
unset CLATTN_TUNE CLATTN_TUNE_SECONDS CLATTN_CACHE_MAX_SIZE CLATTN_EVIL OPENCL_LAYERS
CLATTN_CACHE_DIR=$tmp/cache
export CLATTN_CACHE_DIR

refused() { # STATUS PATTERN ARGS...: one line on stderr that has PATTERN, and nothing else
    want=$1 pattern=$2
    shift 2
    run "$@"
    test $status -eq "$want" && test ! -s out && test "$(wc -l <err)" -eq 1 &&
        grep -q '^clattn-tune: ' err && grep -qF -- "$pattern" err
    ok $? "exit $want, \"$pattern\": $(printf %s "$*" | tr '\n\033' '  ')"
}
on() { run --device "$device" "$@"; }
lines() { wc -l <"$1" | tr -d ' '; }
results() { grep -c "\"result\": \"$1\"" out; }
string='\("[^"]*"\|null\)' number='\([0-9][-+.0-9e]*\|null\)' whole='[0-9][0-9]*'
all_like() { # PATTERN: every line of out
    test -s out && ! grep -qvx "$1" out
}

# ---- Usage ----

call=blind
run --help
test $status -eq 0 && test ! -s err &&
    test "$(grep -c '^  -' out)" -eq \
        "$(grep '^    ROW_\(FLAG\|LAST\|TEXT\)(' "$top_srcdir/tools/tune/tune_options.c" | grep -vc 'NULL),$')"
ok $? "--help lists the options"
run --version
test $status -eq 0 && grep -qx 'clattn-tune [0-9.]*' out
ok $? "--version"
refused 1 'unknown option --frobnicate' --frobnicate
refused 1 'unknown option -x' -x
refused 1 '--force takes no value' --force=yes
refused 1 '--device needs a value' --device
refused 1 '--effort: medium' --effort medium
for option in time total kill; do
    for seconds in -1 0 nan inf -inf 1e999 1x '' ' 1'; do
        refused 1 "--$option: $seconds is not a positive number" "--$option=$seconds"
    done
done
refused 1 '--list and --verify: one at a time' --verify --list
refused 1 '--forget and --cache-clear: one at a time' --cache-clear --forget all
refused 1 'f32: --list takes no problems' --list f32
for option in --file=x --recorded --from-recorded --force --effort=full --time=1 --total=1; do
    refused 1 '--export tunes nothing' --export - $option
done
refused 1 '--child is internal' --child 'naive 1'
refused 1 '--child is internal' --child 'naive 1' a b
run --child 'naive 1' 'f32 b1 h1 q1 k1 d8'
test $status -eq 1 && test ! -s out
ok $? "--child does nothing for others"
refused 1 "'f32 nonsense'" 'f32 b1 h1 q1 k1 d8' 'f32 nonsense'
refused 1 'there is no such score_mod' 'f32 b1 h1 q1 k1 d8 mod:nonsense'
CLATTN_CACHE_DIR=off
for task in --list --cache-stat --cache-clear --force '--import -'; do
    refused 5 'there is no directory to keep records in' $task
done
CLATTN_CACHE_DIR=$tmp/cache

# ---- No device ----

empty="{\"path\": \"$tmp/cache\", \"binaries\": 0, \"binary_bytes\": 0, \"binary_max\": $whole, "
empty="$empty\"records\": 0, \"record_bytes\": 0, \"skipped\": 0}"
run --cache-stat --json
test $status -eq 0 && test ! -s err && test "$(lines out)" -eq 1 && all_like "$empty"
ok $? "--cache-stat needs no device"
run --cache-clear
test $status -eq 0 && test ! -s err && grep -qxF "0 binaries and 0 records removed from $tmp/cache" out
ok $? "--cache-clear neither"
run --list
if test $status -eq 0; then skip "this loader finds its drivers in another way"; else
    refused 2 'there is no OpenCL device' --list
fi
call=plain

refused 2 'no device is called "no such thing"; there is' --device 'no such thing'
run --device "$device" --classes
if test $status -eq 2 && test -z "$device"; then
    missing_device "no OpenCL device"
    skip "no OpenCL device"
    echo "1..$n"
    exit $bad
fi
test $status -eq 0 && test ! -s err && test "$(lines out)" -ge 4 && test "$(sort -u out | wc -l)" -eq "$(lines out)"
ok $? "--classes: all usual ones, each once"
test "$(grep -c ' bwd$' out)" -ge 6 && grep -q '^bf16 .* causal bwd$' out && grep -q '^f16 b1 h32/8 .* bwd$' out &&
    grep -q '^f32 .* d64 bwd$' out
ok $? "and those of training"

# ---- Classes ----

A='f32 b1 h1 q1 k64 d32' B='f32 b1 h8 q1 k64 d32' # of the same programs, which are those of their classes
on --classes "$A" --json "$B"
test $status -eq 0 && test "$(lines out)" -eq 2 && all_like '{"class": "f32 [^"]*"}'
ok $? "--classes of problems"
classA=$(sed -n '1s/{"class": "\(.*\)"}/\1/p' out) classB=$(sed -n '2s/{"class": "\(.*\)"}/\1/p' out)
printf '%s\r\n' '# a comment' '' "  $A # another" "$A" "$classA" >classes
on --classes --file classes
test $status -eq 0 && test "$(cat out)" = "$classA"
ok $? "--file: problems of one class are one"
on --classes --file=classes "$B"
test $status -eq 0 && test "$(cat out)" = "$classB
$classA"
ok $? "those given come first"
"$program" --device "$device" --classes --file - <classes >out 2>err
test $? -eq 0 && test "$(cat out)" = "$classA"
ok $? "--file -"
printf '%s\n' "$A" 'f32 nonsense' >classes
refused 1 "--file: classes:2: 'f32 nonsense'" --device "$device" --file classes
refused 1 '--file: none: No such file' --device "$device" --file none
refused 1 '--file: .: it cannot be read' --device "$device" --file .

# ---- Tuning ----

quick() { on --effort quick --time 200 "$@"; } # a limit that no machine reaches
class_line="{\"class\": \"[^\"]*\", \"result\": \"[a-z]*\", \"config\": $string, \"time_ms\": $number, "
class_line="$class_line\"ratio\": $number, \"tried\": $whole, \"refused\": $whole, \"seconds\": $number, "
class_line="$class_line\"words\": $string}"
last_line="{\"tuned\": $whole, \"left\": $whole, \"failed\": $whole, \"cut\": $whole, \"unkept\": $whole, "
last_line="$last_line\"kept\": $whole, \"path\": \"$tmp/cache[0-9a-z]*\"}"
last() { tail -n 1 out | grep -q "^{\"tuned\": $1, \"left\": $2, \"failed\": $3, \"cut\": $4, "; }
# ---- What make check has no time for ----

stopped() { # SIGNAL ARGS...: two classes, and a signal when the first is done; leaves its status
    signal=$1
    shift
    : >out
    "$program" --device "$device" --effort quick --time 200 --json "$@" "$A" "$B" >out 2>err </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && ! grep -q tuned out; do sleep 0.05; done
    kill -$signal $pid
    wait $pid
    status=$?
}
processes() {
    CLATTN_CACHE_DIR=$tmp/cache20
    quick --json "$A" "$B"
    test $status -eq 0 && test "$(lines out)" -eq 3 && all_like "$class_line\\|$last_line" &&
        test "$(results tuned)" -eq 2 && last 2 0 0 0
    ok $? "two classes are tuned, each configuration in a process"
    on --cache-stat --json
    test "$(sed 's/.*"binaries": \([0-9]*\),.*/\1/' out)" -le 4
    ok $? "losers leave no binaries behind"
    on --verify --in-process --quiet
    test $status -eq 0 && test ! -s out
    ok $? "--verify --in-process"
}
due processes
gradients() {
    CLATTN_CACHE_DIR=$tmp/cache12
    quick --json --in-process 'f32 b1 h1 q16 k64 d8 bwd'
    test $status -eq 0 && last 1 0 0 0 && grep -q '"class": "f32 [^"]* bwd", "result": "tuned"' out
    ok $? "gradients are tuned"
    on --list --json
    test $status -eq 0 && test "$(lines out)" -eq 1 && grep -q '^{"class": "f32 [^"]* bwd", "config": "[a-z]' out
    ok $? "and listed"
}
due gradients
killed() {
    CLATTN_CACHE_DIR=$tmp/cache5
    stopped KILL 2>/dev/null
    kept=$(results tuned)
    on --list --json
    test $status -eq 0 && test "$kept" -ge 1 && test "$(lines out)" -ge "$kept" && kept=$(lines out)
    ok $? "SIGKILL: what was done is kept ($kept of 2)"
    quick --json --in-process "$A" "$B"
    test $status -eq 0 && last $((2 - kept)) "$kept" 0 0
    ok $? "and the rest is tuned later"
}
due killed

# A signal in the middle of a class: what was proven until then is kept, used, and improved later. Whether anything can
# be proven depends on the machine.
middle() { # SIGNAL ARGS...
    signal=$1
    shift
    : >out
    : >err
    env --default-signal=INT "$program" --device "$device" --time 30 --effort full "$@" "$D" >out 2>err \
        </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && ! grep -q '^best: ' err; do sleep 0.05; done
    kill -$signal $pid 2>/dev/null
    wait $pid
    status=$?
}
in_the_middle() {
    D='f32 b1 h8 q256 k256 d64'
    tensor qd.npy '<f4' 4 1 8 256 64
    CLATTN_CACHE_DIR=$tmp/cache13
    middle INT
    if ! grep -q '^best: ' err || test $status -lt 128; then
        for i in 1 2 3 4; do skip "nothing was proven to be faster than the default"; done
    else
        best=$(sed -n 's/^best: \(.*\), [0-9.e-]* of the default.s time$/\1/p' err | tail -n 1)
        test $status -eq 130 && grep -q '^kept  *f32 .*: stopped; this is the best that was proven' out &&
            grep -qF ": $best, " out && grep -q '^1 stopped and kept; ' out && grep -q 'stopped by signal 2' err
        ok $? "SIGINT: exit 130 ($status), $best is kept"
        on --list
        test $status -eq 0 && grep -F "  $best  " out | grep -q 'quick (not settled)'
        ok $? "as a record that is not settled"
        CLATTN_TUNE=readonly "$attention" --device "$device" --json qd.npy qd.npy qd.npy >out 2>err
        test $? -eq 0 && grep -q '"source": "cached"' out && grep -qF "\"tile\": \"${best#* }\"" out
        ok $? "programs use it"
        # The search may also end before the signal: nothing may be faster than what is kept, or time may be up.
        middle TERM --in-process --json
        case $status in
        143) test "$(results kept)" -eq 1 || last 0 0 0 1 ;;
        0) last 1 0 0 0 ;;
        4) last 0 0 0 1 ;;
        *) false ;;
        esac
        ok $? "a later run goes on with the class ($status)"
    fi
}
due in_the_middle

# A driver that hangs and crashes: build options tell a candidate from the first, which is the default.
evil() { # WORDS ARGS...
    words=$1
    shift
    OPENCL_LAYERS=$layer CLATTN_EVIL="log=$tmp/log,$words" "$program" --device "$device" --effort quick --time 200 \
        "$@" \
        >out 2>err </dev/null
    status=$?
}
layered() { # whether there is such a driver, which then has told how it is asked to build for these ARGS
    rm -f log
    CLATTN_CACHE_DIR=$tmp/cache7
    test -e "$layer" && evil '' --json --force "$@" "$A"
    test -e log || { skip "no $layer, or a loader without layers: nothing hangs on demand" && return 1; }
}
hangs() {
    layered || return 0
    option=$(sed -n 's/^clBuildProgram source //p' log | grep -e '-DCLA_D=' | sort -u | awk '
        { for (i = 1; i <= NF; i++) if ($i ~ /^-DCLA_/) count[$i]++ }
        END { for (x in count) if (count[x] == 1) print x }' | sort | head -n 1)
    test $status -eq 0 && test -n "$option" && last 1 0 0 0
    ok $? "a candidate has an option of its own: $option"
    # Five times what one takes here and now, and 2 s at least.
    patience=$(sed -n 's/.*"tried": \([0-9]*\), .*"seconds": \([0-9.]*\),.*/\1 \2/p' out |
        awk '{ x = int(5 * $2 / $1) + 1; print x < 2 ? 2 : x }')
    CLATTN_CACHE_DIR=$tmp/cache8
    evil "hang= $option " --kill "$patience" --json "$A"
    test $status -eq 0 && last 1 0 0 0 && test "$(grep -c "^refused: .*: killed after $patience s\$" err)" -eq 1
    ok $? "one that hangs is refused, the others are tried"
    evil "hang= $option " --kill "$patience" --json --force "$A"
    test $status -eq 0 && last 1 0 0 0 && test "$(grep -c '^refused: .*: it crashed or hung here before' err)" -eq 1 &&
        ! grep -q 'killed after' err
    ok $? "and it is left alone from then on"
    run --cache-stat --json
    grep -q '"skipped": 1}$' out && run --cache-clear && run --cache-stat --json && grep -q '"skipped": 0}$' out
    ok $? "until --cache-clear"
    if test -n "$full"; then
        CLATTN_CACHE_DIR=$tmp/cache11
        evil "hang= $option " --json "$A"
        test $status -eq 0 && last 1 0 0 0 &&
            test "$(sed -n 's/^refused: .*: killed after \([0-9]*\).* s$/\1/p' err)" -ge 10
        ok $? "without --kill too, after 10 s or more"
    fi
}
due hangs
all_hang() {
    layered --in-process || return 0
    CLATTN_CACHE_DIR=$tmp/cache9
    evil 'hang= -DCLA_' --kill 0.5 "$A"
    test $status -eq 3 && grep -q '^failed ' out && grep -q '^clattn-tune: nothing could be verified' err
    ok $? "all hang: exit 3 ($status)"
}
due all_hang
all_crash() {
    layered --in-process || return 0
    CLATTN_CACHE_DIR=$tmp/cache10
    evil 'crash:clEnqueueNDRangeKernel=1' "$A"
    test $status -eq 3 && grep -q '^refused: .*: died of SIGSEGV' err && grep -q '^failed ' out
    ok $? "all crash: exit 3 ($status)"
}
due all_crash
terminal() {
    CLATTN_CACHE_DIR=$tmp/cache21
    if script -qec 'exit 3' /dev/null </dev/null >out 2>&1; test $? -eq 3; then
        rm -f out err
        tuned="'$program' --device '$device' --effort quick --time 200 --force --in-process '$A'"
        TERM=xterm script -qec "$tuned 2>err" /dev/null </dev/null >out
        ! grep -q "$(printf '\033')" out && grep -q '^class 1 of 1' err
        plain=$?
        TERM=xterm script -qec "$tuned" /dev/null </dev/null >out
        test $plain -eq 0 && grep -q '^\[1/1\] 0 tried, at most 3 min left: f32 ' out && grep -q '^class 1 of 1' out &&
            tr '\r' '\n' <out | grep -q "^$(printf '\033')\[Ktuned   *$classA"
        ok $? "on a terminal progress is one line"
    else
        skip "no script, so no terminal"
    fi
}
due terminal
forced() {
    CLATTN_CACHE_DIR=$tmp/forced
    quick --json --in-process "$A"
    test $status -eq 0 && test "$(results tuned)" -eq 1
    ok $? "a class is tuned in this process"
    quick --quiet --force --in-process "$A"
    test $status -eq 0 && test ! -s out && test ! -s err
    ok $? "--force tunes again, --quiet without a word"
    quick --json --force --in-process "$A"
    test $status -eq 0 && test "$(results tuned)" -eq 1
    ok $? "which is no class that is left as it was"
}
due forced
CLATTN_CACHE_DIR=$tmp/cache
usual || finish

# ---- One of each kind ----

quick --json --in-process "$A" "$B"
test $status -eq 0 && test "$(lines out)" -eq 3 && all_like "$class_line\\|$last_line" &&
    test "$(results tuned)" -eq 2 && last 2 0 0 0
ok $? "two classes are tuned"
grep -qF "class 1 of 2: $classA, at most 3 min" err && grep -qF "class 2 of 2: $classB" err &&
    grep -qxF "  asked for: '$A'" err && grep -q '; all at most [0-9]* min$' err && ! grep -q "$(printf '[\r\033]')" err
ok $? "and told, with who asked and how long at most, in lines where there is no terminal"
on --cache-stat --json
test "$(sed 's/.*"binaries": \([0-9]*\),.*/\1/' out)" -le 4
ok $? "losers leave no binaries behind"
quick --json "$A" "$B"
test $status -eq 0 && test ! -s err && test "$(results left)" -eq 2 && last 0 2 0 0
ok $? "a second time there is nothing to do"
quick "$A" "$B"
test $status -eq 0 && test ! -s err && test "$(grep -c '^left  *f32 ' out)" -eq 2 &&
    grep -qxF "2 tuned before; records are in $tmp/cache" out
ok $? "whether an object or a line says so"
on --time 200 --effort full --json --total 0.000001 "$A"
test $status -eq 4 && last 0 0 0 1 && grep -q '1 were not finished' err
ok $? "a record of less effort is not enough; --total is up ($status)"
on --effort quick --time 0.001 --json --force "$A"
test $status -eq 4 && test "$(results cut)" -eq 1 && last 0 0 0 1
ok $? "--time 0.001 ends after one configuration ($status)"

# ---- Records ----

list_line="{\"class\": \"[^\"]*\", \"config\": \"[^\"]*\", \"time_ms\": $number, \"ratio\": $number, "
list_line="$list_line\"effort\": \"quick\", \"settled\": \\(true\\|false\\), \"date\": \"20[-0-9T:]*Z\", "
list_line="$list_line\"driver\": \"[^\"]*\", \"version\": \"[0-9.]*\"}"
on --list --json
test $status -eq 0 && test ! -s err && test "$(lines out)" -eq 2 && all_like "$list_line" &&
    test "$(sed 's/{"class": "\([^"]*\)".*/\1/' out)" = "$(sed 's/{"class": "\([^"]*\)".*/\1/' out | sort)"
ok $? "--list --json: an object for each record, by class"
if python3 -c 'import json' 2>/dev/null; then
    python3 -c 'import json, sys; print(len([json.loads(x) for x in sys.stdin]))' <out >two && test "$(cat two)" -eq 2
    ok $? "that is JSON"
else
    skip "no python3"
fi
on --list
test $status -eq 0 && test "$(lines out)" -eq 6 && grep -qxF "$classB" out &&
    test "$(grep -cE '^ +[0-9.]+ [num]?s +([0-9.]+|-)  quick.*  20[-0-9]{8}  [a-z_]+ ' out)" -eq 2 &&
    head -n 2 out | tr '\n' ' ' | grep -qx 'class  *time  *ratio  effort *date  *configuration '
ok $? "--list, with headings"
awk 'length($0) > 80 { bad = 1 } END { exit bad }' out
ok $? "in lines of at most 80 columns"
on --export first
test $status -eq 0 && grep -qxF '2 records are in first' out && test "$(grep -c '^sum ' first)" -eq 2
ok $? "--export to a file"
on --export -
test $status -eq 0 && cmp -s out first
ok $? "and to standard output"
mkdir away
on --export /dev/stdout
test $status -eq 0 && test ! -s err && cmp out first
ok $? "--export /dev/stdout is the same, into a file"
"$program" --device "$device" --export /dev/stdout 2>err </dev/null | cat >out
cmp out first
ok $? "and into a pipe"
on --export away
test $status -eq 1 && grep -q -- '--export: away: Is a directory' err && test ! -s out
ok $? "not to a directory"
on --export away/none/file
test $status -eq 1 && test -z "$(ls away)"
ok $? "nor to nowhere"
if test -w /dev/full; then
    on --export /dev/full
    test $status -eq 1 && grep -q -- '--export: /dev/full: No space left' err && test -c /dev/full
    ok $? "nor to a full device"
else
    skip "no /dev/full"
fi

counts() { # TAKEN WORSE FOREIGN REFUSED
    test $status -eq 0 && test "$(cat out)" = "{\"taken\": $1, \"worse\": $2, \"foreign\": $3, \"refused\": $4}"
}
CLATTN_CACHE_DIR=$tmp/cache2
on --import first --json
counts 2 0 0 0
ok $? "--import elsewhere"
on --export second
test $status -eq 0 && cmp -s first second
ok $? "export, import, export: the same bytes"
on --import first
test $status -eq 0 && grep -q '^0 taken, 2 not better' out
ok $? "what is there already is not taken again"
"$program" --device "$device" --import - --json <first >out 2>err
status=$?
counts 0 2 0 0
ok $? "--import -"
sed 's/^\(device ...\)./\1/;s/^device .../&0/' first >other # another digest; the sums tell
on --import other
test $status -eq 1
ok $? "a record that was altered is none"

size=$(wc -c <first)
unchanged() { # FILE WHAT
    refused 1 '--import: ' --device "$device" --import "$1"
    on --export second
    test $status -eq 0 && cmp -s "$expected" second
    ok $? "$2 changes nothing"
}
expected=first
head -c 1000 /dev/zero >bad
unchanged bad "a thousand NULs"
printf 'garbage\n' >bad
unchanged bad "garbage"
{ cat first && echo garbage; } >bad
unchanged bad "garbage at the end"
sed 's/$/\r/' first >bad
unchanged bad "CRLF"
head -c 100000 /dev/zero | tr '\000' x >bad
unchanged bad "a long line"
head -c $((size / 2 - 9)) first >bad # not one of two records
unchanged bad "half of the text"
refused 1 '--import: none: No such file' --device "$device" --import none
CLATTN_CACHE_DIR=$tmp/cache3 # good records before the bad one: none is taken
on --export none.txt
test $status -eq 0 && test ! -s none.txt
ok $? "no records: an empty text"
expected=none.txt
for cut in 1 2 70 $((size / 3)) $((size - 1)); do
    head -c $((size - cut)) first >bad
    unchanged bad "a text that lacks $cut bytes at its end"
done

on --verify --json
test $status -eq 0 && test ! -s out
ok $? "--verify of nothing"
CLATTN_CACHE_DIR=$tmp/cache2
on --verify --json
test $status -eq 0 && test "$(lines out)" -eq 2 &&
    all_like '{"class": "[^"]*", "config": "[^"]*", "result": "verified", "words": null}'
ok $? "--verify"
on --forget "$A" --json
test $status -eq 0 && grep -qxF '{"forgotten": 1, "left": 1}' out
ok $? "--forget"
on --forget "$A"
test $status -eq 0 && grep -q 'there was no record of' err && grep -qx '0 forgotten, 1 left' out
ok $? "once"
refused 1 "--forget: 'nonsense'" --device "$device" --forget nonsense
on --forget all
test $status -eq 0 && grep -qx '1 forgotten, 0 left' out
ok $? "--forget all"
call=blind CLATTN_CACHE_DIR=$tmp/cache
run --cache-stat
test $status -eq 0 && grep -qx "path      $tmp/cache" out && grep -qx 'records   2, [1-9][0-9]* bytes' out
ok $? "--cache-stat counts records"
echo mine >cache/mine
run --cache-clear
test $status -eq 0 && grep -q '^[0-9]* binaries and 2 records removed' out && test "$(cat cache/mine)" = mine
ok $? "--cache-clear removes them, and nothing else"
rm cache/mine
run --cache-stat --json
test $status -eq 0 && all_like "$empty"
ok $? "there are none then"
call=plain

# ---- What programs need ----

CLATTN_CACHE_DIR=$tmp/cache4
tensor q1.npy '<f4' 4 1 1 1 32
tensor k1.npy '<f4' 4 1 1 64 32
CLATTN_TUNE=record "$attention" --device "$device" q1.npy k1.npy k1.npy >out 2>err
ok $? "CLATTN_TUNE=record"
on --recorded --classes
test $status -eq 0 && test "$(cat out)" = "$classA"
ok $? "--recorded: its class"
quick --from-recorded --json --in-process
test $status -eq 0 && last 1 0 0 0 && grep -qF "\"class\": \"$classA\"" out
ok $? "is tuned"
quick --recorded --json
test $status -eq 0 && last 0 0 0 0 && test "$(lines out)" -eq 1
ok $? "and forgotten"
CLATTN_TUNE=readonly "$attention" --device "$device" --json q1.npy k1.npy k1.npy >out 2>err
test $? -eq 0 && grep -q '"source": "cached"' out
ok $? "programs have it then"

if test -n "$full"; then
    quick --json "$A mod:softcap"
    test $status -eq 0 && last 1 0 0 0 && grep -q '"class": "f32 [^"]* mod:#[0-9a-f]*"' out
    ok $? "score_mods belong to the class, and get through to children"
    quick --json "$A mod:softcap"
    test $status -eq 0 && last 0 1 0 0
    ok $? "and are known again"
    on --verify --json
    test $status -eq 0 && grep -q 'mod:#[^"]*", "config": "[^"]*", "result": "unknown"' out && on --list &&
        grep -q 'mod:#' out
    ok $? "--verify leaves alone what it cannot read"
fi

# ---- What goes wrong ----

quick "$A mod:document"
test $status -eq 3 && grep -q '^failed  *f32 .* mod:#[0-9a-f]*: captured buffers' out &&
    grep -q '^clattn-tune: nothing could be verified' err
ok $? "a problem that nothing can be measured on: exit 3 ($status)"
quick --json "$A mod:document" "$A"
test $status -eq 4 && last 0 1 1 0
ok $? "beside another: exit 4 ($status)"

: >file
CLATTN_CACHE_DIR=$tmp/file/cache
refused 5 "$tmp/file/cache: records cannot be kept there: Not a directory" --device "$device" --effort quick "$A"
refused 5 'records cannot be kept there' --device "$device" --import first
mkdir open && chmod 777 open
CLATTN_CACHE_DIR=$tmp/open
quick --in-process "$A"
test $status -eq 5 && grep -q "^clattn-tune: $tmp/open: records cannot be kept there" err && grep -q '^unkept ' out
ok $? "a directory that others may write to ($status)"

CLATTN_CACHE_DIR=$tmp/cache6
stopped TERM --in-process
test $status -eq 143 && grep -q '^clattn-tune: stopped by signal 15' err && ! grep -q '^refused' err
ok $? "SIGTERM: exit 143 ($status)"
kept=$(results tuned)
now=$(results kept)
tail -n 1 out | grep -qx "$last_line" && last "$kept" 0 0 $((2 - kept - now))
ok $? "with all lines ($kept of 2 tuned)"
on --list --json
kept=$((kept + now))
test $status -eq 0 && test "$(lines out)" -eq "$kept"
ok $? "what was done is kept"

# A driver that hangs and crashes.
if layered --in-process; then
    test $status -eq 0 && last 1 0 0 0
    ok $? "a driver under a layer is tuned"
    CLATTN_CACHE_DIR=$tmp/cache10
    for f in out err log; do : >$f; done
    OPENCL_LAYERS=$layer CLATTN_EVIL="log=$tmp/log,hang= -DCLA_" "$program" --device "$device" --kill 600 --json "$A" \
        >out 2>err </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && ! grep -q '^clBuildProgram' log; do sleep 0.05; done
    sleep 0.2
    kill -TERM $pid
    wait $pid
    status=$?
    test $status -eq 143 && ! grep -q '^refused' err && last 0 0 0 1
    ok $? "SIGTERM while something hangs: exit 143 ($status)"
    run --cache-stat --json
    grep -q '"skipped": 0}$' out
    ok $? "which nothing is blamed for"
    evil 'crash:clEnqueueNDRangeKernel=1' --time 0.001 "$A"
    test $status -ge 3 && test "$(grep -c '^refused: .*: died of SIGSEGV' err)" -eq 1
    ok $? "one crashes: it is refused ($status)"
    CLATTN_CACHE_DIR=$tmp/cache7
    OPENCL_LAYERS=$layer CLATTN_EVIL=build-fails-all "$program" --device "$device" --verify >out 2>err
    status=$?
    test $status -eq 3 && grep -q '^forgotten  f32 .*: CLATTN_ERROR_BUILD' out && on --list && test $status -eq 0 &&
        test ! -s out
    ok $? "--verify forgets what does not build any more"
fi

finish
