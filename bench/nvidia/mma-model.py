#!/usr/bin/env python3
# mma-model.py - what engine mma_nv's loop could reach, by the throughput of each unit
# SPDX-License-Identifier: Apache-2.0
"""mma-model.py sm_80|sm_90 CUBIN...      e.g. on what `offline/check.sh -o DIR` keeps

Cycles of a quarter of an SM for one tile of one warp, on the way that offline/loops/isa-mix.py takes through the loop.
    overlap     matrix cycles over those of the busiest unit: all else hidden
    serial      softmax, by its own busiest unit, is not hidden behind the products
    predicted   serial, times what the same model is off by for FlashAttention-2 at d128: 0.92 on A100, 0.83 on H100
Shares are of what mma.sync reaches there (on Hopper 0.63 of the peak, which needs wgmma). A model: nothing was run."""
import importlib.util, os, re, sys

HERE = os.path.dirname(os.path.abspath(__file__))
MIX = os.path.join(HERE, '..', '..', 'offline', 'loops', 'isa-mix.py')
spec = importlib.util.spec_from_file_location('isa_mix', MIX)
isa_mix = importlib.util.module_from_spec(spec)
spec.loader.exec_module(isa_mix)

# Cycles per warp instruction of a quarter of an SM. Local memory moves 128 bytes a cycle for all four quarters.
UNITS = {'sm_80': dict(HMMA=8, local=16, MUFU=8, alu=2, fma=2, fit=0.92),
         'sm_90': dict(HMMA=6.4, local=16, MUFU=8, alu=2, fma=1, fit=0.83)}
KINDS = (('HMMA', r'HMMA'), ('MUFU', r'MUFU'), ('local', r'LDS|STS'), ('fma', r'FFMA|FMUL|FADD|IMAD'),
         ('', r'SHFL|LDG|BAR|BRA|NOP|BSSY|BSYNC|CALL|WARPSYNC|U'), ('alu', r''))


def predict(path, units):
    code = isa_mix.plain_path(isa_mix.read(path))
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
    overlap = cycles['HMMA'] / max(products, softmax, len(code))
    print('%s: %d instructions; cycles %s; overlap %.2f, serial %.2f, predicted %.2f' %
          (os.path.basename(path), len(code), ' '.join('%s %.0f' % c for c in cycles.items()), overlap, serial,
           units['fit'] * serial))


def main(args):
    if len(args) < 2 or args[0] not in UNITS:
        raise SystemExit(__doc__)
    for path in args[1:]:
        predict(path, UNITS[args[0]])


if __name__ == '__main__':
    main(sys.argv[1:])
