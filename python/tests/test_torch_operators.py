# test_torch_operators.py - calls that PyTorch compiles, exports, transforms, and on tensors without memory
# SPDX-License-Identifier: Apache-2.0
import copy
import io
import threading
import warnings

import pytest

torch = pytest.importorskip('torch', reason='PyTorch is not installed')
if not hasattr(torch.library, 'custom_op'):
    pytest.skip('PyTorch before 2.4 has no torch.library.custom_op', allow_module_level=True)
import torch.nn.functional as F # noqa: E402

import clattn # noqa: E402
import clattn.torch as ct # noqa: E402
from clattn.torch import operators # noqa: E402
from test_torch import off, qkv # noqa: E402

OP, OP_BACKWARD = torch.ops.clattn.attention, torch.ops.clattn.attention_backward
sdpa, theirs = ct.scaled_dot_product_attention, F.scaled_dot_product_attention
INT = torch.int32


def ramp(*shape):
    return torch.linspace(-1, 2, torch.Size(shape).numel(), dtype=torch.float64).reshape(shape)


def rows(*shape):
    """Tensors of one shape that differ."""
    return tuple((ramp(*shape) * n).cos().requires_grad_() for n in (5, 7, 11))


# ---- PyTorch's own checks of operators ----

def packed():
    lists = dict(cu_seqlens_q=torch.tensor([0, 3, 5], dtype=INT), cu_seqlens_k=torch.tensor([0, 3, 7], dtype=INT))
    return tuple(x.detach()[0].transpose(0, 1).requires_grad_() for x in qkv()), dict(lists, causal=True)


CHECKED = {
    'plain': lambda: (qkv(), {}),
    'gradients': lambda: (qkv(grad=True), dict(causal=True, align='top-left')),
    'scores': lambda: (qkv(torch.float32, hk=2, grad=True), dict(
        bias=ramp(1, 4, 1, 7).float().requires_grad_(), alibi=ramp(4).float().requires_grad_(),
        sinks=ramp(4).float().requires_grad_(), softcap=2.0, window=[3, 1], scale=0.3)),
    'masks': lambda: (qkv(grad=True), dict(mask=torch.ones(5, 7, dtype=torch.bool), kv_len=torch.tensor([3, 7]),
                                           block_map=torch.ones(1, 1, 3, 2, dtype=torch.uint8), block=[2, 4])),
    'captured': lambda: (qkv(grad=True), dict(aux=[ramp(9)], aux_names=['t'], score_mod=['s += t[k];'],
                                              score_mod_grad=[''])),
    'packed': packed,
    'bnhd': lambda: (rows(2, 5, 4, 16), dict(layout='bnhd', out_dtype='f64')),
    'two axes': lambda: (rows(5, 16), {}),
    'int8': lambda: ((qkv(torch.float32)[0], *(torch.ones(2, 2, 7, 16, dtype=torch.int8) for _ in 'kv')),
                     dict(k_scale=torch.ones(1, 1, 1, 1), v_scale=torch.ones(1, 1, 1, 1))),
    'q8_0': lambda: ((torch.ones(1, 1, 3, 32), *(torch.zeros(1, 1, 4, 34, dtype=torch.uint8) for _ in 'kv')),
                     dict(k_type='q8_0', v_type='q8_0', out_dtype='bf16')),
    'pages': lambda: ((torch.ones(2, 4, 3, 32), torch.ones(6, 4, 2, 32), torch.ones(6, 4, 2, 32)),
                      dict(block_table=torch.arange(6, dtype=INT).reshape(2, 3), kv_len=torch.tensor([5, 9]))),
}


@pytest.mark.parametrize('name', CHECKED)
def test_opcheck(name):
    """Schema, shapes and strides without memory, autograd, and symbolic sizes."""
    tensors, more = CHECKED[name]()
    if name in ('gradients', 'scores', 'captured'):
        torch.library.opcheck(OP, tensors, more)
    else:
        torch.library.opcheck(OP, tensors, more, test_utils=('test_schema', 'test_autograd_registration',
                                                             'test_faketensor'))


def test_opcheck_backward():
    q, k, v = qkv(torch.float32)
    bias, alibi, sinks = ramp(1, 4, 5, 7).float(), ramp(4).float(), ramp(4).float()
    o, lse = OP(q, k, v, bias, alibi, sinks)
    torch.library.opcheck(OP_BACKWARD, (['dq', 'dv', 'dbias', 'dsinks', 'dalibi', 'dk'], o, o, lse, lse, q, k, v, bias,
                                        alibi, sinks))


