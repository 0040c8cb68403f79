# caches.py - caches that grow on the device, and partial results
# SPDX-License-Identifier: Apache-2.0
"""Caches of keys and values that grow row by row, and partial results that are merged."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

import numpy as np

from . import arrays, dtypes, options, plan
from ._native import ffi, lib
from .arrays import Spec
from .forward import FLOAT, INT, Forward
from .handle import Handle
from .one_call import attention
from .prepare import Builder, Prepared
from .run import Call

__all__ = ['KVCache', 'merge']

READ, WRITE = lib.CLATTN_PY_READ, lib.CLATTN_PY_WRITE


def kept_plan(call: Call, key: tuple) -> Any:
    """The plan of a call that needs one, made once for a handle."""
    handle = call.handle
    with handle._plans_lock: # pylint: disable=protected-access
        found = handle._plans.get(key) # pylint: disable=protected-access
        if found is None:
            found = handle._plans[key] = plan.create(handle, call.prepared) # pylint: disable=protected-access
        return found


# ---- Append ----

class Append(Forward):
    """A clattn_append_args: q stands for the new rows of K."""

    def fill(self) -> None:
        p, s = self.problem, self.call.sizes
        for name in ('new_k', 'new_v'):
            spec = self.specs[name]
            if spec.dtype != self.specs['q'].dtype:
                raise TypeError('%s is %s: must be %s' % (name, spec.dtype, self.specs['q'].dtype))
            axes = self.axes(spec, name, False)
            if axes[0] != (s.b, s.hk, s.nq):
                raise ValueError('%s has shape %s: must be [%d,%d,%d,width]' % (name, spec.shape, s.b, s.hk, s.nq))
            self.tensor(name, ('append', name), spec, axes, READ, spec.shape[-1])
        for name, axes, width in (('k', self.k_axes, p.d), ('v', self.v_axes, p.dv)):
            q = self.quantised[name]
            self.tensor(name, ('append', name), self.specs[name], axes, READ | WRITE, width, q and q[2:])
        for name in ('k_scale', 'v_scale'):
            if name in self.specs:
                self.tensor4(name, ('append', name), (s.b, s.hk, s.nk, 1), mode=READ | WRITE)
                setattr(p, name[0] + '_group', 0)
                getattr(self.call.append, name).shape[2] = 0 # computed, also where there is one row
        self.array('kv_len', ('append', 'kv_len'), INT, (s.b,), READ | WRITE)
        self.array('dropped', ('append', 'dropped'), INT, (s.b,), READ | WRITE)
        if 'new_len' in self.specs:
            self.array('new_len', ('append', 'new_len'), INT, (s.b,))
        p.flags |= lib.CLATTN_KV_LEN
        if self.o.rotary:
            fill_rotary(self, ('append', 'rotary'))


def fill_rotary(b: Forward, where: Tuple[str, ...]) -> None:
    """A clattn_rotary: tables [positions,width / 2] of cosines and sines."""
    to, shape = b.call, b.specs['cos'].shape
    for part in where:
        to = getattr(to, part)
    if len(shape) != 2 or b.specs['sin'].shape != shape:
        raise ValueError('cos has shape %s and sin %s: must be [positions,width / 2]' % (shape, b.specs['sin'].shape))
    to.positions, to.width = shape[0], 2 * shape[1]
    for name in ('cos', 'sin'):
        b.array(name, (*where, name), FLOAT)


def prepare_append(specs: Dict[str, Spec], o: options.Options) -> Prepared:
    """An append."""
    a = Append(specs, o)
    a.fill()
    return Prepared(a, lib.CLATTN_PY_APPEND)


class Rotary(Forward):
    """A clattn_rotary_args: k and v stand for a cache."""

    def fill(self) -> None:
        q, s = self.specs['q'], self.call.sizes
        out = self.output('out', q.shape, q.dtype)
        self.tensor('q', ('rotary', 'in'), q, self.q_axes, READ, self.problem.d)
        self.tensor('out', ('rotary', 'out'), out, self.axes(out, 'out', False), WRITE, self.problem.d)
        self.array('kv_len', ('rotary', 'kv_len'), INT, (s.b,))
        fill_rotary(self, ('rotary', 'rotary'))


def prepare_rotary(specs: Dict[str, Spec], o: options.Options) -> Prepared:
    """A rotation of Q."""
    r = Rotary(specs, o)
    r.fill()
    return Prepared(r, lib.CLATTN_PY_ROTARY)


class KVCache:
    """Keys and values of sequences that grow: room for `room` rows each, and how many there are.

        cache = clattn.KVCache(batch, heads, room, d)
        cache.append(new_k, new_v)          # [b,hk,n,d]: the prompt, then a row for each token
        o = cache.attention(q)              # causal; q is the last rows of the sequences

    batch, heads, room   sequences, key/value heads, rows
    d, dv    widths of keys and values; dv None: d
    dtype    of the cache; new rows are converted: a type of numpy, or 'int8' (a scale for each row), 'q8_0', 'q4_0'
    rotary   (cos, sin), float32 [positions,width / 2]: new keys, and queries, are turned by their position (half-split
             pairs)
    handle   as for attention(), on numpy arrays

    k, v are the arrays [b,hk,room,width], and kv_len [b] says how many rows are there.
    """

    def __init__(self, batch: int, heads: int, room: int, d: int, dv: Optional[int] = None, *,
                 dtype: Any = np.float32, rotary: Optional[Tuple[Any, Any]] = None,
                 handle: Optional[Handle] = None) -> None:
        self._handle = handle
        self._type = dtype if isinstance(dtype, str) and dtype in dtypes.QUANTISED else None
        if self._type == 'int4':
            raise ValueError("dtype 'int4' is not for caches here: 'int8', 'q8_0' and 'q4_0' are")
        self._dtype = None if self._type else np.dtype(dtype)
        if self._dtype is not None:
            dtypes.storage(self._dtype, 'dtype')
        self.kv_len = np.zeros(batch, INT)
        self.dropped = np.zeros(batch, INT)
        self._scales: Dict[str, np.ndarray] = {}
        self.k, self.v = (self._room((batch, heads, room), width, name) for name, width in
                          (('k', d), ('v', d if dv is None else dv)))
        self._rotary = None if rotary is None else tuple(arrays.small(x, FLOAT, 'rotary') for x in rotary)

    def _room(self, rows: Tuple[int, ...], width: int, name: str) -> np.ndarray:
        if self._type is None:
            return np.zeros(rows + (width,), self._dtype)
        _, dtype, elements, size = dtypes.QUANTISED[self._type]
        if width % elements:
            raise ValueError('rows of %d elements do not fit %s, whose blocks have %d' % (width, self._type, elements))
        if self._type == 'int8':
            self._scales[name + '_scale'] = np.zeros(rows + (1,), FLOAT)
        return np.zeros(rows + (width // elements * size,), dtype)

    def append(self, new_k: Any, new_v: Any, new_len: Any = None) -> None:
        """Writes rows behind those that each sequence has, and counts them.

        new_k [b,hk,n,d]  new_v [b,hk,n,dv]; new_len: int32 [b], how many of the n rows each sequence gets; None: all.
        Raises IndexError where there was no room: `dropped` says how many rows of each sequence were left out.
        """
        given = {'q': new_k, 'new_k': new_k, 'new_v': new_v, 'k': self.k, 'v': self.v, 'kv_len': self.kv_len,
                 'dropped': self.dropped}
        given.update(self._scales)
        if new_len is not None:
            given['new_len'] = arrays.small(new_len, INT, 'new_len')
        self._run(lib.CLATTN_PY_APPEND, given, prepare_append, ('k', 'v', 'kv_len', 'dropped', *self._scales),
                  append=True)
        if self.dropped.any():
            raise IndexError('there was no room for %s rows' % self.dropped.tolist())

    def _run(self, op: int, given: Dict[str, Any], how: Any, written: Tuple[str, ...], **more: Any) -> Call:
        if self._rotary is not None:
            given['cos'], given['sin'] = self._rotary
        o = options.Options(k_type=self._type, v_type=self._type, rotary=self._rotary is not None, **more)
        call = Call(given, self._handle)
        if call.kind != 'numpy':
            raise TypeError('rows are %s arrays: a KVCache is on numpy' % call.kind)
        call.prepare(op, o, how, written)
        call.run(kept_plan(call, (op, call.prepared.problem_key)))
        return call

    def attention(self, q: Any, *, causal: bool = True, **more: Any) -> Any:
        """attention() of q [b,h,n,d] over the rows that are there; the last query is aligned with the last row."""
        if self._rotary is not None:
            raise TypeError('a cache with rotary turns q before the rows are appended: take step()')
        return self._attend(q, causal, more)

    def _attend(self, q: Any, causal: bool, more: Dict[str, Any]) -> Any:
        return attention(q, self.k, self.v, causal=causal, kv_len=self.kv_len, k_type=self._type, v_type=self._type,
                         handle=self._handle, **self._scales, **more)

    def step(self, q: Any, new_k: Any, new_v: Any, **more: Any) -> Any:
        """Turns q and the new rows, where there is rotary, appends them, and returns attention() of q."""
        if self._rotary is not None:
            call = self._run(lib.CLATTN_PY_ROTARY, {'q': q, 'k': self.k, 'v': self.v, 'kv_len': self.kv_len},
                             prepare_rotary, ())
            q = call.made['out']
        self.append(new_k, new_v)
        return self._attend(q, more.pop('causal', True), more)


# ---- Merge ----

class Merge(Builder):
    """A clattn_merge_args: q stands for the parts of O."""

    def fill(self) -> None:
        o, lse = self.specs['q'], self.specs['lse_parts']
        if len(o.shape) != 5 or lse.shape != o.shape[:-1]:
            raise ValueError('o_parts has shape %s and lse_parts %s: must be [parts,b,h,n,d] and [parts,b,h,n]'
                             % (o.shape, lse.shape))
        p, s = self.problem, self.call.sizes
        p.type = dtypes.storage(o.dtype, 'o_parts')
        if p.type not in (lib.CLATTN_F32, lib.CLATTN_F64):
            raise TypeError('o_parts is %s: must be float32 or float64' % o.dtype)
        if lse.dtype != o.dtype:
            raise TypeError('lse_parts is %s: must be %s' % (lse.dtype, o.dtype))
        p.flags |= lib.CLATTN_LSE_F64 if p.type == lib.CLATTN_F64 else 0
        p.d = p.dv = o.shape[-1]
        self.call.merge.parts, s.b, s.h, s.nq, _ = o.shape
        self.contiguous(o, 'q')
        self.contiguous(lse, 'lse_parts')
        self.slot('q', ffi.offsetof('clattn_py_call', 'merge', 'o_parts', 'mem'))
        self.slot('lse_parts', ffi.offsetof('clattn_py_call', 'merge', 'lse_parts', 'mem'))
        for name, shape in (('o', o.shape[1:]), ('lse', lse.shape[1:])):
            self.slot(name, ffi.offsetof('clattn_py_call', 'merge', name, 'mem'), WRITE,
                      spec=self.output(name, shape, o.dtype))


def prepare_merge(specs: Dict[str, Spec], o: options.Options) -> Prepared:
    """A merge."""
    m = Merge(specs, o)
    m.fill()
    return Prepared(m, lib.CLATTN_PY_MERGE)


def merge(o_parts: Any, lse_parts: Any, *, handle: Optional[Handle] = None) -> Tuple[Any, Any]:
    """Joins partial results: of the same queries over disjoint sets of keys.

    o_parts  [parts,b,h,n,d]   lse_parts [parts,b,h,n]   ->   o [b,h,n,d] and lse [b,h,n] of all keys together

    Both float32, or float64. A part that saw nothing (lse -inf) contributes nothing.
    """
    call = Call({'q': o_parts, 'lse_parts': lse_parts}, handle)
    call.prepare(lib.CLATTN_PY_MERGE, options.Options(), prepare_merge, ())
    call.run(kept_plan(call, (lib.CLATTN_PY_MERGE, call.prepared.problem_key)))
    return call.made['o'], call.made['lse']
