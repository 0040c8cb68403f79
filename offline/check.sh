#!/usr/bin/env bash
# check.sh - compile one OpenCL C kernel for GPUs that are not there
# SPDX-License-Identifier: Apache-2.0
#
#   check.sh [-t REGEX] [-s BYTES] [-o DIR] [-j N] [-m] [-v] FILE.cl KERNEL [-DX=Y ...] [-cl-... -I...]
#     -t REGEX  only targets whose vendor/device matches all of it, e.g. -t 'intel/(bmg|pvc)|nvidia/.*'
#               (reaches what is slow or special too: mali/*, nvidia/sm_90a; without -t those are left out)
#     -s BYTES  a target that spills more than BYTES per work-item fails (default: spills are only reported)
#     -o DIR    keep objects, PTX, logs and, of Intel, the instructions in DIR
#     -j N      N targets at a time                 -m  one line per target, fields separated by tabs
#     -l        list the targets and stop           -V  list the compilers and stop
#     -v        show the log of what failed
#   Exit status: 0 all that could be tried passed, 1 some failed, 2 usage, 3 nothing could be tried.
#   Environment, all optional:
#     OFFLINE_ROOT   root of newer compilers, see setup-newer-compilers.sh [~/.cache/clattn-offline/forky]
#     OFFLINE_ARM64  arm64 files of Mesa, for Mali                         [~/.cache/clattn-offline/arm64root]
#     NV_COMPILERS   NVIDIA's, see setup-nvidia-compilers.sh               [~/.cache/clattn-offline/nvidia]
#     AMD_DRIVERS    AMD's, see setup-amd-drivers.sh                       [~/.cache/clattn-offline/amd]
#     CLANG, CLANG_SPIR, OCLOC, PTXAS, AMD_BITCODE, LIBCLC_NVPTX           in place of what is found
#     PTXAS_OPTS     e.g. -maxrregcount=128         TIMEOUT  seconds per compile [120]
#   Options that begin with -cl-intel- go to Intel's compiler only.
#
# Columns: regs     Intel: GRFs of a hardware thread; AMD: VGPRs[+AGPRs]; NVIDIA: registers; Adreno: vec4 registers;
#                   Mali: 32-bit, Apple: 16-bit registers
#          local B  static __local memory
#          spill B  bytes per work-item that should not live in memory: spilled registers, arrays left in private memory
#          occ      waves per SIMD (AMD), hardware threads per EU (Intel), most waves (Adreno)
# intel/ is ocloc, neo/ Intel's OpenCL driver, as its products that are not there (compilers/neo.sh).
# amd/ is the system's clang (that of ROCm 6), amd7/ clang 21 with the device libraries of ROCm 7, rocm5/ and rocm6/ are
# AMD's drivers of ROCm 5.7 and 6.4, aco/ is Mesa's for AMD. Of AMD's GPUs programs are told which one it is, as the
# library tells them. nvidia/ is clang's PTX, nv470/, nv535/ and nv550/ that of NVIDIA's drivers; all of it goes through
# the same ptxas, which is another part of a driver.
set -u -o pipefail

die() { echo "check.sh: $*" >&2; exit 2; }
usage() { sed -n '4,21s/^# \{0,1\}//p' "$0"; exit 2; }

# ---- targets ----

intel_old="skl icllp" # newer compilers dropped them
intel_both="tgllp adl-p acm-g10 pvc"
intel_new="arl-h bmg lnl ptl"
neo="bmg dg2 pvc lnl ptl arl-h mtl adlp tgllp"
amd="gfx906 gfx908 gfx90a gfx942 gfx1010 gfx1030 gfx1100 gfx1151 gfx1201"
amd7="gfx906 gfx90a gfx942 gfx950 gfx1030 gfx1100 gfx1151 gfx1201"
rocm5="gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100" # knows no later one
rocm6="gfx906 gfx908 gfx90a gfx942 gfx1030 gfx1100 gfx1151 gfx1201"
aco="navi21 navi31 gfx1201"
nvidia="sm_75 sm_80 sm_86 sm_89 sm_90 sm_100 sm_120"
nv470="sm_75 sm_80" # knows no later one
nv535="sm_75 sm_80 sm_90"
nv550="sm_75 sm_80 sm_90"
adreno="630 660 730 750"
mali="7212 9093 a867 ac74" # G52, G57, G610, G310: an emulated host, slow

special() { echo nvidia/sm_90a; printf 'mali/%s\n' $mali; }
targets() {
    printf 'intel/%s\n' $intel_old $intel_both $intel_new
    printf 'neo/%s\n' $neo
    printf 'amd/%s\n' $amd
    printf 'amd7/%s\n' $amd7
    printf 'rocm5/%s\n' $rocm5
    printf 'rocm6/%s\n' $rocm6
    printf 'nvidia/%s\n' $nvidia
    printf 'nv470/%s\n' $nv470
    printf 'nv535/%s\n' $nv535
    printf 'nv550/%s\n' $nv550
    echo spirv/val
    printf 'aco/%s\n' $aco
    printf 'adreno/%s\n' $adreno
    echo apple/g13g
}

select= most= keep= machine= verbose= jobs=1 task=check
while getopts 't:s:o:j:mlvVh' o; do
    case $o in
    t) select=$OPTARG ;;
    s) most=$OPTARG ;;
    o) keep=$OPTARG ;;
    j) jobs=$((OPTARG > 1 ? OPTARG : 1)) ;;
    m) machine=1 ;;
    l) task=list ;;
    v) verbose=1 ;;
    V) task=versions ;;
    *) usage ;;
    esac
