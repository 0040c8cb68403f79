# test_options.py - every argument of every call counts or is refused: made from the table of options
# SPDX-License-Identifier: Apache-2.0
"""The arguments are those of clattn.options.RULES and the arrays that go with a call: one that is added there needs a
row here. Whether they count right is for test_attention.py and others, which compare with float64."""
import numpy as np
import pytest
import reference
from test_attention import close

import clattn
from clattn import one_call, options
from clattn._native import ffi

F32 = np.float32
NAMES = sorted([*options.RULES, *(name for name, _, _ in one_call.EXTRAS)])
OF_GRADIENTS = [name for name, rule in options.RULES.items() if rule.of_gradients]
HOW = ('batch_invariant', 'splits', 'max_seqlen_q', 'max_seqlen_k', 'mod_vector') # change how, not the result
TABLE = dict(score_mod='s += t[0] * k;', score_mod_grad='t_index = 0; t_grad = ds * k;', aux={'t': np.full(1, 2, F32)})
DOUBLED = dict(score_mod='s = 2 * s;', score_mod_grad='ds = 2 * ds;')
VARLEN = dict(cu_seqlens_q=[0, 3, 8], cu_seqlens_k=[0, 9, 20])
MAP = np.array([[0, 1, 1, 1, 1], [1, 1, 1, 1, 1]], np.uint8)
SCALES = {name: np.full((1, 1, 1, 1), 0.02, F32) for name in ('k_scale', 'v_scale')}
USED = { # a value that is not the default, the arguments beside which it counts, and of which arrays the call is
    'align': ('top-left', dict(causal=True), 'plain'),
    'alibi': (np.full(4, 0.5, F32), {}, 'plain'),
    'aux': ({'t': np.full(1, 3, F32)}, TABLE, 'plain'),
    'aux_grads': (['t'], TABLE, 'plain'),
    'batch_invariant': (True, {}, 'plain'),
    'bias': (np.arange(20, dtype=F32), {}, 'plain'),
    'block': ((5, 4), dict(block=(4, 4), block_map=MAP), 'plain'),
    'block_map': (1 - MAP, dict(block=(4, 4), block_map=MAP), 'plain'),
    'block_table': ([[1, 0]], dict(kv_len=[8], block_table=[[0, 1]]), 'pages'),
    'causal': (True, {}, 'plain'),
    'cu_seqlens_k': ([0, 5, 20], VARLEN, 'varlen'),
    'cu_seqlens_q': ([0, 5, 8], VARLEN, 'varlen'),
    'dropout_offset': (7, dict(dropout_p=0.5), 'plain'),
    'dropout_p': (0.5, {}, 'plain'),
    'dropout_seed': ((1 << 64) - 1, dict(dropout_p=0.5), 'plain'),
    'k_group': (64, dict(SCALES, k_scale=np.array([0.01, 0.03], F32)), 'int8'),
    'k_scale': (SCALES['k_scale'] * 3, SCALES, 'int8'),
    'k_type': ('q8_0', dict(v_type='q8_0'), 'blocks'),
    'k_zero': (np.arange(2, dtype=F32).reshape(1, 2, 1, 1), SCALES, 'int8'),
    'kv_len': ([7], {}, 'plain'),
    'kv_start': ([7], {}, 'plain'),
    'layout': ('bnhd', {}, 'square'),
    'mask': (np.arange(20) % 3 != 0, {}, 'plain'),
    'max_seqlen_k': (15, VARLEN, 'varlen'),
    'max_seqlen_q': (7, VARLEN, 'varlen'),
    'mod_vector': (True, DOUBLED, 'plain'),
    'offset': (3, dict(causal=True), 'plain'),
    'out_dtype': ('f16', {}, 'plain'),
    'q_len': ([3], {}, 'plain'),
    'scale': (0.4, {}, 'plain'),
    'score_mod': ('s = 3 * s;', DOUBLED, 'plain'),
    'score_mod_grad': ('ds = 3 * ds;', DOUBLED, 'plain'),
    'sinks': (np.full(4, 1, F32), {}, 'plain'),
    'softcap': (0.7, {}, 'plain'),
    'splits': (3, dict(splits=2), 'plain'),
    'v_group': (64, dict(SCALES, v_scale=np.array([0.01, 0.03], F32)), 'int8'),
    'v_scale': (SCALES['v_scale'] * 3, SCALES, 'int8'),
    'v_type': ('q8_0', dict(k_type='q8_0'), 'blocks'),
    'v_zero': (np.arange(1, 3, dtype=F32).reshape(1, 2, 1, 1), SCALES, 'int8'),
    'window': ((2, 1), {}, 'plain'),
}


