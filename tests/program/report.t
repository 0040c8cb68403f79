#!/bin/sh
# report.t - clattn-report: files that are whole whatever happens, on drivers that are right, lie, crash and hang
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
program=$top_builddir/clattn-report
layer=$top_builddir/tests/fault/.libs/faulty_driver.so
table_of_reports=$top_srcdir/reports/reports.py
python=${PYTHON:-python3}
device='Portable Computing Language'
unset CLATTN_TUNE

refused 1 'unknown option --frobnicate' --frobnicate
refused 1 'x: no arguments but options' x
for minutes in 0 -1 x 1e9 '' nan 5m; do
    refused 1 "--minutes: $minutes is not a number of minutes" --minutes "$minutes"
done
refused 1 '--parts: "speed" is none' --parts device,speed
refused 1 '--parts: "" is none' --parts ''
refused 1 '--quick takes no value' --quick=yes
refused 1 '--output: the name of the file is empty' --output ''
refused 1 '--device: the name of the device is empty' --device ''
refused 1 '--child and --seconds are internal' --child x --seconds 1
refused 1 '--child and --seconds are internal' --seconds 1
run --help
test $status -eq 0 && test ! -s err && test "$(grep -c '^  -' out)" -eq \
    "$(sed -n 's/^    ROW_[A-Z]*("\(-[-a-z]*\)", .*/\1/p' "$top_srcdir/tools/report/report_options.c" |
        grep -vcx -- '--child\|--seconds')"
ok $? "--help lists the options of this version"
run --version
test $status -eq 0 && grep -qx 'clattn-report [0-9.]*' out
ok $? "--version"
need_device
refused 1 '--output: none/x.txt: No such file or directory' --quiet --parts device --output none/x.txt

# ---- what a file has ----

whole() { # FILE: it has its end, and its JSON is of the schema
    tail -n 1 "$1" | grep -qx '==== end ====' || return
    command -v "$python" >/dev/null || return 0
    "$python" "$table_of_reports" --check "$1" >>out 2>&1
}
has() { grep -qF -- "$1" report.txt; } # WORDS
report() { # OPTIONS...: of all time in the world, so that nothing is left out on a slow machine
    rm -f report.txt
    run --device "$device" --minutes 600 --output report.txt "$@"
    cat report.txt >>out 2>/dev/null
}
if "$program" --list-devices 2>/dev/null | grep -q "$device"; then there=1; else there=; fi
test -n "$there" || device=0:0

report --parts device
test $status -eq 0 && whole report.txt && has '==== what to look at first ====' && has 'This whole file, to ' &&
    has '"whole": true' && grep -q '^    driver  *[^ ]' report.txt && has 'left out: bench: not asked for' &&
    ! has '"kind": "left-out"'
ok $? "--parts device: a whole file"
! grep -nF -e "$(uname -n)" -e "$HOME" -e "$tmp" -e "$PWD" report.txt
ok $? "it has neither the machine's name nor a path"
run --device "$device" --parts device --quiet --output -
test $status -eq 0 && test ! -s err && cp out report.txt && whole report.txt
ok $? "--output -, --quiet: standard output has it, and nothing else is said"
mkdir folder
(cd folder && for i in 1 2; do "$program" --device "$device" --parts device --quiet; done) >out 2>err
test "$(ls folder | sed 's/[0-9]\{4\}-[0-9][0-9]-[0-9][0-9]/DATE/' | tr '\n' ' ')" = \
    'clattn-report-DATE-2.txt clattn-report-DATE.txt ' && whole "$(echo folder/*-2.txt)"
ok $? "by default one of the day's name; no file is written over: $(ls folder | tr '\n' ' ')"
run --device "$device" --minutes 0.0001 --output report.txt
test $status -eq 0 && whole report.txt && grep -q '"why": "time"' report.txt
ok $? "without time: a whole file that says what was left out"

# The engines are those of the library.
"$top_builddir/clattn-run" --engine '?' q.npy k.npy v.npy >out 2>err
words=$(sed -n 's/.*is none of \(.*\)$/\1/p' err | tr -d ',')
named=$(sed -n 's/^static const char \*const engines\[\] = { \(.*\), NULL };/\1/p' \
    "$top_srcdir/tools/report/part_checks.c" | tr -d '",')
test -n "$words" && test "$words" = "$named"
ok $? "the report tries all engines: $words"

