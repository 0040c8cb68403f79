# test_misuse.py - what does not fit raises, and never ends the process
# SPDX-License-Identifier: Apache-2.0
import pickle
import threading

import numpy as np
import pytest
from test_attention import qkv

import clattn

F32 = np.float32
BAD = [ # what is raised, words, and what is changed
    (TypeError, 'q is a list', dict(q=[[1.0]])),
    (TypeError, 'q is int64', dict(q=np.zeros((2, 4, 9, 16), int))),
    (TypeError, 'order of bytes', dict(q=np.zeros((2, 4, 9, 16), '>f4'))),
    (TypeError, 'k is object', dict(k=np.zeros((2, 2, 21, 16), object))),
    (TypeError, 'k is a str', dict(k='k')),
    (TypeError, 'v is complex64', dict(v=np.zeros((2, 2, 21, 12), np.complex64))),
    (ValueError, 'q has shape', dict(q=np.zeros(3, F32))),
    (ValueError, 'q has shape', dict(q=np.zeros((1, 2, 4, 9, 16), F32))),
    (ValueError, 'rows of k have 8', dict(k=np.zeros((2, 2, 21, 8), F32))),
    (ValueError, 'must agree', dict(v=np.zeros((2, 2, 20, 12), F32))),
    (ValueError, 'must be 1 or 2', dict(k=np.zeros((3, 2, 21, 16), F32), v=np.zeros((3, 2, 21, 12), F32))),
    (ValueError, 'multiple', dict(k=np.zeros((2, 3, 21, 16), F32), v=np.zeros((2, 3, 21, 12), F32))),
    (ValueError, r'q has shape \(2, 4, 9, 0\): its rows have no elements', dict(q=np.zeros((2, 4, 9, 0), F32),
                                                                                k=np.zeros((2, 2, 21, 0), F32))),
    (ValueError, r'v has shape \(2, 2, 21, 0\): its rows have no elements', dict(v=np.zeros((2, 2, 21, 0), F32))),
    (ValueError, r'q has shape \(2, 0, 9, 16\): it has no heads', dict(q=np.zeros((2, 0, 9, 16), F32))),
    (ValueError, r'k has shape \(2, 0, 21, 16\): it has no heads', dict(k=np.zeros((2, 0, 21, 16), F32),
                                                                        v=np.zeros((2, 0, 21, 12), F32))),
    (ValueError, r'k has shape \(5, 0, 2, 16\): its pages have no rows',
     dict(k=np.zeros((5, 0, 2, 16), F32), v=np.zeros((5, 0, 2, 12), F32), block_table=[[0], [1]], kv_len=[0, 0])),
    (TypeError, 'q is a masked array', dict(q=np.ma.masked_array(np.zeros((2, 4, 9, 16), F32)))),
    (TypeError, 'kv_len is a masked array', dict(kv_len=np.ma.masked_array([1, 2], [0, 1]))),
    (clattn.NotSupported, '600', dict(v=np.zeros((2, 2, 21, 600), F32))),
    (clattn.NotSupported, 'f64', dict(k=np.zeros((2, 2, 21, 16)))),
    (ValueError, 'align', dict(align='middle')),
    (ValueError, 'layout', dict(layout='nbhd')),
    (ValueError, 'window has 3', dict(window=(1, 2, 3))),
    (ValueError, 'window is -2', dict(window=(-2, 3))),
    (TypeError, 'window is a float', dict(window=(1.5, 3))),
    (clattn.ArgumentError, 'scale', dict(scale=float('nan'))),
    (clattn.ArgumentError, 'softcap', dict(softcap=-1)),
    (ValueError, 'bias has shape', dict(bias=np.zeros((4, 9, 20), F32))),
    (ValueError, '5 axes', dict(bias=np.zeros((1, 1, 4, 9, 21), F32))),
    (TypeError, 'mask is float32', dict(mask=np.zeros((9, 21), F32))),
    (ValueError, 'alibi has shape', dict(alibi=np.zeros(3))),
    (ValueError, 'sinks has shape', dict(sinks=np.zeros((2, 4)))),
    (ValueError, 'kv_len has shape', dict(kv_len=[1, 2, 3])),
    (TypeError, 'kv_len is a str: must be int32', dict(kv_len='12')),
    (TypeError, 'kv_len is a list that is no array', dict(kv_len=[[1], [2, 3]])),
    (TypeError, 'kv_len is float64', dict(kv_len=[1.0, 2.0])),
    (ValueError, 'beyond', dict(kv_len=[1, 1 << 40])),
    (ValueError, 'beyond', dict(kv_len=[1, -(1 << 40)])),
    (ValueError, 'splits', dict(splits=5000)),
    (ValueError, 'k_type', dict(k_type='int3')),
    (TypeError, 'in q8_0 it must be', dict(k_type='q8_0')),
    (ValueError, 'k_scale is not given', dict(k=np.zeros((2, 2, 21, 16), np.int8))),
    (clattn.NotSupported, 'f64', dict(out_dtype='f64')),
    (ValueError, 'out_dtype', dict(out_dtype='i4')),
    (TypeError, 'there is no argument', dict(casual=True)),
    (ValueError, 'cu_seqlens_q is given', dict(cu_seqlens_q=[0, 9])),
    (clattn.Error, 'CLATTN_ERROR_BUILD', dict(score_mod='s = nothing;')),
    (TypeError, 'score_mod is an int: must be a str', dict(score_mod=[3])),
    (TypeError, 'score_mod is an int: must be a str or a list', dict(score_mod=3)),
    (ValueError, 'score_mod has a character NUL', dict(score_mod='s = 1;\0')),
    (ValueError, 'score_mod has characters that UTF-8', dict(score_mod='s = 1;\ud800')),
    (ValueError, 'a name in aux has a character NUL', dict(score_mod='s = 1;', aux={'t\0': np.zeros(3, F32)})),
    (TypeError, 'a name in aux is an int', dict(score_mod='s = 1;', aux={3: np.zeros(3, F32)})),
    (TypeError, 'aux is a list: must be a dict', dict(score_mod='s = 1;', aux=[np.zeros(3, F32)])),
    (TypeError, 'aux t is a list, not an array', dict(score_mod='s += t[0];', aux={'t': [1.0]})),
    (TypeError, 'handle is an int: must be a clattn.Handle', dict(handle=3)),
    (TypeError, 'plan is an int: must be a clattn.Plan', dict(plan=3)),
    (TypeError, 'return_lse is a str: must be True or False', dict(return_lse='yes')),
    (TypeError, 'offset is a float', dict(offset=2.5, causal=True)),
    (ValueError, 'align and offset are both given', dict(align='bottom-right', offset=3, causal=True)),
    (ValueError, 'align and offset are both given', dict(align='top-left', offset=[3, 4], causal=True)),
    (ValueError, 'aux t has no elements', dict(score_mod='s += t[0];', aux={'t': np.zeros(0, F32)})),
    (TypeError, 'aux t', dict(score_mod='s += t[0];', aux={'t': np.zeros(1, np.int64)})),
    (ValueError, 'out has shape', dict(out=np.zeros((2, 4, 9, 16), F32))),
    (TypeError, 'out is float64', dict(out=np.zeros((2, 4, 9, 12)))),
    (ValueError, 'cannot be written', dict(out=np.zeros((2, 4, 9, 24), F32)[..., ::2])),
]


