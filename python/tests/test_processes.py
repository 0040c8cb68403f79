# test_processes.py - fork(), the interpreter's end, and the memory of buffers, each in a process of its own
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest


def child(text, **env):
    done = subprocess.run([sys.executable, '-c', text], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120,
                          universal_newlines=True, env=dict(os.environ, **env))
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


SET_UP = '''
import numpy as np, os, clattn, threading, time
q = np.ones((1, 2, 8, 16), np.float32)
clattn.attention(q, q, q)
'''


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='there is no fork() here')
def test_fork():
    assert child(SET_UP + '''
r, w = os.pipe()
pid = os.fork()
if not pid:
    try:
        clattn.attention(q, q, q)
        os.write(w, b'no error')
    except clattn.Error as e:
        os.write(w, e.name.encode() + (b' spawn' if 'spawn' in e.detail else b''))
    del clattn
    os._exit(0)
os.close(w)
print(os.read(r, 100).decode(), os.waitpid(pid, 0)[1], clattn.attention(q, q, q)[0, 0, 0, 0])
''') == 'CLATTN_ERROR_FORKED spawn 0 1.0' # said before the driver is asked for anything


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='there is no fork() here')
def test_handle_of_a_child():
    """A child of fork() makes no handle of its own, which would hang at its first call; one that is spawned does."""
    assert child(SET_UP + '''
import multiprocessing, signal
r, w = os.pipe()
pid = os.fork()
if not pid:
    signal.alarm(60)
    for kind in None, 'cpu':
        try:
            clattn.attention(q, q, q, handle=clattn.Handle(kind=kind))
            os.write(w, b'no error ')
        except clattn.Error as e:
            os.write(w, e.name.encode() + (b' spawn ' if 'spawn' in e.detail else b''))
    os._exit(0)
status = os.waitpid(pid, 0)[1]
print(os.read(r, 100).decode(), status)
with multiprocessing.get_context('spawn').Pool(1) as pool:
    print(pool.apply(clattn.attention, (q, q, q))[0, 0, 0, 0])
''').split('\n') == ['CLATTN_ERROR_FORKED spawn CLATTN_ERROR_FORKED spawn  0', '1.0']


@pytest.mark.skipif(not hasattr(os, 'fork'), reason='there is no fork() here')
def test_fork_beside_threads():
    """Other threads are in calls, and as it were make a plan and a handle: the child waits for none of them."""
    assert child(SET_UP + '''
import atexit, signal
big = np.ones((1, 8, 1024, 64), np.float32)
def work():
    while True:
        clattn.attention(big, big, big)
clattn.attention(big, big, big)
cache = clattn.KVCache(1, 2, 8, 16)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
with clattn.default_handle()._plans_lock, clattn.handle._LOCK:
    pid = os.fork()
    if not pid:
        try:
            cache.append(q, q)
        except clattn.Error as e:
            taken = clattn.handle._LOCK.locked()
            atexit._run_exitfuncs() # as the interpreter's end does, less the end of the driver
            os._exit(0 if e.name == 'CLATTN_ERROR_FORKED' and not taken else 1)
        os._exit(2)
until = time.monotonic() + 60
done = status = 0
while not done and time.monotonic() < until:
    done, status = os.waitpid(pid, os.WNOHANG)
    time.sleep(0.01)
if not done:
    os.kill(pid, signal.SIGKILL)
print('ended' if done else 'hangs', status)
''') == 'ended 0'


def test_exit_after_plans():
    """A plan that was made, and one that failed, are no calls under way."""
    assert child(SET_UP + '''
clattn.Plan(q, q, q)
clattn.KVCache(1, 2, 8, 16).append(q, q)
try:
    clattn.Plan(q, q, q, config='engine of mine')
except clattn.ArgumentError:
    print('ends')
''') == 'ends'


def test_exit_under_way():
    child(SET_UP + '''
big = np.ones((1, 8, 1024, 64), np.float32)
clattn.attention(big, big, big)
def work():
    while True:
        clattn.attention(big, big, big)
for _ in range(3):
    threading.Thread(target=work, daemon=True).start()
time.sleep(0.2)
''')