if command -v "$python" >/dev/null; then
    "$python" "$table_of_reports" --check "$top_srcdir"/reports/*.txt >out 2>&1
    ok $? "the reports that are kept are of the schema"
    "$python" "$table_of_reports" --table >out 2>&1 && sed -n '/^    device /,$p' "$top_srcdir/reports/README" |
        diff - out >err
    ok $? "reports/README has their table"
    sed 's/"whole"/"wholly"/' folder/*-2.txt >bad.txt
    ! "$python" "$table_of_reports" --check bad.txt >out 2>&1 && grep -q 'report has no whole\|has wholly' out
    ok $? "a member that the schema lacks is found"
    sed 's/"kind": "CPU"/"kind": "toaster"/; s/"kind": "GPU"/"kind": "toaster"/' folder/*-2.txt >bad.txt
    ! "$python" "$table_of_reports" --check bad.txt >out 2>&1 && grep -q "'toaster'" out
    ok $? "so is a word that it does not know"
    sed 's|^    driver .*|    driver /opt/someone/x|' folder/*-2.txt >bad.txt
    ! "$python" "$table_of_reports" --check bad.txt >out 2>&1 && grep -q 'it has /opt/someone/x' out
    ok $? "so is a path"
    grep -q 'reports/README' "$top_srcdir/README"
    ok $? "README names the table"
else
    for i in 1 2 3 4 5 6; do skip "there is no Python: the schema is not looked at"; done
fi

# ---- drivers that lie, crash and hang ----

if test -z "$there" || ! test -e "$layer"; then
    skip "there is no PoCL, or no layer of tests/fault: no driver is made to fail"
    finish
fi
evil() { # WORDS OPTIONS...
    words=$1
    shift
    OPENCL_LAYERS=$layer CLATTN_EVIL=$words report "$@"
}
checks=$(sed -n '/^static const char \*const usual/,/NULL/s/^    "\(.*\)",$/\1/p' \
    "$top_srcdir/tools/report/part_checks.c" | wc -l)
count() { grep -c "\"verdict\": \"$1\"" report.txt; }

evil '' --parts checks,kernels --quick
test $status -eq 0 && whole report.txt && test "$(count within)" -eq "$checks" && ! has '"kind": "wrong"' &&
    ! has '"kind": "crash"' && has "$checks results are within the bound, 0 are not" &&
    grep -q '"binary_bytes": [1-9]' report.txt
ok $? "a right driver: $checks results are within the bound, and kernels have sizes"

evil 'result= -DCLA_TQ=bf16 :second' --parts checks --quick
test $status -eq 0 && whole report.txt && has '"kind": "wrong"' && test "$(count BEYOND)" -eq 1 &&
    test "$(count within)" -eq $((checks - 1)) && grep -q '^  1\. WRONG RESULT: bf16 .* is off by .* times its bound' \
    report.txt
ok $? "kernels that are wrong in every call but the first: found, and the first that is told"

evil 'build-fails-all' --parts checks --quick
test $status -eq 0 && whole report.txt && test "$(count 'not built')" -eq "$checks" &&
    grep -q '^  1\. .*: not built: ' report.txt
ok $? "a compiler that builds nothing: told"

evil 'crash= -DCLA_TQ=bf16 ' --parts checks --quick
test $status -eq 0 && whole report.txt && test "$(count within)" -eq $((checks - 1)) &&
    grep -q '^  1\. checks: bf16 .*: died of SIGSEGV' report.txt && has 'TROUBLE: checks: bf16 '
ok $? "a crash: the report says where, and goes on behind it"

evil 'crash:clGetDeviceIDs=1' --parts checks
test $status -eq 0 && whole report.txt && grep -q '^  1\. list: .*: died of SIGSEGV' report.txt
ok $? "a crash when devices are listed: a report about that"

evil 'crash:clCreateContext=1' --parts checks
test $status -eq 0 && whole report.txt && grep -q '^  1\. open: .*: died of SIGSEGV' report.txt
ok $? "a crash when the device is opened"

evil 'fail:clCreateContext=1' --parts checks
test $status -eq 0 && whole report.txt && grep -q '^  1\. open: the device is opened: CL_OUT_OF' report.txt
ok $? "a device that cannot be opened"

# A driver that never returns, and a signal.
stopped_by() { # SIGNAL
    rm -f report.txt err # which would tell of the run before
    OPENCL_LAYERS=$layer CLATTN_EVIL='hang= -DCLA_TQ=bf16 ' env --default-signal=INT "$program" --device "$device" \
        --minutes 600 --parts device,checks --output report.txt >out 2>err </dev/null &
    pid=$!
    while kill -0 $pid 2>/dev/null && ! grep -qs '^clattn-report: checks: bf16 ' err; do sleep 0.05; done
    kill -"$1" $pid
    wait $pid
    status=$?
    test $status -eq 5 && whole report.txt && has '"whole": false' && has '"why": "interrupted"' &&
        has 'A signal ended it early' && has 'left out: checks: interrupted' && test "$(count within)" -eq 1 &&
        grep -q '^clattn-report: interrupted: ' err
    ok $? "SIG$1 while a driver hangs: the file is whole, and has what was known by then ($status)"
}
stopped_by INT
stopped_by TERM

finish
