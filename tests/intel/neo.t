#!/bin/sh
# neo.t - what the library makes of the answers of Intel's driver, as nine products, and that the driver builds it
# SPDX-License-Identifier: Apache-2.0
#
# The driver is asked without a GPU: offline/compilers/neo.sh. Which products have matrix instructions, and so threads
# of 256 registers, which sub-groups and whether fma() is one instruction, it alone says.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/intel/intel_device.sh"
has_driver || skip_all "no driver in $root, or no $clbuild: offline/setup-newer-compilers.sh installs it"
neo=$top_srcdir/offline/compilers/neo.sh
unset OPENCL_LAYERS
CLATTN_TUNE=off CLATTN_CACHE_DIR=off
export CLATTN_TUNE CLATTN_CACHE_DIR
"$neo" "$root" bmg "$program" --version >out 2>err || skip_all "clattn-run does not run with another C library"

chooses() { # PRODUCT SUB-GROUP PROBLEM: engine and numbers of its tile, and the options; the driver builds that
    call="$neo $root $1 $program"
    run --emit-source "$3" --device Intel
    sed -n '1s,^// ,,p' out >first
    options=$(sed 's/^[^-]*//' first)
    what=$(sed 's/ -.*//' first)
    case $2:$3 in
    0:*) wanted='simt tx16,ty4,tm4,tn4,ch8,cv4,qres0' ;;
    *d64*) wanted='simt tx16,ty8,tm8,tn8,ch8,cv16,qres0' ;;
    *) wanted='simt tx16,ty8,tm8,tn8,ch8,cv8,qres0' ;;
    esac
    test $status -eq 0 && test "$what" = "$wanted"
    ok $? "$1, $3: $what"
    large=$(grep -c -e ' -cl-intel-256-GRF-per-thread' first)
    grep -q -e " -DCLA_FMA=1 -DCLA_SUB_GROUP=$2 " first && test "$large" -eq $(($2 > 0))
    ok $? "sub-groups of $2, with 256 registers where there are any"
    mv out kernel.cl
    "$neo" "$root" "$1" "$clbuild" kernel.cl cla_forward "$options" >out 2>err
    grep -q '^built [0-9]* 0 [0-9]*$' out
    ok $? "which the driver builds, without private memory ($(head -n 1 out))"
}
usual && chooses bmg 16 'f16 b2 h8/2 q2048 k2048 d64 lse causal'
usual && chooses mtl 0 'f16 b2 h8/2 q2048 k2048 d64 lse causal'
for product in bmg:16 pvc:16 lnl:16 ptl:16 dg2:8 arl-h:8 mtl:0 adlp:0 tgllp:0; do
    due chooses ${product%:*} ${product#*:} 'f32 b2 h8/2 q2048 k2048 d64 lse'
    due chooses ${product%:*} ${product#*:} 'f16 b2 h8/2 q2048 k2048 d128 lse'
done
"$neo" "$root" gen9 "$program" --version >out 2>err
test $? -eq 3
ok $? "a product that there is not"

finish
