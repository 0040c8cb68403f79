# test_torch_sdpa.py - PyTorch's function by clattn: PyTorch's own samples of it, and random shapes
# SPDX-License-Identifier: Apache-2.0
"""What both are compared with is PyTorch's plain path in float64."""
import itertools
import random

import pytest

torch = pytest.importorskip('torch', reason='PyTorch is not installed')
import torch.nn.functional as F # noqa: E402

import clattn.torch as ct # noqa: E402
from test_torch import off # noqa: E402

sdpa, theirs = ct.scaled_dot_product_attention, F.scaled_dot_product_attention
EPS = {torch.float64: 1e-12, torch.float32: 1e-5, torch.float16: 4e-3, torch.bfloat16: 3e-2}


def plain(*args, **more):
    """PyTorch's path of matrix products and a softmax, which takes every shape."""
    with torch.nn.attention.sdpa_kernel(torch.nn.attention.SDPBackend.MATH):
        return theirs(*args, **more)


def wide(x):
    return x.detach().double().requires_grad_(x.requires_grad) if isinstance(x, torch.Tensor) and \
        x.is_floating_point() else x


def compare(args, more, limit):
    """Results and gradients, relative to how large they are."""
    right_args, right_more = [wide(x) for x in args], {name: wide(x) for name, x in more.items()}
    got, want = sdpa(*args, **more), plain(*right_args, **right_more)
    assert got.shape == want.shape and got.dtype == args[0].dtype
    assert not got.numel() or off(got, want) <= limit * (1 + want.detach().abs().max().item())
    asked = [(x, y) for x, y in zip([*args, *more.values()], [*right_args, *right_more.values()])
             if isinstance(x, torch.Tensor) and x.requires_grad]
    if not asked or not want.requires_grad: # PyTorch's, where there are no keys and the mask alone wants one
        return
    ours = torch.autograd.grad(got, [x for x, _ in asked], torch.ones_like(got))
    right = torch.autograd.grad(want, [y for _, y in asked], torch.ones_like(want), allow_unused=True)
    for x, y, (given, _) in zip(ours, right, asked):
        y = torch.zeros_like(x, dtype=torch.float64) if y is None else y
        assert x.shape == given.shape and x.dtype == given.dtype
        assert not y.numel() or off(x, y) <= 8 * limit * (1 + y.abs().max().item())


# ---- Dropout ----

def weights(args, more, dropout_p):
    """Weights with some of them dropped, of a seed: values of 1 and 0 show them."""
    q, k, v = map(wide, args)
    eye = torch.eye(k.shape[-2], dtype=torch.float64).expand(*v.shape[:-1], k.shape[-2])
    torch.manual_seed(11)
    return sdpa(q, k, eye, **more, dropout_p=dropout_p), plain(q, k, eye, **more)


