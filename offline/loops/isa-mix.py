#!/usr/bin/env python3
# isa-mix.py - what the loops of a compiled kernel are made of
# SPDX-License-Identifier: Apache-2.0
"""isa-mix.py FILE...                    the loops of an AMD code object, an NVIDIA cubin or an Intel listing (*.asm)
isa-mix.py --tile d=64,dv=64,tx=8,ty=16,tm=8,tn=8,ch=8,cv=8 FILE...
                                      shares of engine simt's loops: Q K^T, P V, and the whole loop over key tiles.
                                      With own=keys or own=queries of its passes of gradients: products over dims,
                                      sums over the others of what is owned, and the whole loop over tiles of those
isa-mix.py --mma d=64,dv=64,nw=4,rt=2,bk=64 CUBIN...
                                      of engine mma_nv's loop over key tiles, taken the shortest way that passes all its
                                      matrix instructions: instructions, matrix ones, local accesses, moves, their
                                      share (own=.. as above); ? where the matrix ones are not as many as the tile
                                      has, or registers go to memory

A share is multiply-adds among all instructions. It bounds the part of peak that a loop can reach where one instruction
is issued at a time, and it is exact and repeatable, so that it can gate a change where no time can be taken. (AMD
issues scalar, local and wait instructions of other waves beside vector ones. So the list has the share among vector
ones, too.)
Packed and dual instructions do more than one multiply-add and count as one instruction, as matrix instructions do.

Needs llvm-objdump (AMD) or nvdisasm (NVIDIA: CUDA, or pip triton), on PATH or in $OBJDUMP and $NVDISASM. An Intel
listing is one that check.sh -o keeps, or a *.asm of IGC_ShaderDumpEnable=1.
Exit status: 3 without such a tool, 1 where it cannot read the file."""
import itertools, os, re, shutil, subprocess, sys

VERSIONS = ['-%d' % n for n in range(23, 14, -1)] + ['']


def run(variable, names, *args):
    tool = os.environ.get(variable) or next((p for p in map(shutil.which, names) if p), None)
    if not tool:
        print('isa-mix.py: no', names[-1], file=sys.stderr)
        raise SystemExit(3)
    done = subprocess.run([tool, *args], capture_output=True, text=True)
    if done.returncode:
        raise SystemExit('isa-mix.py: %s cannot read %s' % (tool, args[-1]))
    return done.stdout.splitlines()


# Each reader yields (address, operation, operands, branch target or None, whether control may fall through).
def amd(path):
    base, clone = 0, False
    for line in run('OBJDUMP', ['llvm-objdump' + v for v in VERSIONS], '-d', path):
        m = re.match(r'([0-9a-f]+) <(\S+)>:', line)
        if m:
            base, clone = int(m[1], 16), m[2].startswith('__clang_ocl_kern_imp_')  # clang 21 keeps a copy nobody calls
        m = re.match(r'\s+(\S+)\s*(.*?)\s*//\s*([0-9A-F]+):', line)
        if m and not clone:
            t = re.search(r'<[^>]*\+0x([0-9a-f]+)>', line) if m[1].startswith(('s_cbranch', 's_branch')) else None
            yield int(m[3], 16), m[1], m[2], base + int(t[1], 16) if t else None, m[1] not in ('s_branch', 's_endpgm')


def nvidia(path):
    labels, rows = {}, []
    for line in run('NVDISASM', ['nvdisasm'], '-c', path):
        m = re.match(r'\s*(\.L_\S+):', line)
        if m:
            labels[m[1]] = len(rows) * 16
        m = re.match(r'\s*/\*([0-9a-f]+)\*/\s+(@!?U?P\w+\s+)?(\S+?)\s*(?:\s(.*?))?;', line)
        if m:
            args = m[4] or ''
            jumps = m[3].startswith(('BRA', 'CALL.REL'))  # ptxas for sm_80 jumps by CALL
            t = re.search(r'`\((\.L_[^)]+)\)', line) if jumps else None
            maybe = m[2] or re.match(r'!?U?P\d', args)  # a predicate before the operation or as a branch operand
            rows.append((int(m[1], 16), m[3], args, t[1] if t else None,
                         bool(maybe) or not m[3].startswith(('BRA', 'EXIT'))))
    for address, op, args, label, falls in rows:
        yield address, op, args, labels.get(label), falls


