# arrays.py - arrays of numpy and pyopencl as the library sees them
# SPDX-License-Identifier: Apache-2.0
"""Arrays as the library sees them: an address, a type, a shape, strides.

A view of an array is (where, offset, key): an address of the host or a cl_mem, bytes from there to the first element,
and key = (kind, dtype, shape, strides). Calls whose arrays have the same keys differ in addresses only, so what was
prepared for one of them serves all.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np

HOST, DEVICE = 0, 1


class Kind(NamedTuple):
    """What is done with arrays of one kind."""

    view: Callable[[Any], tuple]
    spec: Callable[[tuple, str], 'Spec']
    empty: Callable[[Tuple[int, ...], np.dtype, Any, bool], Any] # shape, dtype, an array like it, zeros
    contiguous: Callable[[Any], Any]
    memory: int # HOST or DEVICE


class Spec(NamedTuple):
    """A key in numpy's terms; strides are bytes."""

    dtype: np.dtype
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    memory: int

    def bytes(self) -> int:
        """From the first element to the end of the last."""
        if 0 in self.shape:
            return 0
        return sum((n - 1) * s for n, s in zip(self.shape, self.strides)) + self.dtype.itemsize


def dense(shape: Tuple[int, ...], dtype: np.dtype) -> Tuple[int, ...]:
    """Strides of a contiguous array; none is 0, even where there is no element."""
    strides, step = [], dtype.itemsize
    for n in reversed(shape):
        strides.append(step)
        step *= max(n, 1)
    return tuple(reversed(strides))


# ---- numpy ----

def _numpy_view(x):
    return x.__array_interface__['data'][0], 0, ('numpy', x.dtype, x.shape, x.strides)


def _numpy_spec(key, what):
    dtype = key[1]
    if not dtype.isnative:
        raise TypeError('%s is %s: the order of bytes must be that of the machine' % (what, dtype.str))
    return Spec(dtype, key[2], key[3], HOST)


def _numpy_empty(shape, dtype, _, zeros):
    return np.zeros(shape, dtype) if zeros else np.empty(shape, dtype)


# ---- pyopencl ----

def _opencl_view(x):
    data = x.base_data
    if data is not None and not hasattr(data, 'int_ptr'):
        raise TypeError('arrays in shared virtual memory are not supported: take a buffer')
    return 0 if data is None else data.int_ptr, x.offset, ('pyopencl', x.dtype, x.shape, x.strides)


def _opencl_empty(shape, dtype, like, zeros):
    import pyopencl.array as cla # pylint: disable=import-outside-toplevel
    make = cla.zeros if zeros else cla.empty
    return make(like.queue, shape, dtype, allocator=like.allocator)


KINDS: Dict[str, Kind] = {
    'numpy': Kind(_numpy_view, _numpy_spec, _numpy_empty, np.ascontiguousarray, HOST),
    'pyopencl': Kind(_opencl_view, lambda key, what: Spec(key[1], key[2], key[3], DEVICE), _opencl_empty,
                     lambda x: x.copy(), DEVICE),
}
_KIND_OF: Dict[type, str] = {np.ndarray: 'numpy'}


def register(kind: str, functions: Kind) -> None:
    """Adds a kind of arrays; kind_of() finds it by the name of their module."""
    KINDS[kind] = functions


def kind_of(x: Any, what: str) -> str:
    """The name of the kind of an array."""
    kind = _KIND_OF.get(type(x))
    if kind is not None:
        return kind
    if isinstance(x, np.ndarray):
        kind = 'numpy'
    else:
        for cls in type(x).__mro__:
            module = cls.__module__.split('.')[0]
            if (module, cls.__name__) == ('pyopencl', 'Array'):
                kind = 'pyopencl'
            elif (module, cls.__name__) == ('torch', 'Tensor') and 'torch' in KINDS:
                kind = 'torch'
    if kind is None:
        hint = ': import clattn.torch for tensors' if type(x).__module__.split('.')[0] == 'torch' else ''
        raise TypeError('%s is a %s, not an array of numpy or pyopencl%s' % (what, type(x).__name__, hint))
    _KIND_OF[type(x)] = kind
    return kind


def small(x: Any, dtype: Any, what: str) -> Any:
    """An array that goes with a call, such as lengths: of the type that the library reads, where it is of the host."""
    if type(x) in _KIND_OF and _KIND_OF[type(x)] == 'pyopencl' or hasattr(x, 'base_data'):
        return x
    if hasattr(x, 'detach'): # a tensor
        x = x.detach().numpy()
    a = np.asarray(x)
    wanted = np.dtype(dtype)
    if a.dtype == wanted:
        return a
    if a.dtype.kind not in ('iu' if wanted.kind == 'i' else 'fiu' if a.dtype.name != 'bfloat16' else 'V'):
        raise TypeError('%s is %s: must be %s' % (what, a.dtype, wanted))
    if wanted.kind == 'i' and a.size and (a.min() < -2**31 or a.max() >= 2**31):
        raise ValueError('%s is beyond what %s holds' % (what, wanted))
    return a.astype(wanted)
