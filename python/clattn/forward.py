# forward.py - the problem and the arguments of a forward call
# SPDX-License-Identifier: Apache-2.0
"""The problem and the arguments of a forward call, from shapes and options."""
from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np

from . import dtypes, options
from ._native import ffi, lib
from .arrays import Spec
from .checks import WHOLE_MAX, int_in
from .prepare import NeedsCopy, Prepared
from .scales import Scales

ROWS_MAX = WHOLE_MAX
FLOAT, INT, BYTE = np.dtype(np.float32), np.dtype(np.int32), np.dtype(np.uint8)
LISTS = (('q_len', lib.CLATTN_Q_LEN, 0), ('kv_len', lib.CLATTN_KV_LEN, 0), ('kv_start', lib.CLATTN_KV_START, 0),
         ('offsets', 0, 0), ('cu_q', lib.CLATTN_CU_Q, 1), ('cu_k', lib.CLATTN_CU_K, 1))


class Forward(Scales):
    """A clattn_problem and a clattn_forward_args."""

    def __init__(self, specs: Dict[str, Spec], o: options.Options) -> None:
        super().__init__(specs, o)
        self.varlen_q, self.varlen_k, self.paged = 'cu_q' in specs, 'cu_k' in specs, 'block_table' in specs
        self.quantised: Dict[str, Optional[Tuple[int, np.dtype, int, int]]] = {}
        self.fill_types()
        self.fill_sizes()
        self.fill_numbers()
        self.fill_mods()

    # ---- Types and sizes ----

    def fill_types(self) -> None:
        p, q = self.problem, self.specs['q']
        p.type = dtypes.storage(q.dtype, 'q')
        for name in 'kv':
            dtype, chosen = self.specs[name].dtype, getattr(self.o, name + '_type')
            chosen = chosen or ('int8' if dtype == np.int8 else None)
            self.quantised[name] = dtypes.QUANTISED[chosen] if chosen else None
            if chosen and dtype != dtypes.QUANTISED[chosen][1]:
                raise TypeError('%s is %s: in %s it must be %s' % (name, dtype, chosen, dtypes.QUANTISED[chosen][1]))
            setattr(p, name + '_type', dtypes.QUANTISED[chosen][0] if chosen else dtypes.storage(dtype, name))
        p.o_type = dtypes.NAMES[self.o.out_dtype] if self.o.out_dtype else p.type
        p.flags |= lib.CLATTN_LSE_F64 if p.type == lib.CLATTN_F64 else 0
        self.lse_dtype = np.dtype(np.float64) if p.type == lib.CLATTN_F64 else FLOAT
        self.o_dtype = next(dtype for dtype, code in dtypes.STORAGE.items() if code == p.o_type) \
            if p.o_type in dtypes.STORAGE.values() else None
        if self.o_dtype is None:
            raise TypeError('out_dtype bf16 needs ml_dtypes')

    def width_of(self, name: str) -> int:
        """Elements of a row of K or V."""
        last, q = self.specs[name].shape[-1], self.quantised[name]
        if not q:
            return last
        if last % q[3]:
            raise ValueError('%s has rows of %d bytes, no multiple of %d' % (name, last, q[3]))
        return last // q[3] * q[2]

    def rank(self, name: str, n: int, words: str, least: Optional[int] = None) -> None:
        shape = self.specs[name].shape
        if not (least or n) <= len(shape) <= n:
            raise ValueError('%s has shape %s: must be %s' % (name, shape, words))

    def check_ranks(self) -> None:
        dense = '[b,h,n,d], or without leading axes' if self.o.layout == 'bhnd' else '[b,n,h,d]'
        least = 2 if self.o.layout == 'bhnd' else 4
        if self.varlen_q:
            self.rank('q', 3, '[total,h,d], as cu_seqlens_q is given')
        else:
            self.rank('q', 4, dense, least)
        for name in 'kv':
            if self.varlen_k:
                self.rank(name, 3, '[total,h,d], as cu_seqlens_k is given')
            elif self.paged:
                self.rank(name, 4, '[pages,page,h,d], as block_table is given')
            else:
                self.rank(name, 4, dense, least)

    def rows(self, name: str) -> tuple:
        """Extents and strides of K and V; strides of quantised ones in bytes."""
        spec = self.specs[name]
        if self.paged: # [pages,page,hk,d] as page, hk, row
            (pages, heads, slots), (sp, sh, sr) = self.axes_of_pages(spec, name)
            return (pages, heads, slots), (sp, sh, sr)
        return self.axes(spec, name, self.varlen_k)

    def axes_of_pages(self, spec: Spec, name: str) -> tuple:
        layout, self.o = self.o.layout, self.o._replace(layout='bnhd')
        try:
            return self.axes(spec, name, False)
        finally:
            self.o = self.o._replace(layout=layout)

    def fill_sizes(self) -> None:
        self.check_ranks()
        q = self.specs['q']
        p, s = self.problem, self.call.sizes
        self.q_axes, self.k_axes, self.v_axes = self.axes(q, 'q', self.varlen_q), self.rows('k'), self.rows('v')
        p.d, p.dv = q.shape[-1], self.width_of('v')
        for name, width in (('q', p.d), ('v', p.dv)):
            if not width:
                raise ValueError('%s has shape %s: its rows have no elements' % (name, self.specs[name].shape))
        if self.width_of('k') != p.d:
            raise ValueError('rows of k have %d elements, those of q %d' % (self.width_of('k'), p.d))
        if self.k_axes[0][1:] != self.v_axes[0][1:] or (self.paged and self.k_axes[0] != self.v_axes[0]):
            raise ValueError('k has shape %s and v %s: they must agree but for the last axis'
                             % (self.specs['k'].shape, self.specs['v'].shape))
        self.fill_counts(s)
        for name, heads in (('q', s.h), ('k', s.hk)):
            if not heads:
                raise ValueError('%s has shape %s: it has no heads' % (name, self.specs[name].shape))
        if s.h % s.hk:
            raise ValueError('q has %d heads and k %d: the first must be a multiple of the second' % (s.h, s.hk))
        if self.o.offset is not None:
            s.offset = self.o.offset

    def batch(self) -> int:
        for name in ('cu_q', 'cu_k'):
            if name in self.specs:
                if len(self.specs[name].shape) != 1 or not self.specs[name].shape[0]:
                    raise ValueError('%s has shape %s: must be [b+1]' % (options.shown(name), self.specs[name].shape))
                return self.specs[name].shape[0] - 1
        return self.q_axes[0][0]

    def fill_counts(self, s) -> None:
        (_, s.h, nq), (kb, s.hk, nk) = self.q_axes[0], self.k_axes[0]
        both = (kb, self.v_axes[0][0])
        s.b = self.batch()
        if self.varlen_q:
            s.total_q, nq = nq, nq if self.o.max_seqlen_q is None else self.o.max_seqlen_q
        elif self.q_axes[0][0] != s.b:
            raise ValueError('q has %d entries: must be %d' % (self.q_axes[0][0], s.b))
        if self.varlen_k:
            s.total_k, nk = nk, nk if self.o.max_seqlen_k is None else self.o.max_seqlen_k
        elif self.paged:
            table = self.specs['block_table'].shape
            if len(table) != 2 or table[0] != s.b:
                raise ValueError('block_table has shape %s: must be [%d,n]' % (table, s.b))
            if not nk:
                raise ValueError('k has shape %s: its pages have no rows' % (self.specs['k'].shape,))
            self.problem.page, self.pages = nk, kb
            nk *= table[1]
        elif any(n not in (1, s.b) for n in both):
            raise ValueError('k and v have %d and %d entries: must be 1 or %d' % (*both, s.b))
        s.nq, s.nk = int_in(nq, 0, ROWS_MAX, 'rows of queries'), int_in(nk, 0, ROWS_MAX, 'rows of keys')

    # ---- Numbers and texts ----

    def fill_numbers(self) -> None:
        p, o = self.problem, self.o
        p.causal = o.causal
        if o.align is not None and (o.offset is not None or 'offsets' in self.specs):
            raise ValueError('align and offset are both given, and each says where the diagonal is')
        p.align = options.ALIGN[o.align or 'bottom-right']
        if o.offset is not None:
            p.align = lib.CLATTN_ALIGN_OFFSET
        if 'offsets' in self.specs:
            p.align = lib.CLATTN_ALIGN_OFFSETS
        if o.scale is not None:
            p.scale = o.scale
            p.flags |= lib.CLATTN_SCALE
        if o.softcap is not None:
            p.softcap = o.softcap
        if o.window is not None:
            p.window_left, p.window_right = o.window
            p.flags |= lib.CLATTN_WINDOW
        p.dropout_p = o.dropout_p
        p.splits = o.splits
        p.flags |= lib.CLATTN_BATCH_INVARIANT if o.batch_invariant else 0
        p.flags |= lib.CLATTN_SCORES if o.scores else 0
        p.flags |= (lib.CLATTN_APPEND if o.append else 0) | (lib.CLATTN_ROTARY if o.rotary else 0)

    def fill_mods(self) -> None:
        p, o = self.problem, self.o
        text = lambda s: ffi.new('char[]', s.encode()) # pylint: disable=unnecessary-lambda-assignment
        if o.score_mod:
            mods = ffi.new('clattn_score_mod[]', len(o.score_mod))
            self.keep += [mods] + [text(s) for s in o.score_mod]
            for i in range(len(o.score_mod)):
                mods[i].text = self.keep[-len(o.score_mod) + i]
                mods[i].flags = lib.CLATTN_MOD_VECTOR if o.mod_vector else 0
            p.mods, p.n_mods = mods, len(o.score_mod)
        if o.aux_names:
            aux = ffi.new('clattn_aux[]', len(o.aux_names))
            self.keep += [aux] + [text(s) for s in o.aux_names]
            for i, name in enumerate(o.aux_names):
                dtype = self.specs['aux:' + name].dtype
                if dtype not in dtypes.AUX:
                    raise TypeError('aux %s is %s: must be float32, float16, bfloat16, float64, int32 or uint8'
                                    % (name, dtype))
                aux[i].name, aux[i].type = self.keep[-len(o.aux_names) + i], dtypes.AUX[dtype]
            p.aux, p.n_aux = aux, len(o.aux_names)

    # ---- Arguments ----

    def fill_rows(self, mode_of_o: int) -> None:
        p, s = self.problem, self.call.sizes
        self.tensor('q', ('forward', 'q'), self.specs['q'], self.q_axes, lib.CLATTN_PY_READ, p.d)
        for name, axes, width in (('k', self.k_axes, p.d), ('v', self.v_axes, p.dv)):
            q = self.quantised[name]
            self.tensor(name, ('forward', name), self.specs[name], axes, lib.CLATTN_PY_READ, width, q and q[2:])
        self.o_shape = self.specs['q'].shape[:-1] + (p.dv,)
        o = self.output('out', self.o_shape, self.o_dtype, self.varlen_q)
        self.tensor('out', ('forward', 'o'), o, self.axes(o, 'out', self.varlen_q), mode_of_o, p.dv)
        if self.varlen_q:
            self.lse_shape: Tuple[int, ...] = (s.h, s.total_q)
        else:
            self.lse_shape = ((s.b, s.h, s.nq))[4 - len(self.specs['q'].shape):]
        if self.o.lse or self.o.scores == 'weights' or mode_of_o == lib.CLATTN_PY_READ:
            self.fill_lse('lse', ('forward', 'lse'), mode_of_o)

    def fill_written_scores(self) -> None:
        """Where scores go: [b,h,nq,nk], or [h,total,nk]."""
        s = self.call.sizes
        extents = (1, s.h, s.total_q, s.nk) if self.varlen_q else (s.b, s.h, s.nq, s.nk)
        lead = 1 if self.varlen_q else 4 - len(self.specs['q'].shape)
        self.call.scores.stage = options.STAGES[self.o.scores]
        spec = self.output('scores', extents[lead:], self.o_dtype, self.varlen_q)
        self.tensor4('scores', ('scores', 'scores'), extents, mode=lib.CLATTN_PY_WRITE, spec=spec)

    def fill_lse(self, name: str, where: Tuple[str, ...], mode: int) -> None:
        spec = self.output(name, self.lse_shape, self.lse_dtype, self.varlen_q)
        if self.varlen_q: # [h,total]
            steps = (0,) + tuple(s // spec.dtype.itemsize for s in spec.strides)
            axes = ((1,) + spec.shape, steps)
        else:
            axes = self.axes(spec, name, False, 0)
        self.tensor(name, where, spec, axes, mode, 1)

    def fill_lists(self) -> None:
        p, s = self.problem, self.call.sizes
        has_diagonal = p.causal or p.flags & lib.CLATTN_WINDOW or 'alibi' in self.specs
        for name, flag, more in LISTS:
            if name == 'offsets' and not has_diagonal:
                continue # as of a number, which the library then does not read
            if name in self.specs:
                self.array(name, ('forward', name), INT, (s.b + more,))
                p.flags |= flag

    def fill_scores(self) -> None:
        p, s, f = self.problem, self.call.sizes, self.call.forward
        extents = (s.b, s.h, s.nq, s.nk)
        if 'bias' in self.specs:
            p.bias_type = dtypes.storage(self.specs['bias'].dtype, 'bias')
            self.tensor4('bias', ('forward', 'bias'), extents)
        if 'mask' in self.specs:
            if self.specs['mask'].dtype not in (np.dtype(bool), BYTE):
                raise TypeError('mask is %s: must be bool or uint8' % self.specs['mask'].dtype)
            p.flags |= lib.CLATTN_MASK
            self.tensor4('mask', ('forward', 'mask'), extents)
        if 'block_map' in self.specs:
            if self.o.block is None:
                raise ValueError('a block_map needs block=(queries, keys)')
            f.block_q, f.block_k = self.o.block
            p.flags |= lib.CLATTN_BLOCK_MAP
            if self.specs['block_map'].dtype != BYTE:
                raise TypeError('block_map is %s: must be uint8' % self.specs['block_map'].dtype)
            self.tensor4('block_map', ('forward', 'block_map'),
                         (s.b, s.h, -(-s.nq // f.block_q), -(-s.nk // f.block_k)))

    def fill_arrays(self) -> None:
        p, s, f = self.problem, self.call.sizes, self.call.forward
        if 'alibi' in self.specs:
            shape = self.specs['alibi'].shape
            if shape not in ((s.h,), (s.b, s.h)):
                raise ValueError('alibi has shape %s: must be (%d,) or (%d, %d)' % (shape, s.h, s.b, s.h))
            p.flags |= lib.CLATTN_ALIBI
            f.slopes_stride = s.h if len(shape) == 2 else 0
            self.array('alibi', ('forward', 'slopes'), FLOAT)
        if 'sinks' in self.specs:
            p.flags |= lib.CLATTN_SINKS
            self.array('sinks', ('forward', 'sinks'), FLOAT, (s.h,))
        if self.paged:
            self.fill_pages('forward')
        for i, name in enumerate(self.o.aux_names):
            spec = self.specs['aux:' + name]
            if not spec.bytes():
                raise ValueError('aux %s has no elements' % name)
            self.contiguous(spec, 'aux:' + name)
            self.slot('aux:' + name, ffi.offsetof('clattn_py_call', 'aux') + i * ffi.sizeof('clattn_array'))

    def fill_pages(self, where: str) -> None:
        to = getattr(self.call, where)
        to.page, to.pages = self.problem.page, self.pages
        self.array('block_table', (where, 'block_table'), INT)

    def fill_inputs(self) -> None:
        """All that is read beside Q, K and V."""
        self.fill_lists()
        self.fill_scores()
        self.fill_arrays()
        self.check_scales()
        self.fill_scales()


def prepare(specs: Dict[str, Spec], o: options.Options) -> Prepared:
    """A forward call."""
    f = Forward(specs, o)
    f.fill_rows(lib.CLATTN_PY_WRITE)
    f.fill_inputs()
    if o.scores:
        f.fill_written_scores()
    return Prepared(f, lib.CLATTN_PY_SCORES if o.scores else lib.CLATTN_PY_FORWARD)


__all__ = ['Forward', 'NeedsCopy', 'prepare']
