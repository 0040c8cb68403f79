# test_caches.py - KVCache and merge() against attention over all keys
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
import reference
from test_attention import close, qkv

import clattn


@pytest.mark.parametrize('dtype,limit', [(np.float32, 1e-5), (np.float16, 5e-3)])
def test_growing(rng, dtype, limit):
    q, k, v = qkv(rng, nq=9, nk=9, d=32, dv=32)
    cache = clattn.KVCache(2, 2, 12, 32, dtype=dtype)
    want, _ = reference.attention_forward(q, k, v, causal=True)
    at = 0
    for n in (4, 1, 4):
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


@pytest.mark.parametrize('interleaved', [False, True])
def test_rotary_pairs(rng, interleaved):
    """Keys as they are stored, and a cache of other storage on pages."""
    q, k, v = qkv(rng, nq=6, nk=6)
    angle = np.arange(8)[:, None] * 0.7 ** np.arange(8)
    cos, sin = np.cos(angle), np.sin(angle)
    cache = clattn.KVCache(2, 2, 8, 16, 12, page=3, rotary=(cos, sin), interleaved=interleaved)
    order = np.arange(16).reshape(8, 2).T.reshape(-1) if interleaved else np.arange(16) # pairs as halves
    qt, kt = (turned(x[..., order], 0, cos, sin) for x in (q, k))
    close(cache.step(q, k, v), reference.attention_forward(qt, kt, v, causal=True)[0], 1e-5)
    stored = reference.gather_pages(cache.k, cache.block_table, 9)[:, :, :6]
    close(stored[..., order], kt, 1e-6)


# ---- Quantised ----

def grouped(x, group):
    return x.reshape(*x.shape[:-1], -1, group or x.shape[-1])


def quantised(x, kind, group, zero):
    """Rows in int8 or int4 as clattn.h says: elements, scales and zero points, of arithmetic in float32."""
    most, one = np.float32({'int8': 127, 'int4': 7}[kind]), np.float32(1)
    g = grouped(x, group)
    low, high = (f(g, -1, keepdims=True, initial=0) for f in (np.min, np.max))
    scale = (high - low) / (2 * most + 1) if zero else np.maximum(high, -low) / most
    per = one / scale
    at = np.minimum(np.rint(-most - 1 - low * per), most) if zero else np.zeros_like(scale)
    n = np.clip(np.rint(g * per + at), -most - 1, most)
    return n.reshape(x.shape).astype(np.int8), scale[..., 0], at[..., 0]


def elements(held, kind):
    """Integers of int8 and int4 storage."""
    if kind == 'int8':
        return held.view(np.int8)
    nibbles = np.stack([held & 15, held >> 4], -1).reshape(*held.shape[:-1], -1).astype(np.int8)
    return np.where(nibbles > 7, nibbles - 16, nibbles)


def blocks(held, kind):
    """The float64 values of GGUF's storage."""
    b = held.reshape(*held.shape[:-1], -1, GGUF[kind][0])
    scale = b[..., :2].copy().view(np.float16).astype(np.float64)
    if kind == 'q8_0':
        return (scale * b[..., 2:].view(np.int8)).reshape(*held.shape[:-1], -1)
    n = np.concatenate([b[..., -16:] & 15, b[..., -16:] >> 4], -1).astype(float)
    if kind.startswith('q5'):
        n += 16 * np.unpackbits(b[..., -20:-16], axis=-1, bitorder='little')
    least = b[..., 2:4].copy().view(np.float16).astype(np.float64) if kind.endswith('_1') else -scale * GGUF[kind][1]
    return (scale * n + least).reshape(*held.shape[:-1], -1)


def values(cache, name, kind, group):
    """What the cache stands for, in float64."""
    held = getattr(cache, name)
    if kind in GGUF:
        return blocks(held, kind)
    g = grouped(elements(held, kind).astype(np.float64), group)
    scale = cache.scales[name + '_scale'].astype(np.float64)[..., None]
    zero = cache.scales[name + '_zero'][..., None] if name + '_zero' in cache.scales else 0
    return ((g - zero) * scale).reshape(*held.shape[:-1], -1)