done
shift $((OPTIND - 1))

# ---- tools ----

root=${OFFLINE_ROOT-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/forky}
arm64=${OFFLINE_ARM64-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/arm64root}
drivers=${NV_COMPILERS-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/nvidia}
amd_drivers=${AMD_DRIVERS-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-offline/amd}
limit=${TIMEOUT:-120}
libs=/usr/lib/x86_64-linux-gnu
setup="see setup-newer-compilers.sh"

have() { command -v "$1" >/dev/null 2>&1; }
first() { # FILE...: the first one that exists
    local f
    for f in "$@"; do test -e "$f" && echo "$f" && return; done
}
newest() { # TOOL: its newest version on PATH, TOOL-N
    local v
    for v in 23 22 21 20 19 18 17 16 15; do have "$1-$v" && echo "$1-$v" && return; done
}

clang=${CLANG-$(newest clang)}
clang7=$(first "$root/wrap/clang-21")
bitcode=${AMD_BITCODE-$(first "$libs/amdgcn/bitcode" /opt/rocm/amdgcn/bitcode \
    /usr/lib/llvm-*/lib/clang/*/amdgcn/bitcode)}
objdump=$(first "$root/wrap/llvm-objdump-21" || newest llvm-objdump)
bitcode7=$(first "$root/usr/lib/llvm-21/lib/clang/21/amdgcn/bitcode")
libclc=${LIBCLC_NVPTX-$(first /usr/lib/clc/nvptx64--nvidiacl.bc /usr/lib/llvm-*/lib/clang/*/lib/nvptx64--nvidiacl.bc)}
ptxas=${PTXAS-$(command -v ptxas || first /usr/local/cuda/bin/ptxas /opt/cuda/bin/ptxas)}
ocloc=${OCLOC-$(command -v ocloc)}
newocloc=$(first "$root"/usr/bin/ocloc-[0-9]*)
neodriver=$(first "$root$libs/intel-opencl/libigdrcl.so")
llvmspirv=$(newest llvm-spirv)
spirclang=${CLANG_SPIR-}
test -z "$spirclang" && test -n "$llvmspirv" && have "clang-${llvmspirv##*-}" && spirclang=clang-${llvmspirv##*-}

# The newer root's programs run from outside of it, by its own loader.
new_ocloc() { "$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "$root$libs" "$newocloc" "$@"; }
export -f new_ocloc
export root libs newocloc

clang_major() { "$clang" --version 2>/dev/null | sed -n 's/.*clang version \([0-9]*\).*/\1/p' | head -n 1; }
version() { # NAME COMMAND...: the first version number in what it prints
    local name=$1 v
    shift
    v=$("$@" 2>/dev/null | grep -oE '[0-9]+\.[0-9]+[.0-9]*' | head -n 1)
    printf '%s %s\n' "$name" "${v:-missing}"
}
package() { # NAME PACKAGE ROOT: its version there
    printf '%s %s\n' "$1" "$(sed -n "/^Package: $2\$/,/^\$/s/^Version: //p" "$3/var/lib/dpkg/status" 2>/dev/null |
        grep . || echo missing)"
}
versions() {
    local driver library
    version clang "${clang:-false}" --version
    version 'clang (amd7)' "${clang7:-false}" --version
    version ptxas sh -c '"$0" --version | sed -n "s/.*, V//p"' "${ptxas:-false}"
    for driver in 470 535 550; do
        library=$(readlink -e "$drivers/$driver/compiler.so")
        printf 'nv%s %s\n' $driver "$(sed 's/.*\.so\.//' <<<"${library:-missing}")"
    done
    for driver in rocm5 rocm6; do package $driver rocm-opencl-icd "$amd_drivers/$driver"; done
    if test -n "$ocloc"; then echo 'ocloc (old) there'; else echo 'ocloc (old) missing'; fi # tells no version
    if test -n "$newocloc"; then version 'ocloc' new_ocloc --version; else echo 'ocloc missing'; fi
    package neo intel-opencl-icd "$root"
    version llvm-spirv "${llvmspirv:-false}" --version
    package Mesa mesa-opencl-icd "$root"
}

case $task in
list) targets && special && exit ;;
versions) versions && exit ;;
esac

# ---- arguments ----

test $# -ge 2 || usage
file=$(readlink -f -- "$1") && test -r "$file" || die "cannot read $1"
kernel=$2 std=-cl-std=CL1.2 options=() intel_options=()
[[ $kernel =~ ^[A-Za-z_][A-Za-z0-9_]*$ ]] || die "'$kernel' is no name of a kernel"
shift 2
for a in "$@"; do
    case $a in
    -cl-std=*) std=$a ;;
    -cl-intel-*) intel_options+=("$a") ;;
    -*) options+=("$a") ;;
    *) die "unexpected argument '$a'" ;;
    esac
done
if test -n "$select"; then
    chosen=$({ targets && special; } | grep -xE -- "$select") || die "no target matches '$select'"
else
    chosen=$(targets)
fi

tmp=$(mktemp -d "${TMPDIR:-/tmp}/clattn-offline.XXXXXX") || die mktemp
trap 'rm -rf "$tmp"' EXIT
trap 'kill $(jobs -p) 2>/dev/null; exit 130' INT TERM
out=$tmp/out
test -z "$keep" || out=$keep
mkdir -p "$out" && out=$(readlink -f "$out") || die "cannot make $out"
# A copy in a path without blanks: options are split at blanks by some compilers.
mkdir "$tmp/src" && cp "$file" "$tmp/src/kernel.cl" && chmod u+w "$tmp/src/kernel.cl" || die "cannot copy $file"
file=$tmp/src/kernel.cl

