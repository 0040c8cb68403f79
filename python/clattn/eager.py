# eager.py - calls that torch.compile leaves as they are
# SPDX-License-Identifier: Apache-2.0
"""Calls that torch.compile leaves as they are: PyTorch's compiler cannot look into them, and fails where it tries."""
from __future__ import annotations

import functools
import sys
from typing import Any, Callable, Dict, TypeVar

F = TypeVar('F', bound=Callable[..., Any])
_DISABLED: Dict[Callable[..., Any], Callable[..., Any]] = {}


def _disabled(f: Callable[..., Any]) -> Callable[..., Any]:
    disable = sys.modules['torch'].compiler.disable
    try:
        return disable(f, reason='clattn computes outside of PyTorch')
    except TypeError: # older ones take no reason
        return disable(f)


def eager(f: F) -> F:
    """f, which breaks torch.compile's graph; with fullgraph=True that raises and says so. The compiler, which takes
    longer to import than numpy, is asked only where the program has it."""
    @functools.wraps(f)
    def call(*args: Any, **more: Any) -> Any:
        if 'torch._dynamo' not in sys.modules:
            return f(*args, **more)
        if f not in _DISABLED:
            _DISABLED[f] = _disabled(f)
        return _DISABLED[f](*args, **more)
    return call # type: ignore[return-value]
