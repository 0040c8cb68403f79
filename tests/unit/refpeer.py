#!/usr/bin/env python3
# refpeer.py - pairs of features in our float64 reference and in the one of the conformance cases; TAP
# SPDX-License-Identifier: Apache-2.0
"""refpeer.py REFRUN CONFORMANCE: both are given the same random problems; they must agree to 1e-12."""
import itertools, os, subprocess, sys, tempfile
import numpy as np

program, cases = sys.argv[1:]
sys.path.insert(0, cases)
import reference

B, H, HK, NQ, NK, D, DV = 3, 4, 2, 13, 21, 5, 3
rng = np.random.default_rng(1)


def keep(*shape):
    return rng.random(shape) < 0.7


def bias(*shape):
    return np.where(rng.random(shape) < 0.1, -np.inf, 2 * rng.standard_normal(shape))


def mod_causal(s, b, h, i, j, aux):
    return np.where(i >= j, s, -np.inf), s


def mod_alibi(s, b, h, i, j, aux):
    return s - 2.0 ** (-1 - h) * abs(i - j), s


# What a feature adds to the arguments of reference.py.
FEATURES = {
    'causal': lambda: dict(causal=True),
    'causal-tl': lambda: dict(causal=True, align='top_left'),
    'offsets': lambda: dict(causal=True, align='explicit', offset=rng.integers(-9, 15, B)),
    'window': lambda: dict(window=(6, 3)),
    'window-left': lambda: dict(window=(4, -1)),
    'softcap': lambda: dict(softcap=1.5),
    'alibi': lambda: dict(alibi_slopes=rng.random((B, H))),
    'bias-bhqk': lambda: dict(bias=bias(B, H, NQ, NK)),
    'bias-1h1k': lambda: dict(bias=bias(1, H, 1, NK)),
    'mask-b1qk': lambda: dict(bool_mask=keep(B, 1, NQ, NK)),
    'mask-11qk': lambda: dict(bool_mask=keep(1, 1, NQ, NK)),
    'dropout': lambda: dict(dropout=(0.3, int(rng.integers(1 << 53)), int(rng.integers(1 << 32)))),
    'sinks': lambda: dict(sink=2 * rng.standard_normal(H)),
    'lengths': lambda: dict(q_len=np.array([13, 0, 7]), kv_len=np.array([21, 20, 3]), kv_start=np.array([0, 5, 3])),
    'mod-causal': lambda: dict(score_mod=mod_causal, mods=['causal.cl']),
    'mod-alibi': lambda: dict(score_mod=mod_alibi, mods=['alibi.cl']),
}
ALIGN = dict(bottom_right=0, top_left=1, explicit=3)


def ours(d, q, k, v, a):
    left, right = a.get('window', (-1, -1))
    numbers = [D ** -0.5, a.get('causal', False), ALIGN[a.get('align', 'bottom_right')], 0, a.get('softcap', 0),
               'window' in a, left, right, *a.get('dropout', (0, 0, 0))]
    files = dict(q=q, k=k, v=v, numbers=numbers, bias=a.get('bias'), slopes=a.get('alibi_slopes'), sinks=a.get('sink'))
    files = {n: np.asarray(x, '<f8') for n, x in files.items() if x is not None}
    if 'bool_mask' in a:
        files['mask'] = a['bool_mask'].astype('|u1')
    for name, of in ('q_len', 'q_len'), ('kv_len', 'kv_len'), ('kv_start', 'kv_start'), ('offsets', 'offset'):
        if of in a:
            files[name] = np.asarray(a[of], '<i4')
    for name, x in files.items():
        np.save(os.path.join(d, name), np.ascontiguousarray(x))
    subprocess.run([program, d] + a.get('mods', []), check=True)
    return np.load(os.path.join(d, 'o.npy')), np.load(os.path.join(d, 'lse.npy'))


def check(names):
    a = {}
    for name in names:
        a.update(FEATURES[name]())
    q, k, v = (2 * rng.standard_normal(s) for s in ((B, H, NQ, D), (B, HK, NK, D), (B, HK, NK, DV)))
    with tempfile.TemporaryDirectory(prefix='clattn-refpeer.') as d:
        got = ours(d, q, k, v, a)
    want = reference.attention_forward(q, k, v, **{n: x for n, x in a.items() if n != 'mods'})
    return all(np.allclose(x, y, rtol=1e-12, atol=1e-12) for x, y in zip(got, want))


def sound(names):
    """What two features ask for must not be the same thing."""
    words = [set(FEATURES[n]()) for n in names]
    return not any(x & y for x, y in itertools.combinations(words, 2))


rows = [[n] for n in FEATURES] + [list(p) for p in itertools.combinations(FEATURES, 2)] + [
    ['offsets', 'window', 'softcap', 'alibi', 'bias-bhqk', 'mask-b1qk', 'sinks', 'lengths', 'mod-alibi',
     'dropout'],
    ['causal-tl', 'softcap', 'alibi', 'bias-1h1k', 'mask-11qk', 'sinks', 'mod-causal']]
rows = [names for names in rows if sound(names)]
bad = [n for n, names in enumerate(rows, 1) if not check(names)]
for n, names in enumerate(rows, 1):
    print('%sok %d - %s' % ('not ' if n in bad else '', n, ' '.join(names)))
print('1..%d' % len(rows))
sys.exit(bool(bad))