def arrays(what):
    """q, k and v."""
    rng = np.random.default_rng(8)
    make = lambda *shape: rng.standard_normal(shape).astype(F32)
    if what == 'blocks': # the bytes of a scale of 0.0117 in f16, and 32 elements
        rows = rng.integers(0, 255, (1, 2, 20, 34), np.uint8)
        rows[..., 0], rows[..., 1] = 0, 0x22
        return make(1, 4, 8, 32), rows, rows[:, :, ::-1].copy()
    if what == 'int8':
        return make(1, 4, 8, 96), *(rng.integers(-99, 99, (1, 2, 20, 96), np.int8) for _ in 'kv')
    shape = {'plain': (1, 2, 20, 16), 'pages': (2, 10, 2, 16), 'varlen': (20, 2, 16), 'square': (1, 4, 4, 16)}[what]
    q = {'varlen': (8, 4, 16), 'square': shape}.get(what, (1, 4, 8, 16))
    return make(*q), make(*shape), make(*shape)


def outcome(call):
    """What comes of a call: its arrays to the bit, or what it raises."""
    try:
        found = call()
    except (TypeError, ValueError, clattn.NotSupported) as e:
        assert not isinstance(e, clattn.Error) or e.detail # in words
        return type(e), str(e)
    found = [x for x in (found if isinstance(found, tuple) else (found,)) if x is not None]
    return [(str(x.dtype), x.shape, x.tobytes()) for x in found for x in (x.values() if isinstance(x, dict) else [x])]


def prepared(call):
    """What a call hands to the library: the problem, sizes, arrays and where they go."""
    p = call.prepared
    slots = [(name, slot.at, slot.bytes, slot.mode) for name, slot in zip(p.names, p.slots)]
    values = [(name, str(x.dtype), x.shape, x.tobytes()) for name, x in call.given.items()]
    forward = p.call.forward
    return (p.problem_key, bytes(ffi.buffer(ffi.addressof(p.call, 'sizes'))), slots, values, forward.splits,
            forward.block_q, forward.block_k, call.dropout, [list(x.stride) for x in (forward.q, forward.k, forward.v)],
            [(out.name, out.shape, out.dtype) for out in p.outputs])


class Seen(Exception):
    """Raised in place of running a call."""


@pytest.fixture
def seen(monkeypatch):
    """What comes of a call up to where it would run: prepared(), or what it raises. Plans are not built either."""
    calls = []

    def run(call, _plan=None):
        calls.append(prepared(call))
        raise Seen

    def see(call):
        try:
            call()
        except Seen:
            return calls.pop()
        except (TypeError, ValueError, clattn.NotSupported) as e:
            return type(e), str(e)
        raise AssertionError('nothing ran')

    monkeypatch.setattr('clattn.run.Call.run', run)
    monkeypatch.setattr('clattn.plan.create', lambda *_: ffi.cast('clattn_plan', 1))
    return see


def raises(found):
    return isinstance(found, tuple) and isinstance(found[0], type)


def options_of(name, gradients=False):
    """The arguments beside a name, and those with it."""
    value, beside, what = USED[name]
    beside = {n: x for n, x in beside.items() if gradients or n not in OF_GRADIENTS}
    return arrays(what), beside, {**beside, name: value}


def test_table():
    assert sorted(USED) == NAMES


@pytest.mark.parametrize('name', NAMES)
def test_attention(name):
    """It changes the result, or where it is about how that is computed, what the library is told."""
    given, without, with_it = options_of(name)
    if name.endswith(('_group', '_type')):
        without.pop(name, None)
    found = outcome(lambda: clattn.attention(*given, **with_it))
    assert raises(found) == (name in OF_GRADIENTS), found # a row of USED fits
    if name in HOW:
        assert prepared(one_call.begin(*given, **with_it)[0]) != prepared(one_call.begin(*given, **without)[0])
    else:
        assert found != outcome(lambda: clattn.attention(*given, **without))


