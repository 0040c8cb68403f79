# test_opencl.py - arrays of pyopencl: on their queue, with offsets, beside arrays of the host
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest
from test_attention import qkv

import clattn

cl = pytest.importorskip('pyopencl', reason='pyopencl is not installed')
import pyopencl.array as cla # noqa: E402


@pytest.fixture(scope='module')
def queue():
    try:
        return cl.CommandQueue(cl.Context([cl.get_platforms()[0].get_devices()[0]]))
    except (cl.Error, IndexError) as e:
        pytest.skip('pyopencl finds no device: %s' % e)


def test_same_as_numpy(rng, queue):
    q, k, v = qkv(rng)
    sinks = rng.standard_normal(4)
    on = [cla.to_device(queue, x) for x in (q, k, v)]
    o, lse = clattn.attention(*on, causal=True, sinks=sinks, return_lse=True)
    want, want_lse = clattn.attention(q, k, v, causal=True, sinks=sinks, return_lse=True)
    assert isinstance(o, cla.Array) and np.allclose(o.get(), want, atol=1e-6) and np.allclose(lse.get(), want_lse)
    dout = np.ones_like(want)
    g = clattn.attention_backward(cla.to_device(queue, dout), *on, o, lse, causal=True, sinks=sinks)
    h = clattn.attention_backward(dout, q, k, v, want, want_lse, causal=True, sinks=sinks)
    assert np.allclose(g.dk.get(), h.dk, atol=1e-5)


def test_dropout(rng, queue):
    q, k, v = qkv(rng)
    on = [cla.to_device(queue, x) for x in (q, k, v)]
    more = dict(dropout_p=0.4, dropout_seed=(1 << 63) + 5, dropout_offset=7)
    o, lse = clattn.attention(*on, return_lse=True, **more)
    want, want_lse = clattn.attention(q, k, v, return_lse=True, **more)
    assert np.allclose(o.get(), want, atol=1e-6) and not np.allclose(want, clattn.attention(q, k, v), atol=0.01)
    dout = np.ones_like(want)
    g = clattn.attention_backward(cla.to_device(queue, dout), *on, o, lse, **more)
    h = clattn.attention_backward(dout, q, k, v, want, want_lse, **more)
    assert np.allclose(g.dv.get(), h.dv, atol=1e-5) and np.allclose(g.dq.get(), h.dq, atol=1e-5)


def test_offsets_and_strides(rng, queue):
    q, k, v = qkv(rng)
    on = [cla.to_device(queue, np.concatenate([x[:1] + 5, x])) for x in (q, k, v)]
    assert np.allclose(clattn.attention(*(x[1:] for x in on)).get(), clattn.attention(q, k, v), atol=1e-6)


def test_refused(rng, queue):
    q, k, v = qkv(rng)
    on = cla.to_device(queue, q)
    with pytest.raises(TypeError, match='on a device'):
        clattn.attention(q, cla.to_device(queue, k), v)
    with pytest.raises(TypeError, match='must be on the device'):
        clattn.attention(on, k, v, out=np.zeros((2, 4, 9, 12), np.float32))
    cache = clattn.KVCache(2, 2, 8, 16, 12, queue=queue)
    with pytest.raises(TypeError, match='new_v is a list'):
        cache.append(cla.to_device(queue, k[:, :, :3].copy()), [1.0])
    with pytest.raises(ValueError, match='out overlaps q'):
        clattn.attention(on[:, :, :, :12], on[:, ::2, :, :12], on[:, ::2, :, :12], out=on[:, :, :, 4:])


def test_strides_that_stay(rng, queue):
    """What pyopencl cannot put in another order, and what the library does not take, is refused."""
    q, k, v = qkv(rng)
    on = [cla.to_device(queue, x) for x in (q, k, v)]
    with pytest.raises(ValueError, match=r'k has shape \(2, 2, 21, 16\) and strides'):
        clattn.attention(on[0], cla.to_device(queue, np.asfortranarray(k)), on[2])
    row = cla.to_device(queue, rng.standard_normal(21).astype(np.float32))
    bias = cla.Array(queue, (2, 4, 9, 21), np.float32, strides=(0, 0, 0, 4), data=row.base_data)
    o, lse = clattn.attention(*on, bias=bias, return_lse=True)
    assert np.allclose(o.get(), clattn.attention(q, k, v, bias=row.get()), atol=1e-6)
    with pytest.raises(ValueError, match='bias has shape'):
        clattn.attention_backward(o, *on, o, lse, bias=bias)
    g = clattn.attention_backward(o, *on, o, lse, bias=bias, wanted=['dq'])
    assert g.dq.shape == q.shape and g.dbias is None


def test_enqueued(rng, queue):
    """A call is on q's queue, waits for what the arrays wait for, and keeps what it was given."""
    q, k, v = qkv(rng)
    on = [cla.to_device(queue, x) for x in (q, k, v)]
    sinks = rng.standard_normal(4).astype(np.float32)
    want = clattn.attention(q, k, v, sinks=sinks)
    clattn.attention(*on, sinks=sinks)
    gate = cl.UserEvent(queue.context)
    on[2].add_event(gate)
    try:
        o = clattn.attention(*on, sinks=sinks)
        done = o.events[-1]
        assert done.command_queue == queue and done.command_execution_status != cl.command_execution_status.COMPLETE
        sinks[:] = 50
    finally: # what is enqueued waits for it, and whoever gives the queue back for that
        gate.set_status(cl.command_execution_status.COMPLETE)
    assert np.allclose(o.get(), want, atol=1e-6)


