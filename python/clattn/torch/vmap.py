# vmap.py - torch.vmap over calls of the operators
# SPDX-License-Identifier: Apache-2.0
"""torch.vmap over calls of the operators: what is mapped over becomes a part of the batch, in one call. Where a call
has something that belongs to entries of its batch, such as lengths, it is made once for each element, with a warning.

Mapped arguments are tensors whose first axis is that of vmap; all others are the same for every element.
"""
from __future__ import annotations

import warnings
from typing import Any, Callable, Dict, Sequence, Tuple

import torch

__all__ = ['fold', 'inner', 'rule', 'unfold']

ROWS = ('q', 'k', 'v', 'dout', 'out') # [b,h,n,d], [b,n,h,d], or without leading axes
SCORES = ('bias', 'mask')             # broadcast to [b,h,nq,nk]
FOLDED = ROWS + SCORES + ('lse', 'dlse', 'alibi')
GIVEN_BY = dict(dq='q', dk='k', dv='v', dbias='bias', dalibi='alibi')
# What has nothing to do with the number of an entry of the batch.
PLAIN = ('causal', 'align', 'offset', 'scale', 'softcap', 'window', 'layout', 'out_dtype', 'splits', 'batch_invariant',
         'wanted', 'sinks')
Operator = Callable[..., Any]


def is_given(x: Any) -> bool:
    return x is not None and x is not False


def folds(given: Dict[str, Any], mapped: Dict[str, bool]) -> bool:
    """Whether all elements can be entries of one batch."""
    if mapped.get('sinks') or 'dsinks' in given.get('wanted', ()):
        return False # there is one sink for a head, not for an entry
    return all(name in FOLDED + PLAIN for name, x in given.items() if is_given(x))


def inner(x: torch.Tensor, is_mapped: bool) -> Tuple[int, ...]:
    """The shape of one element."""
    return tuple(x.shape[1:] if is_mapped else x.shape)


def entries(x: torch.Tensor, is_mapped: bool, rank: int, sizes: Tuple[int, int]) -> torch.Tensor:
    """[elements * entries, ...] of one or all elements, whose shape gets 1s in front until it has `rank` axes."""
    shape = inner(x, is_mapped)
    shape = (1,) * (rank - len(shape)) + shape
    lead = (x.shape[0],) if is_mapped else (1,)
    return x.reshape(lead + shape).expand(*sizes, *shape[1:]).flatten(0, 1)


def rank_of(name: str) -> int:
    return {'lse': 3, 'dlse': 3, 'alibi': 2}.get(name, 4)


def fold(given: Dict[str, Any], mapped: Dict[str, bool], elements: int, shared: Sequence[str]) -> Dict[str, Any]:
    """The arguments of one call for all elements. What is in `shared`, not mapped, and without an axis of entries,
    stays as it is."""
    q = inner(given['q'], mapped['q'])
    sizes = (elements, q[0] if len(q) == 4 else 1)
    folded = dict(given)
    for name in FOLDED:
        x = given.get(name)
        if x is None:
            continue
        shape, rank = inner(x, mapped[name]), rank_of(name)
        if name in shared and not mapped[name] and (len(shape) < rank or shape[0] == 1):
            folded[name] = x if name == 'alibi' else x.reshape((1,) * (rank - len(shape)) + shape)
        else:
            folded[name] = entries(x, mapped[name], rank, sizes)
    return folded


def unfold(x: torch.Tensor, elements: int, shape: Tuple[int, ...]) -> torch.Tensor:
    """Results of one call for all elements: [elements, *shape], summed over entries where an element has them once."""
    x = x.unflatten(0, (elements, -1)) if elements else x.reshape(0, 1, *x.shape[1:])
    has_entries = len(shape) == x.dim() - 1 and shape[0] != 1
    if not has_entries:
        x = x.sum(1, dtype=x.dtype)
    return x.reshape(elements, *shape)


# ---- One call for each element ----

def element(x: Any, dim: Any, i: int) -> Any:
    if isinstance(x, (list, tuple)) and isinstance(dim, (list, tuple)):
        return [element(one, at, i) for one, at in zip(x, dim)]
    return x if dim is None else x.select(dim, i)


def one_by_one(operator: Operator, args: Sequence[Any], in_dims: Sequence[Any], elements: int) -> Any:
    warnings.warn('torch.vmap over attention with dropout, or with lengths, pages, captured buffers, sinks or '
                  'score_mods that are not the same for all elements or count entries of the batch: clattn is called '
                  'once for each of the %d elements' % elements, stacklevel=2)
    made = [operator(*(element(x, dim, i) for x, dim in zip(args, in_dims))) for i in range(elements)]
    return [torch.stack(parts) for parts in zip(*made)]


# ---- The rules ----

def rule(names: Sequence[str], defaults: Dict[str, Any], operator: Operator, folded: Callable[..., Any],
         kind: type) -> Callable[..., Any]:
    """What PyTorch calls in place of an operator whose arguments vmap maps over. kind: of its results, list or tuple;
    folded: makes them in one call."""
    def call(info: Any, in_dims: Sequence[Any], *args: Any) -> Any:
        elements = info.batch_size
        given = {**defaults, **dict(zip(names, args))}
        mapped = {name: False for name in names}
        mapped.update((name, isinstance(dim, int)) for name, dim in zip(names, in_dims))
        if folds(given, mapped):
            front = {name: x.movedim(dim, 0) for name, x, dim in zip(names, args, in_dims) if isinstance(dim, int)}
            made = kind(folded(operator, {**given, **front}, mapped, elements))
        else:
            made = kind(one_by_one(operator, args, in_dims, elements))
        return made, kind([0] * len(made))
    return call
