# test_drivers.py - drivers that pip has installed, and the programs that a wheel has
# SPDX-License-Identifier: Apache-2.0
import os
import pathlib
import signal
import site
import subprocess
import sys
import sysconfig
import tempfile

import pytest

from clattn import drivers, programs
from test_processes import child

POCL = '/etc/OpenCL/vendors/pocl.icd'


@pytest.fixture
def place(tmp_path, monkeypatch):
    """Folders of a system, of packages and of an environment, all empty, and no choice of drivers."""
    for name in drivers.CHOSEN:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(drivers, 'SYSTEM', str(tmp_path / 'system'))
    monkeypatch.setattr(drivers, 'PACKAGES', str(tmp_path / 'site'))
    monkeypatch.setattr(sys, 'prefix', str(tmp_path / 'env'))
    monkeypatch.setattr(sysconfig, 'get_path', lambda name: str(tmp_path / 'local'))
    monkeypatch.setattr(site, 'getuserbase', lambda: str(tmp_path / 'home'))
    monkeypatch.setattr(tempfile, 'tempdir', str(tmp_path))
    return tmp_path


def put(path, text=''):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return str(path)


def test_none(place):
    assert drivers.installed() == {}
    with drivers.shown():
        assert 'OCL_ICD_VENDORS' not in os.environ and list(place.iterdir()) == []


def test_both_places(place):
    """As PoCL's wheel has it, beside its library; as Intel's, with a path of the machine that it was made on."""
    pocl = put(place / 'site' / 'pyopencl' / '.libs' / 'libpocl-1.so')
    put(place / 'site' / 'pyopencl' / '.libs' / 'pocl.icd', 'libpocl-1.so')
    intel = put(place / 'env' / 'lib' / 'libintelocl.so')
    put(place / 'env' / 'etc' / 'OpenCL' / 'vendors' / 'intel.icd', '/opt/elsewhere/lib/libintelocl.so\n')
    put(place / 'env' / 'etc' / 'OpenCL' / 'vendors' / 'gone.icd', '/opt/elsewhere/lib/libgone.so\n')
    put(place / 'env' / 'etc' / 'OpenCL' / 'vendors' / 'empty.icd')
    mine = put(place / 'home' / 'lib' / 'libmine.so')
    put(place / 'home' / 'etc' / 'OpenCL' / 'vendors' / 'mine.icd', '/opt/elsewhere/lib/libmine.so\n')
    put(place / 'system' / 'gpu.icd', 'libgpu.so.1\n')
    os.symlink('/absent', place / 'system' / 'removed.icd')
    os.symlink('/absent', place / 'env' / 'etc' / 'OpenCL' / 'vendors' / 'removed.icd')
    assert drivers.installed() == {'pocl.icd': pocl, 'intel.icd': intel, 'mine.icd': mine}
    with drivers.shown():
        folder = os.environ['OCL_ICD_VENDORS']
        held = {path.name: path.read_text().strip() for path in pathlib.Path(folder).iterdir()}
        assert folder.endswith('/')
        assert held == {'gpu.icd': 'libgpu.so.1', 'pip-pocl.icd': pocl, 'pip-intel.icd': intel, 'pip-mine.icd': mine}
    assert 'OCL_ICD_VENDORS' not in os.environ and not os.path.exists(folder)
    with pytest.raises(KeyError), drivers.shown():
        folder = os.environ['OCL_ICD_VENDORS']
        raise KeyError
    assert 'OCL_ICD_VENDORS' not in os.environ and not os.path.exists(folder)


@pytest.mark.parametrize('before', [None, ''])
def test_put_back(place, monkeypatch, before):
    """The variable is as it was, also where it was empty, and what another has set meanwhile stays."""
    put(place / 'site' / 'pyopencl' / '.libs' / 'libpocl-1.so')
    put(place / 'site' / 'pyopencl' / '.libs' / 'pocl.icd', 'libpocl-1.so')
    if before is not None:
        monkeypatch.setenv('OCL_ICD_VENDORS', before)
    with drivers.shown():
        assert os.environ['OCL_ICD_VENDORS']
        drivers.forked() # in a child, whose parent removes the folder
        assert os.environ.get('OCL_ICD_VENDORS') == before
    assert os.environ.get('OCL_ICD_VENDORS') == before
    with drivers.shown():
        os.environ['OCL_ICD_VENDORS'] = '/of/another'
    assert os.environ['OCL_ICD_VENDORS'] == '/of/another'
    del os.environ['OCL_ICD_VENDORS']


def test_of_the_system(place):
    """One that the system names as well is not found twice."""
    library = put(place / 'site' / 'pyopencl' / '.libs' / 'libpocl-1.so')
    put(place / 'site' / 'pyopencl' / '.libs' / 'pocl.icd', 'libpocl-1.so')
    put(place / 'system' / 'mine.icd', library)
    assert drivers.installed() == {}


@pytest.mark.parametrize('name', drivers.CHOSEN)
def test_chosen(place, monkeypatch, name):
    put(place / 'site' / 'pyopencl' / '.libs' / 'libpocl-1.so')
    put(place / 'site' / 'pyopencl' / '.libs' / 'pocl.icd', 'libpocl-1.so')
    monkeypatch.setenv(name, '/my/own')
    with drivers.shown():
        assert os.environ[name] == '/my/own' and [n for n in drivers.CHOSEN if n in os.environ] == [name]
    assert os.environ[name] == '/my/own'


