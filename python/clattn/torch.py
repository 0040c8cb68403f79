# torch.py - attention on PyTorch's tensors
# SPDX-License-Identifier: Apache-2.0
"""Attention on PyTorch's tensors of the CPU, with autograd.

    from clattn.torch import scaled_dot_product_attention

takes the place of torch.nn.functional.scaled_dot_product_attention. Start Python with OMP_WAIT_POLICY=PASSIVE in the
environment: else idle threads of PyTorch's OpenMP spin behind its own operators, and take CPUs from clattn.
"""
from __future__ import annotations

from typing import Any, Dict, Optional, Tuple, overload

import numpy as np
import torch
from torch.autograd import forward_ad

from . import arrays, backward, checks, dtypes, one_call
from .arguments import Literal, TensorArguments, Unpack
from .eager import eager
from .handle import Handle

__all__ = ['attention', 'scaled_dot_product_attention']

NUMPY = {torch.float32: np.dtype(np.float32), torch.float16: np.dtype(np.float16), torch.float64: np.dtype(np.float64),
         torch.int32: np.dtype(np.int32), torch.uint8: np.dtype(np.uint8), torch.int8: np.dtype(np.int8),
         torch.bool: np.dtype(bool)}
# numpy knows no bfloat16 without ml_dtypes; the library needs two bytes and a name for them.
BFLOAT16 = np.dtype([('bfloat16', np.uint16)]) if dtypes.bfloat16 is None else np.dtype(dtypes.bfloat16)
NUMPY[torch.bfloat16] = BFLOAT16
for known in (dtypes.STORAGE, dtypes.AUX):
    known.setdefault(BFLOAT16, dtypes.NAMES['bf16'])
TORCH = {dtype: t for t, dtype in NUMPY.items()}


TAKEN = ('q', 'k', 'v', 'bias', 'alibi', 'sinks') # may have gradients
TAKEN_BY_PYTORCH = ('query', 'key', 'value', 'attn_mask')


# ---- Tensors as arrays ----

_C = torch._C # pylint: disable=protected-access
_PLAIN = {torch.Tensor} # types whose memory is all that there is to them


def _is_special():
    """Whether something goes on that a tensor may be part of beside its memory."""
    return _C._is_tracing() or _C._functorch.peek_interpreter_stack() is not None or \
        getattr(forward_ad, '_current_level', 0) >= 0


def _check_special(x, what):
    if _C._is_tracing():
        raise NotImplementedError('%s is traced by torch.jit.trace, which cannot record clattn: a trace would keep '
                                  'this result for every input' % what)
    if _C._functorch.is_functorch_wrapped_tensor(x):
        raise NotImplementedError('%s is inside a transform of torch.func, such as vmap, grad or jvp, which clattn '
                                  'does not have' % what)
    if forward_ad.unpack_dual(x).tangent is not None:
        raise NotImplementedError('%s has a tangent of forward-mode differentiation, which clattn does not have' % what)


def _check(x, what):
    """Refuses a tensor whose memory is not all that there is to it: a call would lose the rest without a word."""
    if _is_special():
        _check_special(x, what)
    if type(x) not in _PLAIN:
        if type(x).__torch_dispatch__ is not torch.Tensor.__torch_dispatch__: # FakeTensor, DTensor, ..
            raise TypeError('%s is %s, which stands for memory elsewhere: must be a plain torch.Tensor'
                            % (what, checks.kind(x)))
        _PLAIN.add(type(x))
    if not x.is_cpu or x.layout is not torch.strided:
        raise TypeError('%s is a tensor on %s and %s: must be on the CPU and strided' % (what, x.device, x.layout))


def _refuse_gradient(x, what):
    if x.requires_grad and torch.is_grad_enabled():
        raise TypeError('%s requires a gradient, which is not recorded here: clattn.torch.attention() records those of '
                        '%s; where none is wanted, give detach()' % (what, ', '.join(TAKEN)))


def _view(x, name):
    what = name if ':' not in name else name.replace('aux:', 'aux ')
    _check(x, what)
    _refuse_gradient(x, what)
    at = x.data_ptr()
    if not at and x.numel():
        raise TypeError('%s is a tensor without memory' % what)
    odd = -1 if x.is_neg() else at % x.element_size() # of a negative view the memory is not what it says: copied
    key = ('torch', x.dtype, x.shape, x.stride())
    return at, 0, key + (odd,) if odd else key


