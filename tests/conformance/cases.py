# cases.py - the stored cases: what is asked, the inputs, the peers' values
# SPDX-License-Identifier: Apache-2.0
"""The stored cases: what is asked, the inputs, the peers' values. README describes the files."""
import collections
import functools
import glob
import json
import os
import re

import numpy as np

import generator

HERE = os.path.dirname(os.path.abspath(__file__))
MODEL = os.path.join(HERE, '..', '..', 'examples', 'data')

# What a peer computed for one output: its shape; values at flat `positions`; sums over the last `summed` axes or None;
# totals or None: a dictionary with sum, sum_abs, largest and neg_inf of all elements.
Peer = collections.namedtuple('Peer', 'shape positions values summed sums totals')


def read_list(folder):
    """Every case of a folder, in the order of names."""
    found = []
    for path in glob.glob(os.path.join(folder, 'cases', '*.json')):
        with open(path) as f:
            found += [dict(case, file=path[:-len('.json')]) for case in json.load(f)['cases']]
    return sorted(found, key=lambda case: case['name'])


def key(case):
    """What the patterns of --filter and --without are searched in."""
    return case['name'] + ' ' + ' '.join(case['features'])


def chosen(folder=HERE, pattern=None):
    return [case for case in read_list(folder) if pattern is None or re.search(pattern, key(case))]


# ---- inputs ----

def widened(x, dtype):
    """A stored array; bfloat16, which numpy does not know, is stored as its bits."""
    return (x.astype(np.uint32) << 16).view(np.float32) if dtype == 'bfloat16' else x


@functools.lru_cache(None)
def node_tests(path):
    with np.load(path) as z:
        return dict(z)


def stored(case):
    """Arrays of a case that has no seed: ONNX's with its outputs, a real model's."""
    if case['tier'] == 'real':
        return {n: np.load(os.path.join(MODEL, where + '.npy')) for n, where in case['arrays'].items()}
    pool = node_tests(case['file'] + '.npz')
    return {n: widened(pool[where], case['dtypes'][n]) for n, where in case['arrays'].items()}


def inputs(case):
    if 'seed' in case:
        return generator.build(case)
    return {n: x for n, x in stored(case).items() if n not in ('o', 'lse', 'scores')}


# ---- what peers computed ----

@functools.lru_cache(None)
def flat_values(path):
    return np.load(path).astype(np.float64)


def count_of_sums(out):
    return int(np.prod(out['shape'][:-out['summed']])) if 'summed' in out else 0


@functools.lru_cache(None)
def places(path):
    """Where in FILE.npy the values of each case begin: they have the order of the cases and outputs in FILE.json."""
    begin, at = {}, 0
    with open(path + '.json') as f:
        for case in json.load(f)['cases']:
            begin[case['name']] = at
            at += sum(out['samples'] + count_of_sums(out) for out in case['outputs'].values())
    if at != flat_values(path + '.npy').size:
        raise ValueError('%s.npy has %d values, not %d' % (path, flat_values(path + '.npy').size, at))
    return begin


def everything(x):
    x = np.asarray(x, np.float64)
    return Peer(list(x.shape), np.arange(x.size), x.reshape(-1), 0, None, None)


def peer_values(case):
    """{output: Peer}"""
    if case['tier'] == 'onnx':
        return {n: everything(x) for n, x in stored(case).items() if n in ('o', 'scores')}
    values, at, peer = flat_values(case['file'] + '.npy'), places(case['file'])[case['name']], {}
    for name, out in case['outputs'].items():
        size, sums = int(np.prod(out['shape'])), count_of_sums(out)
        end = at + out['samples']
        peer[name] = Peer(out['shape'], generator.positions(name, size, out['samples']), values[at:end],
                          out.get('summed', 0), values[end:end + sums] if sums else None, out if 'sum' in out else None)
        at = end + sums
    return peer
