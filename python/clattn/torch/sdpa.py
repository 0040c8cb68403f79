# sdpa.py - PyTorch's scaled_dot_product_attention
# SPDX-License-Identifier: Apache-2.0
"""torch.nn.functional.scaled_dot_product_attention by clattn: its signature, its broadcasting, its autocast."""
from __future__ import annotations

import math
from typing import Any, Dict, Optional, Sequence, Tuple

import torch

from .. import checks
from ..handle import Handle
from .functional import attention_of

__all__ = ['scaled_dot_product_attention']

Shape = Tuple[int, ...]


# ---- Types ----

def _autocast(device: str) -> Optional[torch.dtype]:
    """The type that autocast asks for; None where it is off."""
    if hasattr(torch, 'get_autocast_dtype'):
        if not torch.amp.is_autocast_available(device): # meta
            return None
        return torch.get_autocast_dtype(device) if torch.is_autocast_enabled(device) else None
    return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None # PyTorch before 2.4


def _cast(x: Any, dtype: torch.dtype) -> Any:
    """A tensor as autocast hands it to PyTorch's function: floats become one type, but for float64."""
    if isinstance(x, torch.Tensor) and x.is_floating_point() and x.dtype is not torch.float64:
        return x.to(dtype)
    return x


# ---- Shapes ----

def _broadcast(shapes: Sequence[Shape], words: str) -> Shape:
    """The shape that axes have together, as PyTorch broadcasts them."""
    try:
        return tuple(torch.broadcast_shapes(*shapes))
    except RuntimeError:
        raise ValueError('query, key and value have the %s %s, which are not broadcast to each other'
                         % (words, ', '.join(str(tuple(s)) for s in shapes))) from None


def _heads(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor, enable_gqa: bool) -> Tuple[int, int, int]:
    """How many heads queries, keys and values are to have. One key head serves all queries of its entry."""
    hq, hk, hv = (x.shape[-3] for x in (query, key, value))
    if not enable_gqa:
        h, = _broadcast(((hq,), (hk,), (hv,)), 'numbers of heads (enable_gqa is False)')
        return (h, 1, 1) if hk == 1 and hv == 1 else (h, h, h)
    if not hk or not hv or hq % hk or hq % hv:
        raise ValueError('query has %d heads, key %d and value %d: the first must be a multiple of the others'
                         % (hq, hk, hv))
    both = math.lcm(hk, hv)
    return hq, both, both


