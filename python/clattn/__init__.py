# __init__.py - fused attention on any OpenCL device
# SPDX-License-Identifier: Apache-2.0
"""Fused attention on any OpenCL device, on arrays of numpy and pyopencl.

    o = clattn.attention(q, k, v, causal=True)

clattn.torch has it for PyTorch's tensors.
"""
from ._native import ffi as _ffi, lib as _lib
from .one_call import attention
from .backward import Gradients, attention_backward
from .caches import KVCache
from .errors import ArgumentError, Error, NotSupported
from .handle import Handle, default_handle
from .merge import merge
from .plan import Plan

__all__ = ['ArgumentError', 'Error', 'Gradients', 'Handle', 'KVCache', 'NotSupported', 'Plan', 'attention',
           'attention_backward', 'default_handle', 'merge', 'version']


def version() -> str:
    """The version of the library that runs, "MAJOR.MINOR.PATCH"."""
    return _ffi.string(_lib.clattn_version()).decode()
