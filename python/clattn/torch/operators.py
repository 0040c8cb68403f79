# operators.py - attention as operators of PyTorch
# SPDX-License-Identifier: Apache-2.0
"""torch.ops.clattn.attention and torch.ops.clattn.attention_backward: what PyTorch records, compiles, exports and
transforms. They run on the handle that clattn.default_handle('cpu') gives.

Arguments are those of clattn.attention(), all of them positional too, with lists of texts where that takes a text,
`offsets` for an offset that is an array, and a tensor of one int64 for dropout_seed, so that a graph can draw it. The
first operator returns the result and LSE; the second one the gradients that `wanted` names, in that order.
"""
from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional, Sequence, Tuple

import torch

from .. import backward, dtypes, one_call
from ..handle import Handle
from . import vmap
from .tensors import NUMPY, TAKEN, lost_gradient, plain

GRADIENT = dict(q='dq', k='dk', v='dv', bias='dbias', alibi='dalibi', sinks='dsinks')

# What the operators take behind q, k and v: name, type, default.
MORE = tuple((name, 'Tensor?', 'None') for name in (
    'bias', 'alibi', 'sinks', 'mask', 'block_map', 'cu_seqlens_q', 'cu_seqlens_k', 'q_len', 'kv_len', 'kv_start',
    'block_table', 'k_scale', 'k_zero', 'v_scale', 'v_zero', 'offsets', 'dropout_seed')) + (
        ('aux', 'Tensor[]?', 'None'), ('aux_names', 'str[]?', 'None'), ('causal', 'bool', 'False'),
        ('align', 'str?', 'None'), ('offset', 'SymInt?', 'None'), ('scale', 'float?', 'None'),
        ('softcap', 'float?', 'None'), ('window', 'SymInt[]?', 'None'), ('layout', 'str', '"bhnd"'),
        ('out_dtype', 'str?', 'None'), ('k_type', 'str?', 'None'), ('v_type', 'str?', 'None'),
        ('k_group', 'int?', 'None'), ('v_group', 'int?', 'None'), ('splits', 'int', '0'),
        ('batch_invariant', 'bool', 'False'), ('score_mod', 'str[]?', 'None'), ('mod_vector', 'bool', 'False'),
        ('score_mod_grad', 'str[]?', 'None'), ('block', 'SymInt[]?', 'None'), ('max_seqlen_q', 'SymInt?', 'None'),
        ('max_seqlen_k', 'SymInt?', 'None'), ('dropout_p', 'float?', 'None'), ('dropout_offset', 'SymInt?', 'None'))
NAMES = ('q', 'k', 'v') + tuple(name for name, _, _ in MORE)
OF_RESULT = ('dout', 'out', 'lse', 'dlse')
NAMES_BACKWARD = ('wanted',) + OF_RESULT + NAMES
DEFAULTS = {'None': None, 'False': False, '"bhnd"': 'bhnd', '0': 0}
DEFAULT = {name: DEFAULTS[default] for name, _, default in MORE}
TENSORS = ('q', 'k', 'v') + tuple(name for name, kind, _ in MORE if kind == 'Tensor?')

_SHARED = 'Tensor q, Tensor k, Tensor v, ' + ', '.join('%s %s=%s' % (kind, name, default)
                                                       for name, kind, default in MORE)
SCHEMA = '(%s) -> (Tensor, Tensor)' % _SHARED
SCHEMA_BACKWARD = '(str[] wanted, Tensor dout, Tensor out, Tensor lse, Tensor? dlse, %s) -> Tensor[]' % _SHARED


def filled(names: Sequence[str], args: Sequence[Any]) -> Dict[str, Any]:
    """Arguments by name. PyTorch leaves out the last ones where they have their defaults."""
    return {**DEFAULT, **dict(zip(names, args))}


def arguments(given: Dict[str, Any], leave_out: Tuple[str, ...] = ()) -> Dict[str, Any]:
    """Those of clattn's own function. What has its default is left out."""
    found = {name: x for name, x in given.items() if name not in leave_out and name not in ('aux', 'aux_names')
             and not (name in DEFAULT and (x is None or isinstance(x, (list, tuple)) and not x or x is False))}
    found = {name: plain(x) for name, x in found.items()}
    if 'offsets' in found:
        found['offset'] = found.pop('offsets')
    if 'dropout_seed' in found:
        found['dropout_seed'] = int(found['dropout_seed']) % (1 << 64) # int64 holds the bits of a seed
    if given['aux_names']:
        found['aux'] = dict(zip(given['aux_names'], map(plain, given['aux'])))
    return found


