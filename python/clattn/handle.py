# handle.py - a device and what was built for it
# SPDX-License-Identifier: Apache-2.0
"""Handles: a device, its context and queue, and the kernels that were built for it."""
from __future__ import annotations

import atexit
import logging
import os
import threading
import warnings
import weakref
from typing import Any, Callable, Dict, Optional, Tuple, Union

from . import checks, drivers, errors, progress_line
from ._native import ffi, lib

__all__ = ['Handle', 'default_handle']

KINDS = {None: 0, 'cpu': 2, 'gpu': 4, 'accelerator': 8} # CL_DEVICE_TYPE_*
TUNE = {None: 0, 'auto': lib.CLATTN_TUNE_AUTO, 'off': lib.CLATTN_TUNE_OFF, 'readonly': lib.CLATTN_TUNE_READONLY,
        'quick': lib.CLATTN_TUNE_QUICK, 'full': lib.CLATTN_TUNE_FULL, 'record': lib.CLATTN_TUNE_RECORD}
_KIND, _TUNE = (checks.choice([name for name in names if name is not None]) for names in (KINDS, TUNE))
PREPARED_MAX = 1024
_LOGGER = logging.getLogger('clattn')

atexit.register(lib.clattn_py_exit)


def _failed(name, stop=None):
    """What becomes of an exception in the caller's function of that name: the library must not see it, nor may one that
    ends the program be lost. After such a one the library gets `stop`."""
    def failed(_kind, e, _trace):
        try:
            if not isinstance(e, Exception): # SystemExit, Ctrl-C
                raise e
            warnings.warn('the %s function of a clattn.Handle failed: %r' % (name, e))
        except BaseException as held: # pylint: disable=broad-except # a warning may be an error
            errors.hold(held)
            return stop
        return None
    return failed


@ffi.def_extern(name='clattn_py_log', onerror=_failed('log'))
def _log(user, text):
    words = ffi.string(text).decode(errors='replace')
    if user == ffi.NULL:
        _LOGGER.info('%s', words)
    else:
        ffi.from_handle(user)(words)


@ffi.def_extern(name='clattn_py_progress', onerror=_failed('progress', stop=1))
def _progress(user, step):
    text = progress_line.describe(step)
    if text != '':
        ffi.from_handle(user)(text)
    return 0


def _pointer(x, what, wanted):
    """An object of pyopencl as an integer; 0 for none."""
    if x is None:
        return 0
    if type(x).__name__ != wanted or not hasattr(x, 'int_ptr'):
        raise TypeError('%s is %s: must be a pyopencl.%s' % (what, checks.kind(x), wanted))
    return x.int_ptr


