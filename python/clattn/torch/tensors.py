# tensors.py - PyTorch's tensors as arrays
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's tensors as arrays, and which of them a call may take."""
from __future__ import annotations

import warnings
from typing import Any, Dict, Optional, Tuple

import numpy as np
import torch
from torch.autograd import forward_ad

from .. import arrays, checks, dtypes

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


# ---- What a tensor may be ----

_C = torch._C # pylint: disable=protected-access
_PLAIN = {torch.Tensor} # types whose memory is all that there is to them


def is_compiling() -> bool:
    """Whether PyTorch's compiler reads this line, in place of Python."""
    return torch.compiler.is_compiling() if hasattr(torch.compiler, 'is_compiling') else False


def is_transformed(wants_gradients: bool) -> bool:
    """Whether a transform of torch.func is under way that needs an autograd.Function. Operators do for functionalize(),
    and where PyTorch compiles, for vmap(): its compiler does not say which transform it is."""
    top = _C._functorch.peek_interpreter_stack()
    if top is None:
        return False
    return wants_gradients if is_compiling() else top.key() != _C._functorch.TransformType.Functionalize


def is_recorded() -> bool:
    """Whether something goes on that a tensor may be part of beside its memory: a transform of torch.func, a trace, a
    level of forward-mode differentiation, or a mode that stands between operators and memory."""
    return _C._is_tracing() or _C._functorch.peek_interpreter_stack() is not None or \
        getattr(forward_ad, '_current_level', 0) >= 0 or _C._len_torch_dispatch_stack() > 0


def is_elsewhere(x: torch.Tensor) -> bool:
    """Whether a tensor stands for memory elsewhere: FakeTensor, DTensor, .."""
    if type(x) in _PLAIN:
        return False
    if type(x).__torch_dispatch__ is torch.Tensor.__torch_dispatch__:
        _PLAIN.add(type(x))
        return False
    return True


def check_recorded(x: torch.Tensor, what: str) -> None:
    """Refuses what neither a call nor an operator of clattn takes along."""
    if _C._is_tracing():
        raise NotImplementedError('%s is traced by torch.jit.trace, which cannot record clattn: a trace would keep '
                                  'this result for every input; take torch.export' % what)
    if forward_ad.unpack_dual(x).tangent is not None:
        raise NotImplementedError('%s has a tangent of forward-mode differentiation, which clattn does not have' % what)


def check(x: torch.Tensor, what: str) -> None:
    """Refuses a tensor whose memory is not all that there is to it: a call would lose the rest without a word."""
    if is_recorded():
        check_recorded(x, what)
        if _C._functorch.is_functorch_wrapped_tensor(x):
            raise NotImplementedError('%s is inside a transform of torch.func, such as vmap, grad or jvp: '
                                      'clattn.torch.attention() goes through them, from PyTorch 2.4 on and without a '
                                      'handle' % what)
    if is_elsewhere(x):
        raise TypeError('%s is %s, which stands for memory elsewhere: must be a plain torch.Tensor'
                        % (what, checks.kind(x)))
    if not x.is_cpu:
        raise TypeError('%s is on %s: this call takes tensors of the CPU; give %s.cpu(), or call '
                        'clattn.torch.attention()' % (what, x.device, what))
    check_layout(x, what)


def check_layout(x: torch.Tensor, what: str) -> None:
    if x.layout is not torch.strided:
        raise TypeError('%s has the layout %s: must be strided, as to_dense() or to_padded_tensor() makes it'
                        % (what, x.layout))


def lost_gradient(what: str) -> TypeError:
    return TypeError('%s requires a gradient, which is not recorded here: clattn.torch.attention() records those of '
                     '%s; where none is wanted, give detach()' % (what, ', '.join(TAKEN)))


def refuse_gradient(x: torch.Tensor, what: str) -> None:
    """Refuses a tensor whose gradient would be lost."""
    if x.requires_grad and torch.is_grad_enabled():
        raise lost_gradient(what)


def with_aux(given: Dict[str, Any]) -> Dict[str, Any]:
    """Arguments by name, and with them the captured buffers."""
    aux = given.get('aux')
    return {**given, **{'aux %s' % name: x for name, x in aux.items()}} if isinstance(aux, dict) else given


def check_all(given: Dict[str, Any]) -> None:
    """Refuses tensors that stand for more than their numbers; only those of TAKEN may want gradients."""
    for name, x in with_aux(given).items():
        if isinstance(x, torch.Tensor):
            check(x, name)
            if name not in TAKEN:
                refuse_gradient(x, name)


# ---- Other devices ----

HERE = ('cpu', 'meta') # meta: shapes alone, of which an operator makes shapes


def warn_of_copies(device: torch.device) -> None:
    """Python shows a warning of a place once, unless the program says otherwise."""
    warnings.warn('clattn reads tensors of the CPU: those on %s are copied there, and results back, in every call. '
                  'Where that takes too long, keep what attention works on on the CPU, or give the library arrays of '
                  'pyopencl on a device of OpenCL.' % device, stacklevel=4)


def bring(given: Dict[str, Any]) -> Tuple[Dict[str, Any], Optional[torch.device]]:
    """Tensors of another device as tensors of the CPU, and the device of q where results belong; None: they are
    here. Copies are PyTorch's, and gradients pass through them."""
    home = given['q'].device
    for name in ('k', 'v'):
        if given[name].device != home:
            raise ValueError('%s is on %s and q on %s: must be on the same device' % (name, given[name].device, home))
    away = [name for name, x in given.items() if isinstance(x, torch.Tensor) and x.device.type not in HERE]
    if not away:
        return given, None
    if home.type in HERE and any(name in TAKEN or name == 'mask' for name in away):
        raise ValueError('%s is on %s and q on %s: must be on the same device'
                         % (away[0], given[away[0]].device, home))
    for name in away:
        check_layout(given[name], name)
    if not is_compiling():
        warn_of_copies(given[away[0]].device)
    return {**given, **{name: given[name].cpu() for name in away}}, None if home.type in HERE else home


# ---- Tensors as arrays ----


def _view(x, name):
    what = name if ':' not in name else name.replace('aux:', 'aux ')
    check(x, what)
    refuse_gradient(x, what)
    at = x.data_ptr()
    if not at and x.numel():
        raise TypeError('%s is a tensor without memory' % what)
    odd = -1 if x.is_neg() else at % x.element_size() # of a negative view the memory is not what it says: copied
    key = ('torch', x.dtype, x.shape, x.stride())
    return at, 0, key + (odd,) if odd else key


def to_numpy(x: torch.Tensor, what: str) -> np.ndarray:
    """Numbers of a tensor that goes with a call."""
    check(x, what)
    refuse_gradient(x, what)
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


def plain(x: Any) -> Any:
    """A tensor whose memory is what it says: without gradients, or a bit that says negative."""
    return x.detach().resolve_neg() if isinstance(x, torch.Tensor) else x
