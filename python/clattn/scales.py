# scales.py - scales and zero points of quantised keys and values
# SPDX-License-Identifier: Apache-2.0
"""Scales and zero points of quantised keys and values, and how many elements share one."""
from __future__ import annotations

from typing import Dict, Optional, Tuple

import numpy as np

from ._native import lib
from .prepare import Builder


class Scales(Builder):
    """What goes beside K and V that are int8 or int4."""

    quantised: Dict[str, Optional[Tuple[int, np.dtype, int, int]]] # rows of dtypes.QUANTISED, None for plain storage
    varlen_k: bool
    paged: bool
    k_axes: tuple
    v_axes: tuple

    def fill_scales(self, where: str = 'forward', mode: int = lib.CLATTN_PY_READ) -> None:
        """Scales and zero points lie as their K and V do, with groups in place of elements."""
        p = self.problem
        for name, width in (('k', p.d), ('v', p.dv)):
            extents = (self.k_axes if name == 'k' else self.v_axes)[0]
            for what, flag in (('_scale', 0), ('_zero', getattr(lib, 'CLATTN_%s_ZERO' % name.upper()))):
                spec = self.specs.get(name + what)
                if spec is None:
                    if what == '_scale' and self.quantised[name] and self.quantised[name][2] < 32:
                        raise ValueError('%s is quantised, but %s_scale is not given' % (name, name))
                    continue
                if spec.dtype != np.float32:
                    raise TypeError('%s is %s: must be float32' % (name + what, spec.dtype))
                if what == '_scale':
                    self.fill_group(name, width, spec.shape[-1] if spec.shape else 1)
                group = getattr(p, name + '_group') or width
                p.flags |= flag
                self.tensor4(name + what, (where, name + what), (*extents, -(-width // group)),
                             self.order_of_scales(), mode)

    def order_of_scales(self) -> Tuple[int, ...]:
        if self.varlen_k: # [total,hk,groups] behind an axis of 1
            return (0, 2, 1, 3)
        return (0, 2, 1, 3) if self.paged or self.o.layout == 'bnhd' else (0, 1, 2, 3)

    def fill_group(self, name: str, width: int, groups: int) -> None:
        """How many elements share a scale: as the caller says, or the only number that makes so many groups."""
        group = getattr(self.o, name + '_group')
        if group is None:
            fit = [0] if groups == 1 else [g for g in (1, *range(16, width, 16)) if -(-width // g) == groups]
            if len(fit) != 1:
                raise ValueError('%s_scale has %d groups for rows of %d elements: %s' % (
                    name, groups, width, 'give %s_group, one of %s' % (name, ', '.join(map(str, fit))) if fit else
                    'no number of elements, 1 or a multiple of 16, makes so many'))
            group = fit[0]
        setattr(self.problem, name + '_group', group)

    def check_scales(self) -> None:
        """Groups, scales and zero points go with storage that has its scales beside it."""
        for name in 'kv':
            given = [what for what in (name + '_scale', name + '_zero') if what in self.specs]
            given += [name + '_group'] if getattr(self.o, name + '_group') is not None else []
            if given and not (self.quantised[name] and self.quantised[name][2] < 32):
                raise ValueError("%s is given, and %s is not 'int8' or 'int4'" % (given[0], name))
