# torch - attention on PyTorch's tensors
# SPDX-License-Identifier: Apache-2.0
"""Attention on PyTorch's tensors, with autograd.

    from clattn.torch import scaled_dot_product_attention

takes the place of torch.nn.functional.scaled_dot_product_attention. attention() has everything that clattn has but
scores, and register_transformers() gives it to the models of transformers. From PyTorch 2.4 on all of it goes through
operators, torch.ops.clattn.attention and torch.ops.clattn.attention_backward, wherever PyTorch looks at programs rather
than runs them: torch.compile(fullgraph=True), torch.export, torch.func and tensors without memory.

Start Python with OMP_WAIT_POLICY=PASSIVE in the environment: else idle threads of PyTorch's OpenMP spin behind its own
operators, and take CPUs from clattn.
"""
from .functional import attention
from .sdpa import scaled_dot_product_attention
from .tensors import to_numpy
from .transformers import register_transformers

__all__ = ['attention', 'register_transformers', 'scaled_dot_product_attention', 'to_numpy']
