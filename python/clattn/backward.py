# backward.py - gradients in one call
# SPDX-License-Identifier: Apache-2.0
"""Gradients in one call."""
from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Sequence, Tuple

import numpy as np

from . import checks, options
from ._native import ffi, lib
from .arguments import Arguments, Unpack
from .arrays import Spec
from .eager import eager
from .one_call import complete, gather
from .forward import FLOAT, Forward
from .handle import Handle
from .prepare import NeedsCopy, Prepared
from .run import Call

__all__ = ['Gradients', 'attention_backward']

READ, WRITE = lib.CLATTN_PY_READ, lib.CLATTN_PY_WRITE
GIVEN_BY = dict(dbias='bias', dalibi='alibi', dsinks='sinks')


class Gradients(NamedTuple):
    """What attention_backward() returns; None where it was not asked for."""

    dq: Any = None
    dk: Any = None
    dv: Any = None
    dbias: Any = None
    dalibi: Any = None
    dsinks: Any = None
    daux: Optional[Dict[str, Any]] = None


class Backward(Forward):
    """A clattn_backward_args, beside the forward call's."""

    def __init__(self, specs: Dict[str, Spec], o: options.Options) -> None:
        super().__init__(specs, o)
        self.problem.flags |= lib.CLATTN_BACKWARD
        if o.batch_invariant:
            raise ValueError('batch_invariant is for attention() alone: splits makes the bits of gradients the same')
        self.problem.splits, self.call.forward.splits = 0, o.splits
        self.sum_dtype = np.dtype(np.float64) if self.problem.type == lib.CLATTN_F64 else FLOAT
        if o.score_mod:
            self.fill_mod_grads()

    def fill_mod_grads(self) -> None:
        o = self.o
        if len(o.score_mod_grad) != len(o.score_mod):
            raise ValueError('there are %d texts of score_mod and %d of score_mod_grad'
                             % (len(o.score_mod), len(o.score_mod_grad)))
        texts = [ffi.new('char[]', s.encode()) for s in o.score_mod_grad]
        grads = ffi.new('char *[]', texts)
        self.keep += texts + [grads]
        self.problem.mod_grads = ffi.cast('const char *const *', grads)
        for name in o.aux_grads:
            self.problem.aux_grads |= 1 << o.aux_names.index(name)

    def fill_given(self) -> None:
        """dO and dLSE."""
        p, dout = self.problem, self.specs['dout']
        if dout.dtype != self.specs['q'].dtype:
            raise TypeError('dout is %s: must be %s, as q' % (dout.dtype, self.specs['q'].dtype))
        if dout.shape != self.o_shape:
            raise ValueError('dout has shape %s: must be %s' % (dout.shape, self.o_shape))
        self.tensor('dout', ('backward', 'dout'), dout, self.axes(dout, 'dout', self.varlen_q), READ, p.dv)
        if 'dlse' in self.specs:
            if self.specs['dlse'].dtype != self.lse_dtype:
                raise TypeError('dlse is %s: must be %s' % (self.specs['dlse'].dtype, self.lse_dtype))
            if self.specs['dlse'].shape != self.lse_shape:
                raise ValueError('dlse has shape %s: must be %s' % (self.specs['dlse'].shape, self.lse_shape))
            self.fill_lse('dlse', ('backward', 'dlse'), READ)

    def fill_rows_of(self, name: str, of: str, varlen: bool, width: int) -> None:
        """The gradient of Q, K or V, in its shape."""
        spec = self.output(name, self.specs[of].shape, self.specs[of].dtype, varlen)
        extents, steps = self.axes(spec, name, varlen)
        self.tensor(name, ('backward', name), spec, (extents, steps), WRITE, width)

    def fill_gradients(self) -> None:
        p, o = self.problem, self.o
        for name, of, varlen, width in (('dq', 'q', self.varlen_q, p.d), ('dk', 'k', self.varlen_k, p.d),
                                        ('dv', 'v', self.varlen_k, p.dv)):
            if name in o.wanted:
                self.fill_rows_of(name, of, varlen, width)
        if 'dbias' in o.wanted:
            bias = self.specs['bias']
            if any(n > 1 and not step for n, step in zip(bias.shape, bias.strides)):
                raise NeedsCopy('bias') # as it is, the library gives one sum for all cells that share a number
            spec = self.output('dbias', bias.shape, self.sum_dtype)
            s = self.call.sizes
            self.tensor4('dbias', ('backward', 'dbias'), (s.b, s.h, s.nq, s.nk), mode=WRITE, spec=spec)
        for name, of, to in (('dalibi', 'alibi', 'dslopes'), ('dsinks', 'sinks', 'dsinks')):
            if name in o.wanted:
                spec = self.output(name, self.specs[of].shape, FLOAT)
                self.contiguous(spec, name)
                self.slot(name, ffi.offsetof('clattn_py_call', 'backward', to, 'mem'), WRITE, spec=spec)
        for name in o.aux_grads:
            self.fill_daux(name, o.aux_names.index(name))

    def fill_daux(self, name: str, i: int) -> None:
        of = self.specs['aux:' + name]
        spec = self.output('daux:' + name, of.shape, self.sum_dtype)
        self.contiguous(spec, 'daux:' + name)
        self.call.daux[i].n = int(np.prod(of.shape))
        at = ffi.offsetof('clattn_py_call', 'daux') + i * ffi.sizeof('clattn_aux_gradient')
        self.slot('daux:' + name, at, WRITE, spec=spec)


