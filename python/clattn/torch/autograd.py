# autograd.py - attention and its gradients as PyTorch's autograd and torch.func record them
# SPDX-License-Identifier: Apache-2.0
"""attention() as an autograd.Function, which torch.func goes through: it does not go through the formulas of operators.
Arguments are those of the operators, behind a handle."""
from __future__ import annotations

from typing import Any, Callable, Optional, Tuple

import torch

from ..handle import Handle
from . import operators, vmap
from .tensors import is_elsewhere, is_recorded

__all__ = ['Attention']


def _choose(handle: Optional[Handle], compute: Callable[..., Any], name: str, args: Tuple[Any, ...]) -> Any:
    """A call itself; or an operator, where its tensors stand for others or are watched."""
    if handle is None and operators.THERE and \
            (is_recorded() or any(isinstance(x, torch.Tensor) and is_elsewhere(x) for x in args)):
        return getattr(torch.ops.clattn, name)(*args)
    return compute(*args, handle=handle)


class Attention(torch.autograd.Function): # pylint: disable=abstract-method
    """The result and LSE."""

    @staticmethod
    def forward(handle, *args): # pylint: disable=arguments-differ
        return _choose(handle, operators.compute, 'attention', args)

    @staticmethod
    def setup_context(ctx, inputs, output):
        ctx.handle = inputs[0]
        operators.keep(ctx, inputs[1:], output, ctx.needs_input_grad[1:])

    @staticmethod
    def backward(ctx, dout, dlse): # pylint: disable=arguments-differ
        return (None, *operators.gradients(ctx, ctx.needs_input_grad[1:], dout, dlse,
                                           lambda *args: Gradients.apply(ctx.handle, *args)))

    @staticmethod
    def vmap(info, in_dims, handle, *args): # pylint: disable=arguments-differ
        return operators.mapped_attention(lambda *given: Attention.apply(handle, *given))(
            info, in_dims[1:], *args)


class Gradients(torch.autograd.Function): # pylint: disable=abstract-method
    """The gradients that are wanted, which have none themselves."""

    @staticmethod
    def forward(handle, *args): # pylint: disable=arguments-differ
        return tuple(_choose(handle, operators.compute_gradients, 'attention_backward', args))

    @staticmethod
    def setup_context(ctx, inputs, output):
        pass

    @staticmethod
    def backward(ctx, *_): # pylint: disable=arguments-differ
        operators.refuse_second_gradients()

    @staticmethod
    def vmap(info, in_dims, handle, *args): # pylint: disable=arguments-differ
        return operators.mapped_gradients(lambda *given: Gradients.apply(handle, *given), tuple)(
            info, in_dims[1:], *args)
