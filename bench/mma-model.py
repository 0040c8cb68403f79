#!/usr/bin/env python3
# mma-model.py - what the loops of engines with matrix units could reach, by the throughput of each unit
# SPDX-License-Identifier: Apache-2.0
"""mma-model.py sm_80|sm_90 CUBIN...     e.g. on what `offline/check.sh -o DIR` keeps
mma-model.py gfx1100|gfx1151|gfx1201|gfx908|gfx90a|gfx942 TILE N FEW MANY
                                      TILE: d=128,dv=128,rt=2,bk=64,.. (32 divides d and dv). FEW and MANY: the lines of
                                      two launches by the pretended device (tests/pretended, word lines=), the second
                                      of which has more tiles of keys: what they differ by is what tiles execute, N in
                                      all waves
mma-model.py bmg|pvc|acm-g10 TILE N FEW MANY
                                      the same of hardware threads, with dpas; TILE simt: without

Cycles of a part of a processor that has a matrix unit (a quarter of an SM, a SIMD, an XVE) for one tile of one warp,
wave or hardware thread: of NVIDIA's on the way that offline/loops/isa-mix.py takes through the loop, else as executed.
    overlap     matrix cycles over those of the busiest unit: all else hidden
    serial      softmax is not hidden behind the products, but local memory is: softmax by its own busiest unit, of
                AMD's and Intel's by all vector instructions one after another
    pipes       of Intel's: the same by the busiest of three pipes, since XVEs issue to several at once
    in turn     of Intel's: nothing is hidden, not even memory or what else is issued
    predicted   serial, times what the same model is off by for FlashAttention-2 at d128: 0.92 on A100, 0.83 on H100
Shares are of what matrix instructions reach there: of mma.sync (on Hopper 0.63 of the peak, which needs wgmma), of
16 x 16 x 16 on AMD's, of dpas.8x8 on Intel's. A model: nothing was run on a GPU.
Exit status: 1 where matrix instructions of AMD's or Intel's are not exactly as many as N tiles have."""
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


def amd_lines(path):
    """(times, operation) of each instruction of a counted disassembly."""
    with open(path) as f:
        for line in f:
            times, text = line.split('\t', 1)
            if '//' in text:
                yield int(times), text.split()[0]


def difference(lines, few, many):
    """Operations and how much more often the second launch executed them."""
    a, b = list(lines(few)), list(lines(many))
    if [op for _, op in a] != [op for _, op in b]:
        raise SystemExit('mma-model.py: %s and %s are not of one program' % (few, many))
    return [(y[0] - x[0], x[1]) for x, y in zip(a, b) if y[0] != x[0]]


def numbers(tile):
    return {k: int(v) for k, v in (pair.split('=') for pair in tile.split(','))}


def check_exact(found, wanted):
    if found != wanted:
        raise SystemExit('mma-model.py: %d matrix instructions, where there should be %d' % (found, wanted))


def matrix_instructions(tile):
    """Of a wave and a tile; 32 divides d and dv."""
    return tile.get('rt', 1) * tile['bk'] // 16 * (tile['d'] + tile['dv']) // 16


def amd(name, tile, tiles, few, many):
    units, tiles = AMD[name], int(tiles)
    tile = numbers(tile)
    code = difference(amd_lines, few, many)
    each = matrix_instructions(tile)
    check_exact(sum(n for n, op in code if re.match(MATRIX, op)), tiles * each)
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


# ---- Intel's ----

