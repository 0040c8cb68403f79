#!/bin/sh
# exports.t - the shared library exports clattn_* only, and calls nothing that a library has no business calling
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

# No ending of the process, printing, locale or environment of a program with other rights.
banned='abort|exit|_exit|_Exit|quick_exit|atexit|__cxa_atexit|v?f?printf|__v?f?printf_chk|puts|fputs|putchar|perror|'
banned="${banned}stdin|stdout|stderr|fwrite|fputc|putc|write|raise|kill|"
banned="${banned}getenv|setenv|putenv|setlocale|signal|sigaction|fork|system|__assert_fail"
report "nothing forbidden is called" "$($NM -D --undefined-only "$lib" | names | grep -xE "$banned" | tr '\n' ' ')"

# Calls share nothing but their arguments: no writable data of our own, but the number of the process that uses OpenCL.
objects=$(find "$top_builddir/src" -path "*/.libs/*" -name 'libclattn_core_la-*.o')
report "the library's objects are found" "$(test -n "$objects" || echo "none in $top_builddir/src")"
data=$(find "$top_builddir/src" -path "*/.libs/*" -name 'libclattn_core_la-*.o' -exec $NM -f sysv {} + 2>/dev/null |
    awk -F '|' '{gsub(/ /, "")} ($7 ~ /^\.(t?data|t?bss)/ && $7 !~ /rel\.ro/) || $7 == "*COM*" {print $1}')
report "no writable static data but one_process_user" "$(echo $data | sed 's/^one_process_user$//')"

echo "1..$n"
exit $bad
