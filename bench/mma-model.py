#!/usr/bin/env python3
# mma-model.py - what the loops of engines with matrix units could reach, by the throughput of each unit
# SPDX-License-Identifier: Apache-2.0
"""mma-model.py sm_80|sm_90 CUBIN...     e.g. on what `offline/check.sh -o DIR` keeps
mma-model.py gfx1100|gfx1151|gfx1201|gfx908|gfx90a|gfx942 TILE N FEW MANY
                                      TILE: d=128,dv=128,rt=2,bk=64,.. (32 divides d and dv). FEW and MANY: the lines of
                                      two launches by the pretended device (tests/pretended, word lines=), the second
                                      of which has more tiles of keys: what they differ by is what tiles execute, N in
                                      all waves

Cycles of a part of a processor that has a matrix unit (a quarter of an SM, a SIMD) for one tile of one warp or wave: of
NVIDIA's on the way that offline/loops/isa-mix.py takes through the loop, of AMD's as executed.
    overlap     matrix cycles over those of the busiest unit: all else hidden
    serial      softmax, by its own busiest unit, is not hidden behind the products
    predicted   serial, times what the same model is off by for FlashAttention-2 at d128: 0.92 on A100, 0.83 on H100
Shares are of what matrix instructions reach there: of mma.sync (on Hopper 0.63 of the peak, which needs wgmma), of
16 x 16 x 16 on AMD's. A model: nothing was run on a GPU.
Exit status: 1 where matrix instructions of AMD's are not exactly as many as N tiles have."""
import importlib.util, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
MIX = os.path.join(HERE, '..', 'offline', 'loops', 'isa-mix.py')

# ---- NVIDIA's ----

# Cycles per warp instruction of a quarter of an SM. Local memory moves 128 bytes a cycle for all four quarters.
NVIDIA = {'sm_80': dict(HMMA=8, local=16, MUFU=8, alu=2, fma=2, fit=0.92),
          'sm_90': dict(HMMA=6.4, local=16, MUFU=8, alu=2, fma=1, fit=0.83)}
KINDS = (('HMMA', r'HMMA'), ('MUFU', r'MUFU'), ('local', r'LDS|STS'), ('fma', r'FFMA|FMUL|FADD|IMAD'),
         ('', r'SHFL|LDG|BAR|BRA|NOP|BSSY|BSYNC|CALL|WARPSYNC|U'), ('alu', r''))


def isa_mix():
    spec = importlib.util.spec_from_file_location('isa_mix', MIX)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def report(name, n, cycles, overlap, serial, more=''):
    print('%s: %s instructions\n    cycles %s; overlap %.2f, serial %.2f%s' %
          (name, n, ' '.join('%s %.0f' % c for c in cycles.items()), overlap, serial, more))


def nvidia(units, paths):
    mix = isa_mix()
    for path in paths:
        code = mix.plain_path(mix.read(path))
        if not code:
            raise SystemExit('mma-model.py: no matrix instructions in ' + path)
        cycles = dict.fromkeys(('HMMA', 'MUFU', 'local', 'fma', 'alu'), 0)
        for _, op, *_ in code:
            kind = next(k for k, pattern in KINDS if re.match(pattern, op))
            if kind:
                cycles[kind] += units[kind]
        products = max(cycles['HMMA'], cycles['local'])
        matrix = sum(c[1].startswith('HMMA') for c in code)
        rest = len(code) - matrix - sum(bool(re.match('LDS|STS', c[1])) for c in code)
        softmax = max(cycles['MUFU'], cycles['fma'], cycles['alu'], rest)
        serial = cycles['HMMA'] / (products + softmax)
        report(os.path.basename(path), len(code), cycles, cycles['HMMA'] / max(products, softmax, len(code)), serial,
               ', predicted %.2f' % (units['fit'] * serial))


# ---- AMD's ----

# Cycles of a SIMD: a matrix instruction 16 x 16 x 16, another vector one, one of those that take four times as long;
# lanes of a wave; SIMDs that share the 128 bytes of LDS a cycle. By the peaks that AMD publishes of f16 and of vectors.
CDNA = dict(vector=4, lanes=64, simds=4)
RDNA = dict(vector=1, lanes=32, simds=2)
AMD = {'gfx908': dict(CDNA, matrix=32), 'gfx90a': dict(CDNA, matrix=32), 'gfx942': dict(CDNA, matrix=16),
       'gfx1100': dict(RDNA, matrix=32), 'gfx1151': dict(RDNA, matrix=32), 'gfx1201': dict(RDNA, matrix=16)}
MATRIX = r'v_(mfma|wmma)'
SLOW = r'v_(exp|log|rcp|rsq|sqrt|sin|cos|mul_lo_u32|mul_hi_|mad_u64|mad_i64)'
WIDTHS = (('b128', 16), ('b96', 12), ('b64', 8))


def local_bytes(op):
    twice = 2 if op.startswith(('ds_read2', 'ds_write2', 'ds_load_2', 'ds_store_2')) else 1
    return twice * next((b for w, b in WIDTHS if op.endswith(w)), 4)


def lines(path):
    """(times, operation) of each instruction of a counted disassembly."""
    with open(path) as f:
        for line in f:
            times, text = line.split('\t', 1)
            if '//' in text:
                yield int(times), text.split()[0]


def difference(few, many):
    """Operations and how much more often the second launch executed them."""
    a, b = list(lines(few)), list(lines(many))
    if [op for _, op in a] != [op for _, op in b]:
        raise SystemExit('mma-model.py: %s and %s are not of one program' % (few, many))
    return [(y[0] - x[0], x[1]) for x, y in zip(a, b) if y[0] != x[0]]


def matrix_instructions(tile):
    """Of a wave and a tile; 32 divides d and dv."""
    return tile['rt'] * tile['bk'] // 16 * (tile['d'] + tile['dv']) // 16


def amd(name, tile, tiles, few, many):
    units, tiles = AMD[name], int(tiles)
    tile = {k: int(v) for k, v in (pair.split('=') for pair in tile.split(','))}
    code = difference(few, many)
    matrix = sum(n for n, op in code if re.match(MATRIX, op))
    each = matrix_instructions(tile)
    if matrix != tiles * each:
        raise SystemExit('mma-model.py: %d matrix instructions, where there should be %d' % (matrix, tiles * each))
    cycles = dict.fromkeys(('matrix', 'vector', 'slow', 'LDS'), 0)
    for n, op in code:
        if re.match(MATRIX, op):
            cycles['matrix'] += n * units['matrix']
        elif op.startswith('ds_'):
            cycles['LDS'] += n * local_bytes(op) * units['lanes'] / 128 * units['simds']
        elif re.match(SLOW, op):
            cycles['slow'] += 4 * n * units['vector']
        elif op.startswith('v_'):
            cycles['vector'] += n * units['vector']
    cycles = {k: c / tiles for k, c in cycles.items()}
    vector = cycles['vector'] + cycles['slow']
    name = '%s, %d matrix instructions a tile' % (name, each)
    report(name, round(sum(n for n, _ in code) / tiles), cycles,
           cycles['matrix'] / max(cycles['matrix'], cycles['LDS'], vector),
           cycles['matrix'] / (max(cycles['matrix'], cycles['LDS']) + vector))


def main(args):
    if len(args) >= 2 and args[0] in NVIDIA:
        return nvidia(NVIDIA[args[0]], args[1:])
    if len(args) == 5 and args[0] in AMD:
        return amd(*args)
    raise SystemExit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