# ---- results ----

path_of() { echo "$out/${1/\//_}"; } # of a target's files, without their suffix
local_limit() { # TARGET: the most __local memory that all such devices have
    case $1 in
    nvidia/* | nv[0-9]*/*) echo 49152 ;;
    adreno/* | apple/* | mali/*) echo 32768 ;;
    intel/pvc | intel/bmg | intel/lnl | intel/ptl | neo/pvc | neo/bmg | neo/lnl | neo/ptl) echo 131072 ;;
    *) echo 65536 ;;
    esac
}
number() { [[ $1 =~ ^[0-9]+$ ]]; }
record() { printf '%s\t' "${@:1:8}" >"$(path_of "$1").res" && printf '%s\n' "$9" >>"$(path_of "$1").res"; }
passed() { # TARGET REGS LOCAL SPILL OCCUPANCY MS OBJECT NOTE
    local state=ok note=$8
    if number "$3" && test "$3" -gt "$(local_limit "$1")"; then
        state=FAIL note="local memory: $3 > $(local_limit "$1"); $note"
    elif test -n "$most" && number "$4" && test "$4" -gt "$most"; then
        state=FAIL note="spills $4 > $most; $note"
    fi
    record "$1" $state "${@:2:6}" "$note"
}
skipped() { record "$1" skip - - - - - - "$2"; }
failed() { record "$1" FAIL - - - - "$2" - "$3"; } # TARGET MS WHY
reason() { # LOG DEFAULT: the line that says most
    local w
    w=$({
        grep -aiE 'error *:' "$1" | grep -v warning:
        grep -aiE 'fatal' "$1"
        grep -aiE 'error|unresolved|unsupported' "$1" | grep -vE 'warning:|[Bb]uild failed'
        echo "$2"
    } | head -n 1)
    printf '%s\n' "$w" | sed "s/^ *//; s/[[:space:]]\+/ /g; s,$tmp/src/,,g" | cut -c 1-110
}
now() { echo $(($(date +%s%N) / 1000000)); }
undefined() { # OBJECT: names nobody defines; what Intel's runtime fills in is no such
    readelf -sW "$1" 2>/dev/null |
        awk '$7 == "UND" && $8 != "" && $8 !~ /^__(INTEL_|SubDeviceID|MaxHWThreadID)/ { printf "%s ", $8 }'
}

client() { # NAME PROGRAM COMPILER LIBRARIES...: a program of ours that calls a compiler
    local name=$1 to=$2 cc=$3
    shift 3
    test -x "$to" && return
    have "$cc" && "$cc" -O1 -o "$to.$BASHPID" "$(dirname "$0")/compilers/$name.c" "$@" >"$to.log" 2>&1 &&
        mv "$to.$BASHPID" "$to"
}

# ---- Intel ----