# ---- The calls ----

def compute(*args: Any, handle: Optional[Handle] = None) -> Tuple[torch.Tensor, torch.Tensor]:
    """The first operator itself."""
    with torch.no_grad():
        given = arguments(filled(NAMES, args), ('score_mod_grad',))
        return one_call.attention(return_lse=True, handle=handle, **given)


def compute_gradients(*args: Any, handle: Optional[Handle] = None) -> List[torch.Tensor]:
    """The second operator itself."""
    with torch.no_grad():
        given = arguments(filled(NAMES_BACKWARD, args), ('batch_invariant',)) # of the forward call alone
        wanted = given['wanted']
        given['dout'] = given['dout'].to(given['q'].dtype) # out_dtype may be another
        found = backward.attention_backward(handle=handle, **given)
        return [getattr(found, name) for name in wanted]


# ---- Shapes, for tensors that have no memory ----

def width_of_v(given: Dict[str, Any]) -> Any:
    """Elements of a row of V: those of quantised ones lie in bytes."""
    last = given['v'].shape[-1]
    if not given['v_type']:
        return last
    _, _, per, size = dtypes.QUANTISED[given['v_type']]
    return last // size * per


def type_of_result(given: Dict[str, Any]) -> torch.dtype:
    names = {code: dtype for dtype, code in dtypes.STORAGE.items()}
    found = {t for t, dtype in NUMPY.items() if given['out_dtype']
             and dtype == names[dtypes.NAMES[given['out_dtype']]]}
    return found.pop() if found else given['q'].dtype


def type_of_sums(q: torch.Tensor) -> torch.dtype:
    return torch.float64 if q.dtype is torch.float64 else torch.float32


def shape_of_lse(given: Dict[str, Any]) -> Tuple[Any, ...]:
    rows = given['q'].shape[:-1]
    if given['cu_seqlens_q'] is not None or given['layout'] == 'bnhd':
        return (*rows[:-2], rows[-1], rows[-2])
    return tuple(rows)


def _fake_forward(*args: Any) -> Tuple[torch.Tensor, torch.Tensor]:
    given = filled(NAMES, args)
    q = given['q']
    o = q.new_empty((*q.shape[:-1], width_of_v(given)), dtype=type_of_result(given))
    return o, q.new_empty(shape_of_lse(given), dtype=type_of_sums(q))


def _fake_backward(*args: Any) -> List[torch.Tensor]:
    given = filled(NAMES_BACKWARD, args)
    types = dict(q=given['q'].dtype, k=given['k'].dtype, v=given['v'].dtype, bias=type_of_sums(given['q']),
                 alibi=torch.float32, sinks=torch.float32)
    of = {gradient: name for name, gradient in GRADIENT.items()}
    return [given['q'].new_empty(given[of[name]].shape, dtype=types[of[name]]) for name in given['wanted']]


# ---- Autograd ----

def keep(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[torch.Tensor, torch.Tensor], needs: Sequence[Any]) -> None:
    """What the gradients of a call need of it. needs: which of its inputs want one."""
    given = filled(NAMES, inputs)
    needed = dict(zip(NAMES, needs))
    for name in TENSORS:
        if name not in TAKEN and needed.get(name):
            raise lost_gradient(name)
    aux = given.pop('aux') or ()
    for name, x in zip(given['aux_names'] or (), aux):
        if x.requires_grad:
            raise lost_gradient('aux %s' % name)
    if any(needed.get(name) for name in TAKEN) and given['score_mod'] and not given['score_mod_grad']:
        raise TypeError('gradients are wanted, but score_mod_grad is not given')
    ctx.set_materialize_grads(False)
    ctx.kept = tuple(name for name in TENSORS if given[name] is not None)
    ctx.options = {name: x for name, x in given.items() if name not in TENSORS}
    ctx.n_inputs, ctx.n_aux = len(inputs), len(aux)
    ctx.save_for_backward(*(given[name] for name in ctx.kept), *aux, *output)


def gradients(ctx: Any, needs: Sequence[Any], dout: Any, dlse: Any, operator: Callable[..., Any]) -> Tuple[Any, ...]:
    """Gradients of the inputs of a call, by attention_backward() or what stands for it."""
    *tensors, o, lse = ctx.saved_tensors
    given = {**DEFAULT, **ctx.options, **dict(zip(ctx.kept, tensors)), 'aux': tensors[len(ctx.kept):] or None}
    needed = dict(zip(NAMES, needs))
    wanted = [name for name in TAKEN if needed.get(name)]
    found: Dict[str, Any] = {}
    if wanted and not (dout is None and dlse is None):
        dout = torch.zeros_like(o) if dout is None else dout
        made = operator([GRADIENT[name] for name in wanted], dout, o, lse, dlse, *(given[name] for name in NAMES))
        found.update((name, x.to(given[name].dtype)) for name, x in zip(wanted, made))
    return tuple(found.get(name) for name in NAMES[:ctx.n_inputs])