@pytest.mark.parametrize('kind,words,change', BAD, ids=['%d %s' % (i, row[1]) for i, row in enumerate(BAD)])
def test_refused(rng, kind, words, change):
    q, k, v = qkv(rng)
    arguments = dict(dict(q=q, k=k, v=v), **change)
    for _ in range(2): # nothing wrong is kept
        with pytest.raises(kind, match=words):
            clattn.attention(**arguments)
    assert clattn.attention(q, k, v).shape == (2, 4, 9, 12)


class Subclass(np.ndarray):
    """As numpy.memmap is one."""


def test_outputs(rng):
    q, k, v = qkv(rng, dv=16)
    for out, given in ((q, q), (q, q.view(Subclass)), (q.view(Subclass), q)):
        with pytest.raises(ValueError, match='overlaps q'):
            clattn.attention(given, k, v, out=out)
    out = np.zeros_like(q)
    out.setflags(write=False)
    with pytest.raises(ValueError, match='read-only'):
        clattn.attention(q, k, v, out=out)


def test_errors():
    e = clattn.ArgumentError(-30001, 'words')
    assert (e.status, e.name, e.detail) == (-30001, 'CLATTN_ERROR_INVALID_ARGUMENT', 'words')
    again = pickle.loads(pickle.dumps(e))
    assert type(again) is type(e) and str(again) == str(e) and isinstance(e, ValueError)


