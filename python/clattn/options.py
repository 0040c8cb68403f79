# options.py - what a problem is made of, beside its arrays
# SPDX-License-Identifier: Apache-2.0
"""Options of a call: numbers and texts. Arrays are in arrays.py."""
from __future__ import annotations

from typing import NamedTuple, Optional, Tuple

from . import dtypes
from ._native import lib

ALIGN = {'bottom-right': lib.CLATTN_ALIGN_BOTTOM_RIGHT, 'top-left': lib.CLATTN_ALIGN_TOP_LEFT}
LAYOUTS = ('bhnd', 'bnhd')


class Options(NamedTuple):
    """As attention() documents them; texts are tuples."""

    causal: bool = False
    align: str = 'bottom-right'
    offset: Optional[int] = None
    scale: Optional[float] = None
    softcap: Optional[float] = None
    window: Optional[Tuple[int, int]] = None
    layout: str = 'bhnd'
    out_dtype: Optional[str] = None
    k_type: Optional[str] = None
    v_type: Optional[str] = None
    k_group: Optional[int] = None
    v_group: Optional[int] = None
    splits: int = 0
    score_mod: Tuple[str, ...] = ()
    mod_vector: bool = False
    score_mod_grad: Tuple[str, ...] = ()
    aux_names: Tuple[str, ...] = ()
    aux_grads: Tuple[str, ...] = ()
    block: Optional[Tuple[int, int]] = None
    max_seqlen_q: Optional[int] = None
    max_seqlen_k: Optional[int] = None
    lse: bool = False
    wanted: Tuple[str, ...] = ()
    append: bool = False
    rotary: bool = False
    interleaved: bool = False


def texts(x) -> Tuple[str, ...]:
    """One text or several."""
    if x is None:
        return ()
    found = (x,) if isinstance(x, str) else tuple(x)
    for text in found:
        if not isinstance(text, str):
            raise TypeError('a score_mod is a %s: must be a str' % type(text).__name__)
        if '\0' in text:
            raise ValueError('a score_mod has a character NUL')
    return found


def check(o: Options) -> None:
    """What can be seen without arrays."""
    if o.align not in ALIGN:
        raise ValueError('align is %r: must be one of %s' % (o.align, ', '.join(map(repr, ALIGN))))
    if o.layout not in LAYOUTS:
        raise ValueError('layout is %r: must be one of %s' % (o.layout, ', '.join(map(repr, LAYOUTS))))
    for name in ('k_type', 'v_type'):
        if getattr(o, name) is not None and getattr(o, name) not in dtypes.QUANTISED:
            raise ValueError('%s is %r: must be one of %s' % (name, getattr(o, name), ', '.join(dtypes.QUANTISED)))
    if o.window is not None and len(o.window) != 2:
        raise ValueError('window has %d numbers: must be (left, right)' % len(o.window))
    if len(o.score_mod) > lib.CLATTN_MODS_MAX:
        raise ValueError('there are %d score_mods, at most %d' % (len(o.score_mod), lib.CLATTN_MODS_MAX))
    if len(o.aux_names) > lib.CLATTN_AUX_MAX:
        raise ValueError('there are %d captured buffers, at most %d' % (len(o.aux_names), lib.CLATTN_AUX_MAX))
    if o.out_dtype is not None and o.out_dtype not in dtypes.NAMES:
        raise ValueError('out_dtype is %r: must be one of %s' % (o.out_dtype, ', '.join(dtypes.NAMES)))