STORED = [('int8', None, False, 4), ('int8', 16, True, None), ('int8', 1, False, None), ('int4', None, False, None),
          ('int4', 16, True, 4), ('q8_0', None, False, None), ('q4_0', None, False, 4), ('q4_1', None, False, None),
          ('q5_0', None, False, 4), ('q5_1', None, False, None)] # rows of a page last
# Bytes of a block of 32 elements; what its largest element, or the whole range of its elements, is divided by; how much
# of a step an element may be off, at one end of q4_0 and q5_0 a whole one.
GGUF = {'q8_0': (34, 127, 0.5), 'q4_0': (18, 8, 1), 'q4_1': (20, 15, 0.5), 'q5_0': (22, 16, 1), 'q5_1': (24, 31, 0.5)}


@pytest.mark.parametrize('kind,group,zero,page', STORED)
def test_quantised(rng, kind, group, zero, page):
    """The rows that are stored, and attention over what they stand for, in float64."""
    q, k, v = qkv(rng, nq=9, nk=9, d=64, dv=32)
    table = [[4, 0, 5], [1, 6, 2]]
    cache = clattn.KVCache(2, 2, 12, 64, 32, dtype=kind, group=group, zero=zero, page=page,
                           **(dict(pages=7, block_table=table) if page else {}))

    def dense(x):
        return reference.gather_pages(x, np.array(table), 12) if page else x

    for rows in (slice(0, 4), slice(4, 5), slice(5, 9)):
        cache.append(k[:, :, rows], v[:, :, rows])
        kept = [dense(values(cache, name, kind, group)) for name in 'kv']
        want = reference.attention_forward(q[:, :, rows], *kept, kv_len=cache.kv_len, causal=True)[0]
        close(cache.attention(q[:, :, rows]), want, 2e-5)
    for name, x in (('k', k), ('v', v)):
        held = dense(getattr(cache, name))[:, :, :9]
        if kind in ('int8', 'int4'):
            n, scale, at = quantised(x, kind, group, zero)
            got = {of: dense(held)[:, :, :9] for of, held in cache.scales.items()}
            assert np.array_equal(elements(held, kind), n) and np.allclose(got[name + '_scale'], scale, 1e-6, 0)
            assert not zero or np.array_equal(got[name + '_zero'], at)
        else: # and what rounding the scale, and the least element, to 16 bits does
            _, most, ends = GGUF[kind]
            largest = np.abs(grouped(x, 32)).max(-1, keepdims=True)
            step = (np.ptp(grouped(x, 32), -1)[..., None] if kind.endswith('_1') else largest) / most
            rounded = (step * most + largest * kind.endswith('_1')) * 2.0 ** -11
            assert (np.abs(grouped(blocks(held, kind) - x, 32)) <= step * ends + rounded).all()


def test_short_group(rng):
    """The last group of a row may be shorter."""
    q, k, v = qkv(rng, nq=3, nk=3, d=24, dv=16)
    cache = clattn.KVCache(2, 2, 4, 24, 16, dtype='int8', group=16)
    cache.append(k, v)
    scale = cache.scales['k_scale'][:, :, :3]
    want = np.stack([np.abs(k[..., :16]).max(-1), np.abs(k[..., 16:]).max(-1)], -1) / 127
    assert np.allclose(scale, want, 1e-6, 0) and cache.scales['v_scale'].shape == (2, 2, 4, 1)
    kept = [cache.k[:, :, :3] * np.repeat(scale, 16, -1)[..., :24].astype(float),
            cache.v[:, :, :3] * cache.scales['v_scale'][:, :, :3].astype(float)]
    close(cache.attention(q), reference.attention_forward(q, *kept, causal=True)[0], 2e-5)


