#!/usr/bin/env python3
# check_torch.py - what clattn-run computes at sizes of real use, all of it, against float64 in PyTorch
# SPDX-License-Identifier: Apache-2.0
"""check_torch.py [--run PATH] [--device TEXT] [--cuda] 'TYPE bB hH qN kN dD [causal]' ...

clattn-run --verify does the same on one core of the host: minutes at q8192. Here the reference is computed by PyTorch,
with --cuda on the GPU, a head at a time. The bound is that of clattn.h, of every element. Status 4 if one is beyond
it."""
import argparse, json, os, subprocess, sys, tempfile

import numpy, torch

from peer_torch import parse

EPS = {torch.float32: 2.0**-24, torch.float16: 2.0**-11, torch.bfloat16: 2.0**-8}
TINY = {torch.float32: 2.0**-126, torch.float16: 2.0**-14, torch.bfloat16: 2.0**-126}


def taken(problem):
    p = parse(problem)
    if p['type'] not in EPS or p['h'] != p['h2'] or p['d'] != p['d2'] or 'axes' in p or p['lengths'] or p['bthd'] or \
            p['scale'] is not None or (p['causal'] and p['q'] != p['k']):
        raise SystemExit('%s: not for this program' % problem)
    return p


def inputs(p, where):
    """As they are stored on the device, the same for both masks."""
    g = torch.Generator(where).manual_seed(p['q'] + p['d'])
    return [torch.randn(p['b'], p['h'], n, p['d'], device=where, generator=g).to(p['type'])
            for n in (p['q'], p['k'], p['k'])]


def save(path, x):
    x = x if x.dtype == torch.float16 else x.float() # NumPy has no bf16
    numpy.save(path, x.cpu().numpy())


def bound(p, w, a, z, o, narrow):
    """Of each element of one head: weights w [q,k], a [q,k], values z [k,d], O."""
    u, eps = 2.0**-24, EPS[p['type']]
    doubt, t1 = w * (1 + a), torch.empty_like(o)
    for j in range(o.shape[1]): # T1 is no product of matrices: a column at a time
        t1[:, j] = (doubt * (z[:, j] - o[:, j, None]).abs()).sum(1)
    t2 = w @ z.abs()
    n = (w > 0).sum(1, keepdim=True)
    return u * (32 * t1 + (16 + 2 * torch.log2(1 + n)) * t2) + (2 * eps * t2 if narrow else 0) + eps * o.abs() + \
        TINY[p['type']]


def worst(p, q, k, v, o, narrow):
    """Of all elements: the error and the bound of the one that is the farthest off in parts of its bound."""
    most, found, scale = -1.0, (0.0, 0.0), p['d'] ** -0.5
    keep = torch.ones(p['q'], p['k'], dtype=torch.bool, device=q.device)
    keep = keep.tril() if p['causal'] else keep
    for b in range(p['b']):
        for h in range(p['h']):
            x, y, z = (t[b, h].double() for t in (q, k, v))
            w = torch.softmax((x @ y.T * scale).masked_fill_(~keep, -torch.inf), -1)
            right = w @ z
            limit = bound(p, w, x.abs() @ y.abs().T * scale, z, right, narrow)
            e = (right - o[b, h].to(q.device).double()).abs().nan_to_num_(torch.inf)
            part = (e / limit).flatten()
            at = part.argmax()
            if part[at] > most:
                most, found = part[at].item(), (e.flatten()[at].item(), limit.flatten()[at].item())
    return found


def check(c, problem, home):
    p = taken(problem)
    where = 'cuda' if c.cuda else 'cpu'
    q, k, v = inputs(p, where)
    paths = [os.path.join(home, name + '.npy') for name in 'qkvo']
    for path, x in zip(paths, (q, k, v)):
        save(path, x)
    options = (['--device', c.device] if c.device else []) + (['--causal'] if p['causal'] else [])
    r = subprocess.run([c.run, '--json', '--type', problem.split()[0], '-o', paths[3]] + options + paths[:3],
                       stdout=subprocess.PIPE, text=True)
    if r.returncode:
        print('%s  not computed: clattn-run ended with status %d' % (problem, r.returncode), flush=True)
        return False
    what = json.loads(r.stdout)
    narrow = what['engine'].startswith('mma_')
    error, limit = worst(p, q, k, v, torch.from_numpy(numpy.load(paths[3])), narrow)
    print('%s  max-error %.3g bound %.3g, %s  [%s %s, %s]' % (
        problem, error, limit, 'within' if error <= limit else 'BEYOND', what['engine'], what['tile'], what['source']),
        flush=True)
    return error <= limit


def main():
    a = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--run', default='clattn-run'), a.add_argument('--device')
    a.add_argument('--cuda', action='store_true'), a.add_argument('problems', nargs='+')
    c = a.parse_args()
    with tempfile.TemporaryDirectory() as home:
        good = [check(c, problem, home) for problem in c.problems]
    sys.exit(0 if all(good) else 4)


if __name__ == '__main__':
    main()
