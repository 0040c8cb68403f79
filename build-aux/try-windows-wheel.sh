#!/usr/bin/env bash
# try-windows-wheel.sh - what a wheel for Windows has in it, under wine: build-aux/try-windows-wheel.sh WHEEL
# SPDX-License-Identifier: Apache-2.0
#
# The programs run on this system's drivers; clattn/_native.pyd is loaded with all that it asks for, where a DLL with
# the names of Python's stable ABI stands in for Python's own, which neither Debian nor PyPI has for Windows. Needs
# python3, and what offline/setup-windows.sh installs, which it starts. Environment: CLATTN_PORTS, see there.
. "$(dirname "$0")/try-here.sh"
"$top/offline/setup-windows.sh" >/dev/null || exit
wine=${CLATTN_PORTS:-${XDG_CACHE_HOME:-$HOME/.cache}/clattn-ports}/windows/wine
export CLATTN_CACHE_DIR=off CLATTN_TUNE=off

named() { test "$(basename "$wheel")" = "clattn-$version-cp39-abi3-win_amd64.whl"; }
# Each file is there with the sum that RECORD has of it, and nothing else.
whole() {
    python3 - "$1" <<'END'
import base64, csv, hashlib, io, sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
record = next(name for name in z.namelist() if name.endswith('.dist-info/RECORD'))
rows = {name: sum_ for name, sum_, _ in csv.reader(io.StringIO(z.read(record).decode()))}
assert set(rows) == set(z.namelist()), set(rows) ^ set(z.namelist())
for name, sum_ in rows.items():
    found = base64.urlsafe_b64encode(hashlib.sha256(z.read(name)).digest()).rstrip(b'=').decode()
    assert name == record or sum_ == 'sha256=' + found, name
wanted = {'clattn/_native.pyd'} | {'clattn/bin/clattn-%s.exe' % p for p in ('run', 'tune', 'bench', 'report')}
assert wanted <= set(rows), wanted - set(rows)
assert not [name for name in rows if name.endswith(('.dll', '.so', '.so.1'))]
END
}
versions() {
    local p
    for p in clattn-run clattn-tune clattn-bench clattn-report; do
        "$wine" "in/clattn/bin/$p.exe" --version | grep -F "$version" || return
    done
}
right() {
    (cd "$top/examples/data/decoder_causal_layer0" &&
        "$wine" "$work/in/clattn/bin/clattn-run.exe" --causal --verify q.npy k.npy v.npy)
}
loads() {
    local name
    { echo LIBRARY python3.dll && cat "$top/python/python3.def"; } >python3.def
    for name in $(sed -n 's/^\([A-Za-z_]*\)\( DATA\)*$/\1/p' "$top/python/python3.def" | grep -v EXPORTS); do
        echo "int $name(void) { return 0; }"
    done >python3.c
    sed -i 's/ DATA$//' python3.def
    x86_64-w64-mingw32-gcc -shared -o python3.dll python3.c python3.def || return
    cat >load.c <<'END'
#include <stdio.h>
#include <windows.h>
int main(void)
{
    HMODULE module = LoadLibraryA("in\\clattn\\_native.pyd");
    printf("%s, error %lu\n", module ? "loaded" : "not loaded", module ? 0 : GetLastError());
    return !module || !GetProcAddress(module, "PyInit__native") || GetProcAddress(module, "clattn_create");
}
END
    x86_64-w64-mingw32-gcc -o load.exe load.c && "$wine" ./load.exe
}

ok "the wheel's name says what it is for" named
ok 'it is whole, and has no DLL' whole "$wheel"
ok 'it is unpacked' python3 -m zipfile -e "$wheel" in
ok 'its programs say their version' versions
ok 'clattn-run is right on real data' right
ok 'clattn/_native.pyd loads, and shows its own function alone' loads
echo "1..$n"
exit $bad
