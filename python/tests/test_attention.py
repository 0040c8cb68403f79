# test_attention.py - attention() on numpy arrays against float64
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import reference

import clattn

ml_dtypes = pytest.importorskip('ml_dtypes')
TYPES = {'f32': (np.float32, 1e-5), 'f16': (np.float16, 4e-3), 'bf16': (ml_dtypes.bfloat16, 3e-2),
         'f64': (np.float64, 1e-13)}


def arrays(rng, shapes, dtype=np.float32):
    return tuple(rng.standard_normal(s).astype(dtype) for s in shapes)


def qkv(rng, dtype=np.float32, b=2, h=4, hk=2, nq=9, nk=21, d=16, dv=12):
    return arrays(rng, [(b, h, nq, d), (b, hk, nk, d), (b, hk, nk, dv)], dtype)


def wide(*xs):
    return tuple(np.asarray(x, np.float64) for x in xs)


def close(got, want, limit):
    got = np.asarray(got, np.float64)
    assert got.shape == want.shape
    assert np.array_equal(np.isneginf(got), np.isneginf(want))
    finite = np.isfinite(want)
    assert np.abs(got[finite] - want[finite]).max(initial=0) <= limit


@pytest.mark.parametrize('name', TYPES)
def test_types(rng, name):
    dtype, limit = TYPES[name]
    q, k, v = qkv(rng, dtype)
    o, lse = clattn.attention(q, k, v, causal=True, return_lse=True)
    want, want_lse = reference.attention_forward(*wide(q, k, v), causal=True)
    assert o.dtype == np.dtype(dtype) and lse.dtype == (np.float64 if name == 'f64' else np.float32)
    close(o, want, limit)
    close(lse, want_lse, limit if name == 'f64' else 1e-5)


def bias_of(rng):
    return rng.standard_normal((4, 9, 21)).astype(np.float32)


FEATURES = {
    'scale': lambda rng: (dict(scale=-0.3), {}),
    'scale 0': lambda rng: (dict(scale=0), {}),
    'softcap': lambda rng: (dict(softcap=2.5), {}),
    'dropout': lambda rng: (dict(dropout_p=0.3, dropout_seed=(1 << 64) - 9, dropout_offset=(1 << 32) - 1),
                            dict(dropout=(0.3, (1 << 64) - 9, (1 << 32) - 1))),
    'window': lambda rng: (dict(window=(3, 2)), {}),
    'window and causal': lambda rng: (dict(window=(3, -1), causal=True, align='top-left'),
                                      dict(window=(3, -1), causal=True, align='top_left')),
    'offset': lambda rng: (dict(causal=True, offset=2), dict(causal=True, align='explicit', offset=2)),
    'offsets': lambda rng: (dict(causal=True, offset=[1, 7]), dict(causal=True, align='explicit', offset=[1, 7])),
    'offsets of an array': lambda rng: (dict(causal=True, offset=np.array([1, 7])),
                                        dict(causal=True, align='explicit', offset=[1, 7])),
    'offsets of nothing': lambda rng: (dict(offset=[1, 7]), dict()),
    'offsets of ALiBi': lambda rng: (lambda x: (dict(alibi=x, offset=[1, 7]),
                                                dict(alibi_slopes=x, align='explicit', offset=[1, 7])))(rng.random(4)),
    'offsets of a window': lambda rng: (dict(window=(3, 2), offset=[1, 7]),
                                        dict(window=(3, 2), align='explicit', offset=[1, 7])),
    'offset of numpy': lambda rng: (dict(causal=True, offset=np.array(2)),
                                    dict(causal=True, align='explicit', offset=2)),
    'bias': lambda rng: (lambda x: (dict(bias=x), dict(bias=x)))(bias_of(rng)),
    'bias of 1 key': lambda rng: (lambda x: (dict(bias=x), dict(bias=x)))(bias_of(rng)[:, :, :1]),
    'mask': lambda rng: (lambda x: (dict(mask=x), dict(bool_mask=x)))(rng.random((2, 1, 9, 21)) < 0.6),
    'mask of a view': lambda rng: (lambda x: (dict(mask=x), dict(bool_mask=x)))((rng.random((21, 9)) < 0.6).T),
    'alibi': lambda rng: (lambda x: (dict(alibi=x), dict(alibi_slopes=x)))(rng.random(4).astype('f4')),
    'alibi of each entry': lambda rng: (lambda x: (dict(alibi=x), dict(alibi_slopes=x)))(rng.random((2, 4))),
    'sinks': lambda rng: (lambda x: (dict(sinks=x), dict(sink=x)))(rng.standard_normal(4)),
    'lengths': lambda rng: (dict(causal=True, q_len=[9, 4], kv_len=[5, 21], kv_start=[1, 0]),) * 2,
    'mod': lambda rng: (dict(score_mod=['s *= 2;', 's = q < k ? s - 1 : s + table[h];'],
                             aux={'table': np.arange(4, dtype=np.float32)}),
                        dict(score_mod=lambda s, b, h, i, j, a: (np.where(i < j, 2 * s - 1, 2 * s + h), s))),
    'splits': lambda rng: (dict(splits=3), {}),
    'batch-invariant': lambda rng: (dict(batch_invariant=True), {}),
}


