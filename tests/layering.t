#!/bin/sh
# layering.t - who may include whom
# SPDX-License-Identifier: Apache-2.0
#
# A file of src/ includes only what stands left of it in `order`; files joined by + share a duty and may include each other.
# What comes before device is free of OpenCL, and nothing outside src/ but the tests of the insides sees anything but
# <clattn.h>.
cd "${top_srcdir-$(dirname "$0")/..}" || exit 99

order="status number digest words mods caps settings problem pack params case parse class sample engine tile source search+race
    store+root+file+folder+mark+trim cache record+date wisdom+site device tensor program power call+blocks launch bed build
    measure choice trust tune plan handle clattn tuning"

allowed() { # FILE: what it may include, itself aside
    left=
    for group in $order; do
        case +$group+ in
        *+$1+*)
            echo "$left $(echo "$group" | tr + ' ')"
            return 0
            ;;
        esac
        left="$left $(echo "$group" | tr + ' ')"
    done
    return 1
}
is_pure() { case " $(allowed device) " in *" $1 "*) test "$1" != device ;; *) false ;; esac; }

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
includes() { sed -n 's/^[[:space:]]*#[[:space:]]*include[[:space:]]*"\([^"]*\)".*/\1/p' "$1"; }

for f in src/*.[ch]; do
    test "$f" = src/fragments.c && continue # generated, in a build inside the source tree
    name=${f#src/} name=${name%.[ch]}
    if list=$(allowed "$name"); then
        result "$f includes only what stands left of it" "$(
            for i in $(includes "$f"); do
                case " config.h args.h clattn.h $name.h $(printf ' %s.h' $list) " in
                *" $i "*) ;;
                *) echo "$f must not include \"$i\"" ;;
                esac
            done)"
    else
        result "$f has a place in the layers" "give $f a line in tests/layering.t"
    fi
    if is_pure "$name"; then
        result "$f needs no OpenCL" "$(
            grep -nE '#[[:space:]]*include[[:space:]]*[<"]CL/|(^|[^A-Za-z0-9_])cl[A-Z][A-Za-z]+\(' "$f")"
    fi
    case $f in
    *.c) result "$f includes config.h first" "$(
        includes "$f" | head -n 1 | grep -qx config.h || echo "the first include of $f is not \"config.h\"")" ;;
    esac
done

# Headers of ours that clients may see are theirs: beside them, in tools/ or in tests/.
for f in tools/*.[ch] bench/*.[ch] tests/*.[ch] examples/*.c; do
    test -f "$f" || continue
    name=${f#tests/} name=${name%.c}
    grep -q "^tests_${name}_t_LDADD = \$(INTERNAL)" Makefile.am && continue
    case $f in bench/replay.c | bench/virtual.[ch]) continue ;; esac # they run the search itself
    result "$f sees only <clattn.h> of the library" "$(
        for i in $(includes "$f"); do
            case $i in
            config.h) ;;
            *src/* | *cl/*) echo "$f must not include \"$i\"" ;;
            *) test -f "${f%/*}/$i" || test -f "tools/$i" || echo "$f must not include \"$i\"" ;;
            esac
        done)"
done

echo "1..$n"
exit $bad
