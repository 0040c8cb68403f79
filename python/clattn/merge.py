# merge.py - partial results become one
# SPDX-License-Identifier: Apache-2.0
"""Partial results, of the same queries over different keys, become one."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple

from . import dtypes, options
from ._native import ffi, lib
from .arrays import Spec
from .eager import eager
from .handle import Handle
from .plan import kept_plan
from .prepare import Builder, Prepared
from .run import Call

__all__ = ['merge']


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
            self.slot(name, ffi.offsetof('clattn_py_call', 'merge', name, 'mem'), lib.CLATTN_PY_WRITE,
                      spec=self.output(name, shape, o.dtype))


def prepare_merge(specs: Dict[str, Spec], o: options.Options) -> Prepared:
    """A merge."""
    m = Merge(specs, o)
    m.fill()
    return Prepared(m, lib.CLATTN_PY_MERGE)


@eager
def merge(o_parts: Any, lse_parts: Any, *, handle: Optional[Handle] = None) -> Tuple[Any, Any]:
    """Joins partial results: of the same queries over disjoint sets of keys.

    o_parts  [parts,b,h,n,d]   lse_parts [parts,b,h,n]   ->   o [b,h,n,d] and lse [b,h,n] of all keys together

    Both float32, or float64. A part that saw nothing (lse -inf) contributes nothing.
    """
    call = Call({'q': o_parts, 'lse_parts': lse_parts}, handle)
    call.prepare(lib.CLATTN_PY_MERGE, options.Options(), prepare_merge, ())
    call.run(kept_plan(call, (lib.CLATTN_PY_MERGE, call.prepared.problem_key)))
    return call.made['o'], call.made['lse']
