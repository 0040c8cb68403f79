# one_call.py - attention in one call
# SPDX-License-Identifier: Apache-2.0
"""Attention in one call."""
from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Tuple, Union, overload

import numpy as np

from . import arrays, checks, forward, options, sequences
from ._native import ffi, lib
from .arguments import Arguments, Literal, Stage, Unpack
from .eager import eager
from .handle import Handle
from .run import Call

__all__ = ['attention']

INT, FLOAT = np.dtype(np.int32), np.dtype(np.float32)
# Arrays that go with a call, by attention()'s names, the library's, and the type that the library reads; None: any.
EXTRAS = (('bias', 'bias', None), ('mask', 'mask', None), ('block_map', 'block_map', None),
          ('alibi', 'alibi', FLOAT), ('sinks', 'sinks', FLOAT), ('cu_seqlens_q', 'cu_q', INT),
          ('cu_seqlens_k', 'cu_k', INT), ('q_len', 'q_len', INT), ('kv_len', 'kv_len', INT),
          ('kv_start', 'kv_start', INT), ('block_table', 'block_table', INT), ('k_scale', 'k_scale', FLOAT),
          ('k_zero', 'k_zero', FLOAT), ('v_scale', 'v_scale', FLOAT), ('v_zero', 'v_zero', FLOAT))
_KNOWN = frozenset(name for name, rule in options.RULES.items() if not rule.of_gradients) | \
    frozenset(name for name, _, _ in EXTRAS)


def gather(given: Dict[str, Any], more: Mapping[str, Any]) -> Dict[str, Any]:
    """Adds the arrays of `more` to `given`, by the library's names, and returns the options."""
    unknown = [name for name in more if name not in _KNOWN]
    if unknown:
        raise TypeError('there is no argument %s' % unknown[0])
    for name, to, dtype in EXTRAS:
        x = more.get(name)
        if x is not None:
            given[to] = x if dtype is None else arrays.small(x, dtype, name)
    offset = more.get('offset')
    if offset is not None and (getattr(offset, 'ndim', 0) or isinstance(offset, (list, tuple))):
        given['offsets'] = arrays.small(offset, INT, 'offset')
        more = {**more, 'offset': None}
    found = options.convert(more)
    if found.get('aux_names'):
        given.update(('aux:' + name, x) for name, x in more['aux'].items())
    for name, of, cu in (('max_seqlen_q', 'q', 'cu_q'), ('max_seqlen_k', 'k', 'cu_k')):
        if cu in given:
            found[name] = sequences.longest(given[cu], given[of], found.get(name), name, of)
    return found


@overload
def attention(q: Any, k: Any, v: Any, *, return_lse: Literal[False] = False, return_scores: None = None,
              out: Any = None, handle: Optional[Handle] = None, plan: Any = None, **more: Unpack[Arguments]) -> Any: ...
@overload
def attention(q: Any, k: Any, v: Any, *, return_lse: Literal[True], return_scores: None = None, out: Any = None,
              handle: Optional[Handle] = None, plan: Any = None, **more: Unpack[Arguments]) -> Tuple[Any, Any]: ...
@overload
def attention(q: Any, k: Any, v: Any, *, return_lse: bool, return_scores: None = None, out: Any = None,
              handle: Optional[Handle] = None, plan: Any = None,
              **more: Unpack[Arguments]) -> Union[Any, Tuple[Any, Any]]: ...
@overload
def attention(q: Any, k: Any, v: Any, *, return_scores: Stage, return_lse: Literal[False] = False, out: Any = None,
              handle: Optional[Handle] = None, plan: Any = None, **more: Unpack[Arguments]) -> Tuple[Any, Any]: ...
@overload
def attention(q: Any, k: Any, v: Any, *, return_scores: Stage, return_lse: Literal[True], out: Any = None,
              handle: Optional[Handle] = None, plan: Any = None,
              **more: Unpack[Arguments]) -> Tuple[Any, Any, Any]: ...


