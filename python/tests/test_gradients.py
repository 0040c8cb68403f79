# test_gradients.py - attention_backward() against float64, and finite differences
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import reference
from test_attention import arrays, close, qkv

import clattn


@pytest.mark.parametrize('dtype,limit', [(np.float32, 5e-5), (np.float64, 1e-12)])
@pytest.mark.parametrize('with_dlse', [False, True])
def test_all(rng, dtype, limit, with_dlse):
    q, k, v = qkv(rng, dtype)
    dout, dlse = arrays(rng, [(2, 4, 9, 12), (2, 4, 9)], dtype)
    bias = rng.standard_normal((4, 1, 21)).astype(dtype)
    slopes, sinks = rng.random(4).astype('f4'), rng.standard_normal(4).astype('f4')
    ours = dict(causal=True, bias=bias, alibi=slopes, sinks=sinks)
    theirs = dict(causal=True, bias=bias, alibi_slopes=slopes, sink=sinks)
    o, lse = clattn.attention(q, k, v, return_lse=True, **ours)
    got = clattn.attention_backward(dout, q, k, v, o, lse, dlse=dlse if with_dlse else None, **ours)
    want = reference.attention_backward(q, k, v, dout, dlse=dlse if with_dlse else None, **theirs)
    for name, theirs_name in (('dq', 'dq'), ('dk', 'dk'), ('dv', 'dv'), ('dbias', 'dbias')):
        close(getattr(got, name), want[theirs_name], limit)
        assert getattr(got, name).dtype == dtype
    close(got.dalibi, want['dslope'], 1e-4) # float32 in every type
    close(got.dsinks, want['dsink'], 1e-5)


@pytest.mark.parametrize('dtype,limit', [(np.float32, 5e-5), (np.float64, 1e-12)])
def test_dropout(rng, dtype, limit):
    q, k, v = qkv(rng, dtype)
    dout, = arrays(rng, [(2, 4, 9, 12)], dtype)
    for seed, offset in ((0, 0), (1, 0), (1 << 63, 77)):
        ours = dict(causal=True, dropout_p=0.4, dropout_seed=seed, dropout_offset=offset)
        o, lse = clattn.attention(q, k, v, return_lse=True, **ours)
        got = clattn.attention_backward(dout, q, k, v, o, lse, **ours)
        want = reference.attention_backward(q, k, v, dout, causal=True, dropout=(0.4, seed, offset))
        for name in ('dq', 'dk', 'dv'):
            close(getattr(got, name), want[name], limit)


def test_wanted(rng):
    q, k, v = qkv(rng)
    o, lse = clattn.attention(q, k, v, return_lse=True)
    got = clattn.attention_backward(np.ones_like(o), q, k, v, o, lse, wanted=['dk'])
    assert got.dk.shape == k.shape and got.dq is got.dv is got.dbias is got.daux is None
    with pytest.raises(ValueError, match='dbias is asked for'):
        clattn.attention_backward(np.ones_like(o), q, k, v, o, lse, wanted=['dbias'])
    with pytest.raises(ValueError, match='no gradient'):
        clattn.attention_backward(np.ones_like(o), q, k, v, o, lse, wanted=['dx'])


def test_shared_keys(rng):
    q, k, v = qkv(rng, np.float64)
    k, v = k[:1], v[:1]
    o, lse = clattn.attention(q, k, v, return_lse=True)
    dout = rng.standard_normal(o.shape)
    got = clattn.attention_backward(dout, q, k, v, o, lse)
    want = reference.attention_backward(q, *(np.repeat(x, 2, 0) for x in (k, v)), dout)
    close(got.dk, want['dk'].sum(0, keepdims=True), 1e-12)
    close(got.dv, want['dv'].sum(0, keepdims=True), 1e-12)


@pytest.mark.parametrize('shape', [(9, 21), (2, 1, 9, 21), (2, 4, 1, 21), (1, 1, 1, 21), (2, 4, 9, 1), (1, 1, 1, 1)])
def test_broadcast_bias(rng, shape):
    """A view that numpy has broadcast has a gradient for each of its elements, wherever these lie."""
    q, k, v = qkv(rng, np.float64)
    bias = np.broadcast_to(rng.standard_normal(shape), (2, 4, 9, 21))
    o, lse = clattn.attention(q, k, v, bias=bias, return_lse=True)
    dout = rng.standard_normal(o.shape)
    got = clattn.attention_backward(dout, q, k, v, o, lse, bias=bias)
    want = reference.attention_backward(q, k, v, dout, bias=bias)
    close(got.dbias, want['dbias'], 1e-12)
    close(got.dq, want['dq'], 1e-12)