def test_batch_invariant(rng):
    """A row of decoding has the same bits alone and beside others, of other lengths too."""
    q, k, v = (rng.standard_normal((4, 8, n, 32), dtype=np.float32) for n in (1, 3000, 3000))
    k, v, lengths = k[:, :2], v[:, :2], np.array([3000, 1500, 70, 2100], np.int32)
    together = clattn.attention(q, k, v, kv_len=lengths, batch_invariant=True)
    for b, n in enumerate(lengths):
        alone = clattn.attention(*(x[b:b + 1] for x in (q, k[:, :, :n], v[:, :, :n])), batch_invariant=True)
        assert np.array_equal(alone[0], together[b])


@pytest.mark.parametrize('name', FEATURES)
def test_features(rng, name):
    q, k, v = qkv(rng)
    ours, theirs = FEATURES[name](rng)
    if not theirs and name not in ('splits', 'batch-invariant', 'offsets of nothing'):
        theirs = ours
    o, lse = clattn.attention(q, k, v, return_lse=True, **ours)
    want, want_lse = reference.attention_forward(q, k, v, **theirs)
    close(o, want, 2e-5)
    close(lse, want_lse, 2e-5)


STRIDES = {
    'rows with gaps': lambda x: np.repeat(x, 2, 2)[:, :, ::2],
    'transposed heads': lambda x: np.ascontiguousarray(x.transpose(0, 2, 1, 3)).transpose(0, 2, 1, 3),
    'columns': lambda x: np.ascontiguousarray(x.swapaxes(2, 3)).swapaxes(2, 3),
    'backwards': lambda x: x[:, :, ::-1].copy()[:, :, ::-1],
    'every other column': lambda x: np.repeat(x, 2, 3)[..., ::2],
    'Fortran': np.asfortranarray,
    'unaligned': lambda x: np.frombuffer(b'abcd' + x.tobytes(), x.dtype, offset=4).reshape(x.shape),
    'read-only': lambda x: (x.setflags(write=False), x)[1],
}


@pytest.mark.parametrize('name', STRIDES)
def test_strides(rng, name):
    q, k, v = qkv(rng)
    want = clattn.attention(q, k, v, causal=True)
    got = clattn.attention(*(STRIDES[name](x.copy()) for x in (q, k, v)), causal=True)
    assert np.array_equal(got, want)


def test_shared_keys(rng):
    q, k, v = qkv(rng)
    k, v = k[:1], v[:1]
    want, _ = reference.attention_forward(q, *(np.repeat(x, 2, 0) for x in (k, v)))
    close(clattn.attention(q, k, v), want, 1e-5)
    close(clattn.attention(q, *(np.broadcast_to(x, (2,) + x.shape[1:]) for x in (k, v))), want, 1e-5)
    one = np.broadcast_to(k[:, :1, :1], (2, 2, 21, 16)) # every stride 0
    close(clattn.attention(q, one, v), reference.attention_forward(q, one, np.repeat(v, 2, 0))[0], 1e-5)


