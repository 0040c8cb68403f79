# arrays.py - arrays of numpy and pyopencl as the library sees them
# SPDX-License-Identifier: Apache-2.0
"""Arrays as the library sees them: an address, a type, a shape, strides.

A view of an array is (where, offset, key): an address of the host or a cl_mem, bytes from there to the first element,
and key = (kind, dtype, shape, strides), with `odd` behind where the first byte is not where an item begins. Calls whose
arrays have the same keys differ in addresses only, so what was prepared for one of them serves all.
"""
from __future__ import annotations

import sys
from typing import Any, Callable, Dict, NamedTuple, Tuple

import numpy as np

from . import checks

HOST, DEVICE = 0, 1
BLOCKS = 306 # bytes: a multiple of every block of quantised storage


class Kind(NamedTuple):
    """What is done with arrays of one kind."""

    view: Callable[[Any, str], tuple] # the array, and what the caller calls it
    spec: Callable[[tuple, str], 'Spec']
    empty: Callable[[Tuple[int, ...], np.dtype, Any, bool], Any] # shape, dtype, an array like it, zeros
    contiguous: Callable[[Any], Any] # a copy, always
    memory: int # HOST or DEVICE


class Spec(NamedTuple):
    """A key in numpy's terms; strides are bytes."""

    dtype: np.dtype
    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    memory: int
    odd: int = 0 # what is left when the place of the first byte is divided by an item, or by the blocks of bytes

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
        step = step * max(n, 1) # never in place: an n that is no int may share its memory with what is in the list
    return tuple(reversed(strides))


# ---- numpy ----

def _numpy_view(x, _):
    at, key = x.__array_interface__['data'][0], ('numpy', x.dtype, x.shape, x.strides)
    odd = at % (x.dtype.itemsize or 1)
    return at, 0, key + (odd,) if odd else key


def _numpy_spec(key, what):
    dtype = key[1]
    if not dtype.isnative:
        raise TypeError('%s is %s: the order of bytes must be that of the machine' % (what, dtype.str))
    return Spec(dtype, key[2], key[3], HOST, *key[4:])


def _numpy_empty(shape, dtype, _, zeros):
    return np.zeros(shape, dtype) if zeros else np.empty(shape, dtype)


# ---- pyopencl ----

def _opencl_view(x, what):
    data = x.base_data
    if data is not None and not hasattr(data, 'int_ptr'):
        raise TypeError('%s is in shared virtual memory, which is not supported: take a buffer' % what)
    key = ('pyopencl', x.dtype, x.shape, x.strides)
    odd = x.offset % (x.dtype.itemsize if x.dtype.itemsize > 1 else BLOCKS)
    return 0 if data is None else data.int_ptr, x.offset, key + (odd,) if odd else key


def _opencl_empty(shape, dtype, like, zeros):
    import pyopencl.array as cla # pylint: disable=import-outside-toplevel
    make = cla.zeros if zeros else cla.empty
    return make(like.queue, shape, dtype, allocator=like.allocator)


KINDS: Dict[str, Kind] = {
    'numpy': Kind(_numpy_view, _numpy_spec, _numpy_empty, lambda x: np.array(x, order='C'), HOST),
    'pyopencl': Kind(_opencl_view, lambda key, what: Spec(key[1], key[2], key[3], DEVICE, *key[4:]), _opencl_empty,
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
    what = what.replace('aux:', 'aux ')
    if isinstance(x, np.ma.MaskedArray):
        raise TypeError('%s is a masked array of numpy, whose mask would not count: give its data, and mask= for scores'
                        % what)
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
        raise TypeError('%s is %s, not an array of numpy or pyopencl%s' % (what, checks.kind(x), hint))
    _KIND_OF[type(x)] = kind
    return kind


def small(x: Any, dtype: Any, what: str) -> Any:
    """An array that goes with a call, such as lengths: of the type that the library reads, where it is of the host."""
    if hasattr(x, 'base_data') and kind_of(x, what) == 'pyopencl':
        return x
    wanted = np.dtype(dtype)
    a = of_host(x, what, wanted)
    if a.dtype == wanted:
        return a
    if a.dtype.kind not in ('iu' if wanted.kind == 'i' else 'fiu' if a.dtype.name != 'bfloat16' else 'V'):
        shown = str(a.dtype) if hasattr(x, 'dtype') or a.dtype.kind in 'fcb' else checks.kind(x)
        raise TypeError('%s is %s: must be %s' % (what, shown, wanted))
    if wanted.kind == 'i' and a.size and (a.min() < -2**31 or a.max() >= 2**31):
        raise ValueError('%s is beyond what %s holds' % (what, wanted))
    return a.astype(wanted)


def of_host(x: Any, what: str, wanted: np.dtype) -> np.ndarray:
    """An array of numpy, of what may also be a list or a tensor."""
    if isinstance(x, np.ma.MaskedArray) or isinstance(x, np.ndarray) and type(x) is not np.ndarray:
        kind_of(x, what)
    if hasattr(x, 'detach') and 'torch' in sys.modules: # a tensor
        return _of_tensor(x, what)
    try:
        return np.asarray(x)
    except ValueError: # lists of different lengths
        raise TypeError('%s is %s that is no array: must be %s' % (what, checks.kind(x), wanted)) from None


def _of_tensor(x: Any, what: str) -> np.ndarray:
    from . import torch # pylint: disable=import-outside-toplevel,cyclic-import
    return torch.to_numpy(x, what)
