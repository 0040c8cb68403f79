# caches.py - caches of keys and values that grow row by row
# SPDX-License-Identifier: Apache-2.0
"""Caches of keys and values that grow row by row, in one piece or on pages, quantised or not."""
from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Tuple

import numpy as np

from . import append, arrays, checks, dtypes, options
from ._native import lib
from .arguments import CacheArguments, Unpack
from .checks import int_in
from .eager import eager
from .forward import FLOAT, INT, ROWS_MAX
from .handle import Handle
from .one_call import begin
from .plan import kept_plan
from .run import Call

__all__ = ['KVCache']

UNFIT = ('layout', 'plan', 'handle') # of attention(), but not of a cache's calls
SCALED = ('int8', 'int4') # with scales in arrays of their own


def storage(dtype: Any, what: str) -> Tuple[Optional[str], np.dtype]:
    """The name of a quantised type, or None, and the type of the array that holds it."""
    if isinstance(dtype, str) and dtype in dtypes.QUANTISED:
        return dtype, dtypes.QUANTISED[dtype][1]
    try:
        found = np.dtype(dtype)
    except TypeError:
        raise TypeError('%s is %r: must be a type of numpy, or %s'
                        % (what, dtype, ', '.join(map(repr, dtypes.QUANTISED)))) from None
    dtypes.storage(found, what)
    return None, found