def test_varlen(rng):
    cu_q, cu_k = [0, 3, 9], [0, 7, 21]
    q, k, v = arrays(rng, [(9, 4, 16), (21, 2, 16), (21, 2, 12)], np.float64)
    kw = dict(cu_seqlens_q=cu_q, cu_seqlens_k=cu_k, causal=True)
    o, lse = clattn.attention(q, k, v, return_lse=True, **kw)
    dout = rng.standard_normal(o.shape)
    got = clattn.attention_backward(dout, q, k, v, o, lse, **kw)
    want = reference.varlen_backward(q, k, v, dout, cu_q, cu_k, causal=True)
    for name in ('dq', 'dk', 'dv'):
        close(getattr(got, name), want[name], 1e-12)


def test_score_mod(rng):
    q, k, v = qkv(rng, np.float64)
    table = rng.standard_normal(64)
    kw = dict(score_mod='s = s * s + table[q + k];', aux={'table': table})
    grad = dict(score_mod_grad='table_index = q + k; table_grad = ds; ds *= 2 * s;', aux_grads=['table'])
    o, lse = clattn.attention(q, k, v, return_lse=True, **kw)
    dout = rng.standard_normal(o.shape)
    got = clattn.attention_backward(dout, q, k, v, o, lse, **kw, **grad)

    def loss(q=q, k=k, t=table):
        return (clattn.attention(q, k, v, score_mod=kw['score_mod'], aux={'table': t}) * dout).sum()

    step = 1e-6
    for x, g, name in ((q, got.dq, 'q'), (k, got.dk, 'k'), (table, got.daux['table'], 't')):
        at = tuple(n // 3 for n in x.shape)
        more, less = x.copy(), x.copy()
        more[at] += step
        less[at] -= step
        slope = (loss(**{name: more}) - loss(**{name: less})) / (2 * step)
        assert abs(slope - g[at]) <= 1e-7 * max(1, abs(slope))
    with pytest.raises(ValueError, match='score_mod_grad'):
        clattn.attention_backward(dout, q, k, v, o, lse, **kw)


def test_plan(rng):
    """A plan's texts and captured buffers do not have to be given again, and others are refused."""
    q, k, v = qkv(rng, np.float64)
    kw = dict(score_mod='s = s * s + table[q + k];', aux={'table': rng.standard_normal(64)})
    grad = dict(score_mod_grad='table_index = q + k; table_grad = ds; ds *= 2 * s;', aux_grads=['table'])
    o, lse = clattn.attention(q, k, v, return_lse=True, **kw)
    plan = clattn.Plan(q, k, v, gradients=True, **kw, **grad)
    want = clattn.attention_backward(o, q, k, v, o, lse, **kw, **grad)
    for again in ({}, grad):
        got = plan.backward(o, q, k, v, o, lse, **kw, **again)
        assert np.array_equal(got.dq, want.dq) and np.array_equal(got.daux['table'], want.daux['table'])
    for other in (dict(score_mod_grad='ds *= 3 * s;'), dict(aux_grads=[]), dict(grad, score_mod='s = s;')):
        with pytest.raises(ValueError, match='not those of the plan'):
            plan.backward(o, q, k, v, o, lse, **dict(kw, **other))


def test_two_tables(rng):
    """Each captured buffer has its own gradient, and one that is not asked for has none."""
    q, k, v = qkv(rng, np.float64)
    near, far, fixed = (rng.standard_normal(32) for _ in range(3))
    mod = 's += near[q] * fixed[0] + far[k];'
    kw = dict(score_mod=mod, aux={'near': near, 'fixed': fixed, 'far': far})
    o, lse = clattn.attention(q, k, v, return_lse=True, **kw)
    dout = rng.standard_normal(o.shape)
    text = 'near_index = q; near_grad = ds * fixed[0]; far_index = k; far_grad = ds;'
    got = clattn.attention_backward(dout, q, k, v, o, lse, score_mod_grad=text, aux_grads=['near', 'far'], **kw).daux
    bias = (near[:9, None] * fixed[0] + far[:21])[None, None]
    o, lse = clattn.attention(q, k, v, bias=bias, return_lse=True)
    want = clattn.attention_backward(dout, q, k, v, o, lse, bias=bias).dbias[0, 0]
    close(got['far'][:21], want.sum(0), 1e-11)
    close(got['near'][:9], want.sum(1) * fixed[0], 1e-11)
    assert set(got) == {'near', 'far'} and not got['far'][21:].any()


def test_same_bits(rng):
    q, k, v = qkv(rng, nq=65, nk=130)
    o, lse = clattn.attention(q, k, v, return_lse=True)
    dout = rng.standard_normal(o.shape).astype(np.float32)
    one, two = (clattn.attention_backward(dout, q, k, v, o, lse) for _ in range(2))
    assert all(np.array_equal(getattr(one, n), getattr(two, n)) for n in ('dq', 'dk', 'dv'))