# What is assumed of an XVE, which has one matrix unit (XMX), and of the Xe-core that several share:
#                           bmg: B580   pvc: Max 1550   acm-g10: A770
#   XVEs of an Xe-core      8           8               16
#   bytes of a register     64          64              32       sub-groups of 16, 16 and 8
#   f16 operations of an    256         512             128
#     XMX in a cycle
#   cycles of dpas.8x8      16          8               16       8 rows by 16 by that many columns, twice
#   f32 lanes in a cycle    16          16              8        of 64 bits half as many, of 16 bits twice
#   whole numbers           the same, in a pipe of their own; of products those of 32 by 16 bits
#   math (exp, inv, ..)     a quarter of the lanes, in a pipe of its own
#   bytes of local memory   128         256             128      of an Xe-core, by one port; a message takes a cycle
#     and L1 in a cycle                                          at least, and XVEs have equal shares of its cycles
#   all else that is        a cycle each: messages, branches, sync
#     issued ("other")
# Sources:
# - XVEs, lanes, operations: Intel's slides of Xe-HPG and Xe-HPC (Architecture Day 2021: 16 vector engines of 256 bits,
#   16 matrix engines of 1024 bits, 128 operations of f16 each; 8 of 512, 8 of 4096, 4096 operations of an Xe-core) and
#   of Xe2 (Tech Tour 2024: 8 of 512, SIMD16, 8 of 2048). Published peaks agree: B580 233 TOPS of int8, twice what
#   20 x 8 x 256 x 2.85 GHz are; Max 1550 839 TFLOP/s, 128 x 8 x 512 x 1.6 GHz, and 52 of f32. Products alone were
#   measured on a B580 at 0.96 of its peak (notes on ExecuTorch's Vulkan kernels for B580 and B70, 2026).
# - math: oneAPI GPU Optimization Guide, of Xe-LP: ALUs of 8 lanes, of 2 for extended math. Of later ones none.
# - pipes: IGC's listings name the pipe of each instruction and wait for each separately. Xe-HPG's slides have one port
#   for real numbers, one for whole ones and math together: there "pipes" promises too much.
# - bytes: the same guide, of Xe-LP's port for 16 EUs: 128. Words of 32 bits were read from local memory at 7.2 and 10.0
#   TB/s on B580 and B70 (the same notes): 127 and 112 bytes. Of Max 1550 the authors of "Fully-fused Multi-Layer
#   Perceptrons on Intel Data Center GPUs" (2024) count on 50 TB/s, which are 244. Of Xe-HPG and Xe2 Intel gives none.
# Not in it: conflicts of banks, those of registers, too; waits; caches and what lies behind L1. `serial` leaves L1 and
# "other" out, as AMD's does.
INTEL = {'bmg': dict(xves=8, register=64, row=2, port=128), 'pvc': dict(xves=8, register=64, row=1, port=256),
         'acm-g10': dict(xves=16, register=32, row=2, port=128)}
BITS = {'df': 64, 'q': 64, 'uq': 64, 'f': 32, 'd': 32, 'ud': 32, 'v': 32, 'uv': 32, 'vf': 32, 'hf': 16, 'bf': 16,
        'w': 16, 'uw': 16, 'b': 8, 'ub': 8}
PIPES = ('float', 'int', 'math')
PIPE = {'float': 'float', 'int': 'int', 'long': 'int', 'math': 'math'} # as IGC names them: long on pvc
FULL_LENGTH = 31 # so IGC writes that the result of a 2D block has 32 registers


def intel_lines(path):
    """(times, text) of each instruction of a counted listing."""
    with open(path) as f:
        for line in f:
            times, text = line.rstrip('\n').split('\t', 1)
            if text.strip() and not text.startswith('//') and not text.rstrip().endswith(':'):
                yield int(times), text


def taken_apart(text):
    """Its name, lanes, operands and comment: `(predicate) name (width|Mfirst) operands {notes} // comment`."""
    body, _, comment = text.partition('//')
    found = re.match(r'\s*(?:\([^)|]*\)\s+)?(\S+)\s*(?:\((\d+)\|M\d+\))?([^{]*)', body)
    return found[1], int(found[2] or 1), found[3].split(), comment


def lane_bits(operands):
    """Of the widest operand: what lanes take in the ALU."""
    return max([BITS.get(o.rsplit(':', 1)[-1], 0) for o in operands if ':' in o] or [32])


