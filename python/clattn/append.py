# append.py - the arguments of writing new rows into caches, and of turning queries
# SPDX-License-Identifier: Apache-2.0
"""The arguments of writing new rows into caches, and of turning queries."""
from __future__ import annotations

from typing import Dict, Tuple

from . import options
from ._native import lib
from .arrays import Spec
from .forward import FLOAT, INT, Forward
from .prepare import Prepared

READ, WRITE = lib.CLATTN_PY_READ, lib.CLATTN_PY_WRITE


class Append(Forward):
    """A clattn_append_args: q stands for the new rows of K."""

    def fill(self) -> None:
        p, s = self.problem, self.call.sizes
        for name, width in (('new_k', p.d), ('new_v', p.dv)):
            spec = self.specs[name]
            if spec.dtype != self.specs['q'].dtype:
                raise TypeError('%s is %s: must be %s' % (name, spec.dtype, self.specs['q'].dtype))
            axes = self.axes(spec, name, False)
            if axes[0] != (s.b, s.hk, s.nq) or spec.shape[-1] != width:
                raise ValueError('%s has shape %s: must be [%d,%d,%d,%d]'
                                 % (name, spec.shape, s.b, s.hk, s.nq, width))
            self.tensor(name, ('append', name), spec, axes, READ, width)
        for name, axes, width in (('k', self.k_axes, p.d), ('v', self.v_axes, p.dv)):
            q = self.quantised[name]
            self.tensor(name, ('append', name), self.specs[name], axes, READ | WRITE, width, q and q[2:])
        self.fill_scales('append', READ | WRITE)
        for name in ('k_scale', 'k_zero', 'v_scale', 'v_zero'):
            getattr(self.call.append, name).shape[2] = 0 # computed, also where there is one row
        if self.paged:
            self.fill_pages('append')
        self.array('kv_len', ('append', 'kv_len'), INT, (s.b,), READ | WRITE)
        self.array('dropped', ('append', 'dropped'), INT, (s.b,), READ | WRITE)
        if 'new_len' in self.specs:
            self.array('new_len', ('append', 'new_len'), INT, (s.b,))
        if self.o.rotary:
            fill_rotary(self, ('append', 'rotary'))


def fill_rotary(b: Forward, where: Tuple[str, ...]) -> None:
    """A clattn_rotary: tables [positions,width / 2] of cosines and sines."""
    to, shape = b.call, b.specs['cos'].shape
    for part in where:
        to = getattr(to, part)
    if len(shape) != 2 or b.specs['sin'].shape != shape:
        raise ValueError('cos has shape %s and sin %s: must be [positions,width / 2]' % (shape, b.specs['sin'].shape))
    to.positions, to.width, to.interleaved = shape[0], 2 * shape[1], b.o.interleaved
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
