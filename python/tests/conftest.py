# conftest.py - what the tests of Python share
# SPDX-License-Identifier: Apache-2.0
"""Old PoCL does not optimise kernels unless the caller says so: compiling takes most of the time, and what is compared
are results. Nothing is searched, and binaries are kept in a folder of the run's own. CLATTN_QUICK=1 runs two files
only. CLATTN_TAP=FILE writes there what the C tests print, so that CI counts these with those."""
import atexit
import os
import re
import shutil
import sys
import tempfile



def pocl_is_old():
    """Whether PoCL is there, and none from version 4 on, some of which compute wrong without their optimiser."""
    try:
        import pyopencl # pylint: disable=import-outside-toplevel
        versions = [p.version for p in pyopencl.get_platforms() if p.name == 'Portable Computing Language']
    except Exception: # pylint: disable=broad-except # no pyopencl, or no platform
        return False
    found = [re.search(r'(?:pocl|PoCL) (\d+)', v) for v in versions]
    return bool(found) and all(m and int(m.group(1)) < 4 for m in found)


if pocl_is_old():
    os.environ.setdefault('POCL_EXTRA_BUILD_FLAGS', '-cl-opt-disable')
os.environ.setdefault('CLATTN_TUNE', 'off')
if 'CLATTN_CACHE_DIR' not in os.environ:
    os.environ['CLATTN_CACHE_DIR'] = tempfile.mkdtemp(prefix='clattn-python-tests.')
    atexit.register(lambda folder, pid: os.getpid() == pid and shutil.rmtree(folder, ignore_errors=True),
                    os.environ['CLATTN_CACHE_DIR'], os.getpid())
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, 'tests', 'conformance'))
QUICK = ('test_attention.py', 'test_misuse.py')
if os.environ.get('CLATTN_QUICK', '') not in ('', '0'):
    collect_ignore = [name for name in os.listdir(HERE) if name.startswith('test_') and name not in QUICK]

import numpy as np # noqa: E402
import pytest # noqa: E402

import clattn # noqa: E402


def pytest_sessionstart(session):
    del session
    try:
        clattn.default_handle()
    except clattn.Error as e:
        if os.environ.get('CLATTN_NEED_DEVICE', '') not in ('', '0'):
            raise
        pytest.exit('no OpenCL device: %s' % e, returncode=77)


# ---- TAP ----

RESULTS = []


def note(report, counts):
    """A line for a test, or for a file that is skipped as a whole."""
    if not counts:
        return
    skipped = ' # SKIP ' + report.longrepr[2].replace('Skipped: ', '') if report.skipped else ''
    RESULTS.append('%sok %d - %s%s' % ('not ' if report.failed else '', len(RESULTS) + 1, report.nodeid, skipped))


def pytest_runtest_logreport(report):
    note(report, report.when == 'call' or not report.passed)


def pytest_collectreport(report):
    note(report, not report.passed)


def pytest_sessionfinish(session):
    del session
    if os.environ.get('CLATTN_TAP'):
        with open(os.environ['CLATTN_TAP'], 'w', encoding='utf-8') as f:
            f.write('\n'.join(RESULTS + ['1..%d' % len(RESULTS)]) + '\n')


@pytest.fixture
def rng():
    return np.random.default_rng(24)
