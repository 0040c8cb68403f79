# prepare.py - arguments of the library, written once for all calls that differ in addresses only
# SPDX-License-Identifier: Apache-2.0
"""Arguments of the library, written once for all calls that differ in addresses only."""
from __future__ import annotations

import struct
from typing import Any, Dict, List, Optional, Sequence, Tuple

import numpy as np

from . import options
from ._native import ffi, lib
from .arrays import DEVICE, Spec, dense

SIZE_T = ffi.sizeof('size_t')


class NeedsCopy(Exception):
    """Strides of an array are none that the library takes."""

    def __init__(self, name: str) -> None:
        self.name = name
        super().__init__(name)


def elements(spec: Spec, name: str) -> Tuple[int, ...]:
    """Strides in elements. An axis of one element never steps."""
    size = spec.dtype.itemsize
    steps = tuple(s if n > 1 else 0 for n, s in zip(spec.shape, spec.strides))
    if any(s < 0 or s % size for s in steps):
        raise NeedsCopy(name)
    return tuple(s // size for s in steps)


class Output:
    """An array that a call makes: what it is like, and how large."""

    __slots__ = ('name', 'shape', 'dtype', 'zeros')

    def __init__(self, name: str, shape: Sequence[int], dtype: np.dtype, zeros: bool = False) -> None:
        self.name, self.shape, self.dtype, self.zeros = name, tuple(shape), dtype, zeros

    def spec(self, memory: int) -> Spec:
        return Spec(self.dtype, self.shape, dense(self.shape, self.dtype), memory)


class Prepared:
    """A call but for its addresses."""

    __slots__ = ('op', 'call', 'slots', 'names', 'outputs', 'pack', 'units', 'keep', 'problem_key')

    def __init__(self, builder: 'Builder', op: int) -> None:
        self.op = op
        self.call = builder.call
        self.names = tuple(name for name, _, _, _ in builder.slots)
        self.units = tuple(unit for _, _, _, unit in builder.slots)
        self.slots = ffi.new('clattn_py_slot[]', max(1, len(builder.slots)))
        for to, (_, at, (size, mode), _) in zip(self.slots, builder.slots):
            to.at, to.bytes, to.mode = at, size, mode
        self.outputs = tuple(builder.outputs)
        self.pack = struct.Struct('=%dQ' % (2 * len(builder.slots))).pack
        self.keep = builder.keep
        self.problem_key = builder.problem_key()

    def problem(self) -> Any:
        """The clattn_problem, with sizes."""
        problem = ffi.new('clattn_problem *', self.call.problem)
        problem.sizes = self.call.sizes
        return problem


class Builder:
    """Fills in a clattn_py_call from the specs of arrays and options."""

    def __init__(self, specs: Dict[str, Spec], o: options.Options) -> None:
        options.check(o, specs)
        self.specs, self.o = specs, o
        self.call = ffi.new('clattn_py_call *')
        self.problem = self.call.problem
        self.keep: List[Any] = []     # what the call points to
        self.slots: List[tuple] = []  # (name, at, (bytes, mode), unit)
        self.outputs: List[Output] = []
        self.memory = specs['q'].memory
        for name in ('problem', 'forward', 'scores', 'backward', 'append', 'rotary', 'merge'):
            part = getattr(self.call, name)
            part.struct_size = ffi.sizeof(ffi.typeof(part))

    # ---- Operands ----

    def slot(self, name: str, at: int, mode: int = lib.CLATTN_PY_READ, unit: Optional[Tuple[int, int]] = None,
             spec: Optional[Spec] = None) -> None:
        """Says where the buffer of an array goes. unit: (elements, bytes) of what its offset counts."""
        spec = self.specs[name] if spec is None else spec
        unit = unit or (1, spec.dtype.itemsize)
        if spec.odd % (unit[1] if spec.memory == DEVICE else spec.dtype.itemsize):
            raise NeedsCopy(name)
        if spec.memory == DEVICE:
            if self.memory != DEVICE:
                raise TypeError('%s is on a device, q is not' % options.shown(name))
            mode = lib.CLATTN_PY_DEVICE
        elif self.memory == DEVICE:
            if mode & lib.CLATTN_PY_WRITE:
                raise TypeError('%s is written, and must be on the device as q is' % options.shown(name))
            mode |= lib.CLATTN_PY_COPY
        self.slots.append((name, at, (spec.bytes(), mode), unit))

    def output(self, name: str, shape: Sequence[int], dtype: np.dtype, zeros: bool = False) -> Spec:
        """An array that is written: the caller's, or one that the call makes."""
        given = self.specs.get(name)
        if given is None:
            made = Output(name, shape, dtype, zeros)
            self.outputs.append(made)
            return made.spec(self.memory)
        if given.dtype != dtype:
            raise TypeError('%s is %s: must be %s' % (name, given.dtype, dtype))
        if given.shape != tuple(shape):
            raise ValueError('%s has shape %s: must be %s' % (name, given.shape, tuple(shape)))
        return given

    # ---- Rows: Q, K, V, O and what is like them ----

    def axes(self, spec: Spec, name: str, varlen: bool, width: int = 1) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
        """Extents and strides of the axes b, h and n of rows; of [b,h,n,width], [b,n,h,width] or [total,h,width]."""
        shape, steps = spec.shape, elements(spec, name)
        if width:
            if len(shape) < 2 or (steps[-1] != 1 and shape[-1] > 1):
                raise NeedsCopy(name)
            shape, steps = shape[:-1], steps[:-1]
        if varlen:
            return (1, shape[1], shape[0]), (0, steps[1], steps[0])
        lead = 3 - len(shape)
        shape, steps = (1,) * lead + shape, (0,) * lead + steps
        if self.o.layout == 'bnhd' and width:
            return (shape[0], shape[2], shape[1]), (steps[0], steps[2], steps[1])
        return shape, steps

    def tensor(self, name: str, where: Tuple[str, ...], spec: Spec, axes: tuple, mode: int, width: int,
               unit: Optional[Tuple[int, int]] = None) -> None:
        """A clattn_tensor; `unit` is (elements, bytes) of a block of quantised storage."""
        at = ffi.offsetof('clattn_py_call', *where, 'mem')
        to = self.call
        for part in where:
            to = getattr(to, part)
        extents, steps = axes
        per, size = unit or (1, spec.dtype.itemsize)
        steps = list(steps)
        if unit: # bytes, until here
            if any(s % size for s in steps):
                raise NeedsCopy(name)
            steps = [s // size * per for s in steps]
        if not any(steps): # which would stand for contiguous
            one = [i for i in range(3) if extents[i] == 1]
            if not one and 0 not in extents:
                raise NeedsCopy(name)
            if one:
                steps[one[-1]] = width
        for i in range(3):
            to.stride[i] = steps[i]
        self.slot(name, at, mode, (per, size), spec)

    def array(self, name: str, where: Tuple[str, ...], dtype: Any, shape: Optional[tuple] = None,
              mode: int = lib.CLATTN_PY_READ) -> None:
        """A clattn_array of numbers in a row."""
        spec = self.specs[name]
        if spec.dtype != np.dtype(dtype):
            raise TypeError('%s is %s: must be %s' % (options.shown(name), spec.dtype, np.dtype(dtype)))
        if shape is not None and spec.shape != shape:
            raise ValueError('%s has shape %s: must be %s' % (options.shown(name), spec.shape, shape))
        self.contiguous(spec, name)
        self.slot(name, ffi.offsetof('clattn_py_call', *where, 'mem'), mode)

    @staticmethod
    def contiguous(spec: Spec, name: str) -> None:
        """Raises NeedsCopy unless elements lie in a row."""
        wanted = dense(spec.shape, spec.dtype)
        if any(n > 1 and s != w for n, s, w in zip(spec.shape, spec.strides, wanted)):
            raise NeedsCopy(name)

    def tensor4(self, name: str, where: Tuple[str, ...], extents: Sequence[Optional[int]],
                order: Sequence[int] = (0, 1, 2, 3), mode: int = lib.CLATTN_PY_READ,
                spec: Optional[Spec] = None) -> None:
        """A clattn_tensor4 of an array that is broadcast, aligned at the last axis. order: which axis of the array is
        each of the library's; an extent of None is any."""
        spec = self.specs[name] if spec is None else spec
        steps = elements(spec, name)
        lead = 4 - len(spec.shape)
        if lead < 0:
            raise ValueError('%s has %d axes, at most 4' % (name, len(spec.shape)))
        shape, steps = (1,) * lead + spec.shape, (0,) * lead + steps
        to = self.call
        for part in where:
            to = getattr(to, part)
        for i, axis in enumerate(order):
            if extents[i] is not None and shape[axis] not in (1, extents[i]):
                raise ValueError('%s has shape %s: axis %d must be 1 or %d'
                                 % (name, spec.shape, axis - lead, extents[i]))
            to.shape[i] = shape[axis]
            to.stride[i] = steps[axis]
        if not any(steps) and any(n > 1 for n in shape):
            raise NeedsCopy(name)
        self.slot(name, ffi.offsetof('clattn_py_call', *where, 'mem'), mode, spec=spec)

    def problem_key(self) -> tuple:
        """What a plan fixes: all of a problem but its sizes, and whether it may write scores, as the library says."""
        p, o = self.problem, self.o
        flags = p.flags & ~lib.CLATTN_SCORES
        return (p.type, p.k_type, p.v_type, p.d, p.dv, p.causal, p.align, flags, p.scale, p.softcap, p.window_left,
                p.window_right, p.bias_type, p.o_type, p.k_group, p.v_group, bool(p.page), p.splits, p.dropout_p,
                o.score_mod, o.mod_vector, o.score_mod_grad, o.aux_names, p.aux_grads,
                tuple(p.aux[i].type for i in range(p.n_aux)))
