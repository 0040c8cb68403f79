#!/usr/bin/env python3
# in-flight.py - how many bytes of global memory a work-item waits for at a time
# SPDX-License-Identifier: Apache-2.0
"""in-flight.py FILE...    of AMD code objects and NVIDIA cubins: one line for each, e.g. 64/128

The loop over key tiles, the one with most stores to local memory, is walked on all its ways, again and again. A load
from global memory is in flight from its instruction on until something waits for it or for a later one: on AMD's GPUs
s_waitcnt, on NVIDIA's the first instruction that names its result. What is printed is the largest number of bytes in
flight inside each innermost loop that loads: of engine simt in that of Q K^T and in that of P V. Where the loop over
tiles has no such loops it is one number.
That is everything a work-item loads there: of K and V their elements, and their scales and the numbers of pages as
well; of Q, too, where a tile has it read again.

Needs the tools of isa-mix.py. Exit status: 3 without them, 1 where it cannot read the file. A "?" means that there is
no such loop, or that there are too many ways."""
import importlib.machinery, importlib.util, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))


def load_mix():
    loader = importlib.machinery.SourceFileLoader('isa_mix', os.path.join(HERE, 'isa-mix.py'))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader('isa_mix', loader))
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


mix = load_mix()


# ---- what an instruction does to what is in flight: a tuple of (names of the result, bytes), the oldest first ----

class Amd:
    LOADS = re.compile(r'(?:global|flat|buffer|scratch)_load_(\w+)')
    PUTS = 'ds_write', 'ds_store'
    WORDS = dict(ubyte=1, sbyte=1, u8=1, i8=1, ushort=2, sshort=2, short=2, u16=2, i16=2, b16=2, dword=4, b32=4,
                 dwordx2=8, b64=8, dwordx3=12, b96=12, dwordx4=16, b128=16)

    def bytes_of(self, op):
        if op.startswith('scratch'):
            return 0
        return next((self.WORDS[part] for part in op.split('_')[2:] if part in self.WORDS), 4)

    def step(self, op, args, flying):
        if self.LOADS.match(op):
            return flying + ((None, self.bytes_of(op)),)
        left = None
        if op == 's_waitcnt':
            m = re.search(r'vmcnt\((\d+)\)', args)
            left = int(m[1]) if m else None
        elif op.startswith('s_wait_loadcnt'):
            left = int(args.split()[0], 0) >> (8 if 'dscnt' in op else 0)
        return flying if left is None or left >= len(flying) else flying[len(flying) - left:]


class Nvidia:
    """By the names of registers."""
    LOADS = re.compile(r'LDG?\b')
    PUTS = 'STS'

    def bytes_of(self, op):
        m = re.search(r'\.(128|64|[US]8|[US]16)\b', op)
        return dict(U8=1, S8=1, U16=2, S16=2).get(m[1]) or int(m[1]) // 8 if m else 4

    def result(self, args, bytes):
        first = re.match(r'R(\d+)', args)
        return frozenset('R%d' % (int(first[1]) + i) for i in range(max(bytes // 4, 1))) if first else frozenset()

    def step(self, op, args, flying):
        names, mine = set(re.findall(r'\bR\d+', args)), ()
        if self.LOADS.match(op):
            bytes = self.bytes_of(op)
            mine = ((self.result(args, bytes), bytes),)
            names -= mine[0][0]
            # The other arm of a choice, by a predicate: not one more.
            flying = tuple(f for f in flying if not f[0] & mine[0][0])
        for i in range(len(flying) - 1, -1, -1):
            if flying[i][0] & names:
                return flying[i + 1:] + mine
        return flying + mine


# ---- the loop ----

WAYS_MOST = 10000


def most_in_blocks(code, body, head, machine):
    """The largest number of bytes in flight in each block of a loop, on any way through it; None: too many ways."""
    spans, follow = mix.blocks(code)
    most, seen, todo = {}, set(), [(head, ())]
    while todo:
        n, flying = todo.pop()
        if (n, flying) in seen:
            continue
        seen.add((n, flying))
        if len(seen) > WAYS_MOST:
            return None
        for _, op, args, _, _ in code[spans[n][0]:spans[n][1]]:
            flying = machine.step(op, args, flying)
            most[n] = max(most.get(n, 0), sum(f[1] for f in flying))
        todo += [(m, flying) for m in follow[n] if m in body]
    return most


def report(path):
    code = mix.read(path)
    machine = Amd() if any(c[1] == 's_endpgm' for c in code) else Nvidia()
    spans, _ = mix.blocks(code)

    def has(n, test):
        return sum(bool(test(c[1])) for c in code[spans[n][0]:spans[n][1]])

    def puts(loop):
        return sum(has(n, lambda op: op.startswith(machine.PUTS)) for n in loop.body)

    found = mix.loops(code) if code else []
    tiles = max(found, key=lambda x: (puts(x), -len(x.body)), default=None)
    if not tiles or not puts(tiles):
        return '?'
    most = most_in_blocks(code, tiles.body, min(tiles.body), machine)
    if most is None:
        return '?'
    loading = [x for x in tiles.all() if any(has(n, machine.LOADS.match) for n in x.body)]
    inner = [x for x in loading if not any(y is not x and y.body < x.body for y in loading)]
    peaks = [str(max(most.get(n, 0) for n in x.body)) for x in sorted(inner, key=lambda x: x.start)]
    return '/'.join(p for i, p in enumerate(peaks) if i == 0 or p != peaks[i - 1]) or '0'


if __name__ == '__main__':
    if len(sys.argv) < 2 or sys.argv[1].startswith('-'):
        raise SystemExit(__doc__)
    for path in sys.argv[1:]:
        print(report(path))
