# programs.py - clattn-run, clattn-tune, clattn-bench and clattn-report, where the package brings them along
# SPDX-License-Identifier: Apache-2.0
"""Each function runs the program of its name with the arguments of this process, and returns its status."""
import os
import signal
import subprocess
import sys

from . import drivers

OF_A_TERMINAL = [number for number in (signal.SIGINT, getattr(signal, 'SIGHUP', None)) if number is not None]


def _wait(child: 'subprocess.Popen[bytes]') -> int:
    """The status of a program. Python runs handlers of signals between its own steps only: one that came just before a
    wait without an end would be kept until the program ended by itself."""
    while True:
        try:
            return child.wait(timeout=1)
        except subprocess.TimeoutExpired:
            pass


def _program(name: str) -> int:
    try:
        drivers.need_loader()
    except ImportError as e:
        sys.exit('%s: %s' % (name, e))
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), 'bin', name + ('.exe' if drivers.WINDOWS else ''))
    # A terminal sends these to the program as well, which decides what they mean. They have a handler here, since what
    # is ignored here would be ignored there.
    for number in OF_A_TERMINAL:
        if signal.getsignal(number) != signal.SIG_IGN:
            signal.signal(number, lambda *_: None)
    wanted = []
    signal.signal(signal.SIGTERM, lambda *_: wanted.append(True))
    with drivers.shown():
        child = subprocess.Popen([path] + sys.argv[1:]) # pylint: disable=consider-using-with
        signal.signal(signal.SIGTERM, lambda *_: child.terminate())
        if wanted:
            child.terminate()
        status = _wait(child)
    return status if status >= 0 else 128 - status


def run() -> int:
    return _program('clattn-run')


def tune() -> int:
    return _program('clattn-tune')


def bench() -> int:
    return _program('clattn-bench')


def report() -> int:
    return _program('clattn-report')