# Of several attempts IGC keeps one: the one whose code is as long as the binary's, but for padding.
kept_listing() { # BINARY DUMP: that attempt's instructions
    local text f n best= listing=
    text=$((16#$(readelf -SW "$1" 2>/dev/null | sed -n "s/.* \.text\.$kernel  *PROGBITS  *[0-9a-f]* [0-9a-f]* //p" |
        awk '{ print $1 }')))
    for f in "$2"/*.asm; do
        test -e "${f%.asm}.dat" && grep -q "^//.kernel $kernel\$" "$f" || continue
        n=$((text - $(wc -c <"${f%.asm}.dat")))
        test $n -ge 0 && { test -z "$best" || test $n -lt "$best"; } && best=$n listing=$f
    done
    test -n "$listing" && test "$best" -lt 1024 && echo "$listing"
}
# What the binary says of the kernel: registers, SIMD width, local memory, spills, private memory, scratch.
intel_facts() {
    strings -a -n 4 "$1" | awk -v k="$kernel" '
        /^kernels:/ { on = 1 } /^kernels_misc_info:/ { on = 0 } !on { next }
        /^  - name:/ { mine = $3 == k; if (mine) found = 1 } !mine { next }
        $1 == "grf_count:" { g = $2 } $1 == "simd_size:" { w = $2 } $1 == "slm_size:" { l = $2 }
        $1 == "spill_size:" { s = $2 } $1 == "private_size:" { p = $2 }
        /usage: *(single|spill|private)/ { u = 1 } u && $1 == "size:" { m += $2; u = 0 }
        END { if (found) print g + 0, w + 0, l + 0, s + 0, p + 0, m + 0 }'
}
intel_result() { # TARGET BINARY MS WHICH
    local grf=32 lines spill listing facts log
    log=$(path_of "$1").log
    case $1 in */pvc* | */bmg* | */lnl* | */ptl*) grf=64 ;; esac
    facts=$(intel_facts "$2")
    test -n "$facts" || { failed "$1" "$3" "no kernel $kernel in the binary" && return; }
    set -- "$@" $facts # 5 registers, 6 width, 7 local, 8 spills, 9 private, 10 scratch
    lines=$(sed -n "s/.*$kernel.*spilled around \([0-9]*\).*/\1/p" "$log" | tail -n 1)
    spill=$8
    test "$spill" != 0 || spill=$((${lines:-0} * grf)) # in words only
    spill=$((spill + $9))
    test "$4" != old || spill=${10} # old versions tell only what spills and private memory take together
    test "$6" -gt 0 && spill=$((spill / $6))
    listing=$(kept_listing "$2" "$2.dump") && cp "$listing" "$(path_of "$1").asm"
    passed "$1" "$5" "$7" "$spill" $((1024 / ($5 > 128 ? $5 : 128))) "$3" "$(first "$(path_of "$1").asm" "$2")" \
        "SIMD$6$(test "$9" = 0 || echo ", private $9")$(test "${10}" = 0 || echo ", scratch ${10}") [$4]"
}
# Puts the binary into a directory.
by_ocloc() { # TOOL DEVICE DIRECTORY
    timeout "$limit" bash -c '"$@"' - "$1" compile --format zebin -device "$2" -file "$file" \
        -options "$std ${options[*]-} ${intel_options[*]-}" -output k -out_dir "$3"
}
by_neo() { # TOOL DEVICE DIRECTORY
    timeout "$limit" "$(dirname "$0")/compilers/neo.sh" "$root" "$2" "$1" "$file" - \
        "$std ${options[*]-} ${intel_options[*]-}" "$3/k.bin"
}
compile_intel() {
    local t=$1 device=${1#*/} tool= which=old began rc bin log unknown
    log=$(path_of "$t").log bin=$(path_of "$t").bin
    case " $intel_old $intel_both " in *" $device "*) test -z "$ocloc" || tool=$ocloc ;; esac
    case " $intel_both $intel_new " in *" $device "*) test -z "$newocloc" || tool=new_ocloc which=new ;; esac
    case $t in
    neo/*)
        test -n "$neodriver" || { skipped "$t" "no driver ($setup)" && return; }
        client clbuild "$tmp/clbuild" "${CC:-cc}" -lOpenCL ||
            { skipped "$t" "needs cc and ocl-icd-opencl-dev" && return; }
        tool=$tmp/clbuild which=driver
        ;;
    esac
    test -n "$tool" || { skipped "$t" "no ocloc for it (Debian: intel-opencl-icd; new devices: $setup)" && return; }
    rm -rf "$bin.dump" "$bin.d" && mkdir -p "$bin.dump" "$bin.d"
    began=$(now)
    IGC_ShaderDumpEnable=1 IGC_DumpToCustomDir=$bin.dump \
        "$(test $which = driver && echo by_neo || echo by_ocloc)" "$tool" "$device" "$bin.d" >"$log" 2>&1
    rc=$?
    if grep -qiE 'could not determine device|unknown device|Cannot get HW Info' "$log"; then
        skipped "$t" "this ocloc does not know it"
    elif grep -qE 'Loading of (FCL|IGC) library has failed' "$log"; then
        skipped "$t" "ocloc misses libigdfcl or libigc"
    elif grep -q '^no device' "$log"; then
        skipped "$t" "the driver gave no device"
    elif test $rc != 0 || ! mv "$(first "$bin.d"/*.bin)" "$bin" 2>/dev/null; then
        failed "$t" $(($(now) - began)) "$(reason "$log" "${tool##*/}: status $rc")"
    else
        unknown=$(undefined "$bin") # IGC links lazily: nothing else tells
        if test -n "$unknown"; then
            failed "$t" $(($(now) - began)) "undefined: $unknown"
        else
            intel_result "$t" "$bin" $(($(now) - began)) $which
        fi
    fi
    rm -rf "$bin.dump" "$bin.d"
}

# ---- AMD ----

