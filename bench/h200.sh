#!/usr/bin/env bash
# h200.sh - all NVIDIA measurements, on an H200 in one run of ten minutes at most
# SPDX-License-Identifier: Apache-2.0
#
#   h200.sh [--minutes N] [--out DIR] [--rehearse] [--device TEXT]
#     What clattn-report finds on any device; on top of it probes of NVIDIA's driver and compiler, each tile of its
#     matrix units, tuning, throughput beside PyTorch's flash, efficient and cuDNN attention, f32 beside CLBlast,
#     results of real sizes against float64, then the whole suite of tests. Every figure is printed when it is known and
#     once more in a table at the end. DIR/report.txt is the report, to be sent.
#     --minutes N    most time for all of it [10]       --out DIR  logs and what is built [h200-out]
#     --device TEXT  part of "platform / device"        --rehearse any OpenCL device, small problems, PyTorch on the CPU
#                    (on the pretended device of tests/nvidia/nvidia_device.h: OPENCL_LAYERS and CLATTN_NVIDIA set,
#                    --device NVIDIA)
#   h200.sh --pack FILE.tar.gz
#     One archive of the sources, the OpenCL headers and loader, libmd, CLBlast where it is, and this script. Unpack it
#     elsewhere and run clattn-h200/h200.sh: that needs NVIDIA's driver, a C compiler, make, and Python with PyTorch.
#     To be run where the library builds, after `autoreconf -fi`.
#   Environment: PYTHON [python3], JOBS [all cores], CC.
#
# Exit status: 0 all phases came to their end, however the figures are; 1 some did not, nothing was built, or usage;
# 2 there is no OpenCL driver of NVIDIA's.
set -u -o pipefail
export LC_ALL=C PATH=$PATH:/usr/sbin:/sbin # ldconfig

die() { echo "h200.sh: $2" >&2; exit "$1"; }
usage() { sed -n '5,21s/^# \{0,1\}//p' "$0"; exit "$1"; }
say() { printf '[%2d:%02d] %s\n' $((SECONDS / 60)) $((SECONDS % 60)) "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

minutes=10 out=h200-out rehearse= pack= device=
while test $# -gt 0; do
    case $1 in
    --rehearse) rehearse=1 && shift && continue ;;
    --help) usage 0 ;;
    --minutes | --out | --pack | --device) test $# -gt 1 || die 1 "$1 needs a value" ;;
    *) usage 1 ;;
    esac
    printf -v "${1#--}" %s "$2"
    shift 2
done
[[ $minutes =~ ^[1-9][0-9]*$ ]] || die 1 "--minutes $minutes: expected a number"
here=$(cd "$(dirname "$0")" && pwd)
top=$(dirname "$here")
jobs=${JOBS:-$(nproc)}

# ---- the archive ----

copy_library() { # DIR NAME: a shared library that the linker knows, under its soname and its plain name
    local from
    from=$(ldconfig -p | sed -n "s/.*[[:space:]]$2\.so\.[0-9]* .*x86-64.*=> //p" | head -n 1)
    test -n "$from" || from=$(ldconfig -p | sed -n "s/.*[[:space:]]$2\.so\.[0-9]* .*=> //p" | head -n 1)
    test -n "$from" && cp -L "$from" "$1/" && ln -sf "${from##*/}" "$1/$2.so"
}
copy_headers() { # DIR FILES...
    local to=$1 f
    shift
    for f in "$@"; do cp -rL "/usr/include/$f" "$to/" 2>/dev/null || return 1; done
}
pack() {
    local root
    test -x "$top/configure" || die 1 "$top has no configure yet: run autoreconf -fi there"
    work=$(mktemp -d "${TMPDIR:-/tmp}/clattn-pack.XXXXXX") || exit 1
    trap 'rm -rf "$work"' EXIT
    root=$work/clattn-h200
    mkdir -p "$work/build" "$root"/deps/{opencl,md,clblast}/{include,lib}
    (cd "$work/build" && "$top/configure" -q --disable-dependency-tracking && make -s dist) >"$work/log" 2>&1 ||
        { tail -n 20 "$work/log" && die 1 "make dist failed"; }
    cp "$work"/build/clattn-*.tar.gz "$here/h200.sh" "$root/" || exit 1
    copy_headers "$root/deps/opencl/include" CL && copy_library "$root/deps/opencl/lib" libOpenCL ||
        die 1 "OpenCL headers or loader are not here (Debian: ocl-icd-opencl-dev)"
    copy_headers "$root/deps/md/include" sha2.h sha256.h && copy_library "$root/deps/md/lib" libmd ||
        die 1 "libmd is not here (Debian: libmd-dev)"
    if ! { copy_headers "$root/deps/clblast/include" clblast.h clblast_c.h &&
        copy_library "$root/deps/clblast/lib" libclblast; }; then
        rm -rf "$root/deps/clblast"
        say "CLBlast is not here, and will be missing there (Debian: libclblast-dev)"
    fi
    tar -C "$work" -czf "$pack" clattn-h200 && say "$pack: $(wc -c <"$pack") bytes"
}
test -z "$pack" || { pack && exit 0; exit 1; }

