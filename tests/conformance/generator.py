# generator.py - inputs made from a seed, the same on every machine
# SPDX-License-Identifier: Apache-2.0
"""Inputs made from a seed, the same on every machine, so that a case stores its seed and shapes only.

u64(seed, n): the finaliser of splitmix64 on seed + (n + 1) 0x9E3779B97F4A7C15, modulo 2^64.
x8(z) = ((b0 + b1 + b2 + b3) - 510) >> 2, b0 to b3 being the upper four bytes of z: an integer from -128 to 127, roughly
normal with a standard deviation of 37.

Tensor t of a case has the seed 64 case_seed + TENSOR_ID[t], and element n is its row-major index:
  q k v do dlse bias      x8 / 32, which is exact in float32, float16 and bfloat16
  k v with scales (int8)  x8
  k_scale v_scale         (1 + (z >> 60)) / 256
  k_zero v_zero           z >> 61
  bool_mask               z >> 63, 1 keeps
  alibi_slopes            (z >> 56) / 1024, from 0 to 0.249
  sink                    x8 / 8
  aux_NAME                x8 / 32, with case_seed + the sum of the name's characters
  aux_doc, aux_nbi        n // max(1, N // 5); (37 n + 11) modulo attrs.nbi_max
  block_table             the first B n entries of argsort(u64(64 case_seed + 15, num_pages)), row-major
  o_parts, lse_parts      as q; as dlse, with [S // 2:, :B // 3] = -inf
attrs.qmul and attrs.kmul multiply q and k; attrs.bias_neginf makes every bias above 40/32 -inf; attrs.poison stores NaN
in every row of k and v, or slot of a page, that no valid key lies in.
"""
import numpy as np

TENSOR_ID = dict(q=1, k=2, v=3, do=4, bias=5, bool_mask=6, alibi_slopes=7, sink=8, dlse=9, k_scale=10, v_scale=11,
                 k_zero=12, v_zero=13, aux=14, block_table=15)
M = np.uint64


def u64(seed, n):
    """n pseudo-random 64-bit numbers."""
    with np.errstate(over='ignore'):
        z = M(seed) + (np.arange(1, n + 1, dtype=np.uint64) * M(0x9E3779B97F4A7C15))
        z = (z ^ (z >> M(30))) * M(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> M(27))) * M(0x94D049BB133111EB)
        return z ^ (z >> M(31))


def x8(z):
    total = sum(((z >> M(s)) & M(255)).astype(np.int64) for s in (56, 48, 40, 32))
    return (total - 510) >> 2


# How a tensor is made from its numbers; the others are x8 / 32.
FROM_BITS = {
    'bool_mask': lambda z: (z >> M(63)).astype(np.uint8),
    'alibi_slopes': lambda z: (z >> M(56)).astype(np.float64) / 1024,
    'sink': lambda z: x8(z) / 8.0,
    'k_scale': lambda z: (1.0 + (z >> M(60)).astype(np.float64)) / 256,
    'v_scale': lambda z: (1.0 + (z >> M(60)).astype(np.float64)) / 256,
    'k_zero': lambda z: (z >> M(61)).astype(np.int8),
    'v_zero': lambda z: (z >> M(61)).astype(np.int8),
}
# Tensors that have another's numbers.
DRAWN_AS = dict(k_pages='k', v_pages='v', k_scale_pages='k_scale', v_scale_pages='v_scale', o_parts='q',
                lse_parts='dlse')


def tensor(case_seed, name, shape):
    z = u64(case_seed * 64 + TENSOR_ID[name], int(np.prod(shape)))
    return FROM_BITS.get(name, lambda z: x8(z) / 32.0)(z).reshape(shape)


def permutation(case_seed, n):
    return np.argsort(u64(case_seed * 64 + TENSOR_ID['block_table'], n), kind='stable').astype(np.int32)


def aux(case_seed, name, shape, attrs):
    """A buffer that a score_mod captures."""
    if name == 'aux_doc': # numbers of documents: runs of equal integers
        return np.arange(shape[0]) // max(1, shape[0] // 5)
    if name == 'aux_nbi':
        return (np.arange(shape[0]) * 37 + 11) % attrs['nbi_max']
    return tensor(case_seed + sum(map(ord, name)), 'aux', shape)


def draw(case, name, shape):
    """One input, before what `attrs` does to it."""
    seed, attrs = case['seed'], case['attrs']
    if name == 'block_table':
        return permutation(seed, attrs['num_pages'])[:shape[0] * shape[1]].reshape(shape)
    if name.startswith('aux_'):
        return aux(seed, name, shape, attrs)
    x = tensor(seed, DRAWN_AS.get(name, name), shape)
    if name == 'lse_parts': # parts without a key
        x[shape[0] // 2:, :shape[1] // 3] = -np.inf
    if name == 'bias' and attrs.get('bias_neginf'):
        x[x > 40 / 32.0] = -np.inf
    return x


def poison(arrays, attrs):
    """NaN wherever no valid key lies, as in memory that was never written."""
    if 'k' in arrays:
        for b, end in enumerate(attrs['kv_len']):
            for n in ('k', 'v'):
                arrays[n][b, :, end:] = np.nan
                arrays[n][b, :, :attrs['kv_start'][b] if 'kv_start' in attrs else 0] = np.nan
        return
    valid = np.zeros(arrays['k_pages'].shape[:2], bool)
    for b, end in enumerate(attrs['kv_len']):
        for j in range(end):
            valid[arrays['block_table'][b, j // attrs['page_size']], j % attrs['page_size']] = True
    for n in ('k_pages', 'v_pages'):
        arrays[n][~valid] = np.nan


def build(case):
    """All inputs of a case with a seed: {name: array}."""
    attrs = case['attrs']
    out = {name: draw(case, name, shape) for name, shape in case['inputs'].items()}
    quantised = 'k_scale' in out or 'k_scale_pages' in out
    if quantised:
        for n in ('k', 'v', 'k_pages', 'v_pages'):
            if n in out:
                out[n] = (out[n] * 32).astype(np.int8)
    for n, factor in (('q', 'qmul'), ('k', 'kmul')):
        if n in out and attrs.get(factor) and not (quantised and n == 'k'):
            out[n] = out[n] * attrs[factor]
    if attrs.get('poison'):
        poison(out, attrs)
    return out


def positions(name, size, count):
    """Where `count` samples of output `name` lie, as flat indices: all, or the first, the last and others at random."""
    if size <= count:
        return np.arange(size)
    z = u64(sum(map(ord, name)) + 7777, count - 2)
    return np.concatenate([[0, size - 1], (z % M(size)).astype(np.int64)])