def test_exit_while_opening():
    """A handle that another thread opens is waited for, and later ones are refused."""
    assert child(SET_UP + '''
os.environ['CLATTN_TUNE'] = 'nonsense' # of which a line is said while a handle is opened
began, said = threading.Event(), []
def log(text):
    began.set()
    time.sleep(0.5)
    said.append(text)
def work():
    clattn.Handle(log=log)
threading.Thread(target=work, daemon=True).start()
assert began.wait(20)
clattn._native.lib.clattn_py_exit()
assert said
try:
    clattn.Handle()
except clattn.Error as e:
    print(e.detail)
''') == 'the interpreter is about to exit'


def test_log_that_fails():
    assert 'ok' in child(SET_UP + '''
import warnings
warnings.simplefilter('ignore')
def log(text):
    raise KeyError(text)
h = clattn.Handle(log=log, cache_dir='/dev/null/no/folder')
clattn.attention(q, q, q, handle=h)
print('ok')
''')


LOG = SET_UP + '''
import sys, warnings
def log(text):
    raise %s
def calls(h):
    yield lambda: clattn.attention(q, q, q, handle=h, scale=0.3)
    yield lambda: clattn.Plan(q, q, q, handle=h, scale=0.4)
for i in range(2): # the first message is that of the cache
    try:
        list(calls(clattn.Handle(log=log, cache_dir='/dev/null/no/folder', tune='off')))[i]()
    except BaseException as e:
        print(type(e).__name__, e.args)
'''


@pytest.mark.parametrize('raised', ['SystemExit(3)', 'KeyboardInterrupt()', 'UserWarning("x")'])
def test_log_that_ends(raised):
    """What ends the program is raised behind the library's call, and nothing is printed; others become warnings."""
    done = subprocess.run([sys.executable, '-W', 'error' if 'Warn' in raised else 'ignore', '-c', LOG % raised],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=120, universal_newlines=True)
    name = raised.split('(')[0]
    want = {'SystemExit': 'SystemExit (3,)', 'KeyboardInterrupt': 'KeyboardInterrupt ()'}.get(
        name, 'UserWarning ("the log function of a clattn.Handle failed')
    lines = done.stdout.splitlines()
    assert not done.stderr and len(lines) == 2 and all(line.startswith(want) for line in lines), done


def test_no_driver(tmp_path):
    """Words say whether there is no driver, or no such device."""
    text = '''
import clattn
for kind in (None, 'cpu', 'accelerator'):
    try:
        clattn.Handle(kind=kind)
        print('made')
    except clattn.Error as e:
        print(e)
'''
    none = 'CL_DEVICE_NOT_FOUND: there is no OpenCL driver: install that of the device, or PoCL, which runs on CPUs'
    assert child(text, OCL_ICD_VENDORS=str(tmp_path)).splitlines() == [none] * 3
    assert child(text).splitlines()[2] == 'CL_DEVICE_NOT_FOUND: no OpenCL driver has a device of that kind'


def test_too_large():
    """The array, its size and the device's limit. Old PoCL takes a limit, in GiB, of all memory."""
    text = '''
import numpy as np, clattn
limit = clattn.default_handle().session().buffer_max
q = np.ones((1, 1, 1, 16), np.float32)
k = np.lib.stride_tricks.as_strided(q, (1, 1, limit // (1 << 20) + 1, 16), (0, 0, 1 << 20, 4))
for call in (lambda: clattn.attention(q, k, q[:, :, [0] * k.shape[2]]), lambda: clattn.attention(k, q, q)):
    try:
        call()
    except clattn.Error as e:
        print(e.name, e.detail.replace(str(limit), 'LIMIT'))
'''
    lines = child(text, POCL_MEMORY_LIMIT='1').splitlines()
    for line, name in zip(lines, 'kq'):
        assert line.startswith('CL_INVALID_BUFFER_SIZE %s has ' % name) and \
            line.endswith(' bytes, and a buffer of this device at most LIMIT'), lines
    assert len(lines) == 2


# ---- The memory of buffers ----

