#!/bin/sh
# conditionals.t - kernels are made of slots, not of conditionals, and one fragment knows compilers
# SPDX-License-Identifier: Apache-2.0
#
# compilers.cl alone asks which compiler it is. Fragments of matrix units may ask for numbers of the unit and of the
# device, at most 3 times; none of the others has an #if.
cd "${top_srcdir-$(dirname "$0")/../..}" || exit 99

. tests/lib/house.sh

conditional='^[[:space:]]*#[[:space:]]*(if|ifdef|ifndef|elif)([^a-z]|$)'
for f in cl/*/*.cl tests/emulated/*.cl; do
    # What clang defines, and AMD's driver, which is made of it, does not.
    result "$f does not ask by name which GPU it is for" "$(grep -nE '__(GFX|gfx|AMDGCN_W)|FP_FAST_' "$f")"
    case ${f##*/} in
    compilers.cl) continue ;;
    mma_* | products_mma.cl) budget=3 ;;
    *) budget=0 ;;
    esac
    result "$f has at most $budget #if" "$(grep -nE "$conditional" "$f" | tail -n +$((budget + 1)))"
    result "$f does not ask for a compiler" "$(
        grep -E "$conditional" "$f" | grep -E '(^|[^A-Za-z_])(__|cl_|FP_)'
        grep -E 'pragma (clang|unroll)|__(clang|GNUC|AMDGCN|GFX|NVPTX|NV_CL|AVX|has_)' "$f")"
done

# A file that is not in the list would be missing in the library.
for f in cl/*/*; do
    result "$f is in CL_FILES of Makefile.am" "$(
        grep -qE "(^|[[:space:]])$f([[:space:]]|\$)" Makefile.am || echo missing)"
done
emulated=$(sed -e :a -e '/\\$/N; s/\\\n//; ta' tests/emulated/Makefile.inc | sed -n 's/^EMULATED_CL_FILES = //p')
for f in tests/emulated/*.cl; do
    result "$f is in EMULATED_CL_FILES of tests/emulated/Makefile.inc" "$(
        printf '%s\n' $emulated | grep -qxF "$f" || echo missing)"
done

echo "1..$n"
exit $bad
