#!/bin/sh
# layering.t - who may include whom
# SPDX-License-Identifier: Apache-2.0
#
# status -> mods, caps, number, words -> problem -> params, case, parse -> engine, tile, source, search -> wisdom, cache ->
# device, program, tensor -> call, blocks -> launch -> plan, tune -> clattn.c: a file includes only what stands left of it. What
# comes before device is free of OpenCL, and nothing outside src/ but the tests of the insides sees anything but
# <clattn.h>.
cd "${top_srcdir-$(dirname "$0")/..}" || exit 99

# Each file of src/ and what it may include of src/, itself aside.
allowed() {
    base="status"
    mid="$base mods problem params caps case"
    pure="$mid engine tile source search"
    files="$pure wisdom cache"
    device="$files device program tensor"
    case $1 in
    status) ;;
    mods | caps | number | words) echo "$base" ;;
    problem) echo "$base mods" ;;
    params) echo "$base mods problem" ;;
    case | parse) echo "$base problem number case" ;;
    engine) echo "$mid" ;;
    tile) echo "$mid engine" ;;
    source | search) echo "$mid engine tile" ;;
    wisdom | cache) echo "$pure" ;;
    device) echo "$files" ;;
    program) echo "$files device" ;;
    tensor) echo "$mid" ;;
    call | blocks) echo "$mid tensor call blocks" ;;
    launch) echo "$device call blocks" ;;
    plan) echo "$device launch" ;;
    tune) echo "$device launch plan" ;;
    clattn) echo "$device words launch plan tune" ;;
    *) return 1 ;;
    esac
}

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
    case $name in
    mods | problem | params | caps | case | engine | tile | source | search | wisdom | cache)
        result "$f needs no OpenCL" "$(
            grep -nE '#[[:space:]]*include[[:space:]]*[<"]CL/|(^|[^A-Za-z0-9_])cl[A-Z][A-Za-z]+\(' "$f")"
        ;;
    esac
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
