# test_caches.py - KVCache and merge() against attention over all keys
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import reference
from test_attention import close, qkv

import clattn


@pytest.mark.parametrize('dtype,limit', [(np.float32, 1e-5), (np.float16, 5e-3), ('int8', 5e-2), ('q8_0', 5e-2)])
def test_growing(rng, dtype, limit):
    q, k, v = qkv(rng, nq=9, nk=9, d=32, dv=32)
    cache = clattn.KVCache(2, 2, 12, 32, dtype=dtype)
    want, _ = reference.attention_forward(q, k, v, causal=True)
    at = 0
    for n in (5, 1, 3):
        rows = slice(at, at + n)
        cache.append(k[:, :, rows], v[:, :, rows])
        close(cache.attention(q[:, :, rows]), want[:, :, rows], limit)
        at += n
    assert cache.kv_len.tolist() == [9, 9]
    with pytest.raises(IndexError, match='no room'):
        cache.append(k[:, :, :4], v[:, :, :4])
    assert cache.kv_len.tolist() == [12, 12] and cache.dropped.tolist() == [1, 1]


def test_ragged(rng):
    q, k, v = qkv(rng, nq=4, nk=4)
    cache = clattn.KVCache(2, 2, 8, 16, 12)
    cache.append(k, v, new_len=[2, 4])
    assert cache.kv_len.tolist() == [2, 4]
    close(cache.attention(q[:, :, :1]), reference.attention_forward(q[:, :, :1], k, v, kv_len=[2, 4])[0], 1e-5)


def turned(x, first, cos, sin):
    half = cos.shape[1]
    c, s = cos[first:first + x.shape[2]], sin[first:first + x.shape[2]]
    a, b = x[..., :half], x[..., half:]
    return np.concatenate([a * c - b * s, a * s + b * c], -1)


def test_rotary(rng):
    q, k, v = qkv(rng, nq=6, nk=6)
    angle = np.arange(8)[:, None] * 0.7 ** np.arange(8)
    cos, sin = np.cos(angle), np.sin(angle)
    cache = clattn.KVCache(2, 2, 8, 16, 12, rotary=(cos, sin))
    want, _ = reference.attention_forward(turned(q, 0, cos, sin), turned(k, 0, cos, sin), v, causal=True)
    for rows in (slice(0, 4), slice(4, 5), slice(5, 6)):
        close(cache.step(q[:, :, rows], k[:, :, rows], v[:, :, rows]), want[:, :, rows], 1e-5)
    with pytest.raises(TypeError, match='step'):
        cache.attention(q)


@pytest.mark.parametrize('dtype,limit', [(np.float32, 1e-5), (np.float64, 1e-13)])
def test_merge(rng, dtype, limit):
    q, k, v = qkv(rng, dtype)
    parts = [clattn.attention(q, k[:, :, a:b], v[:, :, a:b], return_lse=True) for a, b in ((0, 7), (7, 7), (7, 21))]
    o, lse = clattn.merge(*(np.stack(x) for x in zip(*parts)))
    want, want_lse = reference.attention_forward(q, k, v)
    close(o, want, limit)
    close(lse, want_lse, limit)
    with pytest.raises(ValueError, match='o_parts has shape'):
        clattn.merge(o, lse)