def _with_heads(x: torch.Tensor, h: int) -> torch.Tensor:
    """x with h heads, each of which stands for as many as were one."""
    if x.shape[-3] == h:
        return x
    if x.shape[-3] == 1:
        return x.expand(*x.shape[:-3], h, *x.shape[-2:])
    return x.repeat_interleave(h // x.shape[-3], -3)


def _with_lead(x: torch.Tensor, lead: Shape, may_be_one: bool) -> torch.Tensor:
    """x with the leading axes as one; where these are all 1 they may stay so."""
    if not lead:
        return x
    own = x.shape[:-3]
    if may_be_one and all(n == 1 for n in own):
        return x.reshape(1, *x.shape[-3:])
    if tuple(own) != lead:
        x = x.expand(*lead, *x.shape[-3:])
    return x if len(lead) == 1 else x.flatten(0, -4)


def _mask_with_lead(attn_mask: torch.Tensor, lead: Shape) -> torch.Tensor:
    """A mask of at most four axes; those of heads, queries and keys stay 1."""
    if attn_mask.dim() <= 3 or all(n == 1 for n in attn_mask.shape[:-3]):
        return attn_mask.reshape(attn_mask.shape[-3:])
    if len(lead) == 1:
        return attn_mask
    return attn_mask.expand(*lead, *attn_mask.shape[-3:]).flatten(0, -4)


def _check_mask(attn_mask: torch.Tensor, scores: Shape) -> None:
    """Refuses a mask that is not broadcast to the scores."""
    pairs = zip(reversed(attn_mask.shape), reversed(scores))
    if attn_mask.dim() > len(scores) and any(n != 1 for n in attn_mask.shape[:-len(scores)]) or \
            any(n != 1 and n != m for n, m in pairs):
        raise ValueError('attn_mask has shape %s, which is not broadcast to the scores, %s'
                         % (tuple(attn_mask.shape), tuple(scores)))


def _mask(attn_mask: torch.Tensor, q: torch.Tensor) -> Dict[str, Any]:
    """attn_mask as clattn's mask or bias."""
    if attn_mask.dtype == torch.bool:
        return {'mask': attn_mask}
    if attn_mask.dtype not in (q.dtype, torch.float32):
        raise TypeError('attn_mask is %s: must be bool, float32 or %s, as query' % (attn_mask.dtype, q.dtype))
    return {'bias': attn_mask.double() if q.dtype is torch.float64 else attn_mask}


def _check_tensors(tensors: Dict[str, Any]) -> None:
    for name, x in tensors.items():
        if not isinstance(x, torch.Tensor):
            raise TypeError('%s is %s, not a tensor' % (name, checks.kind(x)))
        if x.dim() < 2 and name != 'attn_mask':
            raise ValueError('%s has %d axes, at least 2' % (name, x.dim()))


def with_dropout(given: Dict[str, Any], dropout_p: float, handle: Optional[Handle]) -> torch.Tensor:
    """attention() whose weights are dropped with that probability. Which ones says PyTorch's generator of the CPU, so
    that torch.manual_seed() makes them the same again."""
    if not 0 <= dropout_p <= 1:
        raise ValueError('dropout_p is %g: must be from 0 to 1' % dropout_p)
    if dropout_p == 1: # all of them
        return torch.nn.functional.dropout(attention_of(given, False, handle), 1.0)
    if dropout_p:
        seed = torch.randint(0, (1 << 63) - 1, (), dtype=torch.int64, device='cpu')
        given = {**given, 'dropout_p': dropout_p, 'dropout_seed': seed}
    return attention_of(given, False, handle)


def _nothing(tensors: Sequence[Optional[torch.Tensor]], shape: Shape) -> torch.Tensor:
    """Zeros in place of a result that depends on no element of the tensors, whose gradients are 0."""
    query = tensors[0]
    never, zero = torch.zeros((), dtype=torch.bool, device=query.device), query.new_zeros(())
    sums = [torch.where(never, x.sum().to(query.dtype), zero) for x in tensors if x is not None]
    return sum(sums[1:], sums[0]).expand(shape)


def _lead_of(leads: Sequence[Shape]) -> Shape:
    """The leading axes that tensors have together."""
    return leads[0] if leads[0] == leads[1] == leads[2] else _broadcast(leads, 'leading axes')


def rows_of(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> Tuple[torch.Tensor, ...]:
    """[b,h,n,d] of four axes each, of which keys and values may have a batch of 1."""
    lead = _lead_of([tuple(x.shape[:-3]) for x in (query, key, value)])
    return _with_lead(query, lead, False), _with_lead(key, lead, True), _with_lead(value, lead, True)


def scaled_dot_product_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                                 attn_mask: Optional[torch.Tensor] = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: Optional[float] = None, enable_gqa: bool = False,
                                 *, handle: Optional[Handle] = None) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention by clattn.

    query [..,h,nq,d]  key [..,hk,nk,d]  value [..,hk,nk,dv]  ->  [..,h,nq,dv]

    The arguments and their meaning are PyTorch's. Leading axes, heads too, are broadcast to each other; with enable_gqa
    query heads share key heads. attn_mask, broadcast to [..,h,nq,nk], is bool (True keeps) or of query's type and
    added, or float32. is_causal is aligned at the top left, as PyTorch's is. dropout_p applies always, as PyTorch's
    does, and the seed of what is dropped is drawn from PyTorch's generator of the CPU. Rows that see no key are 0.
    Under torch.autocast tensors are cast as for PyTorch's function. Where a tensor has no elements, the result is zeros
    of query's shape, as PyTorch's is.
    """
    tensors = {'query': query, 'key': key, 'value': value}
    _check_tensors(tensors if attn_mask is None else {**tensors, 'attn_mask': attn_mask})
    is_causal, enable_gqa = checks.flag(is_causal, 'is_causal'), checks.flag(enable_gqa, 'enable_gqa')
    dropout_p = checks.number(dropout_p, 'dropout_p')
    if is_causal and attn_mask is not None:
        raise ValueError('is_causal and attn_mask exclude each other')
    dtype = _autocast(query.device.type)
    if dtype is not None:
        query, key, value, attn_mask = (_cast(x, dtype) for x in (query, key, value, attn_mask))
    axes = max(x.dim() for x in (query, key, value))
    q, k, v = (x if x.dim() > 2 else x[None] for x in (query, key, value))
    h, hk, hv = _heads(q, k, v, enable_gqa)
    leads = [tuple(x.shape[:-3]) for x in (q, k, v)]
    lead = _lead_of(leads)
    more: Dict[str, Any] = {}
    if attn_mask is not None:
        of_scores = (*_broadcast(leads[:2], 'leading axes'), h if enable_gqa else max(q.shape[-3], k.shape[-3]))
        _check_mask(attn_mask, (*(of_scores if axes > 2 else ()), q.shape[-2], k.shape[-2]))
        more = _mask(_mask_with_lead(attn_mask, lead), query)
    shape = (*lead, h, q.shape[-2], v.shape[-1])[-axes if axes > 2 else -2:]
    if not q.shape[-1] and not k.shape[-1]: # all scores are 0
        q, k = (torch.nn.functional.pad(x, (0, 1)) for x in (q, k))
    if 0 in (*q.shape, *k.shape, *v.shape): # of query's shape in PyTorch, too
        return _nothing((query, key, value, attn_mask), (*query.shape[:-1], value.shape[-1]))
    if is_causal:
        more.update(causal=True, align='top-left')
    if scale is not None:
        more['scale'] = scale
    q, k, v = rows_of(_with_heads(q, h), _with_heads(k, hk), _with_heads(v, hv))
    return with_dropout({'q': q, 'k': k, 'v': v, **more}, dropout_p, handle).reshape(shape)