class KVCache:
    """Keys and values of sequences that grow: room for `room` rows each, and how many there are.

        cache = clattn.KVCache(batch, heads, room, d)
        cache.append(new_k, new_v)          # [b,hk,n,d]: the prompt, then a row for each token
        o = cache.attention(q)              # causal; q is the last rows of the sequences

    batch, heads, room   sequences, key/value heads, rows. Pages are whole: `page` rounds room up to a multiple of it
    d, dv    widths of keys and values; dv None: d
    dtype, v_dtype   of keys and of values; v_dtype None: as dtype. New rows are converted. A type of numpy that Q may
             have, or 'int8', 'int4' (d even), 'q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1' (d a multiple of 32)
    group    int8 and int4: elements of a row that share a scale, 1 or a multiple of 16; None: all of the row
    zero     int8 and int4: True: zero points beside the scales
    page     rows of a page: keys and values lie on pages, wherever block_table says; None: in one piece
    pages    how many there are; None: as many as all sequences have room for
    block_table   int32 [b,ceil(room / page)]: page numbers of each sequence, -1 for none yet; None: one sequence behind
             the other. It is copied, from pyopencl arrays too: later changes are made in the cache's own. Sequences may
             share pages that none of them appends to
    rotary   (cos, sin), float32 [positions,width / 2]: new keys, and queries, are turned by their position
    interleaved   pairs that are turned are elements 2 i and 2 i + 1, not i and i + width / 2
    queue    a pyopencl.CommandQueue: the cache is made of pyopencl arrays there, and so are rows and results
    handle   as for attention()

    Arrays of the cache, which the caller may read and, between calls, change:
    k, v     [b,hk,room,width], on pages [pages,page,hk,width]. Width is d or dv elements; int4 has d / 2 bytes, q8_0
             34 d / 32, q4_0 18 d / 32, q4_1 20 d / 32, q5_0 22 d / 32, q5_1 24 d / 32, as clattn.h has them
    scales   {'k_scale': .., 'v_scale': .., 'k_zero': .., 'v_zero': ..} of int8 and int4, float32: groups in place of
             elements. An element x stands for x * scale, with zero points for (x - zero) * scale
    kv_len   int32 [b]: the rows that are there; 0 starts a sequence anew
    dropped  int32 [b]: rows that the last append() had no room for
    block_table   as above; None without pages
    """

    def __init__(self, batch: int, heads: int, room: int, d: int, dv: Optional[int] = None, *,
                 dtype: Any = np.float32, v_dtype: Any = None, group: Optional[int] = None, zero: bool = False,
                 page: Optional[int] = None, pages: Optional[int] = None, block_table: Any = None,
                 rotary: Optional[Tuple[Any, Any]] = None, interleaved: bool = False, queue: Any = None,
                 handle: Optional[Handle] = None) -> None:
        if handle is not None and not isinstance(handle, Handle):
            raise TypeError('handle is %s: must be a clattn.Handle' % checks.kind(handle))
        if queue is not None and not hasattr(queue, 'int_ptr'):
            raise TypeError('queue is %s: must be a pyopencl.CommandQueue' % checks.kind(queue))
        self._handle, self._queue = handle, queue
        self._b, self._heads = int_in(batch, 1, ROWS_MAX, 'batch'), int_in(heads, 1, ROWS_MAX, 'heads')
        self._room, self._page = int_in(room, 1, ROWS_MAX, 'room'), page
        self.block_table, self._pages = self._table(pages, block_table)
        self.scales: Dict[str, Any] = {}
        self._options: Dict[str, Any] = {}
        v_dtype, dv = dtype if v_dtype is None else v_dtype, d if dv is None else dv
        zero = checks.flag(zero, 'zero')
        scaled = [self._add('k', 'dtype', dtype, d, group, zero), self._add('v', 'v_dtype', v_dtype, dv, group, zero)]
        if not any(scaled) and (group is not None or zero):
            raise ValueError("group and zero are of 'int8' and 'int4'")
        self.kv_len, self.dropped = (self._place(np.zeros(self._b, INT)) for _ in range(2))
        self._rotary = None if rotary is None else self._tables(rotary)
        self._interleaved = checks.flag(interleaved, 'interleaved')
        if self._interleaved and rotary is None:
            raise ValueError('interleaved is given, which needs rotary')

    # ---- What it is made of ----

    def _place(self, x: np.ndarray) -> Any:
        if self._queue is None:
            return x
        import pyopencl.array as cla # pylint: disable=import-outside-toplevel
        return cla.to_device(self._queue, x)

    @staticmethod
    def _tables(rotary: Any) -> Tuple[Any, ...]:
        """Cosines and sines."""
        if not isinstance(rotary, (tuple, list)) or len(rotary) != 2:
            raise TypeError('rotary is %s: must be (cos, sin)' % checks.kind(rotary))
        return tuple(arrays.small(x, FLOAT, 'rotary') for x in rotary)

    def _table(self, pages: Optional[int], table: Any) -> Tuple[Any, int]:
        """The block table, and the number of pages."""
        if self._page is None:
            if pages is not None or table is not None:
                raise ValueError('pages and block_table need page, the rows of a page')
            return None, 0
        n = -(-self._room // int_in(self._page, 1, ROWS_MAX, 'page'))
        count = self._b * n if pages is None else int_in(pages, 1, ROWS_MAX, 'pages')
        if table is None:
            if count < self._b * n:
                raise ValueError('%d pages are given, and room for %d rows needs %d: give a block_table'
                                 % (count, self._room, self._b * n))
            table = np.arange(self._b * n, dtype=INT).reshape(self._b, n)
        elif hasattr(table, 'base_data'): # an array of pyopencl
            table = table.get()
        table = np.array(arrays.small(table, INT, 'block_table'), order='C')
        if table.shape != (self._b, n):
            raise ValueError('block_table has shape %s: must be %s' % (table.shape, (self._b, n)))
        return self._place(table), count

    def _add(self, name: str, what: str, dtype: Any, width: int, group: Optional[int], zero: bool) -> bool:
        """Makes k or v, and its scales, which int8 and int4 have."""
        quantised, held = storage(dtype, what)
        _, _, elements, size = dtypes.QUANTISED[quantised] if quantised else (0, held, 1, 1)
        if int_in(width, 1, ROWS_MAX, 'd' if name == 'k' else 'dv') % elements:
            raise ValueError('rows of %d elements do not fit %s, whose blocks have %d' % (width, quantised, elements))
        rows = (self._b, self._heads, self._room) if self._page is None else (self._pages, self._page, self._heads)
        setattr(self, name, self._place(np.zeros(rows + (width // elements * size,), held)))
        self._options[name + '_type'] = quantised
        if quantised not in SCALED:
            return False
        groups = 1 if group is None else -(-width // int_in(group, 1, width, 'group'))
        if group is not None and group > 1 and group % 16:
            raise ValueError('group is %d: must be 1 or a multiple of 16' % group)
        self._options[name + '_group'] = group or 0
        for of in ('_scale', '_zero')[:1 + bool(zero)]:
            self.scales[name + of] = self._place(np.zeros(rows + (groups,), FLOAT))
        return True

    # ---- What is done with it ----

    @eager
    def append(self, new_k: Any, new_v: Any, new_len: Any = None) -> None:
        """Writes rows behind those that each sequence has, and counts them.

        new_k [b,hk,n,d]  new_v [b,hk,n,dv]; new_len: int32 [b], how many of the n rows each sequence gets; None: all.
        Raises IndexError where there was no room, or no page: `dropped` says how many rows of each sequence were left
        out. On a queue of pyopencl nothing is waited for: the caller reads `dropped`.
        """
        given = {'new_k': new_k, 'new_v': new_v, 'q': new_k, 'dropped': self.dropped, **self.scales}
        if new_len is not None:
            given['new_len'] = arrays.small(new_len, INT, 'new_len')
        self._run(lib.CLATTN_PY_APPEND, given, append.prepare_append, ('k', 'v', 'kv_len', 'dropped', *self.scales),
                  append=True)
        if self._queue is None and self.dropped.any():
            raise IndexError('there was no room for %s rows' % self.dropped.tolist())

    def _run(self, op: int, given: Dict[str, Any], how: Any, written: Tuple[str, ...], **more: Any) -> Call:
        given.update(k=self.k, v=self.v, kv_len=self.kv_len)
        if self.block_table is not None:
            given['block_table'] = self.block_table
        if self._rotary is not None:
            given['cos'], given['sin'] = self._rotary
        wanted = 'numpy' if self._queue is None else 'pyopencl'
        kind = arrays.kind_of(given['q'], 'new_k' if 'new_k' in given else 'q')
        if kind != wanted:
            raise TypeError('rows are %s arrays: this KVCache is on %s' % (kind, wanted))
        o = options.Options(rotary=self._rotary is not None, interleaved=self._interleaved, **self._options, **more)
        call = Call(given, self._handle)
        call.prepare(op, o, how, written)
        call.run(kept_plan(call, (op, call.prepared.problem_key)))
        return call

    @eager
    def attention(self, q: Any, *, causal: bool = True, **more: Unpack[CacheArguments]) -> Any:
        """attention() of q [b,h,n,d] over the rows that are there; the last query is aligned with the last row."""
        if self._rotary is not None:
            raise TypeError('a cache with rotary turns q before the rows are appended: take step()')
        return self._begin(q, causal, more)[1]()

    def _begin(self, q: Any, causal: bool, more: Mapping[str, Any]) -> Tuple[Call, Callable[[], Any]]:
        mine = {'kv_len': self.kv_len, 'block_table': self.block_table, **self.scales, **self._options}
        for name in more:
            if name in mine or name in UNFIT:
                raise TypeError('%s is not for calls of a KVCache' % name)
        return begin(q, self.k, self.v, causal=causal, handle=self._handle, **mine, **more)

    @eager
    def step(self, q: Any, new_k: Any, new_v: Any, *, causal: bool = True, **more: Unpack[CacheArguments]) -> Any:
        """Turns q and the new rows, where there is rotary, appends them, and returns attention() of q.

        Arguments that do not fit raise before anything is appended; a score_mod that does not compile raises behind.
        """
        if self._rotary is not None:
            call = self._run(lib.CLATTN_PY_ROTARY, {'q': q}, append.prepare_rotary, ())
            q = call.made['out']
        call, end = self._begin(q, causal, more)
        call.check()
        self.append(new_k, new_v)
        return end()