def test_types_of_each(rng):
    q, k, v = qkv(rng, nq=5, nk=5, d=32, dv=64)
    cache = clattn.KVCache(2, 2, 8, 32, 64, dtype=np.float16, v_dtype='q8_0')
    cache.append(k, v)
    assert cache.k.dtype == np.float16 and cache.v.shape == (2, 2, 8, 68) and not cache.scales
    want = reference.attention_forward(q, cache.k[:, :, :5].astype(float), blocks(cache.v, 'q8_0')[:, :, :5],
                                       causal=True)[0]
    close(cache.attention(q), want, 2e-5)


# ---- Pages ----

def test_pages(rng):
    q, k, v = qkv(rng, nq=9, nk=9)
    cache = clattn.KVCache(2, 2, 10, 16, 12, page=4)
    assert cache.k.shape == (6, 4, 2, 16) and cache.block_table.tolist() == [[0, 1, 2], [3, 4, 5]]
    cache.append(k[:, :, :7], v[:, :, :7])
    cache.append(k[:, :, 7:], v[:, :, 7:])
    close(cache.attention(q), reference.attention_forward(q, k, v, causal=True)[0], 1e-5)
    with pytest.raises(IndexError, match='no room'): # pages are whole: 12 rows
        cache.append(k[:, :, :4], v[:, :, :4])
    assert cache.dropped.tolist() == [1, 1]


def test_shared_pages(rng):
    """A prefix that two sequences share, and pages that a sequence gets when it needs them."""
    q, k, v = qkv(rng, nq=8, nk=8)
    k[1, :, :4], v[1, :, :4] = k[0, :, :4], v[0, :, :4]
    cache = clattn.KVCache(2, 2, 8, 16, 12, page=4, pages=3, block_table=[[2, -1], [2, -1]])
    cache.append(k[:, :, :4], v[:, :, :4], new_len=[4, 0])
    cache.kv_len[1] = 4
    with pytest.raises(IndexError, match='no room'):
        cache.append(k[:, :, 4:], v[:, :, 4:])
    assert cache.dropped.tolist() == [4, 4] and cache.kv_len.tolist() == [4, 4]
    cache.block_table[:, 1] = 0, 1
    cache.append(k[:, :, 4:], v[:, :, 4:])
    close(cache.attention(q), reference.attention_forward(q, k, v, causal=True)[0], 1e-5)
    assert np.array_equal(cache.k[2].transpose(1, 0, 2), k[0, :, :4])


def test_table_is_copied(rng):
    q, k, v = qkv(rng, nq=8, nk=8)
    table = np.array([[2, 3], [0, 1]], np.int32, order='F')
    cache = clattn.KVCache(2, 2, 8, 16, 12, page=4, block_table=table)
    assert cache.block_table.flags.c_contiguous
    cache.append(k, v)
    table[:] = table[::-1].copy()
    close(cache.attention(q), reference.attention_forward(q, k, v, causal=True)[0], 1e-5)


REFUSED = [
    (TypeError, "dtype is 'int5'", dict(dtype='int5')),
    (TypeError, 'dtype is int64', dict(dtype=int)),
    (TypeError, 'v_dtype is', dict(v_dtype='int3')),
    (ValueError, 'whose blocks have 32', dict(dtype='q8_0', d=48)),
    (ValueError, 'whose blocks have 2', dict(dtype='int4', d=15)),
    (ValueError, 'group and zero', dict(group=8)),
    (ValueError, 'group and zero', dict(dtype='q4_0', zero=True)),
    (ValueError, 'group is 0', dict(dtype='int8', group=0)),
    (ValueError, 'group is 48', dict(dtype='int8', group=48)),
    (ValueError, 'group is 24: must be 1 or a multiple of 16', dict(dtype='int8', group=24)),
    (ValueError, 'need page', dict(pages=3)),
    (ValueError, 'need page', dict(block_table=[[0], [1]])),
    (ValueError, 'page is 0', dict(page=0)),
    (ValueError, 'give a block_table', dict(page=4, pages=3)),
    (ValueError, 'block_table has shape', dict(page=4, pages=3, block_table=[[0, 1]])),
    (TypeError, 'block_table is float64', dict(page=4, block_table=[[0.0, 1], [2, 3]])),
    (ValueError, 'batch is 0', dict(batch=0)),
    (ValueError, 'room is -1', dict(room=-1)),
    (TypeError, 'heads is a float', dict(heads=1.5)),
    (ValueError, 'dv is 0', dict(dv=0)),
]