@pytest.mark.parametrize('name', NAMES)
def test_plan(seen, name):
    """A plan does what its call asks for, as a call without a plan would, or refuses it."""
    given, without, with_it = options_of(name)
    plan = clattn.Plan(*given, **(with_it if name.endswith(('_group', '_type')) else without))
    direct, by_plan = (seen(lambda f=f: f(*given, **with_it)) for f in (clattn.attention, plan))
    assert by_plan == direct or raises(by_plan)
    assert raises(by_plan) or by_plan != seen(lambda: plan(*given, **without)) or name.endswith(('_group', '_type'))
    same = clattn.Plan(*given, **{n: x for n, x in with_it.items() if n not in OF_GRADIENTS})
    assert seen(lambda: same(*given, **{n: x for n, x in with_it.items() if n not in OF_GRADIENTS})) == direct or \
        name in OF_GRADIENTS


@pytest.mark.parametrize('name', NAMES)
def test_backward(seen, name):
    given, without, with_it = options_of(name, gradients=True)
    if name.endswith(('_group', '_type')):
        without.pop(name, None)
    o = np.zeros(given[0].shape[:-1] + (16 if USED[name][2] != 'int8' else 96,), F32)
    lse = np.zeros(o.shape[:-1] if len(o.shape) == 4 else (4, 8), F32)
    call = lambda **more: clattn.attention_backward(o, *given, o, lse, **more)
    direct = seen(lambda: call(**with_it))
    assert direct != seen(lambda: call(**without))
    if not name.endswith(('_group', '_type')):
        plan = clattn.Plan(*given, gradients=True, **without)
        by_plan = seen(lambda: call(plan=plan, **with_it))
        assert by_plan == direct or raises(by_plan)


@pytest.mark.parametrize('name', NAMES)
def test_cache(seen, name):
    _, without, with_it = options_of(name)
    q, _, _ = arrays('plain')
    cache = clattn.KVCache(1, 2, 20, 16)
    call = lambda more: seen(lambda: cache.attention(q, **{'causal': False, **more}))
    assert raises(call(with_it)) or call(with_it) != call(without)


# ---- What is wrong with the value of an argument is said of that argument, by its type and what is wanted ----

KINDS = { # by the beginning of what is wanted: values of other types
    'True or False': ('false', 2, None.__class__, np.ones(2, bool), 0.0),
    'a number': ('1', [1], np.ones(1), True, 1j, {}),
    'an int': ('1', [[1]], True, 1.5, {}),
    'one of': (['x'], 3, b'bhnd', {}),
    'a pair': (3, '12', 1.5, {1: 2}, np.ones((2, 2))),
    'texts': (3, b's', {}, [3]),
    'names': ('dq', 3, {'t': 1}, [3]),
    'buffers': (3, 't', [np.ones(3)]),
}
WANTED = dict(causal='True or False', mod_vector='True or False', batch_invariant='True or False', align='one of',
              layout='one of', k_type='one of',
              v_type='one of', scale='a number', softcap='a number', dropout_p='a number', dropout_seed='an int',
              dropout_offset='an int', offset='an int', splits='an int', k_group='an int',
              v_group='an int', max_seqlen_q='an int', max_seqlen_k='an int', window='a pair', block='a pair',
              score_mod='texts', score_mod_grad='texts', aux_grads='names', aux='buffers')


@pytest.mark.parametrize('name', sorted(set(options.RULES) - {'out_dtype'}))
def test_types(name):
    q, k, v = arrays('plain')
    for value in KINDS[WANTED[name]]:
        if name == 'offset' and isinstance(value, list):
            continue # an array of offsets
        with pytest.raises(TypeError, match=r'^(a name in )?%s is ' % name) as e:
            clattn.attention_backward(q, q, k, v, q, q[..., 0], **{name: value})
        assert 'must be' in str(e.value)


def test_type_of_result():
    q, k, v = arrays('plain')
    for value, words in ((3, 'out_dtype is an int'), ('f3', "out_dtype is 'f3'"), (np.int32, 'out_dtype is .*int32'),
                         ([], 'out_dtype is a list'), ('(', r"out_dtype is '\('")):
        with pytest.raises(ValueError, match=words + '.*must be one of'):
            clattn.attention(q, k, v, out_dtype=value)
    for value in (np.float16, 'float16', np.dtype('f2'), 'f16'):
        assert clattn.attention(q, k, v, out_dtype=value).dtype == np.float16


