#!/usr/bin/env python3
# peer_torch.py - clattn-bench beside PyTorch's scaled_dot_product_attention, round by round in turn
# SPDX-License-Identifier: Apache-2.0
"""peer_torch.py [--bench PATH] [--rounds N] [--device TEXT] [--config TEXT] [--alone] [--cuda] [--backend LIST]
[--plain] [--backward | --training] 'PROBLEM' ...

Runs PyTorch on the CPU with as many threads as it has cores, one round of each in turn, and prints the medians and the
median of the ratios within a round. Idle OpenMP threads that spin would slow the other side: OMP_WAIT_POLICY is
PASSIVE.

That slows PyTorch itself where a call takes less than a millisecond. --alone is for those: each side in a process of
its own, three of each in turn, with PyTorch's own policy; the least times count, since nothing but noise is added to
them.

What a problem string has and PyTorch has not is an error that names the word: pages, quantised keys and values, mixed
types, a type of O, LSE, and most of what changes scores. Lengths (kvlen) and causality with fewer queries than keys are
a mask there. --plain leaves pages, the types of keys and values and that of O out on its side alone, which then
computes the same on keys and values of Q's type that lie in one piece; the line says so.

A problem with bwd is timed backward alone: autograd's of its forward pass, which has run before; gradients of a bias
are among them. --backward makes every problem one with bwd, so that one list serves both passes.

--training: forward and backward, one after the other in each round, as a step of training has them: on our side the
plan of the problem, which writes LSE too, and that of its gradients; on PyTorch's the forward pass of inputs that
require gradients, and autograd.grad. Prints forward, backward and both; ratios are medians of those within a round.

--cuda: PyTorch on the GPU. --backend: which of its ways, flash, efficient, cudnn and math with commas between, each
once a round; flash is FlashAttention-2 unless PyTorch was told otherwise. Both sides' times are those of the host's
clock, from the call to the end of all that was enqueued (torch.cuda.synchronize()), as clattn-bench counts. TF/s are of
the pairs that are kept, as clattn-bench counts too; the ratio is our throughput over theirs. Who refuses a problem is
named; if we do, the status is 1."""
import argparse, contextlib, json, os, re, statistics, subprocess, sys, time

if '--alone' not in sys.argv[1:]:
    os.environ['OMP_WAIT_POLICY'] = 'PASSIVE'
try:
    import torch
except ImportError as e:
    raise SystemExit('peer_torch.py needs PyTorch: %s' % e)

BACKENDS = dict(flash='FLASH_ATTENTION', efficient='EFFICIENT_ATTENTION', cudnn='CUDNN_ATTENTION', math='MATH')
TYPES = dict(f32=torch.float32, f16=torch.float16, bf16=torch.bfloat16, f64=torch.float64)


PLAIN = re.compile(r'(page\d+|[kvo]:\S+)') # how keys, values and O are stored


def without(problem):
    """The problem with all words but those of storage, and these."""
    words = problem.split()
    return ' '.join(w for w in words if not PLAIN.fullmatch(w)), ' '.join(w for w in words if PLAIN.fullmatch(w))


def with_backward(problem):
    return problem if 'bwd' in problem.split() else problem + ' bwd'


def training_problems(problem):
    """What we run: forward with LSE, which gradients are made of, and backward."""
    forward = ' '.join(w for w in problem.split() if w != 'bwd')
    return forward if 'lse' in forward.split() else forward + ' lse', with_backward(forward)


