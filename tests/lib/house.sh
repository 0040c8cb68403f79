# house.sh - how tests of the source tree report. Sourced from its top
# SPDX-License-Identifier: Apache-2.0
n=0 bad=0
result() { # WHAT PROBLEMS: one TAP line, and the problems under it
    n=$((n + 1))
    if test -z "$2"; then
        echo "ok $n - $1"
    else
        bad=1
        echo "not ok $n - $1"
        printf '%s\n' "$2" | sed 's/^/# /'
    fi
}
