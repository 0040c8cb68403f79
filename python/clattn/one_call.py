# one_call.py - attention in one call
# SPDX-License-Identifier: Apache-2.0
"""Attention in one call."""
from __future__ import annotations

from typing import Any, Callable, Dict, Mapping, Optional, Tuple

import numpy as np

from . import arrays, forward, options
from ._native import ffi, lib
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
NUMBERS = ('causal', 'align', 'scale', 'softcap', 'window', 'layout', 'k_type', 'v_type', 'k_group', 'v_group',
           'splits', 'mod_vector', 'block')
OTHERS = ('offset', 'score_mod', 'aux', 'max_seqlen_q', 'max_seqlen_k', 'out_dtype')
_KNOWN = frozenset(NUMBERS + OTHERS + tuple(name for name, _, _ in EXTRAS))


def longest(cu: Any, given: Optional[int]) -> Optional[int]:
    """Rows of the longest sequence; None where that is on a device, and all rows stand for it."""
    if given is not None or not isinstance(cu, np.ndarray) or cu.size < 2:
        return given
    return max(0, int(np.diff(cu).max()))


def name_of(dtype: Any) -> Optional[str]:
    """The library's name of a type of O."""
    if dtype is None or dtype in ('f32', 'f16', 'bf16', 'f64'):
        return dtype
    names = {'float32': 'f32', 'float16': 'f16', 'bfloat16': 'bf16', 'float64': 'f64'}
    text = str(dtype).split('.')[-1] if str(dtype).startswith('torch.') else np.dtype(dtype).name
    return names.get(text, text)


def gather(given: Dict[str, Any], more: Mapping[str, Any]) -> Dict[str, Any]:
    """Adds the arrays of `more` to `given`, by the library's names, and returns the options."""
    unknown = [name for name in more if name not in _KNOWN]
    if unknown:
        raise TypeError('there is no argument %s' % unknown[0])
    for name, to, dtype in EXTRAS:
        x = more.get(name)
        if x is not None:
            given[to] = x if dtype is None else arrays.small(x, dtype, name)
    found = {name: more[name] for name in NUMBERS if more.get(name) is not None}
    if 'causal' in found:
        found['causal'] = bool(found['causal'])
    if 'window' in found:
        found['window'] = tuple(found['window'])
    if 'block' in found:
        found['block'] = tuple(found['block'])
    offset = more.get('offset')
    if offset is not None and (getattr(offset, 'ndim', 0) or not hasattr(offset, '__index__')): # arrays have one, too
        given['offsets'] = arrays.small(offset, INT, 'offset')
    elif offset is not None:
        found['offset'] = offset.__index__()
    if more.get('score_mod') is not None:
        found['score_mod'] = options.texts(more['score_mod'])
    aux = more.get('aux')
    if aux:
        found['aux_names'] = tuple(aux)
        given.update(('aux:' + name, x) for name, x in aux.items())
    for name, cu in (('max_seqlen_q', 'cu_q'), ('max_seqlen_k', 'cu_k')):
        if cu in given:
            found[name] = longest(given[cu], more.get(name))
    if more.get('out_dtype') is not None:
        found['out_dtype'] = name_of(more['out_dtype'])
    return found


def attention(q: Any, k: Any, v: Any, *, return_lse: bool = False, out: Any = None, handle: Optional[Handle] = None,
              plan: Any = None, **more: Any) -> Any:
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
    align       where the diagonal is: 'bottom-right', offset = kv_len - q_len, or 'top-left', offset = 0
    offset      the offset itself: a number, or int32 [b]
    window      (left, right): keys that are seen on either side of the diagonal; -1: all
    mask        bool or uint8, broadcast to [b,h,nq,nk]: what is not 0 keeps the key
    block_map   uint8, broadcast to [b,h,blocks of queries,blocks of keys], with block=(queries, keys): 0 drops the
                block, 2 keeps all of it, else the mask decides
    q_len, kv_len, kv_start   int32 [b]: q < q_len and kv_start <= k < kv_len
    A row that sees no key is 0, and its LSE -inf.

    Layouts
    layout      'bhnd', or 'bnhd': axes of q, k, v and the result are [b,n,h,d]
    cu_seqlens_q, cu_seqlens_k   int32 [b+1]: sequences one behind the other: q and the result are [total,h,d], LSE is
                [h,total]; k and v [total,hk,d]
    max_seqlen_q, max_seqlen_k   rows of the longest sequence; None: found, where cu_seqlens are of the host
    block_table int32 [b,n]: k and v are pages, [pages,page,hk,d], and this says which ones each sequence has
    k_type, v_type   'int8', 'int4', 'q8_0' or 'q4_0': k and v are quantised, in int8 or uint8 (bytes as clattn.h has
                them); with k_scale, k_zero, v_scale, v_zero, which lie as k and v do, with groups (k_group, v_group
                elements each) in place of elements, and 1 where an axis is broadcast
    out_dtype   of the result: 'f32', 'f16', 'bf16'
    splits      parts that keys are split into; 0: as many as the device needs

    Raises TypeError and ValueError for arguments that do not fit, clattn.Error for what the library or the driver
    refuses.
    """
    return begin(q, k, v, return_lse=return_lse, out=out, handle=handle, plan=plan, **more)[1]()


def begin(q: Any, k: Any, v: Any, *, return_lse: bool = False, out: Any = None, handle: Optional[Handle] = None,
          plan: Any = None, **more: Any) -> Tuple[Call, Callable[[], Any]]:
    """attention() up to where something is written: its call, whose arguments are looked at, and what does the rest."""
    given = {'q': q, 'k': k, 'v': v}
    written: Tuple[str, ...] = ()
    found: Dict[str, Any] = gather(given, more) if more else {}
    if plan is not None:
        found, handle = plan.complete(found, given), plan.handle
    if out is not None:
        given['out'], written = out, ('out',)
    call = Call(given, handle)
    call.prepare(lib.CLATTN_PY_FORWARD, options.Options(lse=bool(return_lse), **found), forward.prepare, written)
    pointer = ffi.NULL if plan is None else plan.pointer_for(call.prepared)

    def end() -> Any:
        call.run(pointer)
        o = call.made['out'] if out is None else out
        return (o, call.made['lse']) if return_lse else o

    return call, end