def test_table(queue):
    """A cache copies a table from where it is to where the cache is."""
    table = np.array([[2, 3], [0, 1]], np.int32)
    for on in (None, queue):
        given = cla.to_device(queue, table)
        cache = clattn.KVCache(2, 2, 8, 16, queue=on, page=4, block_table=given)
        given[:] = 0
        kept = cache.block_table if on is None else cache.block_table.get()
        assert isinstance(cache.block_table, np.ndarray if on is None else cla.Array) and np.array_equal(kept, table)
    with pytest.raises(TypeError, match='block_table is float32'):
        clattn.KVCache(2, 2, 8, 16, page=4, block_table=cla.to_device(queue, table.astype(np.float32)))


@pytest.mark.parametrize('more', [{}, dict(page=4), dict(dtype='int8', group=16)], ids=str)
def test_cache(rng, queue, more):
    q, k, v = qkv(rng, nq=6, nk=6, dv=16)
    caches = [clattn.KVCache(2, 2, 8, 16, queue=on, **more) for on in (None, queue)]
    for rows in (slice(0, 4), slice(4, 6)):
        here = [x[:, :, rows] for x in (q, k, v)]
        there = [cla.to_device(queue, x.copy()) for x in here]
        for cache, x in zip(caches, (here, there)):
            cache.append(*x[1:])
        want, got = (cache.attention(x[0]) for cache, x in zip(caches, (here, there)))
        assert isinstance(got, cla.Array) and np.allclose(got.get(), want, atol=1e-6)
    assert caches[1].kv_len.get().tolist() == [6, 6] and np.array_equal(caches[1].k.get(), caches[0].k)
    caches[1].append(*there[1:])
    caches[1].append(*there[1:]) # nothing is waited for, and nothing raised
    assert caches[1].dropped.get().tolist() == [2, 2]
    with pytest.raises(TypeError, match='rows are numpy arrays: this KVCache is on pyopencl'):
        caches[1].append(*here[1:])


def moved(queue, x, by):
    """x on the device, its first byte `by` bytes into a buffer."""
    memory = np.zeros(x.nbytes + by, np.uint8)
    memory[by:] = x.reshape(-1).view(np.uint8)
    on = cla.to_device(queue, memory)
    return cla.Array(queue, x.shape, x.dtype, data=on.base_data, offset=by)


@pytest.mark.parametrize('dtype', [np.float32, np.float16])
@pytest.mark.parametrize('by', [1, 2, 3, 4, 6])
def test_odd_offsets(rng, queue, dtype, by):
    """Offsets of the library count elements: an array whose first byte is not where one begins is copied."""
    q, k, v = (x.astype(dtype) for x in qkv(rng))
    bias = rng.standard_normal((9, 21)).astype(dtype)
    want = clattn.attention(q, k, v, bias=bias)
    on = [moved(queue, x, by) for x in (q, k, v, bias)]
    for i in range(4):
        given = [cla.to_device(queue, x) if i != j else on[j] for j, x in enumerate((q, k, v, bias))]
        assert np.allclose(clattn.attention(*given[:3], bias=given[3]).get(), want, atol=1e-6)
    if by % np.dtype(dtype).itemsize:
        with pytest.raises(ValueError, match='out cannot be written'):
            clattn.attention(*on[:3], out=moved(queue, np.zeros_like(want), by))


@pytest.mark.parametrize('by', [1, 17, 18, 34])
@pytest.mark.parametrize('kind,size', [('q8_0', 34), ('q4_0', 18), ('q4_1', 20), ('q5_0', 22), ('q5_1', 24)])
def test_odd_blocks(rng, queue, kind, size, by):
    """Those of quantised K and V count blocks."""
    q = rng.standard_normal((1, 2, 3, 32)).astype(np.float32)
    k = rng.integers(0, 255, (1, 2, 5, size)).astype(np.uint8)
    k[..., :2] = k[..., 2:4] = 0, 0x22 # of q4_1 and q5_1 the minimum, too
    k[..., -16:] += np.arange(16, dtype=np.uint8)
    want = clattn.attention(q, k, k[:, :, ::-1].copy(), k_type=kind, v_type=kind)
    got = clattn.attention(cla.to_device(queue, q), moved(queue, k, by), moved(queue, k[:, :, ::-1].copy(), by),
                           k_type=kind, v_type=kind)
    assert np.allclose(got.get(), want, atol=1e-6)


def test_rows_of_no_sequence(rng, queue):
    """Lists on a device are not read by the host: what they leave out is 0."""
    q, k, v = (cla.to_device(queue, rng.standard_normal(s).astype(np.float32))
               for s in ((9, 4, 16), (21, 2, 16), (21, 2, 16)))
    cu_q, cu_k = (cla.to_device(queue, np.array(x, np.int32)) for x in ([0, 5], [0, 21]))
    for _ in range(3):
        used = [cla.to_device(queue, np.full(q.shape, np.nan, np.float32)) for _ in range(4)] # memory that comes back
        del used
        o, lse = (x.get() for x in clattn.attention(q, k, v, cu_seqlens_q=cu_q, cu_seqlens_k=cu_k, return_lse=True))
        assert o[:5].all() and not o[5:].any() and not lse[:, 5:].any()