def test_every_argument():
    """The operators take what clattn.attention() takes."""
    from clattn import arguments
    known = set(arguments.TensorArguments.__annotations__)
    assert known | {'q', 'k', 'v', 'offsets', 'aux_names'} == set(operators.NAMES)


# ---- torch.compile ----

def both(f, g, *tensors):
    """Results and gradients of two functions, in one list each."""
    found = []
    for call in (f, g):
        given = [x.detach().clone().requires_grad_() for x in tensors]
        o = call(*given)
        o = o if isinstance(o, tuple) else (o,)
        found.append([*o, *torch.autograd.grad(sum(x.square().sum() for x in o), given)])
    return found


def compiled(f, **more):
    torch._dynamo.reset()
    return torch.compile(f, fullgraph=True, **{'backend': 'aot_eager', **more})


@pytest.mark.parametrize('backend', ['eager', 'aot_eager', 'inductor'])
def test_compile(backend):
    """One graph, forward and backward."""
    tensors = qkv()
    ours, want = both(compiled(lambda q, k, v: sdpa(q + 1, k, v, is_causal=True) * 2, backend=backend),
                      lambda q, k, v: theirs(q + 1, k, v, is_causal=True) * 2, *tensors)
    assert all(off(x, y) <= 1e-12 for x, y in zip(ours, want))


def test_compile_sizes():
    """A graph for all sizes; every option is in it."""
    def f(q, k, v, bias, sinks):
        return ct.attention(q, k, v, bias=bias, sinks=sinks, softcap=3.0, window=(2, 1), kv_len=[5, 4],
                            score_mod='s += t[k];', aux={'t': bias[0]}, score_mod_grad='', out_dtype=torch.float64,
                            return_lse=True)
    g = compiled(f, dynamic=True)
    torch._dynamo.utils.counters.clear()
    for n in (5, 6, 9):
        q, k, v = qkv(nq=n, nk=n + 2)
        given = (q, k, v, ramp(n, n + 2), torch.ones(4))
        with torch.no_grad():
            assert all(torch.equal(x, y) for x, y in zip(g(*given), f(*given)))
    assert torch._dynamo.utils.counters['stats']['unique_graphs'] == 1


@pytest.mark.parametrize('backend', ['aot_eager', 'inductor'])
def test_compile_dropout(backend):
    """A graph draws a seed in each call, and its gradients have it."""
    q, k, _ = qkv()
    v = torch.eye(7, dtype=torch.float64).expand(2, 4, 7, 7).clone().requires_grad_()
    f = compiled(lambda q, k, v: sdpa(q, k, v, dropout_p=0.5), backend=backend)
    found = []
    for seed in (3, 3, 4):
        torch.manual_seed(seed)
        o = f(q, k, v)
        found.append(o.detach())
        dv, = torch.autograd.grad(o, v, torch.ones_like(o))
        assert off(dv[..., 0], o.detach().sum(-2)) <= 1e-12
    again = f(q, k, v).detach()
    assert torch.equal(found[0], found[1]) and not torch.equal(found[0], found[2])
    assert not torch.equal(again, found[2]) and 0.3 < (again == 0).double().mean() < 0.7


def test_seeds():
    """One of the caller's, of all 64 bits, is the same for clattn's own function and in a graph."""
    q, k, v = qkv()
    def f(x, seed):
        return ct.attention(x, k, v, dropout_p=0.5, dropout_seed=seed, dropout_offset=7)
    for seed in (3, (1 << 64) - 5):
        want = clattn.attention(q, k, v, dropout_p=0.5, dropout_seed=seed, dropout_offset=7)
        assert torch.equal(f(q, seed), want)
        assert torch.equal(f(q.clone().requires_grad_(), seed), want)
        assert torch.equal(compiled(lambda x, s=seed: f(x, s))(q), want)
    assert not torch.equal(f(q, 4), want)


