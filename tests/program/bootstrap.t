#!/bin/sh
# bootstrap.t - ./bootstrap run with a make that pretends to compile: how far it says that it is, and when it fails
# SPDX-License-Identifier: Apache-2.0
: "${top_srcdir=$(dirname "$0")/../..}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
. "$top_srcdir/tests/lib/tap.sh"
cp "$top_srcdir/bootstrap" "$dir" && mkdir "$dir/bin" "$dir/examples" "$dir/examples/data" && cd "$dir" || exit 99
for name in a longer_by_a_good_deal_than_what_was_thought_of wrong b; do
    mkdir "examples/data/$name"
    printf '"name": "%s",\n"args": "q.npy"\n' "$name"
done >examples/data/index.json
PATH=$dir/bin:$PATH
MAKEFLAGS=
export PATH MAKEFLAGS

# Nothing is installed, built or run in earnest; only make is the real one. The announcements are as automake has them.
program() { # NAME TEXT
    printf '#!/bin/sh\n%s\n' "$2" >"$1" && chmod +x "$1"
}
for p in apt-get autoconf automake autoreconf libtoolize pkg-config cc; do program "bin/$p" 'exit 0'; done
program bin/id 'echo 0'
program bin/nproc 'echo 2'
program configure 'cp ../Makefile.pretended Makefile'
makefile() { # FILES WHICH-FAILS
    {
        printf 'all: clattn-bench\n'
        for i in $(seq "$1"); do
            printf 'clattn-bench: %d.o\n%d.o:\n' "$i" "$i"
            printf '\t@$(if $(filter 0,$V),echo "  C%s      " $@;)echo command of $@;touch $@\n' \
                "$(test "$i" -gt 3 && echo C || echo XX)"
            test "$i" != "$2" || printf '\t@exit 1\n'
        done
        printf 'clattn-bench:\n\t@echo "  CCLD    " $@;cp ../bench $@;cp ../run clattn-run;ln -sf /bin/true devices\n'
    } >Makefile.pretended
}
program bench 'echo "figures of CLBlast"'
# Problems of many lengths, a number that is null, and where a file `fails` is there a case that says why.
program run 'json() { # PROBLEM MS GFLOPS ERROR
    printf "{\"version\": \"1\", \"platform\": \"P\", \"device\": \"D\", \"problem\": \"%s\", " "$1"
    printf "\"engine\": \"cpu\", \"tile\": \"w8\", \"source\": \"default\", \"plan_ms\": 1.5, "
    printf "\"time_ms\": %s, \"gflops\": %s, " $2 $3
    printf "\"max_error\": %s, \"bound\": 0.0003, \"binary\": null}\n" $4
}
case $PWD in
*/longer_*) json "f32 b3 h4 q1 k123 d32 causal window9,30 kvlen:78,78,78 kvstart:0,1,2" 12345.6 1234.5 0.00012 ;;
*/wrong)
    test ! -e ../../../fails || { printf "clattn-run: a tab\tand words\n" >&2 && exit 1; }
    json x 1 1 1e-06
    ;;
*/b) json "f32 b1 h1 q1 k1 d1" 1234567.891 123456.78 null ;;
*) json "f32 b3 h4 q1 k123 d32" 0.0421234 2.81 1.9e-05 ;;
esac'

explain() { cat out; }
run() { # FILES [WHICH-FAILS]
    rm -rf build
    mkdir build && ln -s /bin/true build/devices
    makefile "$1" "${2-none}"
    status=0
    ./bootstrap run >out 2>&1 </dev/null || status=$?
}
said() { grep '^bootstrap: file ' out | tr -d '\n'; }

run 40
test $status -eq 0 && grep -q '^bootstrap: make, 40 files to compile (log: build/bootstrap.log)$' out
ok $? "the number of files comes first"
test "$(said)" = "$(for i in 4 8 12 16 20 24 28 32 36 40; do printf 'bootstrap: file %d of 40' $i; done)"
ok $? "a line for every tenth of them where there is no terminal"
test "$(grep -c '^command of ' build/bootstrap.log)" -eq 40 && test "$(grep -c 'CCLD' build/bootstrap.log)" -eq 1 &&
    ! grep -q 'make ended' build/bootstrap.log
ok $? "all that make prints is in the log"
grep -q 'CLBlast, unfused, untuned parameters' out && grep -qx 'figures of CLBlast' out
ok $? "what CLBlast's figure is, is said in words"

# The table: whatever the lengths are, problems begin below their heading, "ok" stands in one column, and all lines end
# in one.
aligned() { # ROWS
    awk -v rows="$1" '
        /^real data / { on = 1; problem = index($0, "problem"); ends = length($0); next }
        on && /^$/ { exit }
        !on || /^wrong  FAIL/ { next }
        {
            n++
            at = index($0, "  ok  ")
            bad = bad || length($0) != ends || substr($0, problem - 2, 3) !~ /^  [^ ]/ || !at || (last && at != last)
            last = at
        }
        END { exit bad || n != rows }' out
}
aligned 4
ok $? "the columns of the table are aligned"
grep -q '^b .* f32 b1 h1 q1 k1 d1 .*  *-  3.0e-04  ok  1234567.891  123456.8$' out
ok $? "a number that is not known is a dash"
: >fails
run 7
rm fails
test $status -ne 0 && aligned 3 && grep -qx 'wrong  FAIL: clattn-run: a tab and words' out
ok $? "a case that failed says why, and moves no column"

run 7
test $status -eq 0 &&
    test "$(said)" = "$(for i in 1 2 3 4 5 6 7; do printf 'bootstrap: file %d of 7' $i; done)"
ok $? "a line for each where there are fewer than ten"

./bootstrap run >out 2>&1 </dev/null
test $? -eq 0 && grep -q 'make, 0 files to compile' out && test -z "$(said)"
ok $? "none where all is compiled"

run 40 21
test $status -ne 0 && grep -q '^bootstrap: failed: make (all of it: ' out && grep -q '21.o.*Error 1' out &&
    ! grep -q 'figures' out
ok $? "a file that does not compile ends it, with the end of the log"

if command -v script >/dev/null 2>&1; then
    run 40
    rm -rf build && mkdir build && ln -s /bin/true build/devices
    script -q -e -c './bootstrap run' /dev/null >out 2>&1 </dev/null &&
        tr '\r' '\n' <out | grep -q '^bootstrap: file 39 of 40$' && test "$(grep -c 'bootstrap: file ' out)" -eq 1
    ok $? "one line that counts on a terminal"
else
    n=$((n + 1))
    echo "ok $n # SKIP there is no script(1), which has a terminal"
fi

echo "1..$n"
exit $bad