def refuse_second_gradients() -> None:
    raise NotImplementedError('gradients of gradients are wanted, which clattn does not have: take '
                              'torch.nn.functional.scaled_dot_product_attention under '
                              'torch.nn.attention.sdpa_kernel(SDPBackend.MATH) for these')


def _keep(ctx: Any, inputs: Tuple[Any, ...], output: Tuple[torch.Tensor, torch.Tensor]) -> None:
    keep(ctx, inputs, output, ctx.needs_input_grad)


def _gradients(ctx: Any, dout: Any, dlse: Any) -> Tuple[Any, ...]:
    found = gradients(ctx, ctx.needs_input_grad, dout, dlse, torch.ops.clattn.attention_backward)
    at = NAMES.index('aux') # a list of tensors has a list of gradients
    return found[:at] + ([None] * ctx.n_aux,) + found[at + 1:] if ctx.n_aux else found


def _keep_nothing(ctx: Any, inputs: Tuple[Any, ...], output: Any) -> None:
    del ctx, inputs, output


def _no_second_gradients(ctx: Any, *_: Any) -> None:
    refuse_second_gradients()


# ---- torch.vmap ----

def _folded(operator: Callable[..., Any], given: Dict[str, Any], mapped: Dict[str, bool], elements: int) -> List[Any]:
    """Both results of the first operator for all elements, in one call."""
    folded = vmap.fold(given, mapped, elements, ('k', 'v', 'bias', 'mask', 'alibi'))
    o, lse = operator(*(folded[name] for name in NAMES))
    one = {**given, 'q': given['q'][0] if mapped['q'] else given['q']}
    return [o.reshape(elements, *one['q'].shape[:-1], o.shape[-1]), lse.reshape(elements, *shape_of_lse(one))]


def _folded_gradients(operator: Callable[..., Any], given: Dict[str, Any], mapped: Dict[str, bool],
                      elements: int) -> List[Any]:
    """The gradients that are wanted for all elements, in one call: each element has its own."""
    of = {gradient: name for name, gradient in GRADIENT.items()}
    names = [of[gradient] for gradient in given['wanted']]
    folded = vmap.fold(given, mapped, elements, [name for name in ('k', 'v', 'bias', 'mask', 'alibi')
                                                 if name not in names])
    made = operator(*(folded[name] for name in NAMES_BACKWARD))
    return [vmap.unfold(x, elements, vmap.inner(given[name], mapped[name])) for x, name in zip(made, names)]


def mapped_attention(operator: Callable[..., Any]) -> Callable[..., Any]:
    """The rule of the first operator, or of what stands for it."""
    return vmap.rule(NAMES, DEFAULT, operator, _folded, tuple)


def mapped_gradients(operator: Callable[..., Any], kind: type) -> Callable[..., Any]:
    """The rule of the second operator; kind: of its results."""
    return vmap.rule(NAMES_BACKWARD, DEFAULT, operator, _folded_gradients, kind)


# ---- Registration ----

def positional(given: Dict[str, Any]) -> List[Any]:
    """All arguments of the first operator, of those that are given by their names."""
    full = {**DEFAULT, **given}
    return [full[name] for name in NAMES]


def _register() -> None:
    make = torch.library.custom_op
    forward = make('clattn::attention', compute, mutates_args=(), device_types='cpu', schema=SCHEMA)
    forward.register_fake(_fake_forward)
    forward.register_autograd(_gradients, setup_context=_keep)
    back = make('clattn::attention_backward', compute_gradients, mutates_args=(), device_types='cpu',
                schema=SCHEMA_BACKWARD)
    back.register_fake(_fake_backward)
    back.register_autograd(_no_second_gradients, setup_context=_keep_nothing)
    if hasattr(forward, 'register_vmap'): # from PyTorch 2.5 on
        forward.register_vmap(mapped_attention(torch.ops.clattn.attention))
        back.register_vmap(mapped_gradients(torch.ops.clattn.attention_backward, list))


THERE = hasattr(torch.library, 'custom_op') # from PyTorch 2.4 on
if THERE:
    _register()