def test_windows_without_a_driver(monkeypatch):
    """OpenCL.dll is the driver's there, and Windows does not say which library it misses."""
    drivers.need_loader()
    monkeypatch.setattr(drivers, 'WINDOWS', True)
    with pytest.raises(ImportError, match='clattn needs OpenCL.dll, .* it comes with the driver of a GPU'):
        drivers.need_loader()
    with pytest.raises(SystemExit, match='^clattn-tune: clattn needs OpenCL.dll'):
        programs.tune()


def test_nowhere_to_write(place, monkeypatch):
    put(place / 'site' / 'pyopencl' / '.libs' / 'libpocl-1.so')
    put(place / 'site' / 'pyopencl' / '.libs' / 'pocl.icd', 'libpocl-1.so')
    monkeypatch.setattr(tempfile, 'tempdir', str(place / 'absent'))
    with drivers.shown():
        assert 'OCL_ICD_VENDORS' not in os.environ


CALL = '''
import sys, numpy as np, clattn
from clattn import drivers
drivers.SYSTEM, sys.prefix = '/absent', %r
q = np.ones((1, 1, 2, 16), np.float32)
try:
    print(clattn.attention(q, q, q)[0, 0, 0, 0])
except clattn.Error as e:
    print(e.name)
'''


@pytest.mark.skipif(not os.path.exists(POCL), reason='PoCL of the system is not there')
def test_call(tmp_path):
    """A first call has the loader read them: PoCL in an environment, and nothing of the system."""
    with open(POCL, encoding='utf-8') as f:
        name = f.readline().strip()
    maps = child('import clattn; clattn.default_handle(); print(open("/proc/self/maps").read())', OCL_ICD_VENDORS=POCL)
    library = next((line.split()[-1] for line in maps.splitlines() if os.path.basename(name).split('.so')[0] in line),
                   None)
    assert library, maps
    put(tmp_path / 'env' / 'etc' / 'OpenCL' / 'vendors' / 'pocl.icd', '/opt/elsewhere/' + os.path.basename(library))
    (tmp_path / 'env' / 'lib').mkdir()
    os.symlink(library, tmp_path / 'env' / 'lib' / os.path.basename(library))
    empty = dict.fromkeys(drivers.CHOSEN, '')
    assert child(CALL % str(tmp_path / 'env'), **empty) == '1.0'
    (tmp_path / 'none').mkdir()
    assert child(CALL % str(tmp_path / 'env'), OCL_ICD_VENDORS=str(tmp_path / 'none') + '/') == 'CL_DEVICE_NOT_FOUND'


@pytest.fixture
def handlers():
    """The handlers of signals, which are put back."""
    kept = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM)}
    signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    for number, handler in kept.items():
        signal.signal(number, handler)


@pytest.mark.usefixtures('handlers')
@pytest.mark.parametrize('text, status', [('exit 3', 3), ('test "$*" = "a b"', 0), ('kill -9 $$', 137)])
def test_programs(tmp_path, monkeypatch, text, status):
    path = tmp_path / 'bin' / 'clattn-tune'
    put(path, '#!/bin/sh\n' + text + '\n')
    path.chmod(0o755)
    monkeypatch.setattr(programs, '__file__', str(tmp_path / 'programs.py'))
    monkeypatch.setattr(sys, 'argv', ['clattn-tune', 'a', 'b'])
    assert programs.tune() == status


class Child:
    """A program that runs while this process gets some signals, for longer than the first wait."""
    sent: list = []

    def __init__(self, command):
        self.sent.clear()
        self.waits = 0

    def wait(self, timeout=None):
        assert timeout, 'a wait without an end'
        self.waits += 1
        if self.waits == 1:
            raise subprocess.TimeoutExpired('program', timeout)
        for number in (signal.SIGINT, signal.SIGHUP, signal.SIGTERM):
            os.kill(os.getpid(), number)
        return 0

    def terminate(self):
        self.sent.append(signal.SIGTERM)

    def send_signal(self, number):
        self.sent.append(number)


@pytest.mark.usefixtures('handlers')
def test_what_is_passed_on(monkeypatch):
    """A terminal sends Ctrl-C to the program as well, and the second one kills it."""
    monkeypatch.setattr(programs.subprocess, 'Popen', Child)
    assert programs.tune() == 0 and Child.sent == [signal.SIGTERM]


COUNTS = '''#!%s
import os, signal, time
signal.signal(signal.SIGINT, lambda *_: os.write(1, b'INT\\n'))
def end(*_):
    os.write(1, b'TERM\\n')
    os._exit(5)
signal.signal(signal.SIGTERM, end)
os.write(1, b'ready\\n')
while True:
    time.sleep(1)
''' % sys.executable
PROGRAM = '''
import sys
from clattn import programs
programs.__file__ = %r
sys.exit(programs.tune())
'''


def test_signals(tmp_path):
    """The program decides what they mean, and its status is this one's."""
    path = tmp_path / 'bin' / 'clattn-tune'
    put(path, COUNTS)
    path.chmod(0o755)
    with subprocess.Popen([sys.executable, '-c', PROGRAM % str(tmp_path / 'programs.py')], stdout=subprocess.PIPE,
                          universal_newlines=True, start_new_session=True) as p:
        said = [p.stdout.readline()]
        os.killpg(p.pid, signal.SIGINT)
        said.append(p.stdout.readline())
        os.kill(p.pid, signal.SIGTERM)
        said += p.stdout.read().splitlines(True)
    assert said == ['ready\n', 'INT\n', 'TERM\n'] and p.returncode == 5