def test_vmap_dropout():
    """As vmap's randomness says."""
    q = qkv()[0]
    many = torch.stack([q, q, q])
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        same, apart = (torch.vmap(lambda x: sdpa(x, x, x, dropout_p=0.5), randomness=r)(many)
                       for r in ('same', 'different'))
        with pytest.raises(RuntimeError, match='random'):
            torch.vmap(lambda x: sdpa(x, x, x, dropout_p=0.5))(many)
    assert torch.equal(same[0], same[1]) and not torch.equal(apart[0], apart[1])


def test_compile_autocast():
    def f(q):
        with torch.autocast('cpu', torch.bfloat16):
            return sdpa(q, q, q, torch.zeros(5, 5))
    assert compiled(f)(qkv(torch.float32)[0]).dtype is torch.bfloat16


def test_compile_wrong():
    """What is wrong is said by the call that PyTorch runs in place of a graph, and by one in it."""
    q = qkv()[0]
    with pytest.raises(TypeError, match='there is no argument sofcap'):
        torch._dynamo.reset()
        torch.compile(lambda q: ct.attention(q, q, q, sofcap=3), backend='eager')(q)
    with pytest.raises(ValueError, match='rows of k have 8 elements, those of q 16'):
        compiled(lambda q: ct.attention(q, q[..., :8], q), backend='eager')(q)


# ---- torch.export ----

class Causal(torch.nn.Module):
    def forward(self, q, k, v):
        return sdpa(q, k, v, is_causal=True)


@pytest.mark.parametrize('strict', [False, True])
def test_export(strict):
    """A program for all lengths, saved, loaded, copied, and decomposed."""
    length = {2: torch.export.Dim.DYNAMIC}
    program = torch.export.export(Causal(), qkv(), dynamic_shapes=(length, length, length), strict=strict)
    file = io.BytesIO()
    torch.export.save(program, file)
    file.seek(0)
    tensors = qkv(nq=11, nk=13)
    want = theirs(*tensors, is_causal=True)
    for p in (program, torch.export.load(file), copy.deepcopy(program), program.run_decompositions()):
        assert off(p.module()(*tensors), want) <= 1e-12
    assert 'torch.ops.clattn.attention' in program.graph_module.code


# ---- torch.func ----

def loss(f):
    return lambda *x: f(*x).square().sum()


def test_func_grad():
    tensors, bias = qkv(), ramp(1, 4, 5, 7)
    ours, want = (torch.func.grad(loss(f), argnums=(0, 1, 2, 3))(*tensors, bias) for f in (sdpa, theirs))
    assert all(off(x, y) <= 1e-11 for x, y in zip(ours, want))
    torch._dynamo.reset()
    assert off(compiled(torch.func.grad(loss(sdpa)))(*tensors), torch.func.grad(loss(theirs))(*tensors)) <= 1e-11
    with pytest.raises(NotImplementedError, match='gradients of gradients'):
        torch.func.grad(lambda q: torch.func.grad(loss(sdpa))(q, *tensors[1:]).sum())(tensors[0])


def test_functionalize():
    tensors = qkv()
    assert torch.equal(torch.func.functionalize(sdpa)(*tensors), sdpa(*tensors))


MAPPED = {'q': (0, None, None, None), 'k and v': (None, 0, 0, None), 'bias': (None, None, None, 0),
          'all': (0, 0, 0, 0), 'second axis': (1, None, 1, 2)}


@pytest.mark.filterwarnings('error:torch.vmap over attention')
@pytest.mark.parametrize('name', MAPPED)
@pytest.mark.parametrize('lead', [(), (1,), (3,)])
def test_vmap(name, lead):
    """One call, whatever is mapped over; and gradients of every element, of what is not mapped too."""
    dims = MAPPED[name]
    shapes = [(*lead, 4, 5, 16), (*lead, 4, 7, 16), (*lead, 4, 7, 16), (4, 5, 7)]
    given = []
    for n, (shape, dim) in enumerate(zip(shapes, dims)):
        shape = list(shape)
        if dim is not None:
            shape.insert(dim, 2)
        given.append((ramp(*shape) * (n + 5)).cos())
    ours, want = (torch.vmap(f, dims)(*given) for f in (sdpa, theirs))
    assert off(ours, want) <= 1e-12
    ours, want = (torch.vmap(torch.func.grad(loss(f), argnums=(0, 1, 2, 3)), dims)(*given) for f in (sdpa, theirs))
    assert all(x.shape == y.shape and off(x, y) <= 1e-11 for x, y in zip(ours, want))


