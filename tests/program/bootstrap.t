#!/bin/sh
# bootstrap.t - ./bootstrap run with a make that pretends to compile: how far it says that it is, and when it fails
# SPDX-License-Identifier: Apache-2.0
: "${top_srcdir=$(dirname "$0")/../..}"
dir=$(mktemp -d) || exit 99
trap 'rm -rf "$dir"' EXIT
cp "$top_srcdir/bootstrap" "$dir" && mkdir "$dir/bin" "$dir/examples" "$dir/examples/data" && cd "$dir" || exit 99
: >examples/data/index.json
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
        printf 'clattn-bench:\n\t@echo "  CCLD    " $@;cp ../bench $@;ln -sf /bin/true devices\n'
    } >Makefile.pretended
}
program bench 'echo "figures of CLBlast"'

n=0 bad=0
ok() { # STATUS WHAT
    n=$((n + 1))
    if test "$1" -eq 0; then echo "ok $n - $2"; else
        bad=1
        echo "not ok $n - $2"
        sed 's/^/# /' out
    fi
}
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