def compare_dropped(args, more, limit, dropout_p):
    """Results and gradients with weights of which some are 0, and the others as much larger."""
    dropped, whole = weights(args, more, dropout_p)
    kept = (dropped != 0).double()
    assert off(dropped, whole * kept / (1 - dropout_p)) <= 1e-12
    q, k, v = map(wide, args)
    eye = torch.eye(k.shape[-2], dtype=torch.float64).expand(*v.shape[:-1], k.shape[-2])
    each = v.repeat_interleave(q.shape[-3] // v.shape[-3], -3) if more.get('enable_gqa') else v
    right = (plain(q, k, eye, **more) * kept / (1 - dropout_p)) @ each
    torch.manual_seed(11)
    got = sdpa(*args, **more, dropout_p=dropout_p)
    assert off(got, right) <= limit * (1 + right.abs().max().item())
    ours = torch.autograd.grad(got, args, torch.ones_like(got))
    for x, y in zip(ours, torch.autograd.grad(right, (q, k, v), torch.ones_like(right))):
        assert off(x, y) <= 8 * limit * (1 + y.abs().max().item())


def test_dropout():
    """As many weights are dropped as are to be, other ones in each call, and the same ones with the same seed."""
    q, k, v = tensors((2, 4, 40, 16), (2, 4, 60, 16), (2, 4, 60, 8))
    for p in (0.1, 0.75):
        kept = (weights((q, k, v), {}, p)[0] != 0).double().mean().item()
        assert abs(kept - (1 - p)) < 4 * (p * (1 - p) / (2 * 4 * 40 * 60)) ** 0.5
    torch.manual_seed(3)
    first, second = (sdpa(q, k, v, dropout_p=0.5) for _ in range(2))
    torch.manual_seed(3)
    assert torch.equal(first, sdpa(q, k, v, dropout_p=0.5)) and not torch.equal(first, second)
    compare_dropped((q, k, v), dict(is_causal=True), 1e-11, 0.3)
    none = sdpa(q, k, v, dropout_p=1.0)
    assert not none.any() and not any(x.any() for x in torch.autograd.grad(none.sum(), (q, k, v)))
    assert torch.equal(sdpa(q, k, v, dropout_p=0.0), sdpa(q, k, v))


# ---- PyTorch's samples ----

def samples(dtype, spread):
    """PyTorch's samples of its function; spread: with strides of 2."""
    pytest.importorskip('expecttest', reason='expecttest is not installed')
    from torch.testing._internal.common_methods_invocations import op_db
    info, = (op for op in op_db if op.name == 'nn.functional.scaled_dot_product_attention')
    found = list(info.sample_inputs('cpu', dtype, requires_grad=True))
    return [s.noncontiguous() for s in found] if spread else found


@pytest.mark.parametrize('dtype,spread', [(t, False) for t in EPS] + [(torch.float64, True)],
                         ids=lambda x: str(x).replace('torch.', ''))
def test_samples(dtype, spread):
    """All of them are right; where weights are dropped, which is random, with those that are."""
    found = samples(dtype, spread)
    dropped = 0
    for sample in found:
        args = (sample.input, *sample.args)
        more = dict(sample.kwargs)
        dropout_p = more.pop('dropout_p', 0)
        if dropout_p:
            compare_dropped(args, more, EPS[dtype], dropout_p)
            dropped += 1
        h, hk = args[0].shape[-3], args[1].shape[-3]
        assert not more.get('enable_gqa') or h % hk == 0
        compare(args, more, EPS[dtype])
    assert len(found) == 25 and dropped == 12


# ---- Broadcasting ----

BROADCAST = {
    'batch 1 of q': ((1, 4, 5, 16), (3, 4, 7, 16), (3, 4, 7, 8), {}),
    'batch 1 of k and v': ((3, 4, 5, 16), (1, 4, 7, 16), (1, 4, 7, 8), {}),
    'batch 1 of v': ((3, 4, 5, 16), (3, 4, 7, 16), (1, 4, 7, 8), {}),
    'one head of k and v': ((3, 4, 5, 16), (3, 1, 7, 16), (3, 1, 7, 8), {}),
    'one head of k': ((3, 4, 5, 16), (3, 1, 7, 16), (3, 4, 7, 8), {}),
    'one head of v': ((3, 4, 5, 16), (3, 4, 7, 16), (3, 1, 7, 8), {}),
    'one head of q': ((3, 1, 5, 16), (3, 4, 7, 16), (3, 4, 7, 8), {}),
    'one head of q and k': ((3, 1, 5, 16), (3, 1, 7, 16), (3, 4, 7, 8), {}),
    'fewer axes of q': ((5, 16), (3, 4, 7, 16), (4, 7, 8), {}),
    'fewer axes of k': ((2, 3, 4, 5, 16), (7, 16), (4, 7, 8), {}),
    'five axes': ((2, 1, 4, 5, 16), (1, 3, 4, 7, 16), (3, 1, 7, 8), {}),
    'six axes': ((2, 1, 1, 4, 5, 16), (3, 2, 4, 7, 16), (1, 2, 4, 7, 8), {}),
    'grouped': ((3, 4, 5, 16), (3, 2, 7, 16), (3, 2, 7, 8), dict(enable_gqa=True)),
    'grouped, batch 1': ((1, 4, 5, 16), (3, 2, 7, 16), (1, 2, 7, 8), dict(enable_gqa=True)),
    'grouped apart': ((3, 12, 5, 16), (3, 6, 7, 16), (3, 4, 7, 8), dict(enable_gqa=True)),
    'grouped, three axes': ((4, 5, 16), (2, 7, 16), (2, 7, 8), dict(enable_gqa=True)),
    'two axes': ((5, 16), (7, 16), (7, 8), dict(is_causal=True)),
    'no queries': ((2, 4, 0, 16), (2, 4, 7, 16), (2, 4, 7, 8), {}),
    'no keys': ((2, 4, 5, 16), (2, 4, 0, 16), (2, 4, 0, 8), {}),
    'no entries': ((0, 4, 5, 16), (0, 4, 7, 16), (0, 4, 7, 8), {}),
    'no heads': ((2, 0, 5, 16), (2, 0, 7, 16), (2, 0, 7, 8), {}),
    'no values': ((2, 4, 5, 16), (2, 4, 7, 16), (2, 4, 7, 0), {}),
    'no width': ((2, 4, 5, 0), (2, 4, 7, 0), (2, 4, 7, 8), {}),
    'no keys, batch 1': ((1, 1, 5, 16), (2, 4, 0, 16), (2, 4, 0, 8), {}),
}


def tensors(*shapes, dtype=torch.float64, seed=1):
    g = torch.Generator().manual_seed(seed)
    return [torch.randn(s, generator=g, dtype=torch.float64).to(dtype).requires_grad_() for s in shapes]


@pytest.mark.parametrize('name', BROADCAST)
def test_broadcast(name):
    *shapes, more = BROADCAST[name]
    compare(tensors(*shapes), more, 1e-12)


def test_broadcast_refused():
    for shapes, more, words in ((((2, 4, 5, 16), (3, 4, 7, 16), (3, 4, 7, 16)), {}, 'the leading axes'),
                                (((2, 4, 5, 16), (2, 2, 7, 16), (2, 2, 7, 16)), {}, 'numbers of heads'),
                                (((2, 4, 5, 16), (2, 3, 7, 16), (2, 3, 7, 16)), dict(enable_gqa=True), 'a multiple')):
        with pytest.raises(ValueError, match=words):
            sdpa(*tensors(*shapes), **more)
        with pytest.raises(RuntimeError):
            plain(*tensors(*shapes), **more)


def test_masks_of_broadcast():
    """A mask is broadcast to the scores, which are those of query and key."""
    q, k, v = tensors((5, 16), (3, 1, 7, 16), (3, 4, 7, 8))
    for shape in ((5, 7), (3, 1, 5, 1), (1, 7), (7,), (1, 1, 1, 1), ()):
        compare((q, k, v), dict(attn_mask=torch.linspace(-1, 1, max(1, torch.Size(shape).numel())).double()
                                .reshape(shape).requires_grad_()), 1e-12)
    with pytest.raises(ValueError, match='not broadcast to the scores'):
        sdpa(q, k, v, torch.zeros(3, 4, 5, 7))
    q, k, v, mask = tensors((3, 4, 5, 16), (3, 1, 7, 16), (3, 1, 7, 8), (4, 5, 7))
    compare((q, k, v), dict(attn_mask=mask), 1e-12)


def random_case(seed):
    """Shapes, strides, masks and which of them want gradients, at random."""
    r = random.Random(seed)
    axes, nq, nk = r.choice((2, 3, 4, 4, 4, 5)), r.randint(0, 9), r.randint(0, 9)
    d, dv = r.choice(((1, 3), (16, 8))) # each is a kernel of its own
    lead = [r.choice((1, 2, 3)) for _ in range(axes - 2)]
    given = []
    for seed_of, (n, width) in enumerate(((nq, d), (nk, d), (nk, dv))):
        shape = [r.choice((1, m)) for m in lead] + [n, width]
        shape = shape[r.choice((0, 0, 0, r.randint(0, len(lead)))):]
        x, = tensors(shape, seed=seed + seed_of)
        how = r.randint(0, 4)
        if how == 1 and x.dim() > 2:
            x = x.detach().transpose(-3, -2).contiguous().transpose(-3, -2)
        elif how == 2:
            x = x.detach().transpose(-1, -2).contiguous().transpose(-1, -2)
        elif how == 3:
            x = torch.cat([x.detach(), x.detach()], -1)[..., ::2] if width > 1 else x
            x = x[..., :width]
        given.append(x.detach().requires_grad_(r.random() < 0.6))
    more = {}
    if r.random() < 0.3:
        more['is_causal'] = True
    elif r.random() < 0.6:
        scores = torch.broadcast_shapes(given[0].shape[:-2], given[1].shape[:-2])
        shape = [r.choice((1, n)) for n in (*scores, nq, nk)]
        mask, = tensors(shape[r.choice((0, r.randint(0, len(scores)))):], seed=seed + 5)
        more['attn_mask'] = (mask.detach() > 0) if r.random() < 0.5 else mask.detach().requires_grad_(r.random() < 0.5)
    if r.random() < 0.3:
        more['scale'] = r.choice((0.3, 1.7, -0.5))
    return given, more


@pytest.mark.parametrize('first', range(0, 60, 20))
def test_random(first):
    for seed in range(first, first + 20):
        args, more = random_case(seed)
        try:
            compare(args, more, 1e-11)
        except Exception as e:
            raise AssertionError('random_case(%d): %s, %s' % (seed, [x.shape for x in args], more)) from e


# ---- Autocast ----

def test_autocast():
    """Results and gradients have PyTorch's types, with and without gradients, whatever comes in."""
    dtype = torch.bfloat16
    for kinds in itertools.product((torch.float32, dtype), repeat=2):
        q, k, v = tensors((2, 4, 5, 16), (2, 4, 7, 16), (2, 4, 7, 8), dtype=torch.float32)
        given = [q.to(kinds[0]), k.to(kinds[1]), v]
        with torch.autocast('cpu', dtype):
            ours, right = (f(*given, torch.zeros(5, 7)) for f in (sdpa, theirs))
            with torch.no_grad():
                assert sdpa(*given).dtype is right.dtype
        assert ours.dtype is right.dtype is dtype and off(ours, right) <= EPS[torch.bfloat16]
        assert {x.dtype for x in torch.autograd.grad(ours.sum(), (q, k, v))} == {torch.float32}
