# test_torch.py - clattn.torch beside PyTorch's own attention
# SPDX-License-Identifier: Apache-2.0
import numpy as np
import pytest

torch = pytest.importorskip('torch', reason='PyTorch is not installed')
import torch.nn.functional as F # noqa: E402

import clattn # noqa: E402
import clattn.torch as ct # noqa: E402


def qkv(dtype=torch.float64, b=2, h=4, hk=4, nq=5, nk=7, d=16, dv=16, grad=False):
    g = torch.Generator().manual_seed(24)
    return tuple(torch.randn(s, generator=g, dtype=torch.float64).to(dtype).requires_grad_(grad)
                 for s in ((b, h, nq, d), (b, hk, nk, d), (b, hk, nk, dv)))


def off(x, y):
    return (x.double() - y.double()).abs().max().item()


CALLS = {
    'full': lambda: {},
    'causal': lambda: dict(is_causal=True),
    'scale': lambda: dict(scale=0.3),
    'bool mask': lambda: dict(attn_mask=torch.arange(35).reshape(5, 7) % 3 != 0),
    'added mask': lambda: dict(attn_mask=torch.linspace(-2, 1, 2 * 35, dtype=torch.float64).reshape(2, 1, 5, 7)),
}


@pytest.mark.parametrize('name', CALLS)
def test_double(name):
    tensors = qkv(grad=True)
    ours, theirs = ct.scaled_dot_product_attention(*tensors, **CALLS[name]()), \
        F.scaled_dot_product_attention(*tensors, **CALLS[name]())
    assert off(ours, theirs) <= 1e-12
    weight = torch.cos(torch.arange(ours.numel(), dtype=torch.float64)).reshape(ours.shape)
    for x, y in zip(torch.autograd.grad(ours, tensors, weight), torch.autograd.grad(theirs, tensors, weight)):
        assert off(x, y) <= 1e-10


def test_added_mask_is_learnt():
    tensors, mask = qkv(grad=True), CALLS['added mask']()['attn_mask'].requires_grad_()
    grads = [torch.autograd.grad(f(*tensors, attn_mask=mask).square().sum(), mask)[0]
             for f in (ct.scaled_dot_product_attention, F.scaled_dot_product_attention)]
    assert off(*grads) <= 1e-10


def test_types_of_gradients():
    """Gradients have the types of what they are gradients of, also where the library sums them in float32."""
    tensors = qkv(torch.float16, grad=True)
    mask = torch.linspace(-2, 1, 35).reshape(5, 7).half().requires_grad_()
    ct.scaled_dot_product_attention(*tensors, attn_mask=mask).float().square().sum().backward()
    wide = [x.detach().double().requires_grad_() for x in (*tensors, mask)]
    F.scaled_dot_product_attention(*wide[:3], attn_mask=wide[3]).square().sum().backward()
    for x, y in zip((*tensors, mask), wide):
        assert x.grad.dtype == torch.float16 and off(x.grad, y.grad) <= 0.01 * y.grad.abs().max()


def test_outputs():
    """clattn.attention() writes to tensors, too; their memory may be that of an array of numpy."""
    q, k, v = qkv(torch.float32, nk=5)
    out = torch.empty_like(q)
    assert clattn.attention(q, k, v, out=out) is out and torch.equal(out, ct.attention(q, k, v))
    both = torch.zeros(2, 4, 6, 16)
    q, out = both[:, :, :5], both[:, :, 1:]
    for x, y in ((q, out), (q.numpy(), out), (q, out.numpy())):
        with pytest.raises(ValueError, match='out overlaps q'):
            clattn.attention(x, k, v, out=y)
    two = torch.zeros(2, *q.shape)
    assert clattn.attention(two[0], k, v, out=two[1]) is not None


def test_once():
    """Gradients of gradients are refused, not wrong."""
    tensors = qkv(grad=True)
    dq, = torch.autograd.grad(ct.attention(*tensors).square().sum(), tensors[:1], create_graph=True)
    with pytest.raises(RuntimeError, match='once_differentiable'):
        dq.square().sum().backward()