def test_ranks_and_layout(rng):
    q, k, v = qkv(rng, b=1, h=1, hk=1)
    want, lse = clattn.attention(q, k, v, return_lse=True)
    got, got_lse = clattn.attention(q[0, 0], k[0, 0], v[0, 0], return_lse=True)
    assert np.array_equal(got, want[0, 0]) and np.array_equal(got_lse, lse[0, 0])
    q, k, v = qkv(rng)
    o, lse = clattn.attention(*(x.transpose(0, 2, 1, 3) for x in (q, k, v)), layout='bnhd', return_lse=True)
    assert np.array_equal(o.transpose(0, 2, 1, 3), clattn.attention(q, k, v)) and lse.shape == (2, 4, 9)


def test_varlen(rng):
    cu_q, cu_k = [0, 3, 3, 9], [0, 5, 7, 21]
    q, k, v = arrays(rng, [(9, 4, 16), (21, 2, 16), (21, 2, 12)])
    o, lse = clattn.attention(q, k, v, cu_seqlens_q=cu_q, cu_seqlens_k=np.array(cu_k), causal=True, return_lse=True)
    want, want_lse = reference.varlen_forward(q, k, v, cu_q, cu_k, causal=True)
    close(o, want, 1e-5)
    close(lse, want_lse, 1e-5)


@pytest.mark.parametrize('dtype', [np.float32, np.float16, np.float64])
def test_odd_places(rng, dtype):
    """Arrays whose first byte is not where an item begins, as in a record of a file, are copied; none is written."""
    q, k, v = qkv(rng, dtype)
    want = clattn.attention(q, k, v)
    for i in range(3):
        given = [q, k, v]
        memory = np.zeros(given[i].nbytes + 1, np.uint8)
        given[i] = memory[1:].view(dtype).reshape(given[i].shape)
        given[i][...] = (q, k, v)[i]
        assert not given[i].flags.aligned and np.array_equal(clattn.attention(*given), want)
    out = np.zeros(want.nbytes + 1, np.uint8)[1:].view(dtype).reshape(want.shape)
    with pytest.raises(ValueError, match='out cannot be written'):
        clattn.attention(q, k, v, out=out)


def test_pages(rng):
    pages = arrays(rng, [(7, 4, 2, 16), (7, 4, 2, 12)])
    q = rng.standard_normal((2, 4, 3, 16)).astype(np.float32)
    table, length = np.array([[3, 1, 0], [6, 2, 5]], np.int32), np.array([9, 12], np.int32)
    o = clattn.attention(q, *pages, block_table=table, kv_len=length, causal=True)
    k, v = (reference.gather_pages(x, table, 12) for x in pages)
    close(o, reference.attention_forward(q, k, v, kv_len=length, causal=True)[0], 1e-5)


