#!/bin/sh
# members.t - the names that a row of src/problem/members.h gives lead users to the member: options, setters, arguments
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99
. tests/lib/house.sh
list=src/problem/members.h

# A row in a line: what it is about, and its strings.
rows=$(sed -n '/^#define PROBLEM_MEMBERS/,$p' "$list" | tr -d '\\\n' | sed 's/ \{4\}[XP](\([A-Za-z0-9_]*\),/\
\1 /g' | sed -n 's/)\(#.*\)*$//; s/\(NULL\)/"\1"/g; s/^\([A-Za-z0-9_]*\) [^"]*"/\1 "/p')
column() { printf '%s\n' "$1" | cut -d '"' -f "$2"; } # of a row: 2 and 4 words, 6 option, 8 setter, 10 argument
grammar=$(sed -n '/^ \*   TYPE bB/,/^ \*$/p' include/clattn.h)
manual=$(grep '^\.D1 ' tools/run/clattn-run.1)

named() { # MEMBER ROW: what is missing
    for at in 2 4; do
        word=$(column "$2" $at)
        case $word in NULL | '' | f[0-9]*) continue ;; esac
        name=$(printf %s "$word" | sed 's/^\([a-z-]*:\{0,1\}\).*/\1/')
        for text in "$grammar" "$manual"; do # a value is in capitals there
            case $text in *[' [|']"$name"[]A-Z\|\ ]*) ;; *) echo "no word $name in the grammar" ;; esac
        done
    done
    option=$(column "$2" 6) setter=$(column "$2" 8) argument=$(column "$2" 10)
    test -z "$option" || { grep -q "(\"$option\"" tools/run/options.c &&
        grep -q "Fl $(printf %s "$option" | cut -c2-)" tools/run/clattn-run.1; } ||
        echo "clattn-run, or its manual page, has no option $option"
    test -z "$setter" || grep -q "problem &$setter(" include/clattn.hpp || echo "clattn.hpp has no setter $setter()"
    test -z "$argument" || grep -qE "'$argument'|[( ]$argument: " python/clattn/*.py ||
        echo "Python's functions have no argument $argument"
}
count=0
while read -r member row; do
    test -n "$member" || continue
    count=$((count + 1))
    result "$member is where $list says" "$(named "$member" "$row")"
done <<END
$rows
END
test $count -ge 44
ok $? "$count rows were read"

result "each flag of clattn.h has a row" "$(
    sed -n '/Flags of a problem/,/^};/s/^ *\(CLATTN_[A-Z0-9_]*\) = .*/\1/p' include/clattn.h |
        while read -r flag; do grep -q "X($flag," "$list" || echo "$flag has none"; done)"

result "each member of clattn_problem has a row" "$(
    sed -n '/^typedef struct clattn_problem {/,/^}/s/^    \([a-z][^;]*\);.*/\1/p' include/clattn.h | tr , '\n' |
        sed 's/.*[ *]\([a-z_0-9]*\)$/\1/' | while read -r member; do
            test "$member" = struct_size || grep -q "[XP]($member," "$list" || echo "$member has none"
        done)"

echo "1..$n"
exit $bad