def test_negative_bit():
    """The memory of such a tensor is not what it says."""
    q, k, v = qkv(torch.float32)
    flipped = torch._neg_view(q) # as the imaginary part of a conjugate has it
    assert flipped.is_neg() and torch.equal(ct.attention(flipped, k, v), ct.attention(-q, k, v))


def test_rows_of_no_sequence():
    """They are 0 in results and gradients, whatever the memory held."""
    q, k, v = (x[0].transpose(0, 1).contiguous().requires_grad_() for x in qkv(torch.float32, b=1))
    torch.use_deterministic_algorithms(True) # new memory is NaN then
    try:
        o = ct.attention(q, k, v, cu_seqlens_q=[0, 3], cu_seqlens_k=[0, 6])
        grads = torch.autograd.grad(o.square().sum(), (q, k, v))
    finally:
        torch.use_deterministic_algorithms(False)
    assert o[:3].all() and not o[3:].any()
    assert all(x.isfinite().all() and x[:3].any() and not x[6:].any() for x in grads) and not grads[0][3:].any()


def test_gqa():
    tensors = qkv(hk=2)
    assert off(ct.scaled_dot_product_attention(*tensors, enable_gqa=True),
               F.scaled_dot_product_attention(*tensors, enable_gqa=True)) <= 1e-12
    with pytest.raises(ValueError, match='enable_gqa'):
        ct.scaled_dot_product_attention(*tensors)
    with pytest.raises(ValueError, match='enable_gqa'):
        ct.scaled_dot_product_attention(*(x[0] for x in tensors))


def test_gradcheck():
    tensors = qkv(b=1, h=2, hk=2, nq=3, nk=4, d=4, dv=4, grad=True)
    assert torch.autograd.gradcheck(ct.scaled_dot_product_attention, tensors)
    assert torch.autograd.gradcheck(lambda *x: ct.attention(*x, causal=True, return_lse=True), tensors)


@pytest.mark.parametrize('dtype,limit', [(torch.float32, 1e-5), (torch.float16, 4e-3), (torch.bfloat16, 3e-2)])
def test_types(dtype, limit):
    tensors = qkv(dtype)
    got = ct.scaled_dot_product_attention(*tensors)
    assert got.dtype == dtype and off(got, F.scaled_dot_product_attention(*(x.double() for x in tensors))) <= limit


def test_shapes_and_strides():
    q, k, v = qkv(torch.float32)
    want = ct.scaled_dot_product_attention(q, k, v)
    packed = [x.transpose(1, 2).contiguous().transpose(1, 2) for x in (q, k, v)]
    assert torch.equal(ct.scaled_dot_product_attention(*packed), want)
    assert torch.equal(ct.scaled_dot_product_attention(*(x[:, None] for x in (q, k, v))), want[:, None])
    assert torch.equal(ct.scaled_dot_product_attention(q[0, 0], k[0, 0], v[0, 0]), want[0, 0])


@pytest.mark.parametrize('shape', [(9, 21), (2, 9, 21), (3, 1, 9, 21), (2, 1, 2, 1, 21), (2, 3, 2, 9, 21)])
def test_five_axes(shape):
    """Of tensors, and of masks that are broadcast to them."""
    g = torch.Generator().manual_seed(5)
    q, k, v = (torch.randn(2, 3, 2, n, d, dtype=torch.float64, generator=g) for n, d in ((9, 16), (21, 16), (21, 8)))
    bias = torch.randn(shape, dtype=torch.float64, generator=g, requires_grad=True)
    ours, theirs = (f(q, k, v, bias) for f in (ct.scaled_dot_product_attention, F.scaled_dot_product_attention))
    assert ours.shape == theirs.shape and off(ours, theirs) <= 1e-12
    dout = torch.randn(ours.shape, dtype=torch.float64, generator=g)
    assert off(*(torch.autograd.grad(o, bias, dout)[0] for o in (ours, theirs))) <= 1e-11
    mask = torch.rand(shape, generator=g) < 0.7
    mask[..., 4] = True
    assert off(*(f(q, k, v, mask) for f in (ct.scaled_dot_product_attention, F.scaled_dot_product_attention))) <= 1e-12