def parse(problem):
    p = dict(causal=False, lengths=None, scale=None, bthd=False, backward=False)
    for word in problem.split():
        m = re.fullmatch(r'([bhqkd])(\d+)(?:/(\d+))?', word)
        if word in TYPES:
            p['type'] = TYPES[word]
        elif m:
            p[m[1]], p[m[1] + '2'] = int(m[2]), int(m[3] or m[2])
        elif word == 'causal':
            p['causal'] = True
        elif word == 'bthd':
            p['bthd'] = True
        elif word == 'bwd':
            p['backward'] = True
        elif m := re.fullmatch(r'scale(.+)', word):
            p['scale'] = float(m[1])
        elif m := re.fullmatch(r'kvlen:([\d,]+)', word):
            p['lengths'] = [int(n) for n in m[1].split(',')]
        elif (m := re.fullmatch(r'(bias|mask):([b1][h1][q1][k1])', word)) and 'axes' not in p:
            p['what'], p['axes'] = m[1], m[2]
        elif not re.fullmatch(r'(seed|splits)\d+', word): # how the work is split is PyTorch's own affair
            raise SystemExit('%s: not for PyTorch here: %s' % (problem, word))
    if p['causal'] and p['q'] > p['k']:
        raise SystemExit('%s: PyTorch gives NaN for rows that see no key' % problem)
    if (p['causal'] or p['lengths']) and 'axes' in p:
        raise SystemExit('%s: PyTorch takes a %s, or causality and lengths, not both' % (problem, p['what']))
    return p


def kept(p):
    """A mask of causality, the last query with the last key, and of lengths; None where PyTorch needs none."""
    if not p['lengths'] and (not p['causal'] or p['q'] == p['k'] or p['q'] == 1):
        return None
    end = torch.tensor(p['lengths'] or [p['k']]).reshape(-1, 1, 1, 1)
    q, k = torch.arange(p['q']).reshape(1, 1, -1, 1), torch.arange(p['k']).reshape(1, 1, 1, -1)
    return (k <= q + end - p['q']) & (k < end) if p['causal'] else k < end


def torch_round(p, backend=None, where='cpu', training=False):
    """A function that runs once and returns milliseconds; with `training` those of forward and of backward."""
    def rand(h, n, d):
        shape = (p['b'], n, h, d) if p['bthd'] else (p['b'], h, n, d)
        x = torch.randn(*shape, device=where).to(p['type'])
        return x.transpose(1, 2) if p['bthd'] else x
    q, k, v = rand(p['h'], p['q'], p['d']), rand(p['h2'], p['k'], p['d']), rand(p['h2'], p['k'], p['d2'])
    more = dict(enable_gqa=True) if p['h'] != p['h2'] else {}
    if p['scale'] is not None:
        more['scale'] = p['scale']
    mask, is_causal = kept(p), p['causal'] and p['q'] == p['k'] and not p['lengths']
    if 'axes' in p:
        shape = [p[x] if x in p else 1 for x in p['axes']]
        mask = torch.rand(shape) < 0.75 if p['what'] == 'mask' else (2 * torch.randn(shape)).to(p['type'])
    mask = None if mask is None else mask.to(where)
    only, finish = contextlib.nullcontext, (torch.cuda.synchronize if where == 'cuda' else lambda: None)
    if backend:
        from torch.nn.attention import SDPBackend, sdpa_kernel

        def only():
            return sdpa_kernel(getattr(SDPBackend, BACKENDS[backend]))

    def forward():
        return torch.nn.functional.scaled_dot_product_attention(q, k, v, attn_mask=mask, is_causal=is_causal, **more)

    def timed(call):
        finish()
        t = time.perf_counter()
        result = call()
        finish()
        return result, (time.perf_counter() - t) * 1e3

    def run():
        with only():
            return timed(forward)[1]

    def run_both():
        with only():
            o, ms = timed(forward)
            return ms, timed(lambda: torch.autograd.grad(o, inputs, d_o))[1]

    def run_backward():
        with only():
            o = forward()
            return timed(lambda: torch.autograd.grad(o, inputs, d_o))[1]
    if p['backward'] or training:
        inputs = [x.requires_grad_() for x in (q, k, v) + ((mask,) if p.get('what') == 'bias' else ())]
        d_o = torch.randn(p['b'], p['h'], p['q'], p['d2'], device=where).to(p['type'])
    return run_both if training else run_backward if p['backward'] else run


