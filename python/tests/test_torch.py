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
    with pytest.raises(NotImplementedError, match='gradients of gradients are wanted, which clattn does not have: '):
        dq.square().sum().backward()


def test_negative_bit():
    """The memory of such a tensor is not what it says."""
    q, k, v = qkv(torch.float32)
    flipped = torch._neg_view(q) # as the imaginary part of a conjugate has it
    assert flipped.is_neg() and torch.equal(ct.attention(flipped, k, v), ct.attention(-q, k, v))


def test_varlen():
    """Gradients of packed sequences; lists that do not fit are refused as those of clattn.attention() are."""
    q, k, v = (x.detach()[0].transpose(0, 1).contiguous().requires_grad_() for x in qkv(b=1))
    found = []
    for f in (lambda: ct.attention(q, k, v, cu_seqlens_q=[0, 3, 5], cu_seqlens_k=torch.tensor([0, 6, 7])),
              lambda: torch.cat([F.scaled_dot_product_attention(*(x[a:b].transpose(0, 1) for x, (a, b) in
                                                                  ((q, at), (k, of), (v, of)))).transpose(0, 1)
                                 for at, of in (((0, 3), (0, 6)), ((3, 5), (6, 7)))])):
        o = f()
        found.append((o, *torch.autograd.grad(o.square().sum(), (q, k, v))))
    assert all(off(x, y) <= 1e-11 for x, y in zip(*found))
    with pytest.raises(ValueError, match='cu_seqlens_q ends with 3, not with the rows of q, which are 5'):
        ct.attention(q, k, v, cu_seqlens_q=[0, 3], cu_seqlens_k=[0, 7])


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
    with pytest.raises(ValueError, match='the leading axes .* are not broadcast'):
        ct.scaled_dot_product_attention(x, x.transpose(0, 1), x)
    assert ct.scaled_dot_product_attention(x, x[:1, :1], x[:1, :1]).shape == x.shape
    with pytest.raises(ValueError, match='attn_mask has shape .* not broadcast to the scores'):
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
    for shape in ((1, 2, 4, 9, 21), (5, 6), (3, 1, 5, 7), (2, 2, 4, 5, 7), (5, 1, 1)):
        with pytest.raises(ValueError, match='attn_mask has shape .* not broadcast to the scores'):
            ct.scaled_dot_product_attention(q, k, v, torch.zeros(shape))
    with pytest.raises(TypeError, match='attn_mask is a list, not a tensor'):
        ct.scaled_dot_product_attention(q, k, v, [[0.0]])
    with pytest.raises(TypeError, match='attn_mask is torch.float16: must be bool, float32 or'):
        ct.scaled_dot_product_attention(q, k, v, torch.zeros(5, 7, dtype=torch.float16))
    for name, words in (('is_causal', 'a str: must be True or False'), ('enable_gqa', 'a str'), ('dropout_p', 'a str'),
                        ('scale', 'a str: must be a number')):
        with pytest.raises(TypeError, match='%s is %s' % (name, words)):
            ct.scaled_dot_product_attention(q, k, v, **{name: 'false'})
    for p in (-0.1, 1.1, float('nan')):
        with pytest.raises(ValueError, match='dropout_p is .*: must be from 0 to 1'):
            ct.scaled_dot_product_attention(q, k, v, dropout_p=p)
    with pytest.raises(ValueError, match='exclude'):
        ct.scaled_dot_product_attention(q, k, v, is_causal=True, attn_mask=torch.ones(5, 7, dtype=torch.bool))
    with pytest.raises(TypeError, match='not a tensor'):
        ct.scaled_dot_product_attention(q.numpy(), k, v)
    with pytest.raises(TypeError, match='must be'):
        ct.scaled_dot_product_attention(q.long(), k.long(), v.long())
    with pytest.raises(TypeError, match='q has the layout torch.sparse_coo: must be strided'):
        ct.attention(q.to_sparse(), k, v)
    with pytest.raises(TypeError, match='score_mod_grad'):
        ct.attention(q.requires_grad_(), k, v, score_mod='s *= 2;')
    for name in ('out', 'plan', 'return_scores'):
        with pytest.raises(TypeError, match='%s is not for tensors' % name):
            ct.attention(k, k, k, **{name: torch.zeros_like(k)})


# ---- What goes through tensors beside their numbers is refused, or counts ----