def test_numbers():
    """Numbers of numpy are numbers; what is stored is plain, so that calls that say the same share what is prepared."""
    q, k, v = arrays('plain')
    want = clattn.attention(q, k, v, causal=True, scale=0.5, window=(3, 2), offset=2, splits=2)
    got = clattn.attention(q, k, v, causal=np.True_, scale=np.array(0.5), window=np.array([3, 2]), offset=np.int64(2),
                           splits=np.uint8(2))
    assert np.array_equal(got, want)
    assert np.array_equal(clattn.attention(q, k, v, causal=1), clattn.attention(q, k, v, causal=True))


NEEDED = [('mod_vector', True), ('block', (4, 4)), ('max_seqlen_q', 8), ('max_seqlen_k', 20),
          ('aux', {'t': np.ones(1, F32)}),
          ('k_group', 16), ('v_group', 0), ('k_scale', np.ones(1, F32)), ('v_zero', np.ones(1, F32)),
          ('score_mod_grad', 'ds = 2 * ds;'), ('aux_grads', ['t'])]


@pytest.mark.parametrize('name,value', NEEDED, ids=[name for name, _ in NEEDED])
def test_needs(name, value):
    """What has no effect alone is refused."""
    q, k, v = arrays('plain')
    o, lse = clattn.attention(q, k, v, return_lse=True)
    with pytest.raises(ValueError, match='%s (is given|names)' % name):
        clattn.attention_backward(o, q, k, v, o, lse, **{name: value})
    if name not in OF_GRADIENTS:
        with pytest.raises(ValueError, match='%s is given' % name):
            clattn.attention(q, k, v, **{name: value})


def test_names_of_gradients():
    q, k, v = arrays('plain')
    o, lse = clattn.attention(q, k, v, return_lse=True)
    for kind, words, more in (
            (TypeError, 'wanted is a str: must be a list of names', dict(wanted='dq')),
            (TypeError, 'wanted is an int', dict(wanted=3)),
            (ValueError, "no gradient 'dx'", dict(wanted=['dx'])),
            (ValueError, "aux_grads names 'u', which is none of aux", dict(aux_grads=['u'], **DOUBLED))):
        with pytest.raises(kind, match=words):
            clattn.attention_backward(o, q, k, v, o, lse, **more)


@pytest.mark.parametrize('width,groups,fit', [(96, 2, '48, 64, 80'), (128, 2, '64, 80, 96, 112'), (64, 2, '32, 48')])
def test_group_is_not_guessed(rng, width, groups, fit):
    """Where several sizes of groups make as many scales, the caller has to say which."""
    q = rng.standard_normal((1, 2, 3, width)).astype(F32)
    k = rng.integers(-99, 99, (1, 2, 5, width)).astype(np.int8)
    scale = rng.uniform(0.01, 0.05, (1, 2, 5, groups)).astype(F32)
    for name in 'kv':
        given = dict(q=q, k=q, v=q)
        given[name], given[name + '_scale'] = k, scale
        given['k' if name == 'v' else 'v'] = np.ones((1, 2, 5, width), F32)
        with pytest.raises(ValueError, match='%s_scale has 2 groups for rows of %d elements: give %s_group, one of %s$'
                           % (name, width, name, fit)):
            clattn.attention(**given)


def test_groups_that_fill_no_row(rng):
    q = rng.standard_normal((1, 2, 3, 96)).astype(F32)
    k = rng.integers(-99, 99, (1, 2, 5, 96)).astype(np.int8)
    scale = rng.uniform(0.01, 0.05, (1, 2, 5, 2)).astype(F32)
    for group in (48, 64, 80):
        wide = np.repeat(scale.astype(np.float64), group, -1)[..., :96] * k
        close(clattn.attention(q, k, q[:, :, [0, 1, 2, 0, 1]], k_scale=scale, k_group=group),
              reference.attention_forward(q, wide, q[:, :, [0, 1, 2, 0, 1]])[0], 1e-4)