# ---- where it runs ----

end=$((minutes * 60))
# Some of it is removed below: only what an earlier run has left.
test -z "$(ls -A "$out" 2>/dev/null)" || test -e "$out/.clattn-h200" || die 1 "$out has something else in it"
mkdir -p "$out" && out=$(cd "$out" && pwd) && : >"$out/.clattn-h200" || die 1 "cannot make $out"
logs=$out/logs
rm -rf "$logs" "$out/src" "$out/build" "$out/home" "$out/vendors" "$out/report.txt"
mkdir -p "$logs" "$out/build" "$out/home" "$out/vendors"
export PYTHONUSERBASE=${PYTHONUSERBASE:-$HOME/.local} # PyTorch may be there
export TMPDIR=$out/home HOME=$out/home XDG_CACHE_HOME=$out/home/.cache POCL_CACHE_DIR=$out/home/pocl
export CLATTN_CACHE_DIR=$out/home/clattn
mkdir -p "$XDG_CACHE_HOME" "$POCL_CACHE_DIR" "$CLATTN_CACHE_DIR"
unset CLATTN_TUNE CLATTN_FULL CLATTN_QUICK

driver() { # the driver's OpenCL library
    local f
    for f in $(ldconfig -p 2>/dev/null | sed -n 's/.*libnvidia-opencl\.so\.1 .*=> //p') \
        /usr/lib/x86_64-linux-gnu /usr/lib64 /usr/lib /usr/lib/aarch64-linux-gnu /usr/lib/*/nvidia/current \
        /usr/local/nvidia/lib64 /usr/local/nvidia/lib /usr/lib/wsl/lib; do
        test -d "$f" && f=$f/libnvidia-opencl.so.1
        test -e "$f" && echo "$f" && return
    done
    return 1
}
if nvidia=$(driver); then
    echo "$nvidia" >"$out/vendors/nvidia.icd"
    say "driver: $nvidia$(sed -n 's/^NVRM version: */, /p' /proc/driver/nvidia/version 2>/dev/null)"
    beside=$(dirname "$nvidia")
    grep -qF "$nvidia" <<<"$(ldconfig -p 2>/dev/null)" ||
        export LD_LIBRARY_PATH=$beside${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
    for l in libcuda.so.1 libnvidia-nvvm.so.4 libnvidia-ptxjitcompiler.so.1; do
        test -e "$beside/$l" || say "there is no $l beside it: it may show no device, or build nothing"
    done
elif test -z "$rehearse"; then
    die 2 "there is no OpenCL driver of NVIDIA's: libnvidia-opencl.so.1 is in no directory of libraries
(in a container: NVIDIA_DRIVER_CAPABILITIES must have \"compute\"); --rehearse takes any OpenCL device"
fi
if test -z "$rehearse"; then
    export OCL_ICD_VENDORS=$out/vendors
    device=${device:-NVIDIA}
fi

# Headers and libraries: the system's, else those of the archive.
cc=${CC:-$(have cc && echo cc || echo gcc)}
have "$cc" || die 1 "there is no C compiler: $cc"
have make || die 1 "there is no make"
links() { # CODE LIBRARIES...
    local code=$1
    shift
    echo "$code" | $cc ${CPPFLAGS-} -x c - -o "$out/links" ${LDFLAGS-} "$@" >>"$logs/links.log" 2>&1
}
need() { # NAME CODE LIBRARIES
    local d=$here/deps/$1
    links "$2" $3 && say "$1: the system's" && return
    test -d "$d" && export CPPFLAGS="${CPPFLAGS-} -I$d/include" LDFLAGS="${LDFLAGS-} -L$d/lib -Wl,-rpath-link,$d/lib" \
        LD_LIBRARY_PATH="$d/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}"
    links "$2" $3 && say "$1: the archive's" && return
    say "$1: MISSING, neither here nor in the archive ($logs/links.log)"
    return 1
}
need opencl '#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
int main(void) { cl_uint n; return clGetPlatformIDs(0, 0, &n); }' -lOpenCL || die 1 "no OpenCL headers or loader"
need md '#include <sys/types.h>
#include <stdint.h>
#include <sha256.h>
int main(void) { SHA2_CTX c; SHA256Init(&c); return 0; }' -lmd || die 1 "no libmd"
need clblast '#define CL_TARGET_OPENCL_VERSION 120
#include <clblast_c.h>
int main(void) { return CLBlastClearCache(); }' '-lclblast -lOpenCL' || true

python=${PYTHON:-python3}
torch=$(timeout 90 $python -c 'import numpy, torch
print(torch.__version__, torch.version.cuda, torch.cuda.is_available())' 2>&1 | tail -n 1)
say "PyTorch, its CUDA, whether it has a GPU: $torch"
case $torch in
*True) ;;
[0-9]*) test -n "$rehearse" || say "PyTorch has no GPU: its figures will be missing" ;;
*) say "PyTorch or NumPy is missing ($python): its figures will be missing" ;;
esac

tarball=$(ls "$here"/clattn-*.tar.gz 2>/dev/null | head -n 1)
if test -n "$tarball"; then
    src=$out/src
    mkdir "$src" && tar -C "$src" --strip-components=1 -xzf "$tarball" || die 1 "cannot unpack $tarball"
else
    src=$top
    test -x "$src/configure" || die 1 "neither $src/configure nor $here/clattn-*.tar.gz is here"
fi
cd "$out/build" || exit 1

# ---- phases: each with a limit of its own, each whatever became of the others ----

failed=
phase() { # NAME SECONDS COMMAND...: what it prints goes to a log, and with `quiet` set nowhere else
    local name=$1 limit=$2 left=$((end - SECONDS)) status began=$SECONDS
    shift 2
    test "$limit" -le "$left" || limit=$left
    test "$limit" -ge 3 || { say "$name: NOT RUN, no time left" && failed="$failed $name" && return 1; }
    say "$name ..."
    if test -n "${quiet-}"; then
        timeout -k 5 "$limit" "$@" >"$logs/$name.log" 2>&1 </dev/null
    else
        timeout -k 5 "$limit" "$@" 2>"$logs/$name.err" </dev/null | tee "$logs/$name.log" |
            sed -u 's/^\(.\{0,400\}\).*/    \1/'
    fi
    status=$?
    case $status in
    0) say "$name: ran, $((SECONDS - began)) s" && return ;;
    124 | 137) failed="$failed $name" && say "$name: STOPPED after $((SECONDS - began)) s, its time was up" ;;
    *)
        say "$name: ended with status $status, $((SECONDS - began)) s; the end of what it said:"
        cat "$logs/$name.log" "$logs/$name.err" 2>/dev/null | grep -v '^ok\|^PASS' | tail -n 12 | cut -c 1-300 |
            sed 's/^/    | /'
        test $status -lt 126 || failed="$failed $name" # it came to no end
        ;;
    esac
    return 1
}
on=(${device:+--device "$device"})
export CLATTN_TEST_DEVICES=$device