def test_dead_handle(rng):
    q, k, v = qkv(rng)
    handle = clattn.Handle()
    plan = clattn.Plan(q, k, v, handle=handle)
    handle.close()
    handle.close()
    for call in (lambda: clattn.attention(q, k, v, handle=handle), lambda: plan(q, k, v), handle.stats):
        with pytest.raises(clattn.Error, match='closed'):
            call()
    with pytest.raises(ValueError, match='kind'):
        clattn.Handle(kind='tpu')
    with pytest.raises(ValueError, match='tune'):
        clattn.Handle(tune='some')


def test_plan(rng):
    q, k, v = qkv(rng)
    plan = clattn.Plan(q, k, v, causal=True)
    assert plan.config.split()[0] in ('cpu', 'row', 'simt', 'naive', 'mma_nv', 'mfma', 'wmma', 'dpas', 'dpas8')
    assert plan.info[0] == 'default'
    assert np.array_equal(plan(q, k, v), clattn.attention(q, k, v, causal=True))
    for other in (dict(softcap=3.0), dict(causal=False)):
        with pytest.raises(ValueError, match='not those of the plan'):
            plan(q, k, v, **other)
    sinks = rng.standard_normal(4)
    both = clattn.Plan(q, k, v, causal=True, sinks=sinks) # stays causal in a call that gives something else
    assert np.array_equal(both(q, k, v, sinks=sinks), clattn.attention(q, k, v, causal=True, sinks=sinks))
    with pytest.raises(TypeError, match='made with sinks'):
        both(q, k, v)
    with pytest.raises(ValueError, match='not those of the plan'):
        plan(*(x.astype(np.float64) for x in (q, k, v)))
    with pytest.raises(clattn.ArgumentError, match='SYNTAX'):
        clattn.Plan(q, k, v, config='engine of mine')
    plan.close()
    with pytest.raises(clattn.Error, match='closed'):
        plan(q, k, v)


def test_workspace(rng):
    """A plan's calls bring the workspace that it asks for."""
    q, k, v = qkv(rng, nq=1, nk=300)
    plan = clattn.Plan(q, k, v, splits=4)
    assert np.allclose(plan(q, k, v), clattn.attention(q, k, v, splits=1), atol=1e-6)
    plan = clattn.Plan(q, k, v, gradients=True)
    o, lse = clattn.attention(q, k, v, return_lse=True)
    got, want = plan.backward(o, q, k, v, o, lse), clattn.attention_backward(o, q, k, v, o, lse)
    assert all(np.array_equal(x, y) for x, y in zip(got[:3], want[:3]))


def test_sizes_matter(rng):
    """Calls of other sizes have plans of their own."""
    handle = clattn.Handle(cache_dir='')
    plans = []
    for nq in (1, 1, 600):
        q, k, v = qkv(rng, b=1, nq=nq, nk=600)
        clattn.attention(q, k, v, handle=handle)
        plans.append(sum(handle.stats().values()))
    assert plans[0] == plans[1] < plans[2]


def test_threads(rng):
    q, k, v = qkv(rng)
    want = clattn.attention(q, k, v)
    handle, wrong = clattn.Handle(), []

    def work(i):
        try:
            for n in range(200):
                if n == 150 and i == 0:
                    handle.close() # while others call
                if not np.array_equal(clattn.attention(q, k, v, handle=handle), want):
                    wrong.append('differs')
        except clattn.Error as e:
            if 'closed' not in str(e):
                wrong.append(str(e))

    threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not wrong
