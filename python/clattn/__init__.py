# __init__.py - fused attention on any OpenCL device
# SPDX-License-Identifier: Apache-2.0
"""Fused attention on any OpenCL device, on arrays of numpy and pyopencl.

    o = clattn.attention(q, k, v, causal=True)

clattn.torch has it for PyTorch's tensors.
"""
from . import drivers as _drivers

_drivers.need_loader()
# pylint: disable=wrong-import-position
from ._native import ffi as _ffi, lib as _lib # noqa: E402
from .one_call import attention # noqa: E402
from .backward import Gradients, attention_backward # noqa: E402
from .caches import KVCache # noqa: E402
from .errors import ArgumentError, Error, NotSupported # noqa: E402
from .handle import Handle, default_handle # noqa: E402
from .merge import merge # noqa: E402
from .plan import Plan # noqa: E402

__all__ = ['ArgumentError', 'Error', 'Gradients', 'Handle', 'KVCache', 'NotSupported', 'Plan', 'attention',
           'attention_backward', 'default_handle', 'merge', 'version']


def version() -> str:
    """The version of the library that runs, "MAJOR.MINOR.PATCH"."""
    return _ffi.string(_lib.clattn_version()).decode()