def to_numpy(x, what):
    """Numbers of a tensor that goes with a call."""
    _check(x, what)
    _refuse_gradient(x, what)
    x = x.detach().resolve_neg()
    return (x.float() if x.dtype is torch.bfloat16 else x).numpy()


def _spec(key, what):
    dtype = NUMPY.get(key[1])
    if dtype is None:
        raise TypeError('%s is %s: must be float32, float16, bfloat16 or float64' % (what, key[1]))
    shape, strides = tuple(int(n) for n in key[2]), tuple(int(s) * dtype.itemsize for s in key[3])
    return arrays.Spec(dtype, shape, strides, arrays.HOST, *key[4:])


def _empty(shape, dtype, _, zeros):
    return (torch.zeros if zeros else torch.empty)(shape, dtype=TORCH[dtype])


def _copy(x):
    return x.resolve_neg().clone(memory_format=torch.contiguous_format)


arrays.register('torch', arrays.Kind(_view, _spec, _empty, _copy, arrays.HOST))


def _plain(x: Any) -> Any:
    """A tensor whose memory is what it says: without gradients, or a bit that says negative."""
    return x.detach().resolve_neg() if isinstance(x, torch.Tensor) else x


# ---- Autograd ----

GRADIENT = dict(q='dq', k='dk', v='dv', bias='dbias', alibi='dalibi', sinks='dsinks')


class _Attention(torch.autograd.Function): # pylint: disable=abstract-method
    """attention() of six tensors that may have gradients; everything else is in `more`."""

    @staticmethod
    def forward(ctx, more, *tensors): # pylint: disable=arguments-differ
        given = {name: _plain(x) for name, x in zip(TAKEN, tensors) if x is not None}
        plain = {name: x for name, x in more.items() if name not in ('score_mod_grad',)}
        o, lse = one_call.attention(return_lse=True, **given, **plain)
        ctx.more, ctx.names = more, tuple(given)
        ctx.set_materialize_grads(False)
        ctx.save_for_backward(*given.values(), o, lse)
        return o, lse

    @staticmethod
    @torch.autograd.function.once_differentiable
    def backward(ctx, dout, dlse): # pylint: disable=arguments-differ
        *given, o, lse = ctx.saved_tensors
        tensors = dict(zip(ctx.names, given))
        needs = dict(zip(TAKEN, ctx.needs_input_grad[1:]))
        wanted = [GRADIENT[name] for name in tensors if needs[name]]
        if not wanted or (dout is None and dlse is None):
            return (None,) * (1 + len(TAKEN))
        dout = torch.zeros_like(o) if dout is None else dout
        more = {name: x for name, x in ctx.more.items() if name != 'batch_invariant'} # of the forward call alone
        found = backward.attention_backward(_plain(dout), *(tensors.pop(n) for n in 'qkv'), o, lse, dlse=_plain(dlse),
                                            wanted=wanted, **tensors, **more)
        by_name = {name: getattr(found, GRADIENT[name]) for name in needs}
        return (None,) + tuple(by_name[n] for n in TAKEN) # autograd converts them where types differ


@overload
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, return_lse: Literal[False] = False,
              handle: Optional[Handle] = None, **more: Unpack[TensorArguments]) -> torch.Tensor: ...
@overload
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, return_lse: Literal[True],
              handle: Optional[Handle] = None,
              **more: Unpack[TensorArguments]) -> Tuple[torch.Tensor, torch.Tensor]: ...


@eager
def attention(q: torch.Tensor, k: torch.Tensor, v: torch.Tensor, *, return_lse: bool = False,
              handle: Optional[Handle] = None, **more: Any) -> Any:
    """clattn.attention() on tensors, with gradients of q, k, v, bias, alibi, sinks, and through lse.

    q [b,h,nq,d]  k [b,hk,nk,d]  v [b,hk,nk,dv]  ->  [b,h,nq,dv], and with return_lse LSE [b,h,nq]

    Tensors of the CPU, float32, float16, bfloat16 or float64. Arguments are those of clattn.attention() but out and
    plan; with score_mod also score_mod_grad, as for clattn.attention_backward(), where gradients are wanted. Gradients
    of gradients, those of other tensors, forward-mode differentiation, torch.jit.trace and the transforms of torch.func
    are refused. torch.compile leaves the call as it is: it breaks the graph, and with fullgraph=True raises.
    """
    return _attention(q, k, v, return_lse, handle, more)


