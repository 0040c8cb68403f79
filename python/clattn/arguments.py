# arguments.py - names and types of arguments, as type checkers read them
# SPDX-License-Identifier: Apache-2.0
"""What calls take beside q, k and v, for mypy and its kin: an argument that there is not, or one of another type, is an
error before the program runs. attention() says what each means; options.py and one_call.py look at the values."""
from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any, Mapping, Optional, Sequence, Tuple, Union

if sys.version_info >= (3, 11):
    from typing import Literal, TypedDict, Unpack
elif TYPE_CHECKING:
    from typing_extensions import Literal, TypedDict, Unpack
else:
    from typing import Literal, TypedDict
    Unpack = Optional # anything that takes one type: these Pythons have none, and checkers do not come here

__all__ = ['Arguments', 'Array', 'CacheArguments', 'GradientArguments', 'Literal', 'Stage', 'TensorArguments',
           'Unpack']

Stage = Literal['products', 'changed', 'masked', 'weights']
Texts = Optional[Union[str, Sequence[str]]]
Quantised = Optional[Literal['int8', 'int4', 'q8_0', 'q4_0', 'q4_1', 'q5_0', 'q5_1']]
Array = Any # of numpy, pyopencl or PyTorch, or a list of numbers: they have no type in common


class _OfQueries(TypedDict, total=False):
    """What has nothing to do with how keys and values are stored."""

    align: Optional[Literal['bottom-right', 'top-left']]
    offset: Array
    scale: Optional[float]
    softcap: Optional[float]
    window: Optional[Tuple[int, int]]
    out_dtype: Any
    dropout_p: Optional[float]
    dropout_seed: Optional[int]
    dropout_offset: Optional[int]
    splits: Optional[int]
    batch_invariant: Optional[bool]
    score_mod: Texts
    mod_vector: Optional[bool]
    aux: Optional[Mapping[str, Array]]
    block: Optional[Tuple[int, int]]
    max_seqlen_q: Optional[int]
    max_seqlen_k: Optional[int]
    bias: Array
    mask: Array
    block_map: Array
    alibi: Array
    sinks: Array
    cu_seqlens_q: Array
    cu_seqlens_k: Array
    q_len: Array
    kv_start: Array


class Arguments(_OfQueries, total=False):
    """Those of attention()."""

    causal: Optional[bool]
    layout: Optional[Literal['bhnd', 'bnhd']]
    k_type: Quantised
    v_type: Quantised
    k_group: Optional[int]
    v_group: Optional[int]
    kv_len: Array
    block_table: Array
    k_scale: Array
    k_zero: Array
    v_scale: Array
    v_zero: Array


class CacheArguments(_OfQueries, total=False):
    """Those of a KVCache's calls."""

    return_lse: bool
    return_scores: Optional[Stage]
    out: Array


class TensorArguments(Arguments, total=False):
    """Those of clattn.torch.attention()."""

    score_mod_grad: Texts


class GradientArguments(TensorArguments, total=False):
    """Those of Plan.backward()."""

    dlse: Array
    wanted: Optional[Sequence[str]]
    aux_grads: Optional[Sequence[str]]