@eager
def attention(q: Any, k: Any, v: Any, *, return_lse: bool = False, return_scores: Optional[str] = None,
              out: Any = None, handle: Optional[Handle] = None, plan: Any = None, **more: Any) -> Any:
    """softmax(scale Q K^T) V in one kernel, without the matrix of scores.

    q  [b,h,nq,d]     k  [b,hk,nk,d]     v  [b,hk,nk,dv]     ->  [b,h,nq,dv], of q's type

    They are arrays of numpy or all of pyopencl, float32, float16, bfloat16 (of ml_dtypes) or float64. h is a multiple
    of hk: query head i reads key/value head i // (h // hk). k and v may have a batch of 1 that all entries share, and
    float64 goes with float64 only; else their types may differ from q's. Leading axes may be missing. Strides may be
    any: an array whose last axis is not contiguous, or with a negative stride, is copied. A device that reads the
    memory of the host, such as a CPU, computes on numpy's memory itself; of arrays that share memory there, such as q,
    k and v of one packed array, all but the first are copied. The call returns when the result is there. Calls on
    pyopencl arrays are enqueued on q's queue, and return at once.

    return_lse  also return ln(sum(exp(scores))), float32 [b,h,nq], of float64 float64
    return_scores   also return [b,h,nq,nk], with cu_seqlens_q [h,total,nk], of the result's type: 'products', which are
                scale * dot(q, k); 'changed', those after softcap, score_mod and alibi; 'masked', those after bias and
                all masks, -inf where a key is not seen; or 'weights', what values are multiplied with. Where there is
                no such key stands -inf, or 0. The result is (o, scores), or (o, lse, scores)
    out         where the result goes, in place of a new array
    handle      the clattn.Handle to run on; None: that of the arrays' context, for numpy clattn.default_handle()
    plan        a clattn.Plan for this call

    Scores (all of them combine; s is scale * dot(q, k))
    scale       a number; None: 1 / sqrt(d)
    softcap     c: s becomes c tanh(s / c)
    score_mod   OpenCL C that changes s, e.g. "s = q < k ? s - 1 : s;", where b, h, q and k are in scope; or several
    mod_vector  the texts work on vectors: CLATTN_MOD_VECTOR of clattn.h
    aux         {name: array}: buffers that the texts read; float32, float64, int32, uint8, float16, bfloat16
    alibi       slopes, float32 [h] or [b,h]: s - slope |q + offset - k|
    bias        is added; its shape is broadcast to [b,h,nq,nk]; float32, float16, bfloat16, or float64 with float64
    sinks       float32 [h]: a term exp(sink) of the denominator that has no value

    Masks
    causal      query q sees the keys k <= q + offset
    align       where the diagonal of causal, window and alibi is: 'bottom-right', offset = kv_len - q_len, the
                default, or 'top-left', offset = 0
    offset      the offset itself, in place of align: a number, or int32 [b]
    window      (left, right): keys that are seen on either side of the diagonal; -1: all
    mask        bool or uint8, broadcast to [b,h,nq,nk]: what is not 0 keeps the key
    block_map   uint8, broadcast to [b,h,blocks of queries,blocks of keys], with block=(queries, keys): 0 drops the
                block, 2 says that the mask keeps all of it, else the mask decides
    q_len, kv_len, kv_start   int32 [b]: q < q_len and kv_start <= k < kv_len
    A row that sees no key is 0, and its LSE -inf, with a sink that.

    Layouts
    layout      'bhnd', or 'bnhd': axes of q, k, v and the result are [b,n,h,d]
    cu_seqlens_q, cu_seqlens_k   int32 [b+1]: sequences one behind the other: q and the result are [total,h,d], LSE is
                [h,total]; k and v [total,hk,d]. They begin with 0, never descend, and end with total
    max_seqlen_q, max_seqlen_k   rows of the longest sequence, or more; None: found, where cu_seqlens are of the host.
                Those of a device are not read: what leads outside is clamped. Rows of no sequence are 0, and stay
                as they are in `out`
    block_table int32 [b,n]: k and v are pages, [pages,page,hk,d], and this says which ones each sequence has
    k_type, v_type   'int8', 'int4', 'q8_0', 'q4_0', 'q4_1', 'q5_0' or 'q5_1': k and v are quantised, in int8 or uint8
                (bytes as clattn.h has them); with k_scale, k_zero, v_scale, v_zero, which lie as k and v do, with
                groups in place of elements, and 1 where an axis is broadcast
    k_group, v_group   elements of a group: 1 or a multiple of 16, 0 for the whole row; None: the only such number that
                makes as many groups as k_scale and v_scale have, where there is but one
    out_dtype   of the result: 'f32', 'f16', 'bf16'
    dropout_p   the probability with which a weight is left out, 0 or from 2^-32 to 1 - 2^-32; the others are multiplied
                by 1 / (1 - dropout_p). Not with batch_invariant
    dropout_seed, dropout_offset   which ones: whole numbers below 2^64 and 2^32, by default 0. The same numbers leave
                out the same weights on every device: give each layer and step its own, and attention_backward() those
                of the forward call
    splits      parts that keys are split into; 0: as many as the device needs
    batch_invariant   True: keys of an entry are split by their own number alone, so that a row of the result has the
                same bits whatever else the call computes (clattn.h says what exactly)

    Raises TypeError and ValueError for arguments that do not fit or have no effect without others that are missing, and
    clattn.Error for what the library or the driver refuses. Tensors of PyTorch that require gradients are for
    clattn.torch.attention(): what this function would lose of them is refused.
    """
    return begin(q, k, v, return_lse=return_lse, return_scores=return_scores, out=out, handle=handle, plan=plan,
                 **more)[1]()