def test_gradients_are_not_lost():
    """What does not record a gradient refuses a tensor that wants one; under no_grad() it does not."""
    q, k, v = qkv(torch.float32, nk=5)
    wants = q.clone().requires_grad_()
    o, lse = ct.attention(q, k, v, return_lse=True)
    scale = torch.ones(1, 1, 1).requires_grad_()
    held = torch.zeros(2, 4, 5, 16, dtype=torch.int8)
    table = torch.ones(9).requires_grad_()
    for name, call in (
            ('q', lambda: clattn.attention(wants, k, v)),
            ('v', lambda: clattn.attention(q, k, wants)),
            ('q', lambda: clattn.attention(wants, k, v, out=torch.empty_like(q))),
            ('out', lambda: clattn.attention(q, k, v, out=torch.empty_like(q).requires_grad_())),
            ('q', lambda: clattn.Plan(wants, k, v)),
            ('dout', lambda: clattn.attention_backward(wants, q, k, v, o, lse)),
            ('q', lambda: clattn.merge(o[None].clone().requires_grad_(), lse[None])),
            ('sinks', lambda: clattn.attention(q, k, v, sinks=torch.ones(4).requires_grad_())),
            ('sinks', lambda: clattn.attention(q.numpy(), k.numpy(), v.numpy(), sinks=torch.ones(4).requires_grad_())),
            ('aux t', lambda: ct.attention(q, k, v, score_mod='s += t[k];', aux={'t': table})),
            ('aux t', lambda: ct.attention(wants, k, v, score_mod='s += t[k];', score_mod_grad='', aux={'t': table})),
            ('k_scale', lambda: ct.attention(q, held, v, k_scale=scale)),
            ('scale', lambda: ct.attention(q, k, v, scale=scale[0, 0, 0])),
            ('scale', lambda: ct.scaled_dot_product_attention(q, k, v, scale=scale[0, 0, 0]))):
        with pytest.raises(TypeError, match='^%s requires a gradient' % name):
            call()
    with torch.no_grad():
        assert torch.equal(clattn.attention(wants, k, v), o)
        assert torch.equal(ct.attention(q, k, v, scale=torch.tensor(0.25)), o)


def test_tangents_are_not_lost():
    """PyTorch's fused attention refuses forward-mode differentiation as well."""
    q, k, v = qkv(torch.float32, nk=5)
    bias = torch.zeros(5, 5)
    with torch.autograd.forward_ad.dual_level():
        dual = torch.autograd.forward_ad.make_dual(q, torch.ones_like(q))
        slope = torch.autograd.forward_ad.make_dual(bias, torch.ones_like(bias))
        for name, call in (('q', lambda: ct.attention(dual, k, v)), ('k', lambda: clattn.attention(q, dual, v)),
                           ('bias', lambda: ct.attention(q, k, v, bias=slope)),
                           ('v', lambda: ct.scaled_dot_product_attention(q, k, dual)),
                           ('bias', lambda: ct.scaled_dot_product_attention(q, k, v, slope))):
            with pytest.raises(NotImplementedError, match='^%s has a tangent' % name):
                call()
        assert ct.attention(q, k, v).shape == q.shape
    for f in (ct.attention, ct.scaled_dot_product_attention, clattn.attention):
        with pytest.raises(NotImplementedError, match='^q (has a tangent|is inside a transform of torch.func)'):
            torch.func.jvp(lambda x, f=f: f(x, x, x), (q,), (q,))


def test_numpys_function_in_transforms():
    """Only functions of clattn.torch go through them."""
    q = qkv(torch.float32)[0]
    for transform in (lambda f: torch.func.grad(f)(q), lambda f: torch.vmap(f)(q),
                      lambda f: torch.func.functionalize(f)(q)):
        with pytest.raises(NotImplementedError, match='^q is inside a transform of torch.func'):
            transform(lambda x: clattn.attention(x, x, x).sum())


@pytest.mark.filterwarnings('ignore')
@pytest.mark.parametrize('grad', [False, True])
def test_trace(grad):
    """A trace would hold this result, and extents are tensors there."""
    q = qkv(torch.float32)[0].requires_grad_(grad)
    for f in (ct.attention, ct.scaled_dot_product_attention, clattn.attention):
        with pytest.raises(NotImplementedError, match='is traced by torch.jit.trace, which cannot record clattn'):
            torch.jit.trace(lambda x, f=f: f(x, x, x), (q,))
    assert ct.attention(q, q, q).shape == q.shape


def test_extents_are_not_changed_in_place():
    """Strides that a call works out, of extents that are tensors, are numbers of their own."""
    from clattn import arrays
    extents = tuple(torch.tensor(n) for n in (2, 3, 4))
    assert [int(n) for n in arrays.dense(extents, np.dtype(np.float32))] == [48, 16, 4]