def is_dummy(op, operands):
    """What IGC puts before others for DG2 (offline/gen/read.c): a product of registers with themselves, to nothing."""
    return op.startswith('dpas') and operands[1].startswith('null') and \
        operands[2].split('.')[0].split(':')[0] == operands[3].split('.')[0].split(':')[0]


def message_bytes(op, lanes, operands, comment, register):
    """Of memory: by its name (load.slm.d32x4), by registers of blocks and of what is written as a descriptor."""
    kind = re.match(r'(?:load|store|atomic_\w+)\.(?:slm|ugm)\.d(\d+)(?:u\d+)?(?:x(\d+))?(t?)', op)
    if kind and 'block2d' not in op:
        return int(kind[1]) // 8 * int(kind[2] or 1) * (1 if kind[3] else lanes)
    if op.startswith('load_block2d'):
        n = int(operands[0].split(':')[1])
        return register * (n + (n == FULL_LENGTH))
    sent = re.search(r'wr:\d+h?\+(\d+), rd:(\d+)', comment)
    is_memory = op.startswith('send') and sent and not re.search('gtwy|fence', op + comment)
    return register * max(int(sent[1]), int(sent[2])) if is_memory else 0


def instruction_cycles(units, text):
    """Its kind and its cycles of an XVE, and those of its bytes as ('SLM' or 'L1', cycles)."""
    op, lanes, operands, comment = taken_apart(text)
    if op.startswith('dpas'):
        kind = 'dummies' if is_dummy(op, operands) else 'matrix'
        return kind, int(re.match(r'dpas\w*\.8x(\d)', op)[1]) * units['row'], ('SLM', 0)
    pipe = re.search(r'ALU pipe: (\w+)', comment)
    if pipe and pipe[1] in PIPE and not re.match('jmpi|goto|join|while|br', op):
        alu = -(-lanes * lane_bits(operands) // (8 * units['register']))
        return PIPE[pipe[1]], 4 * alu if pipe[1] == 'math' else alu, ('SLM', 0)
    n = -(-message_bytes(op, lanes, operands, comment, units['register']) // units['port'])
    return 'other', 1, ('SLM' if '.slm' in op else 'L1', n * units['xves'])


def is_nop(text):
    return taken_apart(text)[0] == 'sync.nop'


def intel(name, tile, tiles, few, many):
    units, tiles = INTEL[name], int(tiles)
    each = 0 if tile == 'simt' else 2 * matrix_instructions(numbers(tile)) # of 8 rows
    code = difference(intel_lines, few, many)
    cycles = dict.fromkeys(('matrix', 'dummies') + PIPES + ('other', 'SLM', 'L1'), 0)
    matrix = 0
    for n, text in code:
        kind, own, (memory, shared) = instruction_cycles(units, text)
        matrix += n * (kind == 'matrix')
        cycles[kind] += n * own / tiles
        cycles[memory] += n * shared / tiles
    check_exact(matrix, tiles * each)
    useful, pipes = cycles['matrix'], [cycles[k] for k in PIPES]
    unit, memory = useful + cycles['dummies'], cycles['SLM'] + cycles['L1']
    products = max(unit, cycles['SLM'])
    report('%s, %d matrix instructions a tile' % (name, each), round(sum(n for n, _ in code) / tiles), cycles,
           useful / max(pipes + [unit, memory, cycles['other']]), useful / (products + sum(pipes)),
           ', pipes %.2f, in turn %.2f' % (useful / (products + max(pipes)), useful / sum(cycles.values())) +
           '\n    %d of them sync.nop; the loop is of %d instructions, %d of them sync.nop' %
           (round(sum(n for n, text in code if is_nop(text)) / tiles), len(code),
            sum(is_nop(text) for _, text in code)))


def main(args):
    if len(args) >= 2 and args[0] in NVIDIA:
        return nvidia(NVIDIA[args[0]], args[1:])
    if len(args) == 5 and args[0] in AMD:
        return amd(*args)
    if len(args) == 5 and args[0] in INTEL:
        return intel(*args)
    raise SystemExit(__doc__)


if __name__ == '__main__':
    main(sys.argv[1:])
