# progress_line.py - one line on a terminal while a plan is made: what is compiled and measured, and for how long
# SPDX-License-Identifier: Apache-2.0
"""The first call for a kind of problem compiles kernels and measures which are fastest, which a driver's compiler may
take many seconds for. On a terminal that is said by a line that vanishes when it is over; elsewhere it is not, and
everything that the library has to say goes to the logger "clattn"."""
from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from typing import Any, Callable, Optional, Union

from ._native import ffi, lib

VARIABLE = 'CLATTN_PROGRESS'
WIDTH = 79


def wanted() -> bool:
    """Whether to tell, where no caller has said so: what CLATTN_PROGRESS says, else on a terminal."""
    said = os.environ.get(VARIABLE, '')
    if said in ('0', '1'):
        return said == '1'
    if os.environ.get('TERM') == 'dumb':
        return False
    try:
        return sys.stderr is not None and sys.stderr.isatty()
    except (AttributeError, ValueError): # what stands in its place may be closed, or no file
        return False


def describe(step: Any) -> Optional[str]:
    """What a clattn_progress says, in words; None: nothing is under way any more, '': nothing new."""
    if step.step == lib.CLATTN_STEP_PLAN:
        return None
    problem = ffi.string(step.class_text).decode(errors='replace')
    if step.step == lib.CLATTN_STEP_COMPILE:
        return 'compiling %s for %s' % (ffi.string(step.words).decode(errors='replace'), problem)
    if step.step in (lib.CLATTN_STEP_BUILD, lib.CLATTN_STEP_READY, lib.CLATTN_STEP_ROUND):
        return 'measuring what is fastest for %s, %d tried' % (problem, step.opened)
    return ''


class Line:
    """Writes over one line of a terminal."""

    def __init__(self) -> None:
        self._began, self._shown = 0.0, False

    def __call__(self, text: Optional[str]) -> None:
        now = time.monotonic()
        if text is not None:
            self._began = self._began if self._shown else now
            seconds = ' (%d s)' % (now - self._began)
            room = WIDTH - len(seconds)
            self._write('\r' + ('clattn: ' + text)[:room].ljust(room) + seconds)
        elif self._shown:
            self._write('\r%s\r' % (' ' * WIDTH))
        self._shown = text is not None

    @staticmethod
    def _write(text: str) -> None:
        with suppress(AttributeError, OSError, ValueError): # there is no standard error, or it is closed
            sys.stderr.write(text)
            sys.stderr.flush()


def _nothing(text: Optional[str]) -> None:
    del text


def teller(told: Union[None, bool, Callable[[Optional[str]], None]]) -> Callable[[Optional[str]], None]:
    """The function that Handle's argument `progress` asks for."""
    if callable(told):
        return told
    return Line() if told or (told is None and wanted()) else _nothing
