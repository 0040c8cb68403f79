# dtypes.py - numpy's types and the library's
# SPDX-License-Identifier: Apache-2.0
"""numpy's types and the library's."""
from __future__ import annotations

from typing import Any

import numpy as np

from . import checks
from ._native import lib

try: # bfloat16 is a type of its own there
    from ml_dtypes import bfloat16
except ImportError:
    bfloat16 = None

STORAGE = {np.dtype(np.float32): lib.CLATTN_F32, np.dtype(np.float16): lib.CLATTN_F16,
           np.dtype(np.float64): lib.CLATTN_F64}
if bfloat16 is not None:
    STORAGE[np.dtype(bfloat16)] = lib.CLATTN_BF16
AUX = {**STORAGE, np.dtype(np.int32): lib.CLATTN_I32, np.dtype(np.uint8): lib.CLATTN_U8}

# Quantised storage by name: code, dtype of the array that holds it, elements and bytes of a block.
QUANTISED = {'int8': (lib.CLATTN_INT8, np.dtype(np.int8), 1, 1),
             'int4': (lib.CLATTN_INT4, np.dtype(np.uint8), 2, 1),
             'q8_0': (lib.CLATTN_Q8_0, np.dtype(np.uint8), 32, 34),
             'q4_0': (lib.CLATTN_Q4_0, np.dtype(np.uint8), 32, 18),
             'q4_1': (lib.CLATTN_Q4_1, np.dtype(np.uint8), 32, 20),
             'q5_0': (lib.CLATTN_Q5_0, np.dtype(np.uint8), 32, 22),
             'q5_1': (lib.CLATTN_Q5_1, np.dtype(np.uint8), 32, 24)}

NAMES = {'f32': lib.CLATTN_F32, 'f16': lib.CLATTN_F16, 'bf16': lib.CLATTN_BF16, 'f64': lib.CLATTN_F64}


def storage(dtype: np.dtype, what: str) -> int:
    """The library's code of a type that Q, K, V and O may have."""
    code = STORAGE.get(dtype)
    if code is None:
        names = 'float32, float16, float64' + ('' if bfloat16 is None else ', bfloat16')
        raise TypeError('%s is %s: must be one of %s%s' % (what, dtype, names, '; bfloat16 needs ml_dtypes'
                                                           if bfloat16 is None else ''))
    return code


def name_of(dtype: Any, what: str) -> str:
    """The library's name of a type that O may have: of 'f16', numpy.float16, torch.float16, .."""
    known = {'float32': 'f32', 'float16': 'f16', 'bfloat16': 'bf16', 'float64': 'f64'}
    if isinstance(dtype, str) and dtype in NAMES:
        return dtype
    if str(dtype).startswith('torch.'):
        name = str(dtype).split('.')[-1]
    else:
        try:
            name = np.dtype(dtype).name if isinstance(dtype, (str, type, np.dtype)) else ''
        except (TypeError, ValueError, SyntaxError): # numpy reads texts as Python
            name = ''
    if name not in known:
        shown = repr(dtype) if isinstance(dtype, (str, type)) else name or checks.kind(dtype)
        raise ValueError('%s is %s: must be one of %s, or such a type of numpy or PyTorch'
                         % (what, shown, checks.listed(NAMES)))
    return known[name]