def intel(path):
    labels, rows = {}, []
    with open(path) as f:
        for line in f:
            m = re.match(r'(\w+):\s*$', line)
            if m:
                labels[m[1]] = len(rows)
            m = re.match(r'(?:\((W?&?~?(?:f\d)?)[^)]*\)|\s)\s+(\w[\w.]*)\s*(.*)', line)
            if m:
                jumps = re.match(r'jmpi|goto|while|brc', m[2])
                t = re.search(r'\b(_\d+_\d+|L\d+)\b', m[3]) if jumps else None
                rows.append((len(rows), m[2], m[3], t[1] if t else None,
                             not (m[2] == 'jmpi' and 'f' not in (m[1] or ''))))
    for address, op, args, label, falls in rows:
        yield address, op, args, labels.get(label), falls


RULES = [(re.compile(r, re.I if '_' in r else 0), kind, fma) for r, kind, fma in [  # multiply-adds per lane
    (r'(v_(mfma|wmma|smfmac)|[HIQ]?MMA|HGMMA|dpas)', 'matrix', 0),
    (r'v_dual_(fmac|fmaak|fmamk)_f32', 'math', 1),
    (r'v_pk_fma_f32', 'math', 2),
    (r'(v_(fma|fmac|fmaak|fmamk|mad|mac)_f32|FFMA\b|mad$)', 'math', 1),
    (r'FFMA2', 'math', 2),
    (r'(v_(dot|pk_fma_f16|fma_mix)|HFMA2|v_fma_f16)', 'math', 2),
    (r'(ds_|LDS|STS|LDSM|(load|store|send)\.slm)', 'local', 0),
    (r'(scratch_|LDL|STL|(load|store)\.ugm\.\w+t\.a32)', 'spill', 0),
    (r'(global_|flat_|buffer_|LDG|STG|LD\b|ST\b|LDGSTS|(load|store|send)\.ugm)', 'global', 0),
    (r'(v_exp|v_rcp|v_log|v_s_|MUFU|math\.)', 'special', 0),
    (r'(s_barrier|BAR|s_wait|s_delay|s_nop|NOP|DEPBAR|sync\.|send\.gtwy)', 'sync', 0),
    (r'(s_|U[A-Z]|BRA|EXIT|WARPSYNC|BSSY|BSYNC|jmpi|goto|join)', 'scalar', 0)]]
LOADS = re.compile(r'ds_(read|load)|LDS|load\.slm', re.I)
DUAL = re.compile(r'::.*(fmac|fmaak|fmamk)_f32')


def kind(op, args):
    for rule, name, fma in RULES:
        if rule.match(op):
            if op == 'mad' and not re.search(r':f\b', args):
                return 'other', 0  # of integers
            if op.startswith('HFMA2') and 'RZ, RZ' in args:
                return 'other', 0  # moves a constant
            return name, fma + (1 if op.startswith('v_dual') and DUAL.search(args) else 0)
    if op.startswith('v_dual') and DUAL.search(args):
        return 'math', 1
    return 'other', 0


class Loop:
    """A natural loop: `own` counts what lies in it but in no loop inside it, `inner` has those, in order."""

    def __init__(self, body, start):
        self.body, self.start, self.own, self.fma, self.loads, self.inner, self.outer = body, start, {}, 0, 0, [], None

    def add(self, op, args):
        k, fma = kind(op, args)
        self.own[k] = self.own.get(k, 0) + 1
        self.fma += fma
        self.loads += bool(LOADS.match(op))

    def count(self, *kinds):
        return sum(self.own.get(k, 0) for k in kinds) if kinds else sum(self.own.values())

    def all(self):
        return [self] + [x for i in self.inner for x in i.all()]


def blocks(code):
    """Basic blocks as [first, end) of instructions, and who follows whom."""
    at = {c[0]: i for i, c in enumerate(code)}
    after = {i + 1 for i, c in enumerate(code[:-1]) if c[3] is not None or not c[4]}
    lead = sorted({0} | {at[c[3]] for c in code if c[3] in at} | after)
    number = {s: n for n, s in enumerate(lead)}
    ends = lead[1:] + [len(code)]
    follow = []
    for n, e in enumerate(ends):
        target, falls = code[e - 1][3:]
        follow.append(([number[at[target]]] if target in at else []) + [n + 1] * (falls and n + 1 < len(lead)))
    return list(zip(lead, ends)), follow


def dominators(n, before):
    dom = [{0}] + [set(range(n))] * (n - 1)
    changed = True
    while changed:
        changed = False
        for i in range(1, n):
            new = {i} | (set.intersection(*(dom[p] for p in before[i])) if before[i] else set())
            changed, dom[i] = changed or new != dom[i], new
    return dom