build() {
    "$src/configure" -q --disable-dependency-tracking CC="$cc" &&
        make -s -j"$jobs" all tests/kernel/matrix.t tests/kernel/forward.t
}
export -f build
export src cc jobs
slow=1
test -z "$rehearse" || slow=3 # a CPU
quiet=1 phase build $((150 * slow)) bash -c build || die 1 "nothing is built; see $logs/build.log"
export PATH=$PWD:$PATH

# A loader that is older than OCL_ICD_VENDORS sees nothing: that of the archive does.
if ! bench/clattn-nv-probes "${on[@]}" --only a >/dev/null 2>&1 && test -d "$here/deps/opencl"; then
    say "the system's OpenCL loader finds no device: that of the archive is taken"
    export LD_LIBRARY_PATH=$here/deps/opencl/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
fi
bench/clattn-nv-probes "${on[@]}" --only a >/dev/null 2>"$logs/device.err" ||
    die 2 "the driver shows no device: $(tail -n 1 "$logs/device.err")"

# What any device is asked: results, speed, engines, compilers. Searches have a phase of their own below. A pretended
# device has no speed.
parts=device,checks,bench,engines,kernels
test -z "${CLATTN_NVIDIA-}" || parts=device,checks,engines,kernels
quiet=1 phase report $((65 * slow)) clattn-report "${on[@]}" --minutes $slow --quiet --parts $parts \
    --output "$out/report.txt"