def test_fakes_are_refused():
    """Tensors that stand for memory elsewhere, and those whose memory was given back."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    q = qkv(torch.float32)[0]
    with FakeTensorMode():
        fake = torch.empty(2, 4, 5, 16)
    with pytest.raises(TypeError, match='is a FakeTensor, which stands for memory elsewhere'):
        clattn.attention(fake, fake, fake)
    gone = torch.ones(2, 4, 5, 16)
    gone.untyped_storage().resize_(0)
    for f in (ct.attention, clattn.attention, ct.scaled_dot_product_attention):
        with pytest.raises(TypeError, match='is a tensor without memory'):
            f(q, gone, q)
        assert f(torch.nn.Parameter(q, requires_grad=False), q, q).shape == q.shape


@pytest.mark.filterwarnings('ignore')
def test_what_breaks_graphs():
    """torch.compile leaves calls of clattn's own function, and those with a handle, as they are; in one graph they are
    refused in words."""
    q, k, v = qkv(torch.float32)
    want = ct.scaled_dot_product_attention(q, k, v)
    handle = clattn.default_handle('cpu')
    for f in (clattn.attention, lambda *x: ct.attention(*x, handle=handle)):
        torch._dynamo.reset()
        compiled = torch.compile(lambda x, f=f: f(x + 0, k, v) * 2, backend='eager')
        for _ in range(3):
            assert torch.equal(compiled(q), 2 * want)
        torch._dynamo.reset()
        with pytest.raises(torch._dynamo.exc.Unsupported, match='torch.compiler.disable'):
            torch.compile(lambda x, f=f: f(x + 0, k, v) * 2, backend='eager', fullgraph=True)(q)


def test_autocast():
    """Types under autocast are those of PyTorch's function, also where they differ from each other."""
    q, k, v = qkv(torch.float32, grad=True)
    mask = torch.linspace(-2, 1, 35).reshape(5, 7).requires_grad_()
    for cast in (lambda x: x, lambda x: x.bfloat16()):
        with torch.autocast('cpu', torch.bfloat16):
            ours, theirs = (f(cast(q), cast(k), cast(v), mask)
                            for f in (ct.scaled_dot_product_attention, F.scaled_dot_product_attention))
        assert ours.dtype == theirs.dtype == torch.bfloat16 and off(ours, theirs) <= 3e-2
        grads = [torch.autograd.grad(o.float().square().sum(), (q, k, v, mask)) for o in (ours, theirs)]
        assert all(x.dtype == y.dtype == torch.float32 and off(x, y) <= 0.1 for x, y in zip(*grads))
    with torch.autocast('cpu', torch.bfloat16): # float64 is left alone
        assert ct.scaled_dot_product_attention(*qkv()).dtype == torch.float64


@pytest.mark.parametrize('dtype,limit', [(torch.float64, 1e-6), (torch.bfloat16, 3e-2), (torch.float16, 4e-3)])
def test_float32_mask(dtype, limit):
    """PyTorch takes one beside tensors of every type."""
    q, k, v = qkv(dtype)
    mask = torch.linspace(-2, 1, 35).reshape(5, 7).requires_grad_()
    ours, theirs = (f(q, k, v, mask) for f in (ct.scaled_dot_product_attention, F.scaled_dot_product_attention))
    assert ours.dtype == theirs.dtype == dtype and off(ours, theirs) <= limit
    assert torch.autograd.grad(ours.float().square().sum(), mask)[0].dtype == torch.float32


def test_odd_places():
    """Tensors whose first byte is not where an item begins are copied."""
    q, k, v = qkv(torch.float32)
    memory = torch.zeros(q.numel() * 4 + 1, dtype=torch.uint8).numpy()
    memory[1:] = q.numpy().reshape(-1).view(np.uint8)
    odd = torch.frombuffer(memory, dtype=torch.float32, offset=1).reshape(q.shape)
    assert odd.data_ptr() % 4 == 1 and torch.equal(odd, q)
    assert torch.equal(ct.attention(odd, k, v), ct.attention(q, k, v))


def test_same_arguments():
    """Those of clattn.attention(), each of which counts or is refused as there."""
    import test_options
    q, k, v = test_options.arrays('plain')
    for name, (value, beside, what) in test_options.USED.items():
        if what != 'plain' or name in test_options.HOW:
            continue
        given = {n: x for n, x in {**beside, name: value}.items() if n not in test_options.OF_GRADIENTS}
        want = clattn.attention(q, k, v, **given)
        assert np.array_equal(ct.attention(*map(torch.from_numpy, (q, k, v)), **given).numpy(), want), name