def _attention(q: Any, k: Any, v: Any, return_lse: bool, handle: Optional[Handle], more: Dict[str, Any]) -> Any:
    for name, x in (('q', q), ('k', k), ('v', v)):
        if not isinstance(x, torch.Tensor):
            raise TypeError('%s is %s, not a tensor' % (name, checks.kind(x)))
    for name in ('out', 'plan'):
        if name in more:
            raise TypeError('%s is not for tensors' % name)
    derivatives = more.pop('score_mod_grad', None)
    derivatives = () if derivatives is None else checks.mods(derivatives, 'score_mod_grad')
    if handle is not None:
        more['handle'] = handle
    tensors = [q, k, v] + [more.get(name) for name in TAKEN[3:]]
    if not (torch.is_grad_enabled() and any(isinstance(x, torch.Tensor) and x.requires_grad for x in tensors)):
        return one_call.attention(q, k, v, return_lse=return_lse, **more)
    return_lse = checks.flag(return_lse, 'return_lse')
    _check_all({'q': q, 'k': k, 'v': v, **more})
    taken = [more.pop(name, None) for name in TAKEN[3:]]
    if more.get('score_mod') is not None and not derivatives:
        raise TypeError('gradients are wanted, but score_mod_grad is not given')
    more = {name: _plain(x) for name, x in more.items()}
    o, lse = _Attention.apply({**more, 'score_mod_grad': derivatives or None}, q, k, v, *taken)
    return (o, lse) if return_lse else o


def _check_all(given: Dict[str, Any], taken: Tuple[str, ...] = TAKEN) -> None:
    """Refuses tensors that stand for more than their numbers; captured ones may not want gradients either."""
    aux = given.get('aux')
    if isinstance(aux, dict):
        given = {**given, **{'aux %s' % name: x for name, x in aux.items()}}
    for name, x in given.items():
        if isinstance(x, torch.Tensor):
            _check(x, name)
            if name not in taken:
                _refuse_gradient(x, name)


# ---- PyTorch's function ----

def _autocast() -> Optional[torch.dtype]:
    """The type that autocast asks for; None where it is off."""
    if hasattr(torch, 'get_autocast_dtype'):
        return torch.get_autocast_dtype('cpu') if torch.is_autocast_enabled('cpu') else None
    return torch.get_autocast_cpu_dtype() if torch.is_autocast_cpu_enabled() else None # PyTorch before 2.4


def _cast(x: Any, dtype: torch.dtype) -> Any:
    """A tensor as autocast hands it to PyTorch's function: floats become one type, but for float64."""
    if isinstance(x, torch.Tensor) and x.is_floating_point() and x.dtype is not torch.float64:
        return x.to(dtype)
    return x


def _mask(attn_mask: torch.Tensor, q: torch.Tensor) -> Dict[str, Any]:
    """attn_mask as clattn's mask or bias."""
    if attn_mask.dim() > 4:
        raise ValueError('attn_mask has %d axes, at most 4' % attn_mask.dim())
    if attn_mask.dtype == torch.bool:
        return {'mask': attn_mask}
    if attn_mask.dtype not in (q.dtype, torch.float32):
        raise TypeError('attn_mask is %s: must be bool, float32 or %s, as query' % (attn_mask.dtype, q.dtype))
    return {'bias': attn_mask.double() if q.dtype is torch.float64 else attn_mask}


def _check_mask(attn_mask: Any, query: torch.Tensor, key: torch.Tensor) -> None:
    """Refuses a mask that is not broadcast to the scores."""
    if not isinstance(attn_mask, torch.Tensor):
        raise TypeError('attn_mask is %s, not a tensor' % checks.kind(attn_mask))
    scores = (*query.shape[:-1], key.shape[-2])
    pairs = zip(reversed(attn_mask.shape), reversed(scores))
    if attn_mask.dim() > len(scores) and any(n != 1 for n in attn_mask.shape[:-len(scores)]) or \
            any(n not in (1, m) for n, m in pairs):
        raise ValueError('attn_mask has shape %s, which is not broadcast to the scores, %s'
                         % (tuple(attn_mask.shape), scores))


