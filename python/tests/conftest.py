# conftest.py - what the tests of Python share
# SPDX-License-Identifier: Apache-2.0
"""Kernels are not optimised unless the caller says so: compiling takes most of the time, and what is compared are
results. Nothing is searched, and binaries are kept in a folder of the run's own."""
import os
import sys

os.environ.setdefault('POCL_EXTRA_BUILD_FLAGS', '-cl-opt-disable')
os.environ.setdefault('CLATTN_TUNE', 'off')
HERE = os.path.dirname(os.path.abspath(__file__))
TOP = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(TOP, 'tests', 'conformance'))

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


@pytest.fixture
def rng():
    return np.random.default_rng(24)