@pytest.mark.filterwarnings('error:torch.vmap over attention')
def test_vmap_shares():
    """Keys of a batch of 1 that no vmap maps over stay one batch; two vmaps are one; gradients pass through vmap."""
    q, k, v = qkv()
    assert off(torch.vmap(sdpa, (0, None, None))(torch.stack([q, q + 1]), k[:1], v[:1]),
               torch.stack([theirs(x, k[:1], v[:1]) for x in (q, q + 1)])) <= 1e-12
    ours, want = (torch.vmap(torch.func.grad(loss(f), argnums=(0, 1, 2)), (0, None, None))(
        torch.stack([q, q + 1]), k[:1], v[:1]) for f in (sdpa, theirs))
    assert all(x.shape == y.shape and off(x, y) <= 1e-11 for x, y in zip(ours, want))
    assert off(torch.vmap(torch.vmap(sdpa))(q, k, v), theirs(q, k, v)) <= 1e-12
    many = torch.stack([q, q + 1])
    ours, want = (torch.func.grad(lambda x, f=f: torch.vmap(lambda y: loss(f)(y, k, v))(x).sum())(many)
                  for f in (sdpa, theirs))
    assert off(ours, want) <= 1e-11
    compiled_vmap = compiled(lambda x: torch.vmap(lambda y: sdpa(y, k, v))(x))
    assert off(compiled_vmap(many), torch.stack([theirs(x, k, v) for x in many])) <= 1e-12
    alibi = ramp(2, 4).float()
    def f(slopes):
        return ct.attention(q, k, v, alibi=slopes, return_lse=True)
    for x, y in zip(torch.vmap(f)(alibi), zip(*map(f, alibi))):
        assert off(x, torch.stack(y)) <= 1e-12


def test_vmap_one_by_one():
    """What belongs to entries of a batch, or to heads, is computed for each element, and a warning says so."""
    q, k, v = qkv()
    for f, x in ((lambda s: ct.attention(q, k, v, sinks=s), ramp(3, 4).float()),
                 (lambda n: ct.attention(q, k, v, kv_len=n), torch.tensor([[3, 4], [7, 2]])),
                 (lambda t: ct.attention(q, k, v, score_mod='s += t[k + b];', aux={'t': t}), ramp(2, 9))):
        with pytest.warns(UserWarning, match='clattn is called once for each of the %d elements' % len(x)):
            got = torch.vmap(f)(x)
        assert torch.equal(got, torch.stack([f(one) for one in x]))
    with pytest.warns(UserWarning, match='once for each'):
        torch.vmap(torch.func.grad(lambda s: ct.attention(q, k, v, sinks=s).sum()))(ramp(3, 4).float())


# ---- Without memory, watched, and elsewhere ----

def test_shapes_alone():
    """Tensors of meta, and fakes, give such; their strides are those of a result."""
    from torch._subclasses.fake_tensor import FakeTensorMode
    q, k, v = qkv(torch.float16, hk=2, dv=8)
    o, lse = ct.attention(*(x.to('meta') for x in (q, k, v)), return_lse=True, out_dtype='f32')
    assert o.is_meta and o.dtype is torch.float32 and o.shape == (2, 4, 5, 8) and lse.shape == (2, 4, 5)
    with FakeTensorMode() as mode:
        fakes = [mode.from_tensor(x) for x in (q, k, v)]
        inside = ct.attention(*fakes)
    assert inside.shape == ct.attention(*fakes).shape == (2, 4, 5, 8) and inside.stride() == o.stride()


def test_watched():
    """Modes that look at operators see this one."""
    from torch.utils._python_dispatch import TorchDispatchMode

    class Watch(TorchDispatchMode):
        seen = ()

        def __torch_dispatch__(self, func, types, args=(), kwargs=None):
            self.seen += (str(func),)
            return func(*args, **(kwargs or {}))
    with Watch() as watch:
        sdpa(*qkv())
    assert 'clattn.attention.default' in watch.seen
    graph = torch.fx.experimental.proxy_tensor.make_fx(lambda q, k, v: sdpa(q, k, v))(*qkv())
    assert 'torch.ops.clattn.attention' in graph.code


def test_inference_mode():
    with torch.inference_mode():
        q, k, v = qkv()
        assert off(sdpa(q, k, v), theirs(q, k, v)) <= 1e-12 and sdpa(q, k, v).is_inference()


