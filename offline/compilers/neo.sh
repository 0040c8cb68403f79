#!/bin/sh
# neo.sh - runs a program on Intel's OpenCL driver, of a GPU that is not there: neo.sh ROOT PRODUCT PROGRAM ARGUMENT...
# SPDX-License-Identifier: Apache-2.0
#
# ROOT is what setup-newer-compilers.sh makes, PROGRAM any that loads libOpenCL.so.1. The driver (compute-runtime, NEO)
# is told to write command streams for a simulator (AUB) instead of looking for a device, and that there is no simulator
# either: it answers and builds as for a user, launches end and compute nothing. Of most products there are several
# sizes; the names that ocloc has for some are known, too.
# Exit status: the program's; 2: no use, 3: no such product.
test $# -ge 3 || exit 2
root=$1
libs=$root/usr/lib/x86_64-linux-gnu
case $2 in # slices x Xe-cores of each x EUs of each, and the PCI id
bmg) product=bmg size=5x4x8 id=e20b ;;
dg2 | acm-g10) product=dg2 size=8x4x16 id=56a0 ;;
pvc) product=pvc size=8x8x8 id=0bd5 ;;
lnl) product=lnl size=2x4x8 id=64a0 ;;
ptl) product=ptl size=2x6x8 id=b080 ;;
arl-h) product=arl-h size=2x4x16 id=7d51 ;;
mtl) product=mtl size=2x4x16 id=7d55 ;;
adlp | adl-p) product=adlp size=1x6x16 id=46a6 ;;
tgllp) product=tgllp size=1x6x16 id=9a49 ;;
*) exit 3 ;;
esac
shift 2
# In the classic way, not by way of Level Zero (EnableLEO). By the root's loader and not by chroot(), since without
# /proc/self/exe the driver has no platform.
exec env -u OPENCL_LAYERS NEOReadDebugKeys=1 SetCommandStreamReceiver=1 UseAubStream=0 ProductFamilyOverride=$product \
    HardwareInfoOverride=$size ForceDeviceId=$id EnableLEO=0 EnableTimestampWaitForQueues=0 \
    EnableTimestampWaitForEvents=0 NEO_CACHE_PERSISTENT=0 OCL_ICD_VENDORS="$libs/intel-opencl/libigdrcl.so" \
    "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$libs" "$@"
