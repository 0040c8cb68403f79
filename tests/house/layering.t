#!/bin/sh
# layering.t - who may include and call whom, and what a file may export
# SPDX-License-Identifier: Apache-2.0
#
# The folders of src/ are layers: a file includes and calls only what lies in its own folder or in one that stands left
# of it. Those before `device` need no OpenCL, and neither do the files named in `pure`. A file exports names that begin
# with its own; api/ exports the public ones. tests/emulated has engines, which keep the rules of engine/. Nothing else
# outside src/ but the tests of the library's inner parts sees anything of the library but <clattn.h>.
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

rooms='base problem engine cache device run judge tune api'
pure='base/ problem/ engine/ cache/ judge/sample tune/search tune/timing_rounds tune/proven'

. tests/lib/house.sh
includes() { sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"; }
left_of() { echo "${rooms%%" $1"*} $1"; } # ROOM: it and those it may use
is_pure() { for p in $pure; do case $1 in "$p"*) return 0 ;; esac; done; return 1; } # ROOM/STEM

# ---- includes ----

for f in src/*/*.[ch] tests/emulated/*.[ch]; do
    test "${f##*/}" = fragments.c && continue # generated, in a build inside the source tree
    case $f in
    src/*) name=${f#src/} ;;
    *) name=engine/${f##*/} ;;
    esac
    name=${name%.[ch]} room=${name%%/*}
    case " $rooms " in
    *" $room "*) ;;
    *) result "$f lies in a room" "give $room a place in tests/house/layering.t" && continue ;;
    esac
    result "$f includes only what stands left of it" "$(
        for i in $(includes "$f"); do
            case $i in
            config.h | cl/passes/*.h) ;;
            */*) case " $(left_of "$room") " in *" ${i%%/*} "*) ;; *) echo "$f must not include \"$i\"" ;; esac ;;
            *) echo "$f includes \"$i\" without its folder" ;;
            esac
        done)"
    if is_pure "$name"; then
        result "$f needs no OpenCL" "$(
            grep -nE '#[[:space:]]*include[[:space:]]*[<"]CL/|(^|[^A-Za-z0-9_])cl[A-Z][A-Za-z]+\(' "$f"
            for i in $(includes "$f"); do
                case $i in config.h | cl/passes/*.h) ;; *) is_pure "$i" || echo "$f must not include \"$i\"" ;; esac
            done)"
    fi
    case $f in
    *.c) result "$f includes config.h first" "$(
        includes "$f" | head -n 1 | grep -qx config.h || echo "the first include of $f is not \"config.h\"")" ;;
    esac
done

result "no file of src has more than 400 lines" "$(
    wc -l src/*/*.[ch] | awk '$2 != "total" && $1 > 400 { print $2 " has " $1 }')"

# Headers of ours that clients may see are theirs: in tools/ or bench/, or among the tests.
for f in tools/*/*.[ch] bench/*.c bench/*/*.[ch] tests/*/*.[ch] tests/*/*.cpp examples/*.c examples/*.cpp; do
    test -f "$f" || continue
    case $f in
    tests/emulated/*) continue ;; # see above
    tests/*)
        room=${f#tests/} room=${room%/*} name=${f##*/} name=${name%.[ch]}
        grep -q "^%C%_${name}_t_LDADD = \$(INTERNAL)" "tests/$room/Makefile.inc" && continue
        ;;
    bench/search/replay.c | bench/search/virtual.[ch]) continue ;; # they run the search itself
    esac
    case $f in tests/lib/forget_crashes.h | tests/lib/emulations.h) continue ;; esac # of inner parts
    result "$f sees only <clattn.h> of the library" "$(
        for i in $(includes "$f"); do
            case $i in
            config.h) ;;
            src/* | cl/*) echo "$f must not include \"$i\"" ;;
            *) test -f "${f%/*}/$i" || test -f "$i" || test -f "tools/$i" || echo "$f must not include \"$i\"" ;;
            esac
        done)"
done

# ---- calls and names, as the objects have them ----

names=$(mktemp) || exit 99
trap 'rm -f "$names"' EXIT
(cd "${top_builddir-.}" && find src tests/emulated -name 'lib*_la-*.o' -exec ${NM-nm} -A -P {} +) 2>/dev/null |
    sed -e 's|^tests/emulated/|src/engine/|' \
        -e 's|^src/\([a-z]*\)/\(\.libs/\)\{0,1\}lib[a-z_]*_la-\([a-z0-9_]*\)\.o:* |\1 \3 |' >"$names"
if ! test -s "$names"; then
    n=$((n + 1))
    echo "ok $n # SKIP the library was not built: who calls whom is not looked at"
else
    result "nothing is called that stands right of its caller" "$(awk -v rooms="$rooms" '
        BEGIN { n = split(rooms, list); for (i = 1; i <= n; i++) place[list[i]] = i }
        $4 ~ /^[TDRB]$/ { room[$3] = $1; file[$3] = $2 }
        $4 == "U" { calls[++m] = $0 }
        END {
            for (i = 1; i <= m; i++) {
                split(calls[i], at)
                if (at[3] in room && place[room[at[3]]] > place[at[1]])
                    print at[1] "/" at[2] ".c calls " at[3] "() of " room[at[3]] "/" file[at[3]] ".c"
            }
        }' "$names")"
    result "a file exports names that begin with its own" "$(awk '
        $4 ~ /^[TDRB]$/ {
            public = $1 == "api" || $3 == "clattn_status_string"
            sub(/_(macos|posix|windows)$/, "", $2) # what one system answers
            if (index($3, $2) != 1 && index($3 "s", $2) != 1 && !(public && index($3, "clattn_") == 1))
                print $1 "/" $2 ".c exports " $3
        }' "$names")"
fi

echo "1..$n"
exit $bad
