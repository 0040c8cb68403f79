# run.py - from arrays and options to a call of the library
# SPDX-License-Identifier: Apache-2.0
"""From arrays and options to a call of the library."""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Tuple

import numpy as np

from . import arrays, checks, errors, options
from ._native import ffi, lib
from .handle import PREPARED_MAX, Handle, default_handle, kept_handle
from .options import Options
from .prepare import NeedsCopy, Prepared

CL_MEM_OBJECT_ALLOCATION_FAILURE, CL_INVALID_BUFFER_SIZE = -4, -61
_SYNCHRONOUS = ffi.new('clattn_py_caller *') # the session's queue, no events


def handle_of(q: Any, kind: str) -> Handle:
    """The handle that a call takes by itself."""
    if kind != 'pyopencl':
        return default_handle('cpu' if kind == 'torch' else None)
    context, queue = q.context, q.queue
    device = context.devices[0] if queue is None else queue.device
    return kept_handle((context.int_ptr, device.int_ptr), lambda: Handle(context, device))


def span(x: Any, name: str) -> Tuple[int, int, int]:
    """The memory that an array spans: a cl_mem, 0 for the host's, and there from its first byte to behind its last."""
    kind = arrays.KINDS[arrays.kind_of(x, name)]
    where, at, key = kind.view(x, name)
    if kind.memory == arrays.HOST:
        where, at = 0, where + at
    return where, at, at + kind.spec(key, name).bytes()


def overlap(x: Any, y: Any, names: Tuple[str, str]) -> bool:
    """Whether the memory that two arrays span has a byte in common."""
    if isinstance(x, np.ndarray) and isinstance(y, np.ndarray): # strides may be negative
        return np.may_share_memory(x, y)
    (mem, at, end), (other_mem, other_at, other_end) = map(span, (x, y), names)
    return mem == other_mem and at < other_end and other_at < end


def check_outputs(given: Dict[str, Any], written: Tuple[str, ...]) -> None:
    """Arrays of the caller that are written: they may be, and overlap nothing else."""
    for name in written:
        x = given.get(name)
        if x is None:
            continue
        if isinstance(x, np.ndarray) and not x.flags.writeable:
            raise ValueError('%s is read-only' % name)
        for other, y in given.items():
            if other != name and overlap(x, y, (name, other)):
                raise ValueError('%s overlaps %s' % (name, other))


