#!/bin/sh
# documents.t - what documents, manual pages and clattn.h speak of is there: files, tile numbers, options, parameters
# SPDX-License-Identifier: Apache-2.0
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

. tests/lib/house.sh

documents=$(awk '/^DOCUMENTS = / { on = 1 } on { print } on && !/\\$/ { exit }' Makefile.am | tr -s '\\\n\t' ' ')
result "HACKING names every document, and a release has it" "$(
    for f in doc/*; do
        grep -qF "$f" HACKING || echo "$f is not in HACKING"
        case " $documents " in *" $f "*) ;; *) echo "$f is not in DOCUMENTS of Makefile.am" ;; esac
    done)"

# A path counts when it begins with a folder of ours; tests are named as they are run, NAME.t for NAME.c.
there() { # PATH
    test -e "$1" || test -e "src/$1" || { test "${1%.t}" != "$1" && test -e "${1%.t}.c"; }
}
for document in README HACKING doc/*; do
    result "every file that $document names is there" "$(
        grep -oE '(^|[^A-Za-z0-9_./*-])([a-z-]+/)+[a-z0-9_-]+\.[a-z]+' "$document" |
            sed 's/^[^a-z]*//; s|^build/||' | sort -u | while read -r f; do
            case $f in *.so) continue ;; esac # built
            case ${f%%/*} in
            src | tests | cl | tools | bench | offline | doc | examples | include | build-aux | completion) ;;
            base | problem | engine | cache | device | run | judge | tune | api) ;;
            *) continue ;;
            esac
            there "$f" || echo "$f"
        done)"
done

# The rows of `numbers` begin with [X] = { "name", in the engine's file or in a header of engines that it includes.
result "HACKING explains every number of every engine's tile" "$(
    for f in src/engine/engine_*.c; do
        # Those without a rank are for tests, with the numbers of others.
        for engine in $(awk -F '"' '
            /^const struct engine / { name = "" }
            /^ *\.name = "/ { name = $2 }
            /^ *\.rank = / { print name }' "$f"); do
            block=$(awk -v engine="$engine" '
                /^Tile numbers$/ { on = 1 }
                /^Classes$/ { on = 0 }
                on && match($0, /^    [a-z_]+ /) { mine = $1 == engine }
                on && /^$/ { mine = 0 }
                on && mine' HACKING)
            shared=$(sed -n 's|^#include "\(engine/engine_[a-z]*\.h\)"$|src/\1|p' "$f")
            numbers=$(sed -n 's/^ *\[[A-Z_]*\] = { "\([a-z]*\)".*/\1/p' "$f" $shared)
            test -n "$numbers" || echo "no numbers of engine $engine are found"
            for number in $numbers; do
                printf '%s\n' "$block" | grep -qE "(^|[ ,])$number([ ,]|\$)" || echo "$number of engine $engine"
            done
        done
    done)"

# Of the manual page ".It Fl -type", of --help a line that begins "  --type TYPE".
for page in tools/report/clattn-report.1 tools/run/clattn-run.1 tools/tune/clattn-tune.1 bench/clattn-bench.1; do
    program=${top_builddir-build}/$(basename "$page" .1)
    if ! test -x "$program"; then
        n=$((n + 1))
        echo "ok $n - $page has every option # SKIP ${program##*/} is not built"
        continue
    fi
    result "$page has every option" "$(
        "$program" --help | sed -n 's/^  \(-[-a-z]*\).*/\1/p' | while read -r option; do
            grep -qE "^\.It .*(Fl|,) ${option#-}( |\$)" "$page" || echo "$option"
        done)"
done

result "headers document every parameter of every function, and what it returns" "$(
    awk '
        /^\/\*\*$/ { comment = ""; inside = 1 }
        inside { comment = comment $0 "\n" }
        / \*\/$/ { inside = 0 }
        /^CLATTN_API/ { text = ""; reading = 1 }
        reading { text = text $0 " " }
        reading && /;$/ {
            reading = 0
            name = text
            sub(/\(.*/, "", name)
            sub(/.*[ *]/, "", name)
            if (comment !~ /@return /) print name "(): what it returns"
            list = text
            sub(/^[^(]*\(/, "", list)
            sub(/\)[^)]*;? *$/, "", list)
            gsub(/\([^()]*\)\([^()]*\)/, "&", list)
            while (match(list, /\(\*[a-z_]+\)\([^()]*\)/)) { # a function that is handed over
                callback = substr(list, RSTART + 2, RLENGTH)
                sub(/\).*/, "", callback)
                list = substr(list, 1, RSTART - 1) " " callback substr(list, RSTART + RLENGTH)
            }
            m = split(list, parameters, ",")
            for (i = 1; i <= m; i++) {
                p = parameters[i]
                gsub(/^ +| +$/, "", p)
                sub(/.*[ *]/, "", p)
                if (p != "void" && comment !~ ("@param " p " ")) print name "(): " p
            }
            comment = ""
        }' include/clattn.h include/clattn_tune.h)"

# A comment goes before a name, or behind a member of a struct.
result "clattn.hpp documents every public name" "$(
    awk '
        /^namespace internal/ { skip = 1 }
        /^} .*namespace internal/ { skip = 0 }
        /^(class|struct).*{$/ { inside = 1; hidden = 0 }
        /^}/ { inside = 0 }
        /^private:/ { hidden = 1 }
        !skip && !comment && (/^(class|struct|enum|inline|template)/ ||
            inside && !hidden && /^    [a-z~]/ && !/[*][*]</) { print FILENAME ":" FNR ": " $0 }
        { comment = /[*]\/$/ }' include/clattn.hpp)"

echo "1..$n"
exit $bad