sed -n '/^==== what to look at first/,/^==== where/{ /^====/d; p; }' "$out/report.txt" 2>/dev/null | cut -c 1-400
phase probes $((100 * slow)) bench/clattn-nv-probes "${on[@]}"

# Each tile of the matrix units on the device itself; then the same fragment with emulated instructions.
engine=mma_nv types="f16 bf16"
case $rehearse,$device in ,* | 1,NVIDIA*) ;; *) engine=mma_emu types=f16 ;; esac
count() { # LOG: of a test
    test -e "$logs/$1.log" || return
    printf '    %s: %d ok, %d not ok, %d skipped\n' "$1" "$(grep -c '^ok [0-9]* - ' "$logs/$1.log")" \
        "$(grep -c '^not ok' "$logs/$1.log")" "$(grep -c '^ok .*# SKIP' "$logs/$1.log")"
    grep -h '^not ok\|^ok .*# SKIP' "$logs/$1.log" | head -n 8 | cut -c 1-300 | sed 's/^/    /'
}
tiles() {
    local t d tile bad=0
    for t in $types; do
        for d in 64 128; do
            for tile in $(test $d = 64 && echo nw4,rt1,bk64,qreg1 nw4,rt2,bk64,qreg1 nw8,rt1,bk128,qreg1 ||
                echo nw4,rt1,bk32,qreg1 nw4,rt2,bk32,qreg0 nw8,rt1,bk64,qreg1); do
                tests/kernel/forward.t "$t b1 h2/1 q131 k261 d$d causal lse" "$engine $tile" plain || bad=1
                tests/kernel/forward.t "$t b1 h2/1 q300 k517 d$d lse" "$engine $tile" plain || bad=1
            done
        done
    done
    return $bad
}
export -f tiles
export engine types
quiet=1 phase tiles $((60 * slow)) bash -c tiles
count tiles
CLATTN_QUICK=1 quiet=1 phase matrix $((40 * slow)) tests/kernel/matrix.t
count matrix

if test -z "$rehearse"; then
    lengths="4096 8192" size="b4 h16" small="b1 h16 q4096 k4096" backends=flash,efficient,cudnn gpu=--cuda
else
    lengths="256 512" size="b1 h2" small="b1 h2 q256 k256" backends=math gpu=
fi
forward=() f32=()
for t in f16 bf16; do
    for n in $lengths; do
        for d in 128 64; do forward+=("$t $size q$n k$n d$d" "$t $size q$n k$n d$d causal"); done
    done
done
for d in 64 128; do f32+=("f32 $small d$d" "f32 $small d$d causal"); done

quiet=1 phase tune 100 clattn-tune "${on[@]}" --effort quick --time 4 --total 90 "${forward[@]}" "${f32[@]}"
phase forward 200 "$python" "$src/bench/peer_torch.py" --rounds 21 "${on[@]}" $gpu --backend $backends "${forward[@]}"
phase f32 60 clattn-bench "${on[@]}" --json "${f32[@]}"
phase clblast 60 clattn-bench "${on[@]}" --rounds 5 --json --against clblast "${f32[@]}"
phase check 150 "$python" "$src/bench/check_torch.py" $gpu "${on[@]}" "${forward[@]}"

# ---- the suite, with the time that is left ----