def test_five_axes_refused():
    x = torch.ones(2, 3, 4, 5, 16)
    with pytest.raises(ValueError, match='key has leading axes'):
        ct.scaled_dot_product_attention(x, x.transpose(0, 1), x)
    with pytest.raises(ValueError, match='value has leading axes'):
        ct.scaled_dot_product_attention(x, x, x[0])
    assert ct.scaled_dot_product_attention(x, x[:1, :1], x[:1, :1]).shape == x.shape
    with pytest.raises(ValueError, match='bias has shape .* must be 1 or 5'):
        ct.scaled_dot_product_attention(x, x, x, torch.ones(2, 1, 1, 1, 6))
    for empty in (x[:, :, :, :0], x[:0]):
        assert ct.scaled_dot_product_attention(empty, empty, empty).shape == empty.shape


def test_empty_bias():
    q, k, v = (torch.ones(2, 4, n, 16, requires_grad=True) for n in (5, 0, 0))
    bias = torch.ones(1, 4, 5, 0, requires_grad=True)
    ct.attention(q, k, v, bias=bias.expand(2, 4, 5, 0)).sum().backward()
    assert not q.grad.any() and bias.grad.shape == bias.shape


@pytest.mark.parametrize('axis', [0, 1, 2])
def test_expanded_bias(axis):
    g = torch.Generator().manual_seed(6)
    q, k, v = qkv()
    shape = [2, 4, 5, 7]
    shape[axis] = 1
    bias = torch.randn(shape, dtype=torch.float64, generator=g, requires_grad=True)
    found = []
    for f in (ct.scaled_dot_product_attention, F.scaled_dot_product_attention):
        found += torch.autograd.grad((f(q, k, v, bias.expand(2, 4, 5, 7)) * q).sum(), bias)
    assert off(*found) <= 1e-12


def test_no_copies():
    """The library writes the tensor that comes back, and numpy sees the same memory."""
    q, k, v = qkv(torch.float32)
    o = ct.attention(q, k, v)
    assert np.array_equal(o.numpy(), __import__('clattn').attention(q.numpy(), k.numpy(), v.numpy()))


def test_wrong_scale_shows():
    tensors = qkv()
    assert off(ct.scaled_dot_product_attention(*tensors, scale=0.26), F.scaled_dot_product_attention(*tensors)) > 1e-3


def test_refused():
    q, k, v = qkv(torch.float32)
    with pytest.raises(ValueError, match='attn_mask has 5 axes'):
        ct.scaled_dot_product_attention(q, k, v, torch.zeros(1, 2, 4, 9, 21))
    with pytest.raises(NotImplementedError, match='dropout'):
        ct.scaled_dot_product_attention(q, k, v, dropout_p=0.1)
    with pytest.raises(ValueError, match='exclude'):
        ct.scaled_dot_product_attention(q, k, v, is_causal=True, attn_mask=torch.ones(5, 7, dtype=torch.bool))
    with pytest.raises(TypeError, match='not a tensor'):
        ct.scaled_dot_product_attention(q.numpy(), k, v)
    with pytest.raises(TypeError, match='must be'):
        ct.scaled_dot_product_attention(q.long(), k.long(), v.long())
    with pytest.raises(TypeError, match='on meta'):
        ct.attention(q.to('meta'), k, v)
    with pytest.raises(TypeError, match='sparse'):
        ct.attention(q.to_sparse(), k, v)
    with pytest.raises(TypeError, match='score_mod_grad'):
        ct.attention(q.requires_grad_(), k, v, score_mod='s *= 2;')
    for name in ('out', 'plan'):
        with pytest.raises(TypeError, match='%s is not for tensors' % name):
            ct.attention(k, k, k, **{name: torch.zeros_like(k)})
