# checks.py - numbers and texts of a caller, looked at at the door
# SPDX-License-Identifier: Apache-2.0
"""Numbers and texts of a caller. Each function here is called as (x, what), `what` being the argument's name, and
returns a plain bool, int, float, str or tuple of these, or raises TypeError or ValueError that says what is wanted."""
from __future__ import annotations

import operator
import os
from typing import Any, Callable, Iterable, Mapping, Tuple

import numpy as np

from ._native import lib

MODS_MAX, AUX_MAX = lib.CLATTN_MODS_MAX, lib.CLATTN_AUX_MAX
WHOLE_MAX = 1 << 30 # rows, elements, and what else is a cl_int there


def kind(x: Any) -> str:
    """The type of an argument for messages: "a list", "an int"."""
    name = type(x).__name__
    return ('an ' if name[0] in 'aeioAEIO' or name == 'ndarray' else 'a ') + name


def listed(names: Iterable[Any]) -> str:
    return ', '.join(map(repr, names))


def flag(x: Any, what: str) -> bool:
    """True or False, also numpy's, or 1 or 0. A text is none: 'false' would be true."""
    whole_number = isinstance(x, (int, np.integer))
    if isinstance(x, (bool, np.bool_)) or (whole_number and x in (0, 1)):
        return bool(x)
    raise TypeError('%s is %s: must be True or False' % (what, x if whole_number else kind(x)))


def scalar(x: Any, what: str, wanted: str) -> None:
    """Refuses what only looks like one number: a bool, an array with axes, a tensor that wants a gradient."""
    if isinstance(x, (bool, np.bool_, str, bytes)) or getattr(x, 'ndim', 0):
        raise TypeError('%s is %s: must be %s' % (what, kind(x), wanted))
    if getattr(x, 'requires_grad', False):
        raise TypeError('%s requires a gradient, which clattn does not compute: must be %s' % (what, wanted))


def number(x: Any, what: str) -> float:
    scalar(x, what, 'a number')
    try:
        return float(x)
    except (TypeError, ValueError):
        raise TypeError('%s is %s: must be a number' % (what, kind(x))) from None
    except OverflowError:
        raise ValueError('%s is beyond what a float holds' % what) from None


def int_in(x: Any, low: int, high: int, what: str) -> int:
    """A whole number that fits where the library puts it."""
    scalar(x, what, 'an int')
    try:
        n = int(operator.index(x))
    except TypeError:
        raise TypeError('%s is %s: must be an int' % (what, kind(x))) from None
    if not low <= n <= high:
        raise ValueError('%s is %d, outside %d to %d' % (what, n, low, high))
    return n


def whole(low: int, high: int = WHOLE_MAX) -> Callable[[Any, str], int]:
    return lambda x, what: int_in(x, low, high, what)


def pair(low: int, wanted: str) -> Callable[[Any, str], Tuple[int, int]]:
    """Two whole numbers; wanted: their names, "(left, right)"."""
    def check(x: Any, what: str) -> Tuple[int, int]:
        numbers = sequence(x, what, wanted)
        if len(numbers) != 2:
            raise ValueError('%s has %d numbers: must be %s' % (what, len(numbers), wanted))
        return int_in(numbers[0], low, WHOLE_MAX, what), int_in(numbers[1], low, WHOLE_MAX, what)
    return check


def sequence(x: Any, what: str, wanted: str) -> tuple:
    """The members of a list, a tuple, or what is like them; a text is none."""
    if isinstance(x, (str, bytes, Mapping)) or not hasattr(x, '__iter__') or getattr(x, 'ndim', 1) != 1:
        raise TypeError('%s is %s: must be %s' % (what, kind(x), wanted))
    return tuple(x)


def choice(names: Iterable[str]) -> Callable[[Any, str], str]:
    """One of some texts."""
    def check(x: Any, what: str) -> str:
        if not isinstance(x, str):
            raise TypeError('%s is %s: must be one of %s' % (what, kind(x), listed(names)))
        if x not in names:
            raise ValueError('%s is %r: must be one of %s' % (what, x, listed(names)))
        return x
    return check


def text(x: Any, what: str) -> str:
    """A text as C has it, which ends at a character NUL."""
    if not isinstance(x, str):
        raise TypeError('%s is %s: must be a str' % (what, kind(x)))
    if '\0' in x:
        raise ValueError('%s has a character NUL' % what)
    try:
        x.encode()
    except UnicodeEncodeError:
        raise ValueError('%s has characters that UTF-8 does not have' % what) from None
    return x


def texts(x: Any, what: str) -> Tuple[str, ...]:
    """One text or several."""
    if isinstance(x, str):
        return (text(x, what),)
    return tuple(text(one, what) for one in sequence(x, what, 'a str or a list of them'))


def mods(x: Any, what: str) -> Tuple[str, ...]:
    found = texts(x, what)
    if len(found) > MODS_MAX:
        raise ValueError('there are %d texts of %s, at most %d' % (len(found), what, MODS_MAX))
    return found


def names(x: Any, what: str) -> Tuple[str, ...]:
    """A list of names; one text is none, as its letters would be the names."""
    return tuple(text(one, what) for one in sequence(x, what, 'a list of names'))


def buffers(x: Any, what: str) -> Tuple[str, ...]:
    """The names of captured buffers."""
    if not isinstance(x, Mapping):
        raise TypeError('%s is %s: must be a dict of names and arrays' % (what, kind(x)))
    if len(x) > AUX_MAX:
        raise ValueError('there are %d captured buffers, at most %d' % (len(x), AUX_MAX))
    return tuple(text(name, 'a name in %s' % what) for name in x)


def folder(x: Any, what: str) -> bytes:
    """The path of a folder, as the system has it."""
    try:
        path = os.fsencode(x)
    except TypeError:
        raise TypeError('%s is %s: must be a path' % (what, kind(x))) from None
    if b'\0' in path:
        raise ValueError('%s has a character NUL' % what)
    return path