def theirs_of(o, problem):
    """What PyTorch is to do, and words for what that lacks."""
    plain, rest = without(problem) if o.plain else (problem, '')
    return plain, ' (without %s)' % rest if rest else ''


@contextlib.contextmanager
def our_rounds(o, bench, problem):
    ours = subprocess.Popen(bench + ['--rounds-on-stdin', problem], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                            text=True)
    if ours.stdout.readline() != 'ready\n':
        raise SystemExit('%s failed' % o.bench)

    def our_round():
        ours.stdin.write('\n'), ours.stdin.flush()
        return float(ours.stdout.readline())
    try:
        yield our_round
    finally:
        ours.stdin.close(), ours.wait()


def in_turn(o, bench, problem):
    plain, lacks = theirs_of(o, problem)
    theirs = torch_round(parse(plain))
    with our_rounds(o, bench, problem) as our_round:
        for _ in range(3):
            theirs(), our_round()
        rows = [(our_round(), theirs()) for _ in range(o.rounds)]
    print('%s  ours %.3f ms  torch %s%s %.3f ms  %.2f times ours' % (
        problem, statistics.median(r[0] for r in rows), torch.__version__, lacks, statistics.median(r[1] for r in rows),
        statistics.median(r[1] / r[0] for r in rows)), flush=True)


def warm_up(p, names, where, training=False):
    """What runs of them, by name, and why the others do not."""
    runs, refused = {}, {}
    for name in names:
        try:
            run = torch_round(p, name, where, training)
            for _ in range(3):
                run()
            runs[name] = run
        except (RuntimeError, AttributeError, ImportError) as e: # an old PyTorch has not all of them
            refused[name] = (str(e).strip().splitlines() or ['?'])[0]
    return runs, refused


def against_backends(o, bench, problem):
    plain, lacks = theirs_of(o, problem)
    p = parse(plain)
    ends = p['lengths'] or [p['k']] * p['b']
    pairs = sum(max(0, n - max(0, p['q'] - 1 - q)) if p['causal'] else n for n in ends for q in range(p['q']))
    widths = 3 * p['d'] + 2 * p['d2'] if p['backward'] else p['d'] + p['d2']
    gflop = 2 * p['h'] * widths * pairs * 1e-9
    with our_rounds(o, bench, problem) as our_round:
        runs, refused = warm_up(p, o.backend, 'cuda' if o.cuda else 'cpu')
        sides = [('ours', our_round)] + list(runs.items())
        ms = {name: [] for name, _ in sides}
        for i in range(3 + o.rounds): # back and forth: who comes second would find the device warmer
            for name, run in sides if i % 2 else reversed(sides):
                ms[name].append(run())
    ms = {name: m[3:] for name, m in ms.items()}
    words = ['%s  ours %.3f ms %.4g TF/s  torch %s%s' % (
        problem, statistics.median(ms['ours']), gflop / statistics.median(ms['ours']), torch.__version__, lacks)]
    for name in runs:
        m = statistics.median(ms[name])
        ratio = statistics.median(b / a for a, b in zip(ms['ours'], ms[name]))
        words.append('%s %.3f ms %.4g TF/s, ours %.3f of it' % (name, m, gflop / m, ratio))
    print('  '.join(words + ['%s refuses: %s' % r for r in refused.items()]), flush=True)


def with_sum(ms):
    return ms[0], ms[1], ms[0] + ms[1]


