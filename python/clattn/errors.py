# errors.py - what goes wrong, as exceptions
# SPDX-License-Identifier: Apache-2.0
"""Exceptions. What is wrong with an argument before the library sees it is a TypeError or a ValueError."""
from __future__ import annotations

import threading
from typing import Any, Optional

from ._native import ffi, lib

__all__ = ['ArgumentError', 'Error', 'NotSupported']


class Error(RuntimeError):
    """The library, or OpenCL, refused a call.

    status: the code, as clattn.h and cl.h number them. name: its name, "CLATTN_ERROR_BUILD". detail: the library's
    words, such as a compiler's messages; may be ''.
    """

    def __init__(self, status: int, detail: str = '') -> None:
        self.status = status
        self.name = ffi.string(lib.clattn_status_string(status)).decode()
        self.detail = detail
        super().__init__('%s: %s' % (self.name, detail) if detail else self.name)

    def __reduce__(self):
        return type(self), (self.status, self.detail)


class ArgumentError(Error, ValueError):
    """A size, stride, text or combination is wrong."""


class NotSupported(Error, NotImplementedError):
    """The request is well formed, but this device or this version of the library cannot do it."""


KINDS = {
    lib.CLATTN_ERROR_INVALID_ARGUMENT: ArgumentError,
    lib.CLATTN_ERROR_UNKNOWN_FIELD: ArgumentError,
    lib.CLATTN_ERROR_BUFFER_TOO_SMALL: ArgumentError,
    lib.CLATTN_ERROR_SYNTAX: ArgumentError,
    lib.CLATTN_ERROR_NOT_SUPPORTED: NotSupported,
}

WORDS = 8192 # bytes for the library's words: compilers say much


def failure(status: int, words) -> Error:
    """The exception for a status; `words` is a char array or ''."""
    detail = ffi.string(words).decode(errors='replace') if words else ''
    return KINDS.get(status, Error)(status, detail)


class _Raised(threading.local):
    """What a caller's function raised inside a call of the library, which must not see it. It is raised behind that."""

    exception: Optional[BaseException] = None


_RAISED = _Raised()


def hold(e: BaseException) -> None:
    """Keeps an exception for the end of this thread's call; the first one, where there are several."""
    _RAISED.exception = _RAISED.exception or e


def raise_held() -> None:
    e, _RAISED.exception = _RAISED.exception, None
    if e is not None:
        raise e


def check(status: int, words: Any = '') -> None:
    """Raises what a call of the library has to say: first what a function of the caller's raised meanwhile."""
    raise_held()
    if status:
        raise failure(status, words)