def complete(plan: Any, found: Dict[str, Any], given: Dict[str, Any], handle: Optional[Handle]) -> Dict[str, Any]:
    """The options of a call by a plan."""
    if not hasattr(plan, 'pointer_for'):
        raise TypeError('plan is %s: must be a clattn.Plan' % checks.kind(plan))
    if handle is not None and handle is not plan.handle:
        raise ValueError('handle is not that of the plan')
    return plan.complete(found, given)


def pointer_of(call: Call, plan: Any, scores: Optional[str]) -> Any:
    """The clattn_plan of a call; NULL: the library keeps it. One that writes scores is the handle's."""
    from .plan import kept_plan # pylint: disable=import-outside-toplevel,cyclic-import
    if plan is not None:
        return plan.pointer_for(call.prepared)
    return kept_plan(call, ('scores', call.prepared.problem_key)) if scores else ffi.NULL


def begin(q: Any, k: Any, v: Any, *, return_lse: bool = False, return_scores: Optional[str] = None, out: Any = None,
          handle: Optional[Handle] = None, plan: Any = None, **more: Any) -> Tuple[Call, Callable[[], Any]]:
    """attention() up to where something is written: its call, whose arguments are looked at, and what does the rest."""
    given = {'q': q, 'k': k, 'v': v}
    written: Tuple[str, ...] = ()
    found: Dict[str, Any] = gather(given, more) if more else {}
    if plan is not None:
        found, handle = complete(plan, found, given, handle), plan.handle
    if out is not None:
        given['out'], written = out, ('out',)
    call = Call(given, handle)
    scores = None if return_scores is None else checks.choice(options.STAGES)(return_scores, 'return_scores')
    wanted = options.Options(lse=checks.flag(return_lse, 'return_lse'), scores=scores, **found)
    call.prepare(lib.CLATTN_PY_FORWARD, wanted, forward.prepare, written)
    if plan is not None:
        plan.pointer_for(call.prepared, scores is not None) # which it refuses, before anything is written

    def end() -> Any:
        call.run(pointer_of(call, plan, scores))
        o = call.made['out'] if out is None else out
        more = ((call.made['lse'],) if wanted.lse else ()) + ((call.made['scores'],) if scores else ())
        return (o, *more) if more else o

    return call, end