few=() some='tests/api/api.t tests/unit/settings.t'
test -z "$rehearse" || few=(check_PROGRAMS="$some" TESTS="$some")
CLATTN_QUICK=1 quiet=1 phase suite $((end - SECONDS - 5)) make -k -j"$jobs" check "${few[@]}"
grep -h '^not ok\|^FAIL\|^ERROR' "$logs/suite.log" 2>/dev/null | head -n 20 | sed 's/^/    /'

# ---- all figures ----

row() { # FIGURE WISHED GOT [OP]: met where got >= wished, or with OP `is` where they are the same
    local met='not measured'
    if test -n "$3"; then
        case ${4-at-least} in
        is) met=$(test "$3" = "$2" && echo yes || echo no) ;;
        tell) met=- ;;
        *) met=$(awk -v g="$3" -v w="$2" 'BEGIN { print (g + 0 >= w + 0 ? "yes" : "no") }') ;;
        esac
    fi
    printf '%-55s %-7s %-45s %s\n' "$1" "$2" "${3:--}" "$met"
}
line() { awk -v p="$2  " 'index($0, p) == 1 { x = $0 } END { print x }' "$logs/$1.log" 2>/dev/null; } # LOG PROBLEM
part() { sed -n "s/.*  $1 [0-9.]* ms [0-9.e+]* TF\/s, ours \([0-9.]*\) of it.*/\1/p"; }
beside() { # what else is known of a line: our TF/s, and the parts of the other backends
    sed -n 's/.*  ours [0-9.]* ms \([0-9.e+]*\) TF.*/\1 TF\/s/p' <<<"$1"
    for b in ${backends//,/ }; do test "$b" = "${backends%%,*}" || part "$b" <<<"$1" | sed "s/^/$b /"; done
}
number() { sed -n "s/.*\"$1\": \([-0-9.e+]*\).*/\1/p"; }
json() { grep -hF "\"problem\": \"$2\"" "$logs/$1.log" 2>/dev/null | tail -n 1; }
over() { awk -v a="$1" -v b="$2" 'BEGIN { if (a > 0 && b > 0) printf "%.3f", a / b }'; }

table() {
    local p l first=${backends%%,*} x
    printf '%-55s %-7s %-45s %s\n' figure wished got met
    for p in "${forward[@]}"; do
        l=$(line forward "$p")
        x=$(part "$first" <<<"$l")
        row "$p: of $first" 0.65 "$x${x:+ ($(beside "$l" | paste -sd ' '))}"
        l=$(line check "$p")
        row "$p: O" within "$(sed -n 's/.*, \(within\|BEYOND\) .*/\1/p' <<<"$l")" is
    done
    for p in "${f32[@]}"; do
        l=$(json f32 "$p")
        row "$p: of the FMA peak" 0.6 "$(over "$(number gflops <<<"$l")" "$(number peak_gflops <<<"$l")")"
        row "$p: over unfused CLBlast" 8 "$(json clblast "$p" | number clblast_ratio)"
    done
    for x in 'mma.sync m16n8k16 f16 to f32' 'mma.sync m16n8k16 bf16 to f32' 'f32 multiply-adds'; do
        row "peak of $x" - "$(sed -n "s/^g: peak of $x: //p" "$logs/probes.log")" tell
    done
    row "report: results beyond the bound" 0 "$(sed -n 's/.* within the bound, \([0-9]*\) are not;.*/\1/p' \
        "$out/report.txt" 2>/dev/null)" is
    for x in tiles matrix suite; do
        row "$x: tests failed" 0 "$(failures $x)" is
    done
}
failures() { # LOG: their number; nothing where no test ran, or did not come to its end
    local log=$logs/$1.log
    case " $failed " in *" $1 "*) return ;; esac
    case $1 in
    suite) sed -n 's/^# \(FAIL\|ERROR\): *//p' "$log" 2>/dev/null | awk '{ n += $1 } END { if (NR) print n }' ;;
    *) grep -q '^ok [0-9]* - ' "$log" 2>/dev/null && grep -c '^not ok' "$log" ;;
    esac
}
say "all figures; logs are in $logs"
table | tee "$logs/table.txt"
test -z "$failed" || { say "phases that failed or were not run:$failed" && exit 1; }
say "all phases ran"
