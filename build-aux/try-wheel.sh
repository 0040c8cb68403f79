#!/bin/sh
# try-wheel.sh - installs the source archive in this folder, then the wheel where nothing but Python is, and uses them
# SPDX-License-Identifier: Apache-2.0
#
# As root, in a root of its own (build-aux/bare.sh), beside try.sh, what python/wheel.sh made, python/README.md and a
# folder `data` of examples/data.
. ./try.sh
export PIP_CERT=/etc/ssl/certs/ca-certificates.crt PIP_DISABLE_PIP_VERSION_CHECK=1
unset PYTHONPATH
wheel=$(echo "$PWD"/clattn-*.whl)
to_compile='python3-dev libmd-dev ocl-icd-opencl-dev'
from_sources() {
    s/bin/python -c 'import clattn; print(clattn.version())' && s/bin/clattn-run --version
}
no_tools() {
    apt-get purge -y --auto-remove gcc git binutils make $to_compile
    ! command -v cc && ! command -v gcc && ! command -v ld
}
program() { # README's, of ten lines
    sed -n '/^```python$/,/^```$/p' README.md | grep -v '^```' >first.py
    test "$(v/bin/python first.py)" = '(1, 8, 64, 32) (1, 2, 96, 32)'
}
no_driver() { # says so, and what to do
    ! v/bin/python first.py >first.out 2>&1 && grep 'there is no OpenCL driver: install' first.out &&
        ! v/bin/clattn-run --list-devices >list.out 2>&1 && grep 'there is no OpenCL device: install' list.out
}
right() { (cd data && ../v/bin/clattn-run --causal --verify q.npy k.npy v.npy); }
programs() { for p in clattn-run clattn-tune clattn-bench clattn-report; do v/bin/$p --version || return; done; }
status() { # a program's own, and its words alone
    ! v/bin/clattn-run --no-such-option >said 2>&1 &&
        test "$(cat said)" = 'clattn-run: unknown option --no-such-option; see --help'
}
by_pyopencl() {
    v/bin/pip install -q pyopencl && v/bin/python - <<'P'
import clattn, numpy as np, pyopencl as cl, pyopencl.array as ca
context = cl.Context.from_int_ptr(clattn.default_handle().device_pointers[0])
queue = cl.CommandQueue(context)
x = np.random.default_rng(0).standard_normal((1, 2, 40, 32), dtype=np.float32)
on_host = clattn.attention(x, x, x, causal=True)
on_device = clattn.attention(*(ca.to_device(queue, x) for _ in range(3)), causal=True)
assert isinstance(on_device, ca.Array) and np.array_equal(on_device.get(), on_host)
P
}
one_file() { # of the library: the loader is the wheel's, and nothing is linked that the system might lack
    set -- v/lib/python3*/site-packages/clattn/_native.abi3.so v/lib/python3*/site-packages/clattn/bin/*
    ldd "$@" >ldd.out
    cat ldd.out
    ! grep -E 'not found|libmd|libclattn' ldd.out && test "$(grep -c 'site-packages.*libOpenCL' ldd.out)" -eq $#
}

ok 'package lists' apt-get update
ok 'Python is installed, and what compiles the source archive' \
    get python3-venv make $to_compile
ok 'an environment for that' python3 -m venv s
ok 'the source archive is installed with what it depends on' s/bin/pip install -q "$PWD"/clattn-*.tar.gz
ok 'it has the library and its programs' from_sources
ok 'there is no compiler and no linker' no_tools
ok 'another environment' python3 -m venv v
ok 'the wheel is installed with what it depends on' v/bin/pip install -q "$wheel"
ok 'it brings its own OpenCL loader and lacks nothing' one_file
program >/dev/null 2>&1 || true # writes first.py
ok 'without a driver it says what is missing' no_driver
ok 'its extra `cpu` is installed' v/bin/pip install -q "clattn[cpu] @ file://$wheel"
ok "README's program, which finds that driver" program
ok 'programs say their version' programs
ok 'clattn-run is right on real data' right
ok "a program's status is passed on" status
ok 'arrays of pyopencl, which has a loader of its own' by_pyopencl
ok 'the package is removed' v/bin/pip uninstall -q -y clattn
echo "1..$n"