class Call:
    """One call: its arrays by name, and how each is seen."""

    __slots__ = ('kind', 'given', 'views', 'prepared', 'made', 'handle', 'dropout')

    def __init__(self, given: Dict[str, Any], handle: Optional[Handle]) -> None:
        if handle is not None and not isinstance(handle, Handle):
            raise TypeError('handle is %s: must be a clattn.Handle' % checks.kind(handle))
        self.kind = arrays.kind_of(given['q'], 'q')
        self.given = given
        self.made: Dict[str, Any] = {}
        self.handle = handle_of(given['q'], self.kind) if handle is None else handle
        self.views: Dict[str, tuple] = {}
        self.dropout = 0, 0

    def view(self) -> tuple:
        """What calls that differ in addresses only have in common."""
        views = self.views = {}
        kinds, kind_of = arrays.KINDS, arrays.kind_of
        key: List[Any] = []
        for name, x in self.given.items():
            views[name] = seen = kinds[kind_of(x, name)].view(x, name)
            key += (name, seen[2])
        return tuple(key)

    def prepare(self, op: int, options: Options, how: Callable, written: Tuple[str, ...]) -> None:
        """Finds what was prepared for such calls, or prepares it. Arrays whose strides do not do are copied."""
        self.dropout = options.dropout_seed, options.dropout_offset
        options = options._replace(dropout_seed=0, dropout_offset=0) # of this call alone
        if written:
            check_outputs(self.given, written)
        kept = self.handle._prepared # pylint: disable=protected-access
        copied = set()
        while True:
            key = (op, options, self.view())
            found = kept.get(key)
            if found is None:
                found = self.make(options, how)
                if len(kept) >= PREPARED_MAX:
                    kept.clear()
                kept[key] = found
            if isinstance(found, Prepared):
                self.prepared = found
                return
            if found in written:
                raise ValueError('%s cannot be written: its last axis must be contiguous, no stride negative, and its '
                                 'first byte where an item begins' % found)
            self.copy(found, again=found in copied)
            copied.add(found)

    def copy(self, name: str, again: bool) -> None:
        """Puts a contiguous copy in an array's place. One that does not do either is refused."""
        x, why = self.given[name], ''
        try:
            self.given[name] = arrays.KINDS[arrays.kind_of(x, name)].contiguous(x)
        except RuntimeError as e: # pyopencl copies contiguous arrays only, and leaves their order as it is
            why = ': %s' % e
        if why or again:
            spec = arrays.KINDS[self.views[name][2][0]].spec(self.views[name][2], name)
            raise ValueError('%s has shape %s and strides %s, which the library does not take%s'
                             % (options.shown(name), spec.shape, spec.strides, why))

    def make(self, options: Options, how: Callable) -> Any:
        specs = {name: with_strides(arrays.KINDS[seen[2][0]].spec(seen[2], name)) for name, seen in self.views.items()}
        try:
            return how(specs, options)
        except NeedsCopy as e:
            return e.name

    def check(self) -> None:
        """Raises what the library says against the problem. Nothing is compiled, and nothing runs."""
        words = ffi.new('char[]', errors.WORDS)
        status = lib.clattn_supports(self.handle.session().handle, self.prepared.problem(), words, errors.WORDS)
        errors.check(status, words)

    def places(self) -> bytes:
        """Addresses of all operands, in the order of the slots. Makes the arrays that are written."""
        kind = arrays.KINDS[self.kind]
        for out in self.prepared.outputs:
            x = self.made[out.name] = kind.empty(out.shape, out.dtype, self.given['q'], out.zeros)
            self.views[out.name] = kind.view(x, out.name)
        flat: List[int] = []
        for name, (per, size) in zip(self.prepared.names, self.prepared.units):
            where, offset, _ = self.views[name]
            flat += (where, offset // size * per)
        return self.prepared.pack(*flat)

    def check_status(self, session: Any, status: int, words: Any) -> None:
        """Raises what went wrong; of a buffer that is too large, which array that is."""
        most = session.buffer_max
        if status in (CL_INVALID_BUFFER_SIZE, CL_MEM_OBJECT_ALLOCATION_FAILURE):
            for name, slot in zip(self.prepared.names, self.prepared.slots):
                if slot.bytes > most:
                    errors.raise_held()
                    words = '%s has %d bytes, and a buffer of this device at most %d' % (
                        options.shown(name), slot.bytes, most)
                    raise errors.Error(status, words)
        errors.check(status, words)

    def run(self, plan: Any = ffi.NULL) -> None:
        p = self.prepared
        session = self.handle.session()
        words = ffi.new('char[]', errors.WORDS)
        if self.kind == 'pyopencl':
            return self.run_on_queue(session, plan, words)
        caller = _SYNCHRONOUS
        if any(self.dropout):
            caller = ffi.new('clattn_py_caller *')
            caller.dropout_seed, caller.dropout_offset = self.dropout
        status = lib.clattn_py_run(session, plan, p.op, p.call, p.slots, self.places(), len(p.names), caller, words,
                                   errors.WORDS)
        self.check_status(session, status, words)
        return None

    def run_on_queue(self, session: Any, plan: Any, words: Any) -> None:
        """Enqueues the call, behind what is under way on its arrays."""
        import pyopencl as cl # pylint: disable=import-outside-toplevel
        p, q = self.prepared, self.given['q']
        places = self.places()
        queue = q.queue
        if queue is None:
            raise ValueError('q has no queue: take q.with_queue(queue)')
        everything = [x for x in list(self.given.values()) + list(self.made.values()) if hasattr(x, 'events')]
        waits = [e.int_ptr for x in everything for e in x.events]
        event = ffi.new('uintptr_t *')
        held = ffi.new('uintptr_t[]', waits or [0])
        caller = ffi.new('clattn_py_caller *')
        caller.queue, caller.event, caller.n_waits = queue.int_ptr, event, len(waits)
        caller.dropout_seed, caller.dropout_offset = self.dropout
        caller.waits = held if waits else ffi.NULL
        status = lib.clattn_py_run(session, plan, p.op, p.call, p.slots, places, len(p.names), caller, words,
                                   errors.WORDS)
        if status:
            self.check_status(session, status, words)
        done = cl.Event.from_int_ptr(event[0], retain=False)
        for x in everything:
            x.add_event(done)
        errors.raise_held()


def with_strides(x: arrays.Spec) -> arrays.Spec:
    """x, or what the library takes in its place: numpy's empty arrays have strides of 0."""
    return x._replace(strides=arrays.dense(x.shape, x.dtype)) if 0 in x.shape else x
