# programs.py - clattn-run, clattn-tune and clattn-bench, where the package brings them along
# SPDX-License-Identifier: Apache-2.0
"""Each function runs the program of its name with the arguments of this process, and returns its status."""
import os
import signal
import subprocess
import sys

from . import drivers


def _program(name: str) -> int:
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'bin', name)
    with drivers.shown():
        child = subprocess.Popen([path] + sys.argv[1:]) # pylint: disable=consider-using-with
        for number in (signal.SIGINT, signal.SIGTERM): # the terminal tells both of Ctrl-C: the program decides
            signal.signal(number, lambda number, _: child.poll() is None and child.send_signal(number))
        status = child.wait()
    return status if status >= 0 else 128 - status


def run() -> int:
    return _program('clattn-run')


def tune() -> int:
    return _program('clattn-tune')


def bench() -> int:
    return _program('clattn-bench')
