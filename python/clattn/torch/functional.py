# functional.py - clattn.attention() on tensors
# SPDX-License-Identifier: Apache-2.0
"""clattn.attention() on tensors: by an operator where PyTorch records what happens, else by a call of its own, which
takes a handle too and costs less time."""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, overload

import torch

from .. import checks, one_call, options
from ..arguments import Literal, TensorArguments, Unpack
from ..eager import eager
from ..handle import Handle
from . import operators
from .autograd import Attention
from .tensors import (TAKEN, bring, check_all, check_layout, check_recorded, is_compiling, is_elsewhere, is_recorded,
                      is_transformed, refuse_gradient, with_aux)

__all__ = ['attention', 'attention_of']


@overload
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, return_lse: Literal[False] = False,
              handle: Optional[Handle] = None, **more: Unpack[TensorArguments]) -> torch.Tensor: ...
@overload
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, return_lse: Literal[True],
              handle: Optional[Handle] = None,
              **more: Unpack[TensorArguments]) -> Tuple[torch.Tensor, torch.Tensor]: ...


def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, return_lse: bool = False,
              handle: Optional[Handle] = None, **more: Any) -> Any:
    """clattn.attention() on tensors, with gradients of q, k, v, bias, alibi, sinks, and through lse.

    q [b,h,nq,d]  k [b,hk,nk,d]  v [b,hk,nk,dv]  ->  [b,h,nq,dv], and with return_lse LSE [b,h,nq]

    float32, float16, bfloat16 or float64. Arguments are those of clattn.attention() but out, plan and
    return_scores; with score_mod also score_mod_grad, as for clattn.attention_backward(), where gradients are wanted.
    Tensors of another device than the CPU are copied there, and the result back, with a warning.

    torch.compile, torch.export and the transforms of torch.func record a call as torch.ops.clattn.attention, from
    PyTorch 2.4 on; with a handle, and before, torch.compile breaks the graph at a call, and fullgraph=True raises.
    torch.vmap needs PyTorch 2.5. Gradients of gradients, those of other tensors, forward-mode differentiation and
    torch.jit.trace are refused.
    """
    for name, x in (('q', q), ('k', k), ('v', v)):
        if not isinstance(x, torch.Tensor):
            raise TypeError('%s is %s, not a tensor' % (name, checks.kind(x)))
    return attention_of({'q': q, 'k': k, 'v': v, **more}, return_lse, handle)


def attention_of(given: Dict[str, Any], return_lse: bool, handle: Optional[Handle]) -> Any:
    """attention() of arguments by name."""
    for name in ('out', 'plan', 'return_scores'):
        if name in given:
            raise TypeError('%s is not for tensors' % name)
    return_lse = checks.flag(return_lse, 'return_lse')
    given, home = bring(given)
    if home is not None:
        o, lse = attention_of(given, True, handle)
        return (o.to(home), lse.to(home)) if return_lse else o.to(home)
    if handle is None and operators.THERE and (is_compiling() or is_special(given)):
        args = operators.positional(operands(given))
        if is_transformed(needs_gradients(given)):
            o, lse = Attention.apply(None, *args)
        else:
            o, lse = torch.ops.clattn.attention(*args)
    elif needs_gradients(given):
        o, lse = _recorded(given, handle)
    else:
        return _plain(given, return_lse, handle)
    return (o, lse) if return_lse else o


def is_special(given: Dict[str, Any]) -> bool:
    """Whether a tensor is more than its memory, or a part of something that an operator takes along. What it does not
    take along is refused."""
    tensors = {name: x for name, x in with_aux(given).items() if isinstance(x, torch.Tensor)}
    recorded = is_recorded()
    found = recorded or any(is_elsewhere(x) or x.is_meta for x in tensors.values())
    for name, x in tensors.items() if found else ():
        check_layout(x, name)
        if recorded:
            check_recorded(x, name)
        if name not in TAKEN:
            refuse_gradient(x, name)
    return found


# ---- By an operator ----

def operands(given: Dict[str, Any]) -> Dict[str, Any]:
    """Arguments of the operator: arrays as tensors, texts in lists, types by their names."""
    unknown = [name for name in given if name not in options.RULES and name not in operators.TENSORS]
    if unknown or 'offsets' in given or 'aux_grads' in given:
        raise TypeError('there is no argument %s' % (unknown or [name for name in ('offsets', 'aux_grads')
                                                                 if name in given])[0])
    given = {name: x for name, x in given.items() if x is not None}
    aux = given.pop('aux', {})
    if isinstance(given.get('offset'), (list, tuple)) or getattr(given.get('offset'), 'ndim', 0):
        given['offsets'] = given.pop('offset')
    seed = given.pop('dropout_seed', None) # of a graph it is not read
    if seed is not None:
        given['dropout_seed'] = seed_of(seed)
    found = options.convert({name: x for name, x in given.items() if name != 'dropout_seed'}, gradients=True)
    found = {name: list(x) if isinstance(x, tuple) else x for name, x in found.items()}
    arrays = {name: tensor_of(x) for name, x in given.items() if name in operators.TENSORS}
    names = options.convert({'aux': aux}).get('aux_names', ()) if aux else ()
    return {**found, **arrays, 'aux': [tensor_of(aux[name]) for name in names] or None,
            'aux_names': list(names) or None}


def seed_of(x: Any) -> torch.Tensor:
    """A seed as a tensor: one of the caller's, or a number below 2^64 in the bits of int64."""
    if isinstance(x, torch.Tensor):
        return x
    x = options.convert({'dropout_seed': x})['dropout_seed']
    return torch.tensor(x - (1 << 64) if x >= 1 << 63 else x)


def tensor_of(x: Any) -> torch.Tensor:
    return x if isinstance(x, torch.Tensor) else torch.as_tensor(x)


# ---- By a call of its own ----

def needs_gradients(given: Dict[str, Any]) -> bool:
    return torch.is_grad_enabled() and any(isinstance(given.get(name), torch.Tensor) and given[name].requires_grad
                                           for name in TAKEN)


@eager
def _recorded(given: Dict[str, Any], handle: Optional[Handle]) -> Tuple[torch.Tensor, torch.Tensor]:
    check_all(given)
    return Attention.apply(handle, *operators.positional(operands(given)))


@eager
def _plain(given: Dict[str, Any], return_lse: bool, handle: Optional[Handle]) -> Any:
    options.convert({'score_mod_grad': given.pop('score_mod_grad', None)}, gradients=True)
    return one_call.attention(return_lse=return_lse, handle=handle, **given)
