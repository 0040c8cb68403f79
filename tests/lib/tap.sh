# tap.sh - how scripts report: one TAP line for each test, and under one that failed what the script knows. Sourced
# SPDX-License-Identifier: Apache-2.0
n=0 bad=0
explain() { :; } # the script's own, with the arguments of ok()
ok() { # STATUS DESCRIPTION [..]
    n=$((n + 1))
    if test "$1" -eq 0; then
        echo "ok $n - $2"
    else
        bad=1
        echo "not ok $n - $2"
        explain "$@" | sed 's/^/# /'
    fi
}
