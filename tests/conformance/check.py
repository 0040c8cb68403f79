#!/usr/bin/env python3
# check.py - the judge of the conformance cases
# SPDX-License-Identifier: Apache-2.0
"""The judge of the conformance cases.

  check.py list [--filter RE]     names and features
  check.py ref [--filter RE] [--forward-only]
                                  reference.py against every stored value of the peers, and the judge against results
                                  that are wrong in one element

Every output is compared with reference.py, in float64 and element by element, and with whatever is stored of the peer.
"""
import argparse
import math
import os
import sys

import numpy as np

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import cases as stored
import reference

EPS = dict(f32=2.0 ** -24, f16=2.0 ** -11, bf16=2.0 ** -8)
NODE_TEST = dict(float32=0.0, float16=4e-3, bfloat16=2e-2) # what ONNX's values lose: computed in that type


# ---- tolerances ----

def terms(case, name, size):
    """How many products each element of a reduced gradient sums up."""
    s = case['shape']
    if name == 'dbias':
        size = np.prod(case['inputs']['bias'])
    return s['B'] * s['Hq'] * s['Tq'] * s['Tk'] / max(1, size)


def tolerance(case, name, want, dtype):
    """What an output may be off: rounding of the output, of P and of the scores. `want`: the whole output."""
    if dtype == 'f32' and name in case.get('tolerance', {}):
        return case['tolerance'][name]
    finite = np.abs(want[np.isfinite(want)])
    scale, e, score = max(finite.max() if finite.size else 0.0, 0.25), EPS[dtype], case['max_abs_score']
    if name == 'lse': # in float32 whatever the storage
        return 1e-5 + 16 * EPS['f32'] * max(scale, score)
    if name in ('dsink', 'dslope', 'dbias'):
        e *= 2
        scale *= max(1.0, math.sqrt(terms(case, name, want.size)) / 8)
    return (1 if name in ('o', 'scores') else 2) * scale * (2.5 * e + 24 * EPS['f32'] * (4 + score))


# ---- comparing ----

def holes(x):
    return np.isneginf(x)


def differs(got, want, limit):
    """Words for what is wrong with `got`, or None."""
    if got.shape != want.shape:
        return 'shape %s, not %s' % (got.shape, want.shape)
    if np.isnan(got).any() or not np.array_equal(holes(got), holes(want)):
        return 'NaN, or -inf elsewhere'
    finite = np.isfinite(want)
    worst = np.abs(got[finite] - want[finite]).max() if finite.any() else 0.0
    return None if worst <= limit else 'max error %.3g > %.3g' % (worst, limit)


def sums_differ(got, peer, limit):
    """Rounding errors of either sign make sums differ by a tenth of what they could at most."""
    def off(sum_of, want, n):
        return abs(sum_of - want) > limit * (0.1 * n + 1)
    finite = got[np.isfinite(got)]
    if peer.sums is not None:
        axes = tuple(range(got.ndim - peer.summed, got.ndim))
        if off(got.sum(axes).reshape(-1), peer.sums, got.size / peer.sums.size).any():
            return 'sums of rows or heads differ'
    if peer.totals is not None:
        t = peer.totals
        if int(holes(got).sum()) != t['neg_inf'] or off(finite.sum(), t['sum'], finite.size) or \
                off(np.abs(finite).sum(), t['sum_abs'], finite.size) or \
                abs(np.abs(finite).max(initial=0.0) - t['largest']) > limit:
            return 'sums, or the largest element, differ'
    return None


def against_peer(got, peer, limit, sums_limit):
    if list(got.shape) != peer.shape:
        return 'shape %s, not %s' % (list(got.shape), peer.shape)
    return differs(got.reshape(-1)[peer.positions], peer.values, limit) or sums_differ(got, peer, sums_limit)


def judge(case, got, want, peer, dtype='f32'):
    """What is wrong: a list of words. `got` and `want`, the reference's, are {output: array}, `peer` is {output: Peer}:
    None where the inputs were rounded to `dtype`, for the peer did not see those."""
    bad = []
    for name, x in got.items():
        x, y = np.asarray(x, np.float64), want[name]
        limit = tolerance(case, name, y, dtype)
        words = differs(x, y, limit)
        if words:
            bad.append('%s: %s' % (name, words))
        if peer is not None:
            low = NODE_TEST[case['dtypes']['q']] if case['tier'] == 'onnx' else 0.0
            words = against_peer(x, peer[name], max(limit, low), limit)
            if words:
                bad.append("%s: from the peer's: %s" % (name, words))
    return bad


# ---- the reference itself ----

def reference_differs(case, want, peer):
    """The reference must have the peer's values, which are stored in float32."""
    if case['tier'] == 'onnx':
        return judge(case, {n: want[n] for n in peer}, want, peer)
    bad = []
    for name, p in peer.items():
        finite = np.abs(want[name][np.isfinite(want[name])])
        limit = 2.0 ** -23 * max(finite.max() if finite.size else 0.0, 0.25)
        words = against_peer(want[name], p, limit, 10 * limit)
        if words:
            bad.append('%s: %s' % (name, words))
    return bad


def blind(case, want, peer):
    """The judge must pass the reference itself, and fail what is off by more than the tolerance in one element."""
    bad = []
    for name in peer:
        if want[name].size == 0:
            continue
        if judge(case, {name: want[name]}, want, peer if case['tier'] != 'onnx' else None):
            bad.append('%s: the judge fails the reference' % name)
        wrong = want[name].copy()
        at = sum(map(ord, case['name'])) * 7919 % wrong.size
        off = 1.01 * tolerance(case, name, want[name], 'f32')
        wrong.flat[at] = 0.0 if np.isneginf(wrong.flat[at]) else wrong.flat[at] + off
        if not judge(case, {name: wrong}, want, None):
            bad.append('%s: the judge passes an error of %.3g' % (name, off))
    return bad


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('command', choices=('list', 'ref'))
    p.add_argument('--filter')
    p.add_argument('--forward-only', action='store_true')
    o = p.parse_args()
    n = failed = 0
    for case in stored.chosen(pattern=o.filter):
        n += 1
        if o.command == 'list':
            print(stored.key(case))
            continue
        arrays = stored.inputs(case)
        if o.forward_only:
            arrays.pop('do', None)
        with np.errstate(all='ignore'):
            want = reference.run_case(case, arrays)
        peer = {k: x for k, x in stored.peer_values(case).items() if k in want}
        bad = reference_differs(case, want, peer) + blind(case, want, peer)
        if bad:
            failed += 1
            print('FAIL', case['name'], '; '.join(bad))
    print('%d cases, %d failed' % (n, failed))
    return 1 if failed or not n else 0


if __name__ == '__main__':
    sys.exit(main())
