# transformers.py - clattn as an attention implementation of transformers
# SPDX-License-Identifier: Apache-2.0
"""clattn as an attention implementation of the library transformers: of its interface of attention functions, and of
that of masks.

A mask of transformers says of every query and key whether it counts. Where it is what causality, a window and padding
make, which is looked at once for each forward pass of a model, the kernel gets these in its place, and passes over what
they leave out. A mask that was changed since counts as it is.
"""
from __future__ import annotations

from typing import Any, Dict, NamedTuple, Optional, Tuple

import torch

from .sdpa import rows_of, with_dropout
from .tensors import is_compiling

__all__ = ['register_transformers']

NAME = 'clattn'


# ---- Masks ----

class Parts(NamedTuple):
    """What a mask is made of."""

    causal: bool
    offset: int                        # query i is at key i + offset
    window: Optional[Tuple[int, int]]
    padding: Optional[torch.Tensor]    # bool [b,1,1,nk]: the keys that there are
    version: int                       # of the mask, which counts how often it was changed

    def keeps(self, nq: int, nk: int, like: torch.Tensor) -> torch.Tensor:
        """The mask that they make."""
        at = torch.arange(nk, device=like.device) - torch.arange(nq, device=like.device)[:, None] - self.offset
        kept = at <= 0 if self.causal else torch.ones_like(at, dtype=torch.bool)
        if self.window is not None:
            left, right = self.window
            kept = kept & (at >= -left) & (at <= right)
        return kept if self.padding is None else kept & self.padding

    def arguments(self) -> Dict[str, Any]:
        found: Dict[str, Any] = {} if self.padding is None else {'mask': self.padding}
        if self.causal or self.window is not None:
            found.update(causal=self.causal, offset=self.offset, window=self.window)
        return found


def _padding(padding: Optional[torch.Tensor], first: int, nk: int) -> Optional[torch.Tensor]:
    """The part of a padding mask that stands for keys from `first` on; those beyond it are none."""
    if padding is None:
        return None
    padding = padding[:, first:first + nk].bool()
    padding = torch.nn.functional.pad(padding, (0, nk - padding.shape[1]))
    return None if bool(padding.all()) else padding[:, None, None]


def _parts(mask: torch.Tensor, given: Dict[str, Any]) -> Optional[Parts]:
    """What a mask is made of; None: of something else, too. given: what transformers says of it."""
    nq, nk = mask.shape[-2:]
    first = int(given.get('kv_offset', 0))
    at = given.get('q_offset', 0) if 'cache_position' not in given else given['cache_position'][0] # 4.5x
    padding, size = _padding(given.get('attention_mask'), first, nk), given.get('local_size')
    windows = [(True, None), (False, None)]
    if size is not None:
        windows += [(True, (size - 1, 0)), (False, (size, size))]
    for causal, window in windows:
        found = Parts(causal, int(at) - first, window, padding, mask._version) # pylint: disable=protected-access
        if bool((found.keeps(nq, nk, mask) == mask).all()):
            return found
    return None


def _is_open(mask: Any) -> bool:
    """Whether numbers of a mask can be looked at, and changes of it are counted."""
    return isinstance(mask, torch.Tensor) and mask.dtype is torch.bool and mask.dim() == 4 and \
        type(mask) is torch.Tensor and mask.device.type == 'cpu' and not mask.is_inference()


def mask_of(make: Any) -> Any:
    """transformers' masks for scaled_dot_product_attention, with what they are made of, where they are made of that."""
    def mask(*args: Any, **given: Any) -> Any:
        found = make(*args, **given)
        if not is_compiling() and _is_open(found):
            found.clattn_parts = _parts(found, given)
        return found
    return mask


def parts_of(mask: torch.Tensor, nk: int) -> Optional[Parts]:
    """What a mask is made of, where it is still the one that was looked at, and covers these keys."""
    if is_compiling():
        return None
    found: Optional[Parts] = getattr(mask, 'clattn_parts', None)
    if found is None or found.version != mask._version or mask.shape[-1] != nk: # pylint: disable=protected-access
        return None
    return found


# ---- Attention ----

def _scores(attention_mask: Optional[torch.Tensor], position_bias: Optional[torch.Tensor], nk: int,
            causal: bool) -> Dict[str, Any]:
    """What changes scores, and which of them count, as arguments of attention()."""
    found: Dict[str, Any] = {}
    if attention_mask is None:
        found = {'causal': True, 'align': 'top-left'} if causal else {}
    else:
        parts = parts_of(attention_mask, nk)
        attention_mask = attention_mask[..., :nk] # caches with room may have fewer keys than their masks
        if parts is not None:
            found = parts.arguments()
        elif attention_mask.dtype is torch.bool:
            found = {'mask': attention_mask}
        else:
            position_bias = attention_mask if position_bias is None else position_bias + attention_mask
    if position_bias is not None:
        found['bias'] = position_bias[..., :nk]
    return found


def attention_forward(module: torch.nn.Module, query: torch.Tensor, key: torch.Tensor, value: torch.Tensor,
                      attention_mask: Optional[torch.Tensor], dropout: float = 0.0, scaling: Optional[float] = None,
                      is_causal: Optional[bool] = None, softcap: Optional[float] = None,
                      s_aux: Optional[torch.Tensor] = None, position_bias: Optional[torch.Tensor] = None,
                      **more: Any) -> Tuple[torch.Tensor, None]:
    """What transformers calls with [b,h,n,d]; the result is [b,n,h,d]. Without a mask a module's own word, or that of
    the call, says whether several queries are causal, and they are the first ones then, as transformers has it."""
    for name in ('output_attentions', 'head_mask'):
        if more.get(name) is not None and more[name] is not False:
            raise ValueError('%s is given, and clattn never has the weights of attention: take attn_implementation='
                             '"eager"' % name)
    causal = getattr(module, 'is_causal', True) if is_causal is None else is_causal
    q, k, v = rows_of(query, key, value)
    found = _scores(attention_mask, position_bias, k.shape[-2], causal and q.shape[-2] > 1)
    if 'bias' in found:
        found['bias'] = found['bias'].to(torch.float64 if q.dtype is torch.float64 else found['bias'].dtype)
    if s_aux is not None:
        found['sinks'] = s_aux.float() # the library's type
    q, k, v = (x.transpose(1, 2) for x in (q, k, v))
    o = with_dropout({'q': q, 'k': k, 'v': v, 'layout': 'bnhd', 'scale': scaling, 'softcap': softcap, **found}, dropout,
                     None)
    return o, None


def register_transformers(name: str = NAME) -> str:
    """Lets models of transformers, 4.53 or newer, compute attention by clattn.

        name = clattn.torch.register_transformers()
        model = transformers.AutoModelForCausalLM.from_pretrained(.., attn_implementation=name)

    name is what attn_implementation and model.set_attn_implementation() then take. Softcaps, sinks, windows, learnt
    biases, grouped heads and dropout are a part of the kernel. Weights of attention (output_attentions) are refused in
    words. A row whose mask keeps nothing is 0.
    """
    try:
        from transformers import AttentionInterface, AttentionMaskInterface # pylint: disable=import-outside-toplevel
        from transformers.masking_utils import sdpa_mask # pylint: disable=import-outside-toplevel
    except ImportError as e:
        raise ImportError('clattn.torch.register_transformers() needs transformers 4.53 or newer: %s' % e) from e
    AttentionInterface.register(name, attention_forward)
    AttentionMaskInterface.register(name, mask_of(sdpa_mask))
    return name