def training(o, bench, problem):
    """Forward, backward and both, each side's once a round, back and forth."""
    plain, lacks = theirs_of(o, problem)
    forward, backward = training_problems(problem)
    with our_rounds(o, bench, forward) as our_forward, our_rounds(o, bench, backward) as our_backward:
        runs, refused = warm_up(parse(plain), o.backend or [None], 'cuda' if o.cuda else 'cpu', True)
        sides = [('ours', lambda: (our_forward(), our_backward()))] + list(runs.items())
        rows = {name: [] for name, _ in sides}
        for i in range(3 + o.rounds):
            for name, run in sides if i % 2 else reversed(sides):
                rows[name].append(with_sum(run()))
    rows = {name: list(zip(*r[3:])) for name, r in rows.items()}
    for name in runs:
        words = ['%s  torch %s%s%s' % (problem, torch.__version__, ' ' + name if name else '', lacks)]
        for what, ours, theirs in zip(('forward', 'backward', 'both'), rows['ours'], rows[name]):
            words.append('%s ours %.3f ms, %.3f ms, %.2f times ours' % (
                what, statistics.median(ours), statistics.median(theirs),
                statistics.median(b / a for a, b in zip(ours, theirs))))
        print('  '.join(words), flush=True)
    for name, why in refused.items():
        print('%s  %s refuses: %s' % (problem, name or 'torch', why), flush=True)


def all_backends(o, bench):
    status = 0
    for problem in o.problems:
        try:
            (training if o.training else against_backends)(o, bench, problem)
        except (SystemExit, OSError, RuntimeError, ValueError) as e:
            print('%s: not measured: %s' % (problem, (str(e).splitlines() or ['?'])[0]), flush=True)
            status = 1
    sys.exit(status)


def alone(o, bench, problem):
    plain, lacks = theirs_of(o, problem)

    def ours(): # round after round, as below: between those of --json a probe runs, and caches and threads go cold
        r = subprocess.run(bench + ['--rounds-on-stdin', problem], input='\n' * (3 + o.rounds), stdout=subprocess.PIPE,
                           text=True, check=True)
        return min(float(line) for line in r.stdout.split('\n')[1:] if line)

    def theirs():
        r = subprocess.run([sys.executable, __file__, '--alone', '--rounds', str(o.rounds), '--torch-only', plain],
                           stdout=subprocess.PIPE, text=True, check=True)
        return float(r.stdout)
    rows = [(ours(), theirs()) for _ in range(3)]
    a, b = min(r[0] for r in rows), min(r[1] for r in rows)
    print('%s  ours %.4f ms  torch %s%s %.4f ms  %.2f times ours, least times, each alone' % (
        problem, a, torch.__version__, lacks, b, b / a), flush=True)


def main():
    a = argparse.ArgumentParser(description=__doc__, allow_abbrev=False,
                                formatter_class=argparse.RawDescriptionHelpFormatter)
    a.add_argument('--bench', default='clattn-bench'), a.add_argument('--rounds', type=int, default=25)
    a.add_argument('--device'), a.add_argument('--config'), a.add_argument('--alone', action='store_true')
    a.add_argument('--torch-only', action='store_true', help=argparse.SUPPRESS), a.add_argument('problems', nargs='+')
    a.add_argument('--cuda', action='store_true'), a.add_argument('--backend', type=lambda x: x.split(','))
    a.add_argument('--plain', action='store_true'), a.add_argument('--backward', action='store_true')
    a.add_argument('--training', action='store_true')
    o = a.parse_args()
    if o.backward:
        o.problems = [with_backward(p) for p in o.problems]
    if o.cuda and not o.backend:
        o.backend = ['flash']
    if o.backend and (o.alone or set(o.backend) - set(BACKENDS)):
        a.error('--backend takes %s, and no --alone' % ', '.join(BACKENDS))
    if o.training and (o.alone or o.backward):
        a.error('--training has both passes in turn: no --alone, no --backward')
    if o.cuda and not torch.cuda.is_available():
        raise SystemExit('this PyTorch, %s, finds no GPU' % torch.__version__)
    torch.set_num_threads(os.cpu_count())
    if o.torch_only:
        run = torch_round(parse(o.problems[0]))
        print(min(run() for _ in range(3 + o.rounds)))
        return
    bench = [o.bench] + (['--device', o.device] if o.device else []) + (['--config', o.config] if o.config else [])
    if o.backend:
        all_backends(o, bench)
    for problem in o.problems:
        (alone if o.alone else training if o.training else in_turn)(o, bench, problem)


if __name__ == '__main__':
    main()