class Handle:
    """A device of an OpenCL context, and what was built for it.

    Any number of threads may use a handle at a time. Drivers do not survive fork(): a child whose parent had a
    handle gets clattn.Error (CLATTN_ERROR_FORKED), also where it makes a handle of its own. multiprocessing has the
    start methods spawn and forkserver for that.

    context  a pyopencl.Context, or None: one of the handle's own
    device   a pyopencl.Device of it; None: its first, or without a context what `kind` says
    kind     'gpu', 'cpu' or 'accelerator': the first device of that kind; None: the first GPU, else accelerator,
             else CPU. Only where neither context nor device is given
    tune     'auto', 'off', 'readonly', 'quick', 'full' or 'record': what plans do about configurations; None: what
             the environment variable CLATTN_TUNE says, else 'auto'
    tune_seconds  that a search takes at most; 0: the library's default
    cache_dir     where binaries and records are kept: None for the default, '' for nowhere
    log      a function that is called with the library's messages; None: they go to the logger 'clattn', level INFO.
             Where it raises an Exception, that becomes a warning; SystemExit and KeyboardInterrupt are raised when the
             library's call is over
    progress a function that is called with a text before each kernel is compiled and at each step of a search, and with
             None when that is over; True: writes a line to standard error, which then vanishes; False: says nothing;
             None: what the environment variable CLATTN_PROGRESS says, 1 or 0, else True where standard error is a
             terminal. Exceptions are as for log, but Ctrl-C also ends the search or compilation at its next step
    """

    def __init__(self, context: Any = None, device: Any = None, *, kind: Optional[str] = None,
                 tune: Optional[str] = None, tune_seconds: float = 0, cache_dir: Optional[str] = None,
                 log: Optional[Callable[[str], None]] = None,
                 progress: Union[None, bool, Callable[[Optional[str]], None]] = None) -> None:
        kind = None if kind is None else _KIND(kind, 'kind')
        if context is not None or device is not None:
            if kind is not None:
                raise ValueError('kind is given beside a context or device, which it is to choose')
        if log is not None and not callable(log):
            raise TypeError('log is %s: must be a function of a text' % checks.kind(log))
        if progress is not None and not isinstance(progress, bool) and not callable(progress):
            raise TypeError('progress is %s: must be a function of a text, True or False' % checks.kind(progress))
        context_at, device_at = _pointer(context, 'context', 'Context'), _pointer(device, 'device', 'Device')
        if context is not None and device is None:
            device_at = context.devices[0].int_ptr
        self._session = ffi.NULL
        self._open((context_at, device_at), kind, TUNE[None if tune is None else _TUNE(tune, 'tune')],
                   checks.number(tune_seconds, 'tune_seconds'), cache_dir, log, progress)

    def _open(self, given, kind, tune, seconds, cache_dir, log, told):
        options = ffi.new('clattn_options *')
        options.struct_size = ffi.sizeof('clattn_options')
        options.tune, options.tune_seconds = tune, seconds
        folder = ffi.NULL if cache_dir is None else ffi.new('char[]', checks.folder(cache_dir, 'cache_dir'))
        options.cache_dir = folder
        self._log = ffi.NULL if log is None else ffi.new_handle(log)
        options.log, options.log_user = lib.clattn_py_log, self._log
        self._told = ffi.new_handle(progress_line.teller(told))
        options.progress, options.progress_user = lib.clattn_py_progress, self._told # for Ctrl-C, always
        drivers.show()
        out, words = ffi.new('clattn_py_session **'), ffi.new('char[]', errors.WORDS)
        status = lib.clattn_py_open(out, *given, KINDS[kind], options, words, errors.WORDS)
        session = ffi.gc(out[0], lib.clattn_py_close) if out[0] else out[0]
        errors.check(status, words)
        self._prepared: Dict[tuple, Any] = {}
        self._plans: Dict[tuple, Any] = {}
        self._plans_lock = threading.Lock()
        self._session = session
        _ALL.add(self)

    def close(self) -> None:
        """Gives the handle back. Calls under way in other threads end as usual; later ones raise clattn.Error."""
        self._session = ffi.NULL
        self._prepared = {}
        self._plans = {}

    def __enter__(self) -> 'Handle':
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __repr__(self) -> str:
        return '<clattn.Handle%s>' % (' (closed)' if self._session == ffi.NULL else '')

    def session(self):
        """The open session, or an exception."""
        session = self._session
        if session == ffi.NULL:
            raise errors.failure(lib.CLATTN_ERROR_INVALID_ARGUMENT, ffi.new('char[]', b'the handle is closed'))
        return session

    @property
    def device_pointers(self) -> Tuple[int, int]:
        """The cl_context and the cl_device_id, as integers: pyopencl.Context.from_int_ptr() takes them."""
        s = self.session()
        return int(ffi.cast('uintptr_t', s.context)), int(ffi.cast('uintptr_t', s.device))

    def stats(self) -> Dict[str, int]:
        """What happened so far: programs compiled, binaries and records found, searches (clattn_counters)."""
        counters = ffi.new('clattn_counters *')
        counters.struct_size = ffi.sizeof('clattn_counters')
        errors.check(lib.clattn_stats(self.session().handle, counters))
        return {name: getattr(counters, name) for name, _ in ffi.typeof('clattn_counters').fields
                if name != 'struct_size'}


# ---- Those that calls take by themselves ----

_ALL: 'weakref.WeakSet[Handle]' = weakref.WeakSet()
_DEFAULTS: Dict[tuple, Handle] = {}
_DEFAULTS_MAX = 8
_LOCK = threading.Lock()


def _after_fork():
    """A child has the locks as they were, perhaps held by a thread that it lacks."""
    global _LOCK # pylint: disable=global-statement
    _LOCK = threading.Lock()
    drivers.forked()
    for handle in list(_ALL):
        handle._plans_lock = threading.Lock() # pylint: disable=protected-access
    lib.clattn_py_forked()


if hasattr(os, 'register_at_fork'):
    os.register_at_fork(after_in_child=_after_fork)


def kept_handle(key: tuple, make: Callable[[], Handle]) -> Handle:
    """The handle of that key, made when it is asked for first. A child of fork() gets its parent's, whose calls
    raise."""
    found = _DEFAULTS.get(key)
    if found is not None:
        return found
    with _LOCK:
        if key not in _DEFAULTS:
            while len(_DEFAULTS) >= _DEFAULTS_MAX:
                del _DEFAULTS[next(iter(_DEFAULTS))]
            _DEFAULTS[key] = make()
        return _DEFAULTS[key]


def default_handle(kind: Optional[str] = None) -> Handle:
    """The handle that calls on numpy arrays take by themselves, one for the process.

    kind  as for Handle
    """
    kind = None if kind is None else _KIND(kind, 'kind')
    return kept_handle(('kind', kind), lambda: Handle(kind=kind))