# The device libraries, and files that say an ISA's version where an old package lacks them.
amd_libraries() {
    local p n d=$tmp/bitcode
    test -d "$d" && return
    mkdir "$d.$BASHPID" && ln -s "$bitcode"/*.bc "$d.$BASHPID/"
    for p in 942:9402 950:9500 1100:11000 1151:11501 1201:12001; do
        n=$d.$BASHPID/oclc_isa_version_${p%:*}.bc
        test -e "$n" || echo "const __constant int __oclc_ISA_version = ${p#*:};" |
            "$clang" -x cl -cl-std=CL2.0 --target=amdgcn-amd-amdhsa -nogpulib -emit-llvm -c -o "$n" - 2>/dev/null
    done
    mv -T "$d.$BASHPID" "$d" 2>/dev/null || rm -rf "$d.$BASHPID"
}
# What the remarks say of the kernel: VGPRs, AGPRs, SGPRs, local memory, VGPR spills, scratch, SGPR spills, waves.
amd_facts() {
    awk -v k="$kernel" '
        function after(key) { return substr($0, index($0, key) + length(key)) + 0 }
        /Function Name:/ { mine = 0; for (i = 1; i < NF; i++) if ($i == "Name:" && $(i + 1) == k) mine = found = 1 }
        !mine { next }
        / (Total)?SGPRs: / { s = after("SGPRs:") } / VGPRs: / { v = after(" VGPRs:") }
        / AGPRs: / { a = after("AGPRs:") } /Occupancy/ { o = after("/SIMD]:") }
        /SGPRs Spill:/ { ss = after("SGPRs Spill:") } /VGPRs Spill:/ { vs = after("VGPRs Spill:") }
        /ScratchSize/ { sc = after("/lane]:") } /LDS Size/ { l = after("/block]:") }
        END { if (found) print v + 0, a + 0, s + 0, l + 0, vs + 0, sc + 0, ss + 0, o + 0 }' "$1"
}
# Whether instructions reach private memory: clang reserves some for SGPRs, and may then keep them all in VGPRs.
reaches_private() { # OBJECT
    local code
    code=$("${objdump:-false}" --disassemble-symbols="$kernel" "$1" 2>/dev/null)
    grep -q s_endpgm <<<"$code" || return 0 # not known
    grep -qE '(scratch|buffer|flat)_(load|store|atomic)|s_swappc|s_setpc' <<<"$code"
}
amd_result() { # TARGET OBJECT MS COMPILER
    local facts spill
    facts=$(amd_facts "$(path_of "$1").log")
    test -n "$facts" || { failed "$1" "$3" "no kernel $kernel" && return; }
    set -- "$@" $facts # 5 VGPRs, 6 AGPRs, 7 SGPRs, 8 local, 9 VGPR spills, 10 scratch, 11 SGPR spills, 12 waves
    spill=$(($9 * 4 > ${10} ? $9 * 4 : ${10}))
    test "$9" != 0 || test "$spill" = 0 || reaches_private "$2" || spill=0
    passed "$1" "$5$(test "$6" = 0 || echo "+$6")" "$8" $spill "${12}" "$3" "$2" \
        "$7 SGPR$(test "${11}" = 0 || echo ", ${11} SGPR spills") [$4]"
}
which_gfx() { echo "-DCLA_GFX=0x${1#*/gfx}"; } # TARGET: what the library tells programs
compile_amd() {
    local t=$1 cc=$clang lib=$tmp/bitcode began rc log object unknown
    log=$(path_of "$t").log object=$(path_of "$t").o
    case $t in
    amd7/*)
        cc=$clang7 lib=$bitcode7
        test -n "$cc" && test -n "$lib" || { skipped "$t" "no clang 21 with its device libraries ($setup)" && return; }
        ;;
    *)
        test -n "$clang" || { skipped "$t" "no clang (Debian: clang-19)" && return; }
        test -n "$bitcode" || { skipped "$t" "no device libraries (Debian: rocm-device-libs)" && return; }
        amd_libraries
        ;;
    esac
    began=$(now)
    timeout "$limit" "$cc" -x cl "$std" ${options[@]+"${options[@]}"} "$(which_gfx "$t")" --target=amdgcn-amd-amdhsa \
        -mcpu="${t#*/}" --rocm-device-lib-path="$lib" -mcode-object-version=5 -O3 -Wno-unused-command-line-argument \
        -Rpass-analysis=kernel-resource-usage -c "$file" -o "$object" >"$log" 2>&1
    rc=$?
    if grep -q 'invalid target ID' "$log"; then
        skipped "$t" "${cc##*/} does not know it"
    elif grep -q 'cannot find ROCm device library' "$log"; then
        skipped "$t" "no device library for it"
    elif test $rc != 0; then
        failed "$t" $(($(now) - began)) "$(reason "$log" "${cc##*/}: status $rc")"
    else
        unknown=$(undefined "$object")
        if test -n "$unknown"; then
            failed "$t" $(($(now) - began)) "undefined: $unknown"
        else
            amd_result "$t" "$object" $(($(now) - began)) "${cc##*/}"
        fi
    fi
}

# What a driver's code object says of the kernel: VGPRs, AGPRs, SGPRs, local memory, VGPR spills, scratch, SGPR spills,
# items of a group at most.
code_object_facts() { # OBJECT
    "$amd_drivers/rocm6/wrap/llvm-readelf" --notes "$1" 2>/dev/null | awk -v k="$kernel" '
        function end() { if (name == k) print v + 0, a + 0, s + 0, l + 0, vs + 0, sc + 0, ss + 0, m + 0 }
        /^  - / { end(); name = ""; v = a = s = l = vs = sc = ss = m = 0; sub("- ", "  ") }
        !/^    \./ { next }
        $1 == ".name:" { name = $2 } $1 == ".vgpr_count:" { v = $2 } $1 == ".agpr_count:" { a = $2 }
        $1 == ".sgpr_count:" { s = $2 } $1 == ".group_segment_fixed_size:" { l = $2 }
        $1 == ".vgpr_spill_count:" { vs = $2 } $1 == ".sgpr_spill_count:" { ss = $2 }
        $1 == ".private_segment_fixed_size:" { sc = $2 } $1 == ".max_flat_workgroup_size:" { m = $2 }
        END { end() }'
}
# Waves per SIMD, of four that share local memory: by registers, which come in grains and since gfx90a are one file with
# AGPRs, and by local memory.
amd_waves() { # GFX REGISTERS LOCAL ITEMS
    local file grain waves by_local share wave=32 all=131072
    case $1 in
    gfx90[68]) file=256 grain=4 waves=10 ;;
    gfx9*) file=512 grain=8 waves=8 ;;
    gfx10*) file=1024 grain=8 waves=16 ;;
    *) file=1536 grain=24 waves=16 ;;
    esac
    case $1 in gfx9*) wave=64 all=65536 ;; esac
    share=$((file / (($2 + grain) / grain * grain)))
    test $share -ge $waves || waves=$share
    by_local=$((all / ($3 + 1) * (($4 + wave - 1) / wave) / 4))
    test $by_local -ge $waves || waves=$by_local
    echo $((waves > 0 ? waves : 1))
}
# As a user's driver makes it.
compile_amd_driver() {
    local t=$1 driver=${1%%/*} gfx=${1#*/} began rc log object facts spill own
    log=$(path_of "$t").log object=$(path_of "$t").o
    test -e "$amd_drivers/$driver/ready" && test -e "$amd_drivers/rocm6/ready" ||
        { skipped "$t" "no driver (setup-amd-drivers.sh)" && return; }
    client amdcl "$tmp/amdcl" "${CC:-cc}" -ldl || { skipped "$t" "needs cc and opencl-c-headers" && return; }
    began=$(now)
    timeout "$limit" "$tmp/amdcl" "$amd_drivers/$driver" "$gfx" "$file" "$object" "$std" \
        ${options[@]+"${options[@]}"} "$(which_gfx "$t")" >"$log" 2>&1
    rc=$?
    test $rc != 3 || { skipped "$t" "this driver does not know it" && return; }
    test $rc != 2 || { skipped "$t" "$(reason "$log" "the driver cannot be entered")" && return; }
    test $rc = 0 || { failed "$t" $(($(now) - began)) "$(reason "$log" "amdcl: status $rc")" && return; }
    facts=$(code_object_facts "$object")
    test -n "$facts" || { failed "$t" $(($(now) - began)) "no kernel $kernel" && return; }
    set -- $facts # 1 VGPRs, 2 AGPRs, 3 SGPRs, 4 local, 5 VGPR spills, 6 scratch, 7 SGPR spills, 8 items
    spill=$(($5 * 4 > $6 ? $5 * 4 : $6))
    test "$5" != 0 || test "$spill" = 0 || reaches_private "$object" || spill=0
    case $gfx in gfx90[68] | gfx1*) own=$1 ;; *) own=$(($1 - $2)) ;; esac # elsewhere AGPRs are counted, too
    passed "$t" "$own$(test "$2" = 0 || echo "+$2")" "$4" $spill "$(amd_waves "$gfx" "$1" "$4" "$8")" \
        $(($(now) - began)) "$object" "$3 SGPR$(test "$7" = 0 || echo ", $7 SGPR spills") [$driver]"
}