def test_gradients_of_operators():
    """The operators refuse what would be lost, too."""
    q, k, v = qkv(grad=True)
    held = torch.zeros(2, 4, 7, 16, dtype=torch.int8)
    for name, call in (('k_scale', lambda: OP(q.float(), held, held, k_scale=torch.ones(1, 1, 1).requires_grad_(),
                                              v_scale=torch.ones(1, 1, 1))),
                       ('aux t', lambda: OP(q, k, v, aux=[ramp(9).requires_grad_()], aux_names=['t'],
                                            score_mod=['s += t[k];'], score_mod_grad=['']))):
        with pytest.raises(TypeError, match='^%s requires a gradient' % name):
            call()
    with pytest.raises(TypeError, match='score_mod_grad is not given'):
        OP(q, k, v, score_mod=['s *= 2;'])
    o, lse = OP(q, k, v)
    dq, = OP_BACKWARD(['dq'], torch.ones_like(o).requires_grad_(), o, lse, None, q, k, v)
    with pytest.raises(NotImplementedError, match='gradients of gradients'):
        dq.sum().backward()


def test_types_of_results():
    """Gradients where the result has another type."""
    tensors = qkv(torch.float16)
    grads = [torch.autograd.grad(f(*(x := [t.clone().requires_grad_() for t in tensors])).float().square().sum(), x)
             for f in (lambda *x: ct.attention(*x, out_dtype='f32'), theirs)]
    assert all(x.dtype is torch.float16 and off(x, y) <= 0.02 for x, y in zip(*grads))


class Away(torch.Tensor):
    """A tensor that says that it is on a GPU: what goes to the CPU is inside, and comes back from there."""
    copies = []

    @staticmethod
    def __new__(cls, x):
        return torch.Tensor._make_wrapper_subclass(cls, x.shape, dtype=x.dtype, device='lazy', strides=x.stride(),
                                                   requires_grad=False)

    def __init__(self, x):
        self.inside = x

    @classmethod
    def __torch_dispatch__(cls, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._to_copy.default:
            cls.copies.append(kwargs['device'].type)
            return args[0].inside.clone() if kwargs['device'].type == 'cpu' else cls(args[0])
        if func is torch.ops.aten.detach.default:
            return cls(args[0].inside)
        raise NotImplementedError(func)


class ToAway(torch.utils._python_dispatch.TorchDispatchMode):
    """Copies to a GPU that there is not."""

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        if func is torch.ops.aten._to_copy.default and kwargs.get('device', torch.device('cpu')).type == 'lazy':
            Away.copies.append('lazy')
            return Away(args[0])
        return func(*args, **(kwargs or {}))


def test_other_devices():
    """They are copied, once each, with a warning, and so is the result; gradients find the way back."""
    q, k, v = (x.detach() for x in qkv(torch.float32))
    far = [Away(x) for x in (q, k, v)]
    Away.copies.clear()
    with ToAway(), pytest.warns(UserWarning, match='those on lazy:?0? are copied there, and results back'):
        o = ct.attention(*far)
    assert isinstance(o, Away) and Away.copies == ['cpu'] * 3 + ['lazy']
    assert off(o.inside, theirs(q, k, v)) <= 1e-5
    with warnings.catch_warnings():
        warnings.simplefilter('ignore')
        with pytest.raises(ValueError, match='k is on cpu and q on lazy'):
            ct.attention(far[0], k, v)
        with pytest.raises(ValueError, match='bias is on lazy.* and q on cpu'):
            ct.attention(q, k, v, bias=Away(torch.zeros(5, 7)), kv_len=Away(torch.tensor([3, 4])))
    with pytest.raises(TypeError, match=r'q is (on lazy|an Away)'):
        clattn.attention(*far)


def test_threads():
    """Two threads, each with gradients of its own."""
    tensors, failed = qkv(), []
    want = both(sdpa, theirs, *tensors)[1]

    def work():
        try:
            for _ in range(5):
                ours = both(sdpa, sdpa, *tensors)[0]
                assert all(off(x, y) <= 1e-11 for x, y in zip(ours, want))
        except Exception as e: # pylint: disable=broad-except
            failed.append(e)
    threads = [threading.Thread(target=work) for _ in range(2)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert not failed