SPY = r'''
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
static void *loader(const char *name)
{
    return dlsym(dlopen("libOpenCL.so.1", RTLD_NOW), name);
}
static void say(const char *what, void *mem, uint64_t flags, void *host, size_t size)
{
    FILE *const f = fopen(getenv("SPY_LOG"), "a");
    fprintf(f, "%s %p %d %llu %zu\n", what, mem, (int)flags, (unsigned long long)(uintptr_t)host, size);
    fclose(f);
}
void *clCreateBuffer(void *context, uint64_t flags, size_t size, void *host, int32_t *status)
{
    void *(*const real)(void *, uint64_t, size_t, void *, int32_t *) = loader("clCreateBuffer");
    void *const mem = real(context, flags, size, host, status);
    say("make", mem, flags, host, size);
    return mem;
}
int32_t clReleaseMemObject(void *mem)
{
    int32_t (*const real)(void *) = loader("clReleaseMemObject");
    say("free", mem, 0, NULL, 0);
    return real(mem);
}
int32_t clEnqueueUnmapMemObject(void *queue, void *mem, void *at, uint32_t n, void *waits, void *event)
{
    int32_t (*const real)(void *, void *, void *, uint32_t, void *, void *) = loader("clEnqueueUnmapMemObject");
    say("unmap", mem, 0, at, 0);
    return real(queue, mem, at, n, waits, event);
}
'''
WRITTEN, IN_PLACE = 1, 8 # CL_MEM_READ_WRITE, CL_MEM_USE_HOST_PTR


@pytest.fixture(scope='module')
def spy(tmp_path_factory):
    """A library that writes down which buffers a program makes; the folder that it is in."""
    if not sys.platform.startswith('linux'):
        pytest.skip('LD_PRELOAD is for Linux')
    folder = tmp_path_factory.mktemp('spy')
    (folder / 'spy.c').write_text(SPY)
    subprocess.run(['cc', '-shared', '-fPIC', '-o', 'spy.so', 'spy.c', '-ldl'], cwd=str(folder), check=True)
    return folder


def buffers(spy, text):
    """The buffers that a text makes when plans are there: [(flags, address, bytes)], pairs of them that are there at
    the same time, on the same memory of the host, and the addresses of those that were mapped and given back."""
    log = spy / 'log'
    child(SET_UP + text + "\nopen(os.environ['SPY_LOG'], 'w').close()\n" + text, LD_PRELOAD=str(spy / 'spy.so'),
          SPY_LOG=str(log))
    made, live, shared, unmapped = [], {}, [], []
    for line in log.read_text().splitlines():
        what, mem, *numbers = line.split()
        flags, at, size = map(int, numbers)
        if what == 'unmap':
            unmapped.append(at)
        elif what == 'free':
            live.pop(mem, None)
        if what != 'make':
            continue
        made.append((flags, at, size))
        if flags & IN_PLACE:
            shared += [(at, other) for other, n in live.values() if at < other + n and other < at + size]
            live[mem] = at, size
    return made, shared, unmapped


PACKED = '''
x = np.random.default_rng(1).standard_normal((1, 8, 3, 2, 16)).astype(np.float32)
q, k, v = (x[:, :, i].transpose(0, 2, 1, 3) for i in range(3))
o, lse = clattn.attention(q, k, v, return_lse=True)
copies = [y.copy() for y in (q, k, v)]
assert np.array_equal(o, clattn.attention(*copies))
'''
SHARED = { # what is called, and the buffers that are copies
    'packed': (PACKED, 2),
    'packed gradients': (PACKED + '''
g = clattn.attention_backward(o, q, k, v, o, lse)
h = clattn.attention_backward(o.copy(), *copies, o, lse)
assert all(np.array_equal(a, b) for a, b in zip(g[:3], h[:3]))
''', 2 + 3),
    'the same': ('assert (clattn.attention(q, q, q) == 1).all()', 2),
    'windows': ('''
x = np.random.default_rng(1).standard_normal((1, 2, 9, 16)).astype(np.float32)
o = clattn.attention(q, x[:, :, :8], x[:, :, 1:])
assert np.array_equal(o, clattn.attention(q, x[:, :, :8].copy(), x[:, :, 1:].copy()))
''', 1),
    'side by side': ('''
x = np.ones((3, 2, 8, 16), np.float32)
clattn.attention(x[:1], x[1:2], x[2:])
''', 0),
}


@pytest.mark.parametrize('name', SHARED)
def test_shared_memory(spy, name):
    """Where the device reads the host's memory, no two buffers have the same; and nothing else is copied."""
    text, copies = SHARED[name]
    made, shared, unmapped = buffers(spy, text)
    if not any(flags & IN_PLACE for flags, _, _ in made):
        pytest.skip('the device does not read the memory of the host')
    assert not shared and sum(bool(at) and not flags & IN_PLACE for flags, at, _ in made) == copies
    written = [at for flags, at, _ in made if flags & IN_PLACE and flags & WRITTEN]
    assert written and sorted(written) == sorted(unmapped)