@pytest.mark.parametrize('groups', [1, 2, 32])
def test_int8(rng, groups):
    q = rng.standard_normal((2, 4, 5, 32)).astype(np.float32)
    k, v = (rng.integers(-128, 128, (2, 2, 21, 32)).astype(np.int8) for _ in 'kv')
    scales = [(rng.random((2, 2, 21, groups)) / 64).astype(np.float32) for _ in 'kv']
    o = clattn.attention(q, k, v, k_scale=scales[0], v_scale=scales[1])
    k, v = (reference.dequant(x, s, None, 32 // groups) for x, s in zip((k, v), scales))
    close(o, reference.attention_forward(q, k, v)[0], 1e-4)


def test_int8_with_a_short_group(rng):
    q = rng.standard_normal((2, 4, 5, 47)).astype(np.float32)
    k, v = (rng.integers(-128, 128, (2, 2, 21, 47)).astype(np.int8) for _ in 'kv')
    scales = [(rng.random((2, 2, 21, 3)) / 64).astype(np.float32) for _ in 'kv']
    o = clattn.attention(q, k, v, k_scale=scales[0], v_scale=scales[1])
    k, v = (x * np.repeat(s, 16, -1)[..., :47].astype(float) for x, s in zip((k, v), scales))
    close(o, reference.attention_forward(q, k, v)[0], 1e-4)


def test_vector_mod(rng):
    """What only the vector form has in scope."""
    q, k, v = qkv(rng)
    o = clattn.attention(q, k, v, score_mod='real far = real_(q - k); s += far * 0.25f;', mod_vector=True)
    bias = (np.arange(9)[:, None] - np.arange(21)).astype(np.float32) / 4
    close(o, reference.attention_forward(q, k, v, bias=bias)[0], 2e-5)


def test_q8_0(rng):
    q = rng.standard_normal((1, 2, 5, 64)).astype(np.float32)
    blocks = np.zeros((1, 2, 21, 2), np.dtype([('scale', np.float16), ('x', np.int8, 32)]))
    blocks['scale'] = rng.random(blocks.shape) / 64
    blocks['x'] = rng.integers(-128, 128, blocks.shape + (32,))
    x = (blocks['scale'][..., None].astype(np.float64) * blocks['x']).reshape(1, 2, 21, 64)
    k = blocks.view(np.uint8).reshape(1, 2, 21, 68)
    close(clattn.attention(q, k, k, k_type='q8_0', v_type='q8_0'), reference.attention_forward(q, x, x)[0], 1e-4)


def test_block_map(rng):
    q, k, v = qkv(rng)
    keep = np.array([[1, 0, 1], [0, 1, 1]], np.uint8)
    mask = np.repeat(np.repeat(keep, 5, 0)[:9], 8, 1)[:, :21]
    o = clattn.attention(q, k, v, mask=mask, block_map=2 * keep, block=(5, 8))
    close(o, reference.attention_forward(q, k, v, bool_mask=mask)[0], 1e-5)


def test_out(rng):
    q, k, v = qkv(rng)
    room = np.full((2, 9, 4, 14), 7, np.float32)
    out = room.transpose(0, 2, 1, 3)[..., :12]
    assert clattn.attention(q, k, v, out=out) is out
    assert np.array_equal(out, clattn.attention(q, k, v)) and (room[..., 12:] == 7).all()


def test_empty(rng):
    q, k, v = qkv(rng)
    assert not clattn.attention(q, k[:, :, :0], v[:, :, :0]).any()
    assert clattn.attention(q[:, :, :0], k, v).shape == (2, 4, 0, 12)
    o, lse = clattn.attention(q[:0], k[:0], v[:0], return_lse=True)
    assert o.shape == (0, 4, 9, 12) and lse.shape == (0, 4, 9)
    made = np.ones((2, 2, 0, 16), np.float32), np.ones((2, 2, 0, 12), np.float32) # numpy gives them strides of 0
    o, lse = clattn.attention(q, *made, bias=np.ones((2, 4, 9, 0), np.float32), return_lse=True)
    assert not o.any() and np.isneginf(lse).all()
    got = clattn.attention_backward(o, q, *made, o, lse, bias=np.broadcast_to(np.float32(1), (2, 4, 9, 0)))
    assert not got.dq.any() and got.dk.shape == (2, 2, 0, 16) and got.dbias.shape == (2, 4, 9, 0)
    assert clattn.attention(np.ones((2, 4, 0, 16), np.float32), k, v).shape == (2, 4, 0, 12)
    o, lse = clattn.merge(np.ones((3, 2, 4, 0, 12), np.float32), np.ones((3, 2, 4, 0), np.float32))
    assert o.shape == (2, 4, 0, 12) and lse.shape == (2, 4, 0)


def test_narrow_storage(rng):
    q, k, v = qkv(rng)
    o = clattn.attention(q, k.astype(np.float16), v.astype(np.float16))
    want, _ = reference.attention_forward(q, k.astype(np.float16), v.astype(np.float16))
    close(o, want, 1e-5)
    assert clattn.attention(*(x.astype(np.float16) for x in (q, k, v)), out_dtype='f32').dtype == np.float32


STAGES = ('products', 'changed', 'masked', 'weights')


@pytest.mark.parametrize('name', TYPES)
@pytest.mark.parametrize('stage', STAGES)
def test_scores(rng, stage, name):
    """Beside the result, with or without LSE; before masks none of them counts."""
    dtype, limit = TYPES[name]
    q, k, v = qkv(rng, dtype)
    more = dict(causal=True, softcap=1.5, mask=rng.random((2, 1, 9, 21)) < 0.8)
    dropout = dict(dropout_p=0.25, dropout_seed=7)
    wide_qkv, theirs = wide(q, k, v), dict(causal=True, softcap=1.5, bool_mask=more['mask'], dropout=(0.25, 7, 0))
    o, scores = clattn.attention(q, k, v, return_scores=stage, **more, **dropout)
    assert scores.dtype == np.dtype(dtype)
    close(scores, reference.attention_scores(*wide_qkv, stage, **theirs), 2 * limit)
    close(o, reference.attention_forward(*wide_qkv, **theirs)[0], 2 * limit)
    o, lse, again = clattn.attention(q, k, v, return_lse=True, return_scores=stage, **more, **dropout)
    assert np.array_equal(scores, again)
    close(lse, reference.attention_forward(*wide_qkv, **theirs)[1], max(limit if name == 'f64' else 1e-5, 1e-12))


def test_scores_of_sequences(rng):
    """[h,total,nk]: -inf, or 0, behind the end of each."""
    q, k, v = arrays(rng, [(7, 4, 16), (20, 2, 16), (20, 2, 12)])
    cu_q, cu_k = [0, 3, 7], [0, 9, 20]
    for stage in STAGES:
        scores = clattn.attention(q, k, v, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k, causal=True, return_scores=stage)[1]
        assert scores.shape == (4, 7, 11)
        for i in range(2):
            rows, keys = slice(cu_q[i], cu_q[i + 1]), slice(cu_k[i], cu_k[i + 1])
            n = cu_k[i + 1] - cu_k[i]
            want = reference.attention_scores(*(x.transpose(1, 0, 2)[None] for x in (q[rows], k[keys], v[keys])),
                                              stage, causal=True)[0]
            close(scores[:, rows, :n], want, 1e-5)
            assert (scores[:, rows, n:] == (0 if stage == 'weights' else -np.inf)).all()


def test_scores_of_a_plan(rng):
    q, k, v = qkv(rng)
    plan = clattn.Plan(q, k, v, causal=True, return_scores=True)
    o, weights = plan(q, k, v, return_scores='weights')
    close(np.asarray(weights) @ np.repeat(v, 2, 1), np.asarray(plan(q, k, v), np.float64), 1e-5)
    assert o.shape == (2, 4, 9, 12)
    out = np.full(o.shape, np.nan, np.float32)
    with pytest.raises(ValueError, match='return_scores'):
        clattn.Plan(q, k, v, causal=True)(q, k, v, return_scores='weights', out=out)
    assert np.isnan(out).all()
    with pytest.raises(ValueError, match='gradients'):
        clattn.Plan(q, k, v, gradients=True, return_scores=True)
    with pytest.raises(ValueError, match='return_scores'):
        clattn.attention(q, k, v, return_scores='probabilities')
    with pytest.raises(TypeError, match='return_scores'):
        clattn.attention(q, k, v, return_scores=True)


def test_scores_of_leading_axes(rng):
    """Where q lacks axes scores do; nothing comes of no keys."""
    q, k, v = arrays(rng, [(5, 16), (7, 16), (7, 16)])
    assert clattn.attention(q, k, v, return_scores='masked')[1].shape == (5, 7)
    assert clattn.attention(q, k[:0], v[:0], return_scores='weights')[1].shape == (5, 0)
    o, scores = clattn.attention(*(x[None, :, None] for x in (q, k, v)), layout='bnhd', return_scores='products')
    assert o.shape == (1, 5, 1, 16) and scores.shape == (1, 1, 5, 7)
    close(scores[0, 0], wide(q)[0] @ wide(k)[0].T / 4, 1e-5)


def test_scores_of_a_cache(rng):
    cache = clattn.KVCache(2, 2, 12, 16)
    k, v = arrays(rng, [(2, 2, 7, 16), (2, 2, 7, 16)])
    cache.append(k, v)
    q = rng.standard_normal((2, 4, 3, 16)).astype(np.float32)
    o, weights = cache.attention(q, return_scores='weights')
    assert weights.shape == (2, 4, 3, 12) and not np.asarray(weights)[..., 7:].any()
    close(o, np.asarray(weights, np.float64)[..., :7] @ np.repeat(v, 2, 1), 1e-5)