# ---- NVIDIA ----

# What ptxas says of the kernel: registers, local memory, spills and stack. A helper that stayed a call keeps its arrays
# on the cumulative stack.
nvidia_facts() {
    awk -v k="$kernel" '
        /Compiling entry function/ { mine = index($0, "\047" k "\047") > 0; if (mine) found = 1 }
        !mine { next }
        /bytes stack frame/ {
            st = $1
            for (i = 3; i < NF; i++) if ($i == "spill" && $(i + 1) ~ /stores/) sp = $(i - 2)
        }
        /Used [0-9]+ registers/ {
            for (i = 1; i <= NF; i++) {
                if ($i == "Used") r = $(i + 1)
                if ($i ~ /^smem/) l = $(i - 2)
                if ($i == "cumulative") c = $(i - 2)
            }
        }
        END { if (found) print r + 0, l + 0, (sp > st ? sp : st) + c }' "$1"
}
# Registers and spills are told by ptxas, whatever made the PTX.
assemble() { # TARGET BEGAN NOTE
    local t=$1 base rc facts
    base=$(path_of "$t")
    timeout "$limit" "$ptxas" -arch="${t#*/}" -v ${PTXAS_OPTS-} "$base.ptx" -o "$base.cubin" >>"$base.log" 2>&1
    rc=$?
    facts=$(nvidia_facts "$base.log")
    if grep -q "is not defined for option 'gpu-name'" "$base.log"; then
        skipped "$t" "this ptxas does not know it"
    elif test $rc != 0; then
        failed "$t" $(($(now) - $2)) "$(reason "$base.log" "ptxas: status $rc")"
    elif test -z "$facts"; then
        failed "$t" $(($(now) - $2)) "no kernel $kernel"
    else
        passed "$t" $facts - $(($(now) - $2)) "$base.cubin" "$3"
    fi
}
have_ptxas() { # TARGET
    test -n "$ptxas" && test -x "$ptxas" || { skipped "$1" "no ptxas (CUDA, or pip nvidia-cuda-nvcc)" && return 1; }
}
compile_nvidia() {
    local t=$1 g=${1#*/} n cpu=sm_80 ptx=ptx75 began rc base
    base=$(path_of "$t")
    have_ptxas "$t" || return
    test -n "$clang" || { skipped "$t" "no clang (Debian: clang-19)" && return; }
    test -n "$libclc" || { skipped "$t" "no libclc (Debian: libclc-15)" && return; }
    n=${g#sm_} n=${n%%[a-z]*}
    test "$n" -ge 80 || cpu=sm_$n
    test "$n" -ge 90 && test "$(clang_major)" -ge 16 && cpu=sm_90 ptx=ptx78
    test "$g" = sm_90a && test "$(clang_major)" -ge 17 && cpu=sm_90a ptx=ptx80
    began=$(now)
    timeout "$limit" "$clang" -x cl "$std" ${options[@]+"${options[@]}"} --target=nvptx64--nvidiacl \
        -Xclang -target-cpu -Xclang $cpu -Xclang -target-feature -Xclang +$ptx -O3 -Wno-unused-command-line-argument \
        -Xclang -mlink-builtin-bitcode -Xclang "$libclc" -S "$file" -o "$base.ptx" >"$base.log" 2>&1
    rc=$?
    test $rc = 0 || { failed "$t" $(($(now) - began)) "$(reason "$base.log" "clang: status $rc")" && return; }
    assemble "$t" $began "PTX of $cpu [$clang]"
}
# PTX as a user's driver makes it. The options in front of ours are those that the driver adds.
compile_driver() {
    local t=$1 driver=${1%%/*} library began rc base
    base=$(path_of "$t") library=$drivers/${driver#nv}/compiler.so
    have_ptxas "$t" || return
    test -e "$library" || { skipped "$t" "no compiler of this driver (setup-nvidia-compilers.sh)" && return; }
    client nvcl "$tmp/nvcl" "${CC:-cc}" -ldl || { skipped "$t" "needs cc" && return; }
    began=$(now)
    timeout "$limit" "$tmp/nvcl" "$library" "$file" "$base.ptx" -nv-m64 -cl-nv-arch "${t#*/}" \
        "-cl-nv-cstd=${std#-cl-std=}" ${options[@]+"${options[@]}"} >"$base.log" 2>&1
    rc=$?
    test $rc = 0 || { failed "$t" $(($(now) - began)) "$(reason "$base.log" "nvcl: status $rc")" && return; }
    assemble "$t" $began "$(sed -n 's/^\.version /PTX /p' "$base.ptx") [$driver]"
}

# ---- SPIR-V ----

to_spirv() { # BASE; clang's optimiser makes instructions that the translator does not know
    timeout "$limit" "$spirclang" -x cl "$std" ${options[@]+"${options[@]}"} --target=spir64 -O0 \
        -Wno-unused-command-line-argument -emit-llvm -c "$file" -o "$1.bc" &&
        "$llvmspirv" --spirv-max-version=1.2 "$1.bc" -o "$1.spv" && spirv-val --target-env opencl2.2 "$1.spv"
}
compile_spirv() {
    local t=$1 base began
    base=$(path_of "$t")
    test -n "$spirclang" && test -n "$llvmspirv" && have spirv-val || {
        skipped "$t" "needs clang-N, llvm-spirv-N, spirv-tools" && return
    }
    began=$(now)
    if ! to_spirv "$base" >"$base.log" 2>&1; then
        failed "$t" $(($(now) - began)) "$(reason "$base.log" "spirv-val failed")"
    elif ! spirv-dis "$base.spv" | grep "OpEntryPoint Kernel .*\"$kernel\"" >/dev/null; then
        failed "$t" $(($(now) - began)) "no kernel $kernel"
    else
        passed "$t" - - - - $(($(now) - began)) "$base.spv" "$(wc -c <"$base.spv") bytes [$spirclang]"
    fi
}

# ---- AMD, Adreno, Apple, Mali: Mesa's compilers behind pretended kernel drivers ----

mesa_result() { # TARGET MS STATUS
    local t=$1 log facts regs=- spill=- occ=- note
    log=$(path_of "$t").log
    last() { sed -n "s/.* \([0-9:]*\) $1.*/\1/p" "$log" | sort -n | tail -n 1; }
    grep -q '^no device' "$log" && { skipped "$t" "the pretended driver gave no device" && return; }
    # Of some kernels Mesa uploads constants while it builds them, which a driver that only pretends refuses.
    grep -q '^\[clbuild\] export failed' "$log" && { skipped "$t" "the pretended driver is not enough" && return; }
    facts=$(sed -n 's/^built //p' "$log")
    test -n "$facts" && test "$3" = 0 || { failed "$t" "$2" "$(reason "$log" "status $3")" && return; }
    set -- "$@" $facts # 4 local memory, 5 private memory, 6 largest group
    note="groups of $6 at most"
    case $t in
    adreno/*) regs=$(last 'full,') spill=$5 occ=$(last max_waves) note="$note [Mesa ir3]" ;;
    apple/*) regs=$(last 'gprs,') spill=$(last 'scratch,') note="$note, $(last spills:fills) spills:fills [Mesa agx]" ;;
    aco/*)
        regs=$(sed -n 's/^VGPRS: //p' "$log") spill=$5 occ=$(sed -n 's/^Max Waves: //p' "$log")
        note="$note [Mesa ACO]"
        ;;
    mali/*) regs=$(last 'registers used') spill=$5 note="$note, $(last spills:fills) spills:fills [Mesa panfrost]" ;;
    esac
    passed "$t" "${regs:--}" "$4" "${spill:--}" "${occ:--}" "$2" - "$note"
}
# Pretended drivers of Apple and Mali have no buffers for tables, as that of log().
no_tables=-Dlog=native_log
compile_mesa() { # TARGET DRIVER SHIM OPTION VARIABLES...
    local t=$1 driver=$2 shim=$3 more=$4 began rc inside
    shift 4
    test -e "$root$libs/$shim" && test -e "$root$libs/libRusticlOpenCL.so.1" ||
        { skipped "$t" "no Mesa ($setup)" && return; }
    test "$(id -u)" = 0 || { skipped "$t" "chroot needs root" && return; }
    client clbuild "$tmp/clbuild" "${CC:-cc}" -lOpenCL || { skipped "$t" "needs cc and ocl-icd-opencl-dev" && return; }
    inside=$(mktemp -d "$root/tmp/clattn.XXXXXX") && cp "$file" "$tmp/clbuild" "$inside/" || return
    began=$(now)
    timeout "$limit" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/tmp RUSTICL_ENABLE="$driver" "$@" \
        OCL_ICD_VENDORS=/etc/OpenCL/vendors/rusticl.icd MESA_SHADER_CACHE_DISABLE=true chroot "$root" /bin/sh -c \
        'cd "$1" && LD_PRELOAD=$2 exec ./clbuild kernel.cl "$3" "$4"' sh "${inside#"$root"}" "$libs/$shim" "$kernel" \
        "$std ${options[*]-} $more" >"$(path_of "$t").log" 2>&1
    rc=$?
    rm -rf "$inside"
    mesa_result "$t" $(($(now) - began)) $rc
}
on_arm64() { # SECONDS GPU CACHE ARGUMENTS...
    local l=/usr/lib/aarch64-linux-gnu
    timeout "$1" qemu-aarch64-static -L "$arm64" -E LD_PRELOAD=$l/libpanfrost_noop_drm_shim.so \
        -E OCL_ICD_VENDORS="$arm64/etc/OpenCL/vendors/rusticl.icd" -E LD_LIBRARY_PATH="$arm64$l" \
        -E RUSTICL_ENABLE=panfrost -E PAN_GPU_ID="$2" -E XDG_CACHE_HOME="$3" -E BIFROST_MESA_DEBUG=shaderdb \
        "$tmp/clbuild.arm64" "${@:4}"
}
# The first use of a GPU reads the built-in functions, for minutes; what comes of that is kept.
warm_mali() { # GPU LOG
    local cache=$arm64/cache-$1
    test -d "$cache" && return
    echo '__kernel void w(__global float *o) { o[get_global_id(0)] = exp(o[0]); }' >"$tmp/w.cl"
    mkdir -p "$cache.tmp" && on_arm64 600 "$1" "$cache.tmp" "$tmp/w.cl" w -cl-std=CL1.2 >"$2" 2>&1 &&
        mv -T "$cache.tmp" "$cache"
}
compile_mali() {
    local t=$1 gpu=${1#*/} began rc log l=$arm64/usr/lib/aarch64-linux-gnu
    log=$(path_of "$t").log
    have qemu-aarch64-static || { skipped "$t" "needs qemu-user-static" && return; }
    test -e "$l/libpanfrost_noop_drm_shim.so" || { skipped "$t" "no Mesa for arm64 ($setup)" && return; }
    client clbuild "$tmp/clbuild.arm64" aarch64-linux-gnu-gcc -idirafter /usr/include "$l/libOpenCL.so.1" \
        -Wl,--allow-shlib-undefined || { skipped "$t" "needs gcc-aarch64-linux-gnu, libc6-dev-arm64-cross" && return; }
    warm_mali "$gpu" "$log" || { failed "$t" - "the first use of this GPU failed" && return; }
    cp -r "$arm64/cache-$gpu" "$tmp/cache-$gpu" # a copy: a kernel that lies in a cache has no statistics
    began=$(now)
    on_arm64 $((limit * 3)) "$gpu" "$tmp/cache-$gpu" "$file" "$kernel" "$std ${options[*]-} $no_tables" \
        >"$log" 2>&1
    rc=$?
    mesa_result "$t" $(($(now) - began)) $rc
}

# ---- the run ----

compile() {
    case $1 in
    intel/* | neo/*) compile_intel "$1" ;;
    amd/* | amd7/*) compile_amd "$1" ;;
    nvidia/*) compile_nvidia "$1" ;;
    nv[0-9]*/*) compile_driver "$1" ;;
    rocm[56]/*) compile_amd_driver "$1" ;;
    spirv/*) compile_spirv "$1" ;;
    aco/*) compile_mesa "$1" radeonsi libamdgpu_noop_drm_shim.so '' AMDGPU_GPU_ID="${1#*/}" AMD_DEBUG=cs,asm ;;
    adreno/*) compile_mesa "$1" freedreno libfreedreno_noop_drm_shim.so '' FD_GPU_ID="${1#*/}" IR3_SHADER_DEBUG=cs ;;
    apple/*) compile_mesa "$1" asahi libasahi_noop_drm_shim.so "$no_tables" AGX_MESA_DEBUG=shaderdb ;;
    mali/*) compile_mali "$1" ;;
    esac
}
show() { # TARGET
    local format='%-14s %-5s %8s %8s %8s %4s %7s  %s\n' f
    test -z "$machine" || { cat "$(path_of "$1").res" && return; }
    IFS=$'\t' read -r -a f <"$(path_of "$1").res"
    printf "$format" "${f[0]}" "${f[1]}" "${f[2]}" "${f[3]}" "${f[4]}" "${f[5]}" "${f[6]}" "${f[8]}"
    test -z "$verbose" || test "${f[1]}" != FAIL || sed 's/^/    | /' "$(path_of "$1").log" 2>/dev/null | head -n 60
}

# Made once, before targets in parallel want them.
if test -n "$clang" && test -n "$bitcode" && grep -q '^amd/' <<<"$chosen"; then amd_libraries; fi
test -n "$machine" || printf '%-14s %-5s %8s %8s %8s %4s %7s  %s\n' target '' regs 'local B' 'spill B' occ ms note
n=0
for t in $chosen; do
    rm -f "$(path_of "$t").res"
    compile "$t" 2>>"$tmp/err" &
    n=$((n + 1))
    test $((n % jobs)) != 0 || wait
done
wait
tried=0 bad=0
for t in $chosen; do
    test -s "$(path_of "$t").res" || failed "$t" - "no result: check.sh is broken"
    show "$t"
    state=$(cut -f 2 "$(path_of "$t").res")
    test "$state" = skip || tried=$((tried + 1))
    test "$state" != FAIL || bad=$((bad + 1))
done
test -n "$machine" || echo "$tried tried, $bad failed"
test $tried -gt 0 || exit 3
test $bad = 0
