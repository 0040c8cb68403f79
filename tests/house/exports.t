#!/bin/sh
# exports.t - the shared library exports clattn_* only, has no engine of the tests, and calls nothing that a library has
# no business calling
# SPDX-License-Identifier: Apache-2.0
: "${top_builddir=.}" "${NM=nm}"
lib=$top_builddir/.libs/libclattn.so
if ! test -f "$lib"; then
    echo "1..0 # SKIP no shared library was built"
    exit 0
fi

n=0 bad=0
report() { # WHAT OFFENDERS
    n=$((n + 1))
    if test -z "$2"; then echo "ok $n - $1"; else bad=1; echo "not ok $n - $1: $2"; fi
}
names() { sed 's/@.*//' | awk '{print $NF}' | sort -u; }

exported=$($NM -D --defined-only "$lib" | names)
report "only clattn_* is exported" "$(echo "$exported" | grep -vE '^(clattn_.*|CLATTN_[0-9.]+)$' | tr '\n' ' ')"
report "clattn_create is exported" "$(echo "$exported" | grep -qx clattn_create || echo missing)"

# Every public function is there: the header promises nothing that a client could not link.
for f in $(sed -n 's/^CLATTN_API.*[ *]\(clattn_[a-z_]*\)(.*/\1/p' \
    "${top_srcdir-$(dirname "$0")/../..}"/include/clattn*.h); do
    report "$f is exported" "$(echo "$exported" | grep -qx "$f" || echo missing)"
done

# Tests have more engines. Nothing of these is installed: no name of an engine or fragment, and no text. The same search
# finds those of mma_nv.
top=${top_srcdir-$(dirname "$0")/../..}
marks() { # FILES...: names of the engines, names and first lines of the fragments
    sed -n 's/^ *\.name = "\(.*\)",$/\1/p' "$@"
    for f; do case $f in *.cl) echo "${f##*/}" && head -n 1 "$f" ;; esac; done
}
linked() { marks "$@" | while read -r mark; do LC_ALL=C grep -aqF -e "$mark" "$lib" && echo "$mark"; done; }
report "mma_nv is in it: name, fragment and text" "$(
    linked "$top/src/engine/engine_mma_nv.c" "$top/cl/engines/mma_asm.cl" | wc -l | grep -vx ' *3')"
report "the tests have mma_emu" "$(marks "$top"/tests/emulated/*.c | grep -qx mma_emu || echo missing)"
report "no engine of the tests is in it" "$(linked "$top"/tests/emulated/engine_*.c "$top"/tests/emulated/*.cl)"

# No ending of the process, printing, locale or environment of a program with other rights.
banned='abort|exit|_exit|_Exit|quick_exit|atexit|__cxa_atexit|v?f?printf|__v?f?printf_chk|puts|fputs|putchar|perror|'
banned="${banned}stdin|stdout|stderr|fwrite|fputc|putc|write|raise|kill|"
banned="${banned}getenv|setenv|putenv|setlocale|signal|sigaction|fork|system|__assert_fail"
report "nothing forbidden is called" "$($NM -D --undefined-only "$lib" | names | grep -xE "$banned" | tr '\n' ' ')"

# Calls share nothing but their arguments: no writable data of our own, but the number of the process that uses OpenCL.
objects=$(find "$top_builddir/src" -path "*/.libs/*" -name 'libclattn_*_la-*.o')
report "the library's objects are found" "$(test -n "$objects" || echo "none in $top_builddir/src")"
data=$(find "$top_builddir/src" -path "*/.libs/*" -name 'libclattn_*_la-*.o' -exec $NM -f sysv {} + 2>/dev/null |
    awk -F '|' '{gsub(/ /, "")} ($7 ~ /^\.(t?data|t?bss)/ && $7 !~ /rel\.ro/) || $7 == "*COM*" {print $1}')
report "no writable static data but one_process_user" "$(echo $data | sed 's/^one_process_user$//')"

echo "1..$n"
exit $bad
