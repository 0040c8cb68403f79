#!/bin/sh
# if-budget.t - kernels are made of slots, not of conditionals
# SPDX-License-Identifier: Apache-2.0
#
# No #if at all in what computes (loops, masks, scores, softmax, keys and values); at most 3 in what adapts to a device.
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

n=0 bad=0
report() { # GOOD TEXT
    n=$((n + 1))
    if test "$1" -eq 0; then echo "ok $n - $2"; else bad=1; echo "not ok $n - $2"; fi
}

for f in cl/*/*.cl; do
    case ${f##*/} in
    dtype_* | values_* | acc_* | engine_* | products_* | load_* | mma_* | exp_*) budget=3 ;;
    *) budget=0 ;;
    esac
    count=$(grep -cE '^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)([^a-z]|$)' "$f")
    test "$count" -le $budget
    report $? "$f has $count of $budget #if"
done

# A file that is not in the list would be missing in the library.
for f in cl/*/*; do
    grep -qE "(^|[[:space:]])$f([[:space:]]|\$)" Makefile.am
    report $? "$f is in CL_FILES of Makefile.am"
done

echo "1..$n"
exit $bad