def _four_axes(x: torch.Tensor) -> torch.Tensor:
    return x if x.dim() <= 4 else x.flatten(0, -4)


def _mask_of_four(attn_mask: torch.Tensor, lead: torch.Size) -> torch.Tensor:
    """A mask for tensors of more than four axes, `lead` being those ahead of [h,n,d]. Axes of h, nq and nk stay 1."""
    if attn_mask.dim() <= 3 or all(n == 1 for n in attn_mask.shape[:-3]):
        return attn_mask.reshape(attn_mask.shape[-3:])
    return attn_mask.expand(*lead, *attn_mask.shape[-3:]).flatten(0, -4)


def _check_leading(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor) -> None:
    lead = query.shape[:-3]
    for name, x in (('key', key), ('value', value)):
        if x.shape[:-3] != lead and any(n != 1 for n in x.shape[:-3]):
            raise ValueError('%s has leading axes %s and query %s: must be the same, or 1'
                             % (name, tuple(x.shape[:-3]), tuple(lead)))


@eager
def scaled_dot_product_attention(query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                                 attn_mask: Optional[torch.Tensor] = None, dropout_p: float = 0.0,
                                 is_causal: bool = False, scale: Optional[float] = None, enable_gqa: bool = False,
                                 *, handle: Optional[Handle] = None) -> torch.Tensor:
    """torch.nn.functional.scaled_dot_product_attention on the CPU, by clattn.

    query [..,h,nq,d]  key [..,hk,nk,d]  value [..,hk,nk,dv]  ->  [..,h,nq,dv]

    The arguments are PyTorch's. attn_mask, broadcast to [..,h,nq,nk], is bool (True keeps) or of query's type and
    added, or float32. is_causal is aligned at the top left, as PyTorch's is. dropout_p must be 0. Rows that see no key
    are 0. Under torch.autocast tensors are cast as for PyTorch's function.
    """
    if _is_special():
        _check_all({'query': query, 'key': key, 'value': value, 'attn_mask': attn_mask}, TAKEN_BY_PYTORCH)
    is_causal, enable_gqa = checks.flag(is_causal, 'is_causal'), checks.flag(enable_gqa, 'enable_gqa')
    dropout_p = checks.number(dropout_p, 'dropout_p')
    if dropout_p:
        raise NotImplementedError('dropout_p is %g: clattn has no dropout' % dropout_p)
    if is_causal and attn_mask is not None:
        raise ValueError('is_causal and attn_mask exclude each other')
    for name, x in (('query', query), ('key', key), ('value', value)):
        if not isinstance(x, torch.Tensor):
            raise TypeError('%s is %s, not a tensor' % (name, checks.kind(x)))
        if x.dim() < 2:
            raise ValueError('%s has %d axes, at least 2' % (name, x.dim()))
    if query.dim() >= 3 and not enable_gqa and key.dim() >= 3 and query.shape[-3] != key.shape[-3]:
        raise ValueError('query has %d heads and key %d: enable_gqa is False' % (query.shape[-3], key.shape[-3]))
    dtype = _autocast()
    if dtype is not None:
        query, key, value, attn_mask = (_cast(x, dtype) for x in (query, key, value, attn_mask))
    if attn_mask is not None:
        _check_mask(attn_mask, query, key)
    if max(x.dim() for x in (query, key, value)) > 4:
        _check_leading(query, key, value)
        attn_mask = None if attn_mask is None else _mask_of_four(attn_mask, query.shape[:-3])
    q, k, v = (_four_axes(x) for x in (query, key, value))
    more: Dict[str, Any] = {} if attn_mask is None else _mask(attn_mask, query)
    if is_causal:
        more.update(causal=True, align='top-left')
    if scale is not None:
        more['scale'] = scale
    o = _attention(q, k, v, False, handle, more)
    return o if query.dim() <= 4 else o.reshape(*query.shape[:-1], value.shape[-1])