def loops(code):
    """All natural loops, by their first address, outer ones before inner ones."""
    spans, follow = blocks(code)
    before = [[] for _ in spans]
    for p, to in enumerate(follow):
        for s in to:
            before[s].append(p)
    dom, bodies = dominators(len(spans), before), {}
    for u, to in enumerate(follow):
        for h in (s for s in to if s in dom[u]):
            body, todo = bodies.setdefault(h, {h}), [u]
            while todo:
                n = todo.pop()
                if n not in body:
                    body.add(n)
                    todo += before[n]
    found = [Loop(body, code[spans[h][0]][0]) for h, body in bodies.items()]
    found.sort(key=lambda x: (x.start, -len(x.body)))
    for x in found:
        around = [y for y in found if y is not x and x.body < y.body]
        x.outer = min(around, key=lambda y: len(y.body), default=None)
        if x.outer:
            x.outer.inner.append(x)
    for n, (lo, hi) in enumerate(spans):
        mine = min((x for x in found if n in x.body), key=lambda x: len(x.body), default=None)
        for c in code[lo:hi] if mine else []:
            mine.add(c[1], c[2])
    return found


class Unknown(Exception):
    """The counts do not add up to what the tile is known to do."""


class Tile:
    """Trip counts of engine simt's loops, from what is known: the multiply-adds of each product per item and tile.

    The loop over tiles lies in one over segments, which does not count. An iteration of a chunk loop is CH steps of
    Q K^T or CV of P V, and it makes at most CHAIN of them: where a product has more, a loop over parts or turns is
    around it, or copies of it follow one another. How many steps an iteration of an innermost loop has, its own count
    tells. Loops may be gone where the compiler unrolled them. Both arms of a branch count, as if every tile had masks;
    a loop that belongs to no product and combines no rows counts once, as a rare path. Where the multiply-adds do not
    add up to the tile's there is no share."""
    CHAIN = 64

    def __init__(self, numbers):
        for name in 'd dv tx ty tm tn ch cv'.split():
            setattr(self, name, int(numbers[name]))
        dvp = -(-self.dv // (4 * self.tx)) * 4 * self.tx
        chunks = -(-self.d // self.ch)
        # multiply-adds of a step; steps in an iteration of each level, innermost first; steps in a tile
        self.qk = (self.tm * self.tn, [self.ch, self.CHAIN], chunks * self.ch)
        self.pv = (self.tm * dvp // self.tx, [self.cv, self.CHAIN], self.tn * self.tx)
        self.products, self.over_dims = [self.qk, self.pv], 1
        # A turn of P V joins O by multiply-adds. Softmax has some too: less than a chunk has, so that no chunk is
        # mistaken for them. So has what closes a segment.
        self.join = self.pv[0]
        self.slack = self.join + min(3 * self.tm * self.tn + 4 * self.tm + 16, self.ch * self.qk[0] - 1,
                                     self.cv * self.pv[0] - 1)
        self.closing = 6 * (self.join + self.tm)  # a compensated sum of each element: Intel's compiler fuses it all

    def is_hot(self, x):
        return x.fma >= min(self.qk[0], self.pv[0])

    def steps(self, x, product, trips):
        """Steps in an iteration of x; fills in the trips of the loops inside it."""
        step, levels, total = product
        n, inside = 0, [i for i in x.inner if any(map(self.is_hot, i.all()))]
        for i in inside:
            one = self.steps(i, product, trips)
            level = next((s for s in levels + [total] if s > one), one)
            if level % one:
                raise Unknown
            trips[i] = level // one
            n += trips[i] * one
        own = x.fma / step if n < self.CHAIN else 0
        if own != int(own) or n + own == 0 or x.fma > own * step + self.join:
            raise Unknown
        return n + int(own)

    def group(self, hot, product, peeled, trips):
        """Trips of loops that share a product, all alike but for `peeled` steps outside of them."""
        one = {self.steps(x, product, trips) for x in hot}
        if len(one) != 1:
            raise Unknown
        each = one.pop()
        count, rest = divmod(product[2] - peeled, len(hot) * each)
        if rest or count * each % product[1][0]:  # a loop makes whole chunks
            raise Unknown
        if self.apart and each < self.CHAIN < count * each:
            raise Unknown
        for x in hot:
            trips[x] = count

    def partings(self, hot):
        """Which hot loops, in their order, may be of which product. First those in which Q K^T is one loop over chunks,
        as it is if nothing is odd."""
        for k in sorted(range(len(hot) + 1), key=lambda k: k != 1):
            yield [hot[:k], hot[k:]]

    def split(self, tile, parts, peel):
        """Trips where each product has its part of the hot loops, and peel[] iterations of it lie outside of loops."""
        trips, outside = {}, 0
        for part, product, out in zip(parts, self.products, peel):
            peeled = out * product[1][0] if part else product[2]
            outside += peeled * product[0]
            if part:
                self.group(part, product, peeled, trips)
        if not outside <= tile.fma <= outside + self.slack:
            raise Unknown
        return trips

    def others(self, x, trips):
        """Trips of loops without products: combining a row over its TX items; all else (a rare path) counts once."""
        reading = [i for i in x.inner if i not in trips and i.loads and not i.count('global')]
        total = (self.tx - 1) * self.tm // 4
        for i in x.inner:
            if i in trips:
                continue
            if i.fma or i.count('special', 'matrix'):
                raise Unknown
            if i in reading and total % sum(r.loads for r in reading):
                raise Unknown
            trips[i] = total // sum(r.loads for r in reading) if i in reading else 1
        for i in x.inner:
            self.others(i, trips)

    def cost(self, x, trips):
        inside = [(trips[i], self.cost(i, trips)) for i in x.inner]
        return (x.count('math') + sum(t * c[0] for t, c in inside), x.count() + sum(t * c[1] for t, c in inside))

    def shares(self, tile):
        """Shares of Q K^T's and P V's innermost loops and of the loop over tiles. Both arms of a branch count."""
        hot = [x for x in tile.inner if any(map(self.is_hot, x.all()))]
        found = set()
        for parts in self.partings(hot):
            if found:
                break
            for peel in itertools.product((0, 1), repeat=len(parts)):
                try:
                    trips = self.split(tile, parts, peel)
                    self.others(tile, trips)
                except Unknown:
                    continue
                both = sum(parts[:self.over_dims], []), sum(parts[self.over_dims:], [])
                inner = [[y for x in p for y in x.all() if self.is_hot(y) and not any(map(self.is_hot, y.all()[1:]))]
                         for p in both]
                found.add(tuple(ratio(sum(y.count('math') for y in p), sum(y.count() for y in p)) for p in inner) +
                          (ratio(*self.cost(tile, trips)),))
        if len(found) != 1:
            raise Unknown
        return found.pop()

    apart = True  # a loop of more than CHAIN steps has one around it; but some compilers let the two share their head

    def of(self, found):
        try:
            return self.least(found)
        except Unknown:
            self.apart = False
            return self.least(found)

    def least(self, found):
        """The shares; where there are several loops over tiles, the least ones."""
        tops = [x for x in found if x.outer is None and any(map(self.is_hot, x.all())) and
                sum(i.fma for i in x.all()) > self.closing]
        results = []
        for x in tops:
            while True:
                try:
                    results.append(self.shares(x))
                    break
                except Unknown:
                    inside = [i for i in x.inner if any(map(self.is_hot, i.all()))]
                    if len(inside) != 1:
                        raise
                    x = inside[0]
        if not results:
            raise Unknown
        return [min((r[n] for r in results if r[n] is not None), default=None) for n in range(3)]


class GradientTile(Tile):
    """The same of a pass that owns keys or queries (cl/engines/engine_simt_backward.cl): scores and dP over dims, and
    then what is summed, dV and dK or dQ. Sums join what is there by additions, and no row is combined over items."""

    def __init__(self, numbers):
        super().__init__(numbers)
        steps = lambda width: -(-width // self.ch) * self.ch
        vectors = lambda width: -(-width // (4 * self.tx)) * 4
        dots = [(self.tm * self.tn, [self.ch, self.CHAIN], steps(width)) for width in (self.d, self.dv)]
        sums = [(self.tm * vectors(width), [self.cv, self.CHAIN], self.tn * self.tx) for width in (self.dv, self.d)]
        self.products, self.over_dims = dots + sums[numbers['own'] == 'queries':], 2
        self.pv = min(sums)
        self.join = max(step for step, _, _ in sums)
        # What softcap takes of tanh and of its derivative is more than softmax does.
        self.slack = min([24 * self.tm * self.tn + 4 * self.tm + 16] + [p[1][0] * p[0] - 1 for p in self.products])
        self.closing = 4 * (self.join + self.tm)

    def partings(self, hot):
        n = len(self.products)
        cuts = itertools.combinations_with_replacement(range(len(hot) + 1), n - 1)
        every = [(0,) + cut + (len(hot),) for cut in cuts]
        odd = lambda cut: sum(b - a != 1 for a, b in zip(cut, cut[1:]))  # a loop for each, if nothing is odd
        for cut in sorted(every, key=odd):
            yield [hot[a:b] for a, b in zip(cut, cut[1:])]

    def others(self, x, trips):
        for i in x.inner:
            if i in trips:
                continue
            if i.fma or i.count('special', 'matrix'):
                raise Unknown
            trips[i] = 1
        for i in x.inner:
            self.others(i, trips)


def ratio(part, whole):
    return 100 * part / whole if whole else None


# ---- engine mma_nv ----

MOVES = re.compile(r'MOV|IMAD\.MOV|SEL$|S2R|PLOP3')


def plain_path(code):
    """The instructions of one turn of the loop that has most matrix instructions, on the shortest way through them all:
    what lies on other ways is for rows at the end, masks and new maxima. Ways inside go forward."""
    spans, follow = blocks(code)
    weight = [(sum(c[1].startswith('HMMA') for c in code[lo:hi]), lo - hi) for lo, hi in spans]
    body = max((x.body for x in loops(code)), key=lambda b: (sum(weight[n][0] for n in b), -len(b)), default=set())
    if not body:
        return []
    head, best = min(body), {}
    for n in sorted(body, reverse=True):
        ways = [best[m] for m in follow[n] if m > n and m in best]
        if head in follow[n]:
            ways.append(((0, 0), []))
        if ways:
            (matrix, short), way = max(ways, key=lambda w: w[0])
            best[n] = ((matrix + weight[n][0], short + weight[n][1]), [n] + way)
    return [c for n in (best[head][1] if head in best else []) for c in code[spans[n][0]:spans[n][1]]]


# By what a pass of gradients owns the widths that it multiplies over, and those that it sums; None: forward.
PRODUCTS = {None: ('d', 'dv'), 'keys': ('d dv', 'd dv'), 'queries': ('d dv', 'd')}


def matrix_instructions(numbers, code):
    """Of a tile, per warp."""
    dots, sums = PRODUCTS[numbers.get('own')]
    n = {k: int(v) for k, v in numbers.items() if k != 'own'}
    steps = 2 if any(c[1].startswith('HMMA.1688') for c in code) else 1
    dims = sum(-(-n[x] // 32) * 32 for x in dots.split())
    columns = sum(-(-n[x] // 16) * 16 for x in sums.split())
    return steps * n['rt'] * (dims // 16 * n['bk'] // 8 + n['bk'] // 16 * columns // 8)


def mma_report(path, numbers):
    code = plain_path(read(path))
    count = [sum(bool(re.match(p, c[1])) for c in code) for p in ('HMMA', 'LDS|STS', 'LDL|STL')]
    moves = sum(bool(MOVES.match(c[1])) for c in code)
    if not code or count[0] != matrix_instructions(numbers, code) or count[2]:
        return '?'
    return '%d %d %d %d %.1f' % (len(code), count[0], count[1], moves, 100 * count[0] / len(code))


def read(path):
    with open(path, 'rb') as f:
        head = f.read(20)
    return list((intel if head[:4] != b'\x7fELF' else amd if head[18] == 224 else nvidia)(path))


def tile_report(path, numbers):
    try:
        shares = (GradientTile if 'own' in numbers else Tile)(numbers).of(loops(read(path)))
    except Unknown:
        return '? ? ?'
    return ' '.join('-' if s is None else '%.1f' % s for s in shares)


def report(path):
    code = read(path)
    found = loops(code)
    print('%s: %d instructions, %d loops' % (os.path.basename(path), len(code), len(found)))
    for x in found:
        depth, y = 0, x
        while y.outer:
            depth, y = depth + 1, y.outer
        counts = ', '.join('%d %s' % (x.own[k], k) for k in sorted(x.own, key=lambda k: -x.own[k]))
        busy = x.count('math', 'matrix')
        vector = busy + x.count('special', 'other')
        line = '  %s%#x: %d: %s' % ('  ' * depth, x.start, x.count(), counts)
        if busy:
            line += '; %d multiply-adds, share %.0f %%, of vector %.0f %%' % (x.fma, 100 * busy / x.count(),
                                                                             100 * busy / vector)
        print(line)


def main(args):
    numbers, way = None, {'--tile': tile_report, '--mma': mma_report}
    if args[:1] and args[0] in way and len(args) > 1:
        way = way[args[0]]
        numbers, args = dict(p.split('=') for p in args[1].split(',')), args[2:]
    if not args or args[0].startswith('-'):
        raise SystemExit(__doc__)
    for path in args:
        if numbers:
            print(way(path, numbers))
        else:
            report(path)


if __name__ == '__main__':
    main(sys.argv[1:])