def prepare(specs: Dict[str, Spec], o: options.Options) -> Prepared:
    """A backward call."""
    for name in ('out', 'lse'):
        if name not in specs:
            raise TypeError('%s is not given' % name)
    b = Backward(specs, o)
    b.fill_rows(READ)
    b.fill_inputs()
    b.fill_given()
    b.fill_gradients()
    return Prepared(b, lib.CLATTN_PY_BACKWARD)


def wanted_of(wanted: Optional[Sequence[str]], given: Dict[str, Any]) -> Tuple[str, ...]:
    """The gradients that are asked for; by default of every array that is given."""
    if wanted is None:
        return ('dq', 'dk', 'dv') + tuple(n for n, of in GIVEN_BY.items() if of in given)
    wanted = checks.names(wanted, 'wanted')
    for name in wanted:
        if name not in Gradients._fields or name == 'daux':
            raise ValueError('there is no gradient %r' % (name,))
        if name in GIVEN_BY and GIVEN_BY[name] not in given:
            raise ValueError('%s is asked for, but %s is not given' % (name, GIVEN_BY[name]))
    return wanted


@eager
def attention_backward(dout: Any, q: Any, k: Any, v: Any, out: Any, lse: Any, *, dlse: Any = None,
                       wanted: Optional[Sequence[str]] = None, score_mod_grad: Any = None,
                       aux_grads: Optional[Sequence[str]] = None, handle: Optional[Handle] = None, plan: Any = None,
                       **more: Unpack[Arguments]) -> Gradients:
    """Gradients of attention(). The same call gives the same bits every time on the same device, with the same plan and
    number of compute units, with the same splits on any number of them.

    dout     the gradient of some loss with respect to the result, in the shape of out and q's type
    q, k, v  as they were
    out, lse what attention(..., return_lse=True) returned
    dlse     the gradient with respect to lse; None: 0
    wanted   names of those that are computed, of 'dq', 'dk', 'dv', 'dbias', 'dalibi', 'dsinks'; None: all that there
             are. dq, dk and dv have the types and shapes of q, k and v, summed over query heads that share a key head
             and over a batch that shares k and v; dbias is float32 (of float64 float64) in the shape of the bias, also
             where that is a broadcast view, which is copied then; the others are float32.
    score_mod_grad  OpenCL C for each score_mod: assigns ds, the gradient with respect to s after the mod, so that it
             becomes that before it, e.g. "ds *= 2;"; clattn.h says what is in scope
    aux_grads       names of captured buffers, float32 or float64, whose gradients the texts hand out as NAME_index and
             NAME_grad; they are in daux
    splits          stripes of keys that are summed separately; 0: as many as the device needs
    Everything else is as for attention(), but batch_invariant, which has no meaning here. With a plan, score_mod_grad
    and aux_grads may be left out, and others than the plan's raise ValueError.
    """
    given: Dict[str, Any] = {'q': q, 'k': k, 'v': v, 'out': out, 'lse': lse, 'dout': dout}
    if dlse is not None:
        given['dlse'] = dlse
    found = gather(given, more) if more else {}
    if plan is not None:
        found, handle = complete(plan, found, given, handle), plan.handle
    found.update(options.convert({'score_mod_grad': score_mod_grad, 'aux_grads': aux_grads}, gradients=True))
    o = options.Options(wanted=wanted_of(wanted, given), **found)
    call = Call(given, handle)
    call.prepare(lib.CLATTN_PY_BACKWARD, o, prepare, ())
    call.run(ffi.NULL if plan is None else plan.pointer_for(call.prepared))
    made = call.made
    daux = {name: made['daux:' + name] for name in o.aux_grads} or None
    return Gradients(*(made.get(name) for name in Gradients._fields[:-1]), daux)
