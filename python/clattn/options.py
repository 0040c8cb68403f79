# options.py - what a problem is made of, beside its arrays
# SPDX-License-Identifier: Apache-2.0
"""Options of a call: numbers and texts. Arrays are in arrays.py."""
from __future__ import annotations

from typing import Any, Callable, Container, Dict, Mapping, NamedTuple, Optional, Tuple

from . import checks, dtypes
from ._native import lib

ALIGN = {'bottom-right': lib.CLATTN_ALIGN_BOTTOM_RIGHT, 'top-left': lib.CLATTN_ALIGN_TOP_LEFT}
LAYOUTS = ('bhnd', 'bnhd')
STAGES = {'products': lib.CLATTN_SCORES_PRODUCTS, 'changed': lib.CLATTN_SCORES_CHANGED,
          'masked': lib.CLATTN_SCORES_MASKED, 'weights': lib.CLATTN_SCORES_WEIGHTS}


class Options(NamedTuple):
    """As attention() documents them; texts are tuples."""

    causal: bool = False
    align: Optional[str] = None
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
    dropout_p: float = 0.0
    dropout_seed: int = 0
    dropout_offset: int = 0
    splits: int = 0
    batch_invariant: bool = False
    score_mod: Tuple[str, ...] = ()
    mod_vector: bool = False
    score_mod_grad: Tuple[str, ...] = ()
    aux_names: Tuple[str, ...] = ()
    aux_grads: Tuple[str, ...] = ()
    block: Optional[Tuple[int, int]] = None
    max_seqlen_q: Optional[int] = None
    max_seqlen_k: Optional[int] = None
    lse: bool = False
    scores: Optional[str] = None
    wanted: Tuple[str, ...] = ()
    append: bool = False
    rotary: bool = False
    interleaved: bool = False


class Rule(NamedTuple):
    """How the value of an argument becomes an option, and where it belongs."""

    convert: Callable[[Any, str], Any]
    of_gradients: bool = False # of attention_backward() and plans for it only


# Every argument that is no array. Calls of a plan, a cache or PyTorch take the same ones.
RULES: Dict[str, Rule] = {
    'causal': Rule(checks.flag),
    'align': Rule(checks.choice(ALIGN)),
    'offset': Rule(checks.whole(-(1 << 62), 1 << 62)), # or an array
    'scale': Rule(checks.number),
    'softcap': Rule(checks.number),
    'window': Rule(checks.pair(-1, '(left, right)')),
    'layout': Rule(checks.choice(LAYOUTS)),
    'out_dtype': Rule(dtypes.name_of),
    'k_type': Rule(checks.choice(dtypes.QUANTISED)),
    'v_type': Rule(checks.choice(dtypes.QUANTISED)),
    'k_group': Rule(checks.whole(0)),
    'v_group': Rule(checks.whole(0)),
    'dropout_p': Rule(checks.number),
    'dropout_seed': Rule(checks.whole(0, (1 << 64) - 1)),
    'dropout_offset': Rule(checks.whole(0, (1 << 32) - 1)),
    'splits': Rule(checks.whole(0, 1024)),
    'batch_invariant': Rule(checks.flag),
    'score_mod': Rule(checks.mods),
    'mod_vector': Rule(checks.flag),
    'aux': Rule(checks.buffers),
    'block': Rule(checks.pair(1, '(queries, keys)')),
    'max_seqlen_q': Rule(checks.whole(0)),
    'max_seqlen_k': Rule(checks.whole(0)),
    'score_mod_grad': Rule(checks.mods, True),
    'aux_grads': Rule(checks.names, True),
}
FIELD = {'aux': 'aux_names'} # of Options, where it has another name
# What has no effect without something else: argument, field, and what it needs, an array's name or a field.
NEEDS = (('dropout_seed', 'dropout_seed', 'dropout_p'), ('dropout_offset', 'dropout_offset', 'dropout_p'),
         ('mod_vector', 'mod_vector', 'score_mod'), ('aux', 'aux_names', 'score_mod'),
         ('score_mod_grad', 'score_mod_grad', 'score_mod'), ('block', 'block', 'block_map'),
         ('max_seqlen_q', 'max_seqlen_q', 'cu_q'), ('max_seqlen_k', 'max_seqlen_k', 'cu_k'))
ARGUMENT = {'cu_q': 'cu_seqlens_q', 'cu_k': 'cu_seqlens_k', 'offsets': 'offset'} # where the caller's name differs


def shown(name: str) -> str:
    """The caller's name of an array."""
    return ARGUMENT.get(name, name.replace('aux:', 'aux '))


def convert(more: Mapping[str, Any], gradients: bool = False) -> Dict[str, Any]:
    """Fields of Options from arguments; what is None is left out."""
    found = {}
    for name, x in more.items():
        rule = RULES.get(name)
        if x is not None and rule is not None and rule.of_gradients <= gradients:
            found[FIELD.get(name, name)] = rule.convert(x, name)
    return found


def check(o: Options, arrays: Container[str]) -> None:
    """What can be seen without looking into arrays, whose names are given."""
    for name, field, needed in NEEDS:
        if getattr(o, field) not in (None, False, ()) and needed not in arrays and not getattr(o, needed, None):
            raise ValueError('%s is given, which needs %s' % (name, shown(needed)))
    for name in o.aux_grads:
        if name not in o.aux_names:
            raise ValueError('aux_grads names %r, which is none of aux' % name)
