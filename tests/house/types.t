#!/bin/sh
# types.t - a storage type of clattn.h has all that a type has; tests/unit/problem_type.c compares what that says
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99
. tests/lib/house.sh

says() { # PATTERN FILE
    grep -q -- "$1" "$2" 2>&1 || echo "$2 lacks $1"
}

last=0
for type in $(sed -n '/^\/\*\* Storage types\. /,/^\/\*\* Where the diagonal/s/^enum {\(.*\)};/\1/p' include/clattn.h |
    tr -d ' ' | tr ',' ' '); do
    constant=${type%=*} number=${type#*=}
    name=$(echo "${constant#CLATTN_}" | tr A-Z a-z)
    row=$(awk -v row="    [$constant] = {" 'index($0, row) == 1 { on = 1 } on { print } on && /},/ { exit }' \
        src/problem/problem_type.c)
    last=$((last + 1))
    result "$constant is number $last" "$(test "$number" -eq $last || echo "it is $number")"
    result "$name is in the tables" "$(
        case $row in *"\"$name\","*) ;; *) echo "src/problem/problem_type.c lacks [$constant] = { \"$name\"" ;; esac
        says "^    $name = $constant,*\$" include/clattn.hpp)"
    case $row in *PROBLEM_KEYS* | *', ALL,'*) ;; *) continue ;; esac
    result "$name is known to whoever stores, converts and describes it" "$(
        says "^    \[$constant\] = { \"$name\"" tools/oracle/convert.c
        says "\<$name\>" tools/run/clattn-run.1
        case $row in
        *', ALL,'*) ;;
        *) says "^ \*     $name  *.*bytes" include/clattn.h ;;
        esac
        says "^#define CLA_STORAGE_$name " "cl/storage/dtype_$name.cl"
        case $row in
        *PROBLEM_PLAIN*) ;;
        *) says "cla_encode_$name(" "cl/storage/encode_$name.cl" ;;
        esac)"
done
result "there are types" "$(test $last -ge 10 || echo "include/clattn.h: only $last were found")"

echo "1..$n"
exit $bad