def test_plans_and_handles(rng):
    q, k, v = arrays('plain')
    plan, other = clattn.Plan(q, k, v), clattn.Handle()
    for kind, words, call in (
            (ValueError, 'handle is not that of the plan', lambda: plan(q, k, v, handle=other)),
            (TypeError, 'no argument return_lse', lambda: clattn.Plan(q, k, v, return_lse=True)),
            (ValueError, 'for plans with gradients', lambda: clattn.Plan(q, k, v, score_mod_grad='ds = 1;')),
            (TypeError, 'gradients is a str', lambda: clattn.Plan(q, k, v, gradients='no')),
            (TypeError, 'config is an int', lambda: clattn.Plan(q, k, v, config=3)),
            (ValueError, 'config has a character NUL', lambda: clattn.Plan(q, k, v, config='naive\0')),
            (TypeError, 'max_workspace is a float', lambda: clattn.Plan(q, k, v, max_workspace=1e9)),
            (ValueError, 'max_workspace is -1', lambda: clattn.Plan(q, k, v, max_workspace=-1)),
            (TypeError, 'log is an int: must be a function', lambda: clattn.Handle(log=3)),
            (TypeError, 'progress is an int: must be a function of a text, True or False',
             lambda: clattn.Handle(progress=1)),
            (ValueError, 'cache_dir has a character NUL', lambda: clattn.Handle(cache_dir='/tmp\0x')),
            (TypeError, 'cache_dir is an int', lambda: clattn.Handle(cache_dir=3)),
            (TypeError, 'tune_seconds is a str', lambda: clattn.Handle(tune_seconds='2')),
            (clattn.ArgumentError, 'tune_seconds', lambda: clattn.Handle(tune_seconds=-1)),
            (TypeError, 'tune is an int', lambda: clattn.Handle(tune=3)),
            (TypeError, 'kind is a list', lambda: clattn.Handle(kind=['cpu'])),
            (TypeError, 'kind is a list', lambda: clattn.default_handle(['cpu'])),
            (TypeError, 'context is an int: must be a pyopencl.Context', lambda: clattn.Handle(3)),
            (TypeError, 'device is an int: must be a pyopencl.Device', lambda: clattn.Handle(device=3)),
            (TypeError, 'handle is an int', lambda: clattn.merge(q[None], q[None, ..., 0], handle=3)),
            (TypeError, 'handle is an int', lambda: clattn.KVCache(1, 2, 20, 16, handle=3)),
            (TypeError, 'queue is an int', lambda: clattn.KVCache(1, 2, 20, 16, queue=3)),
            (TypeError, r'rotary is an int: must be \(cos, sin\)', lambda: clattn.KVCache(1, 2, 20, 16, rotary=3)),
            (TypeError, 'rotary is an ndarray', lambda: clattn.KVCache(1, 2, 20, 16, rotary=np.ones((2, 20, 8)))),
            (TypeError, 'zero is a str', lambda: clattn.KVCache(1, 2, 20, 16, dtype='int8', zero='no')),
            (ValueError, 'interleaved is given, which needs rotary',
             lambda: clattn.KVCache(1, 2, 20, 16, interleaved=True))):
        with pytest.raises(kind, match=words):
            call()
    plan.close()
    for call in (lambda: plan.config, lambda: plan.info, lambda: plan(q, k, v)):
        with pytest.raises(clattn.ArgumentError, match='the plan is closed'):
            call()


# ---- Sequences ----

SEQUENCES = [ # words, and what is changed of cu_seqlens of [0, 3, 8] and [0, 9, 20]
    ('cu_seqlens_q begins with 3, not with 0', dict(cu_seqlens_q=[3, 5, 8])), # lengths, for example
    ('cu_seqlens_q ends with 5, not with the rows of q, which are 8', dict(cu_seqlens_q=[0, 3, 5])),
    ('cu_seqlens_q ends with 9', dict(cu_seqlens_q=[0, 3, 9])),
    (r'cu_seqlens_k: value 8 at \[2\] is less than the one before', dict(cu_seqlens_k=[0, 9, 8, 20])),
    ('cu_seqlens_k ends with 19, not with the rows of k, which are 20', dict(cu_seqlens_k=np.array([0, 9, 19]))),
    ('max_seqlen_q is 4, and the longest sequence has 5 rows', dict(max_seqlen_q=4)),
    ('max_seqlen_k is 10, and the longest sequence has 11 rows', dict(max_seqlen_k=10)),
]


@pytest.mark.parametrize('words,change', SEQUENCES, ids=[words for words, _ in SEQUENCES])
def test_sequences(words, change):
    given, _, good = options_of('max_seqlen_k')
    for _ in range(2): # also where a call of these shapes was prepared
        with pytest.raises(ValueError, match=words):
            clattn.attention(*given, **{**good, **change})
        clattn.attention(*given, **good)
    o, lse = clattn.attention(*given, return_lse=True, **good)
    with pytest.raises(ValueError, match=words):
        clattn.attention_backward(o, *given, o, lse, **{**good, **change})