@pytest.mark.parametrize('kind,words,change', REFUSED, ids=['%d %s' % (i, row[1]) for i, row in enumerate(REFUSED)])
def test_refused(kind, words, change):
    with pytest.raises(kind, match=words):
        clattn.KVCache(**dict(dict(batch=2, heads=2, room=8, d=32), **change))


CALLS = [
    (TypeError, 'new_k is a list', lambda c, q, k, v: c.append([1.0], v)),
    (TypeError, 'new_v is float64', lambda c, q, k, v: c.append(k, v.astype(float))),
    (ValueError, 'new_v has shape', lambda c, q, k, v: c.append(k, v[..., :8])),
    (ValueError, 'new_v has shape', lambda c, q, k, v: c.append(k, v[:, :1])),
    (ValueError, 'rows of k have 16', lambda c, q, k, v: c.append(k[..., :12], v)),
    (ValueError, 'k overlaps new_k', lambda c, q, k, v: c.append(c.k[:, :, 2:4], v[:, :, :2])),
    (ValueError, 'new_len has shape', lambda c, q, k, v: c.append(k, v, new_len=[1])),
    (clattn.ArgumentError, 'room for nk 8', lambda c, q, k, v: c.append(k.repeat(9, 2), v.repeat(9, 2))),
    (TypeError, 'layout is not', lambda c, q, k, v: c.attention(q, layout='bnhd')),
    (TypeError, 'kv_len is not', lambda c, q, k, v: c.attention(q, kv_len=[1, 1])),
    (TypeError, 'k_type is not', lambda c, q, k, v: c.attention(q, k_type='int8')),
    (TypeError, 'there is no argument', lambda c, q, k, v: c.attention(q, casual=True)),
    (TypeError, 'there is no argument', lambda c, q, k, v: c.step(q, k, v, casual=True)),
    (TypeError, 'layout is not', lambda c, q, k, v: c.step(q, k, v, layout='bnhd')),
    (ValueError, 'rows of k have 16', lambda c, q, k, v: c.step(q[..., :12], k, v)),
    (ValueError, 'must be 1 or 1', lambda c, q, k, v: c.step(q[:1], k, v)),
    (ValueError, 'multiple', lambda c, q, k, v: c.step(q[:, :3], k, v)),
    (TypeError, 'q is int64', lambda c, q, k, v: c.step(q.astype(int), k, v)),
    (clattn.NotSupported, 'f64', lambda c, q, k, v: c.step(q.astype(float), k, v)),
    (clattn.ArgumentError, 'softcap', lambda c, q, k, v: c.step(q, k, v, softcap=-1)),
    (ValueError, 'sinks has shape', lambda c, q, k, v: c.step(q, k, v, sinks=[1.0])),
    (ValueError, 'out overlaps q', lambda c, q, k, v: c.step(q, k, v, out=q[..., :12])),
    (ValueError, 'new_v has shape', lambda c, q, k, v: c.step(q, k, v[:, :1])),
]


@pytest.mark.parametrize('kind,words,call', CALLS, ids=['%d %s' % (i, row[1]) for i, row in enumerate(CALLS)])
def test_calls_refused(rng, kind, words, call):
    q, k, v = qkv(rng, nq=3, nk=3)
    cache = clattn.KVCache(2, 2, 8, 16, 12)
    with pytest.raises(kind, match=words):
        call(cache, q, k, v)
    assert cache.kv_len.tolist() == [0, 0] and not cache.k.any()


# ---- Partial results ----

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
