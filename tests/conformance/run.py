#!/usr/bin/env python3
# run.py - the conformance cases through clattn-run
# SPDX-License-Identifier: Apache-2.0
"""Runs the conformance cases through clattn-run and judges every output.

  run.py [--run PATH] [--dtype f32|f16|bf16] [--filter RE] [--without RE] [--tier onnx|golden|grid|real]
         [--forward-only] [--int4] [--args "..."] [--timeout S] [--keep DIR] [--report FILE.json] [--cases DIR] [-v]

The arrays of each case are written as .npy, clattn-run is called, and check.py compares what it wrote with the float64
reference and with the peer's values. --filter and --without match the name or a feature; --args goes to clattn-run as
it is (--device, --engine, --tune). --int4 runs the cases of int8 alone, with int4 in its place: the upper four bits of
each byte, and scales 16 times as large; the peers' values are none of theirs. The last line is "N passed, N failed, N
skipped"; exit status 1 when any failed or none passed.
"""
import argparse
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
import time

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import cases as stored
import check
import reference

with open(os.path.join(HERE, 'score_mods.json')) as f:
    MODS = json.load(f)['mods']

INTEGER_BUFFERS = ('aux_doc', 'aux_nbi')


# ---- score_mods ----

def c_number(x):
    if isinstance(x, int):
        return 'int', str(x)
    text = '%.9g' % x
    return 'float', text + ('f' if '.' in text or 'e' in text else '.0f')


def mod_text(case, arrays, which):
    """OpenCL C that changes s, or ds for the derivative, where b, h, q, k and the captured buffers are in scope."""
    attrs = case['attrs']
    mod = MODS[attrs['score_mod']]
    constants = dict(H=('int', str(case['shape']['Hq'])))
    for name, x in attrs.get('score_aux', {}).items():
        if isinstance(x, (int, float)) and not isinstance(x, bool):
            constants.setdefault(name, c_number(x))
    if 'aux_rel' in arrays:
        constants.setdefault('REL_LEN', ('int', str(arrays['aux_rel'].shape[0])))
    lines = ['const int i = q, j = k;']
    lines += ['const %s %s = %s;' % (kind, name, text) for name, (kind, text) in constants.items()]
    lines += ['s = %s;' % mod['value'] if which == 'value' else 'ds *= %s;' % mod['dscore']]
    return '\n'.join(lines) + '\n'


# ---- what clattn-run is asked ----

class Command:
    """Arguments for clattn-run, its input files in a folder, and where it will write."""

    def __init__(self, folder):
        self.folder, self.args, self.outputs = folder, [], {}

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, x, dtype=None):
        """A file of `dtype`; without one, of the narrower type that the device takes."""
        x = np.ascontiguousarray(x)
        dtype = dtype or {'float64': '<f4', 'int64': '<i4'}.get(str(x.dtype))
        np.save(self.path(name + '.npy'), x.astype(dtype) if dtype else x)
        return self.path(name + '.npy')

    def text(self, name, words):
        with open(self.path(name), 'w') as f:
            f.write(words)
        return self.path(name)

    def give(self, option, name, x, dtype=None):
        self.args += [option, self.write(name, x, dtype)]

    def ask(self, option, name):
        self.outputs[name] = self.path('out_' + name + '.npy')
        self.args += [option, self.outputs[name]]


QUANTISED = ('k', 'v', 'k_pages', 'v_pages')
SCALES = ('k_scale', 'v_scale', 'k_scale_pages', 'v_scale_pages')


def as_int4(arrays):
    """A case of int8 as one of int4, whose scores are about as large."""
    changed = dict(arrays)
    for n in QUANTISED:
        if n in arrays:
            changed[n] = arrays[n] >> 4
    for n in SCALES:
        if n in arrays:
            changed[n] = arrays[n] * 16
    for n in ('k_zero', 'v_zero'):
        if n in arrays:
            changed[n] = arrays[n] >> 1
    return changed


def per_entry(case, x):
    return np.broadcast_to(np.asarray(x, '<i4').reshape(-1), (case['shape']['B'],))


def add_numbers(c, case):
    """Options that are numbers, or a number per batch entry."""
    a = case['attrs']
    if a.get('scale') is not None:
        c.args += ['--scale', repr(float(a['scale']))]
    if a.get('causal'):
        c.args += ['--causal']
    if a.get('align') == 'top_left':
        c.args += ['--align', 'top-left']
    elif a.get('align') == 'explicit':
        c.give('--align', 'offset', per_entry(case, a['offset']))
    if a.get('window') and tuple(a['window']) != (-1, -1):
        c.args += ['--window=%d,%d' % tuple(a['window'])]
    if a.get('softcap'):
        c.args += ['--softcap', repr(float(a['softcap']))]
    for n in ('kv_len', 'q_len', 'kv_start'):
        if a.get(n) is not None:
            c.give('--' + n.replace('_', '-'), n, per_entry(case, a[n]))


def add_arrays(c, case, arrays):
    """Options that are arrays: sequences, pages, bias, mask, slopes, sinks, scales."""
    a = case['attrs']
    if case.get('kind') == 'varlen':
        c.give('--cu-q', 'cu_q', np.asarray(a['cu_q'], '<i4'))
        c.give('--cu-k', 'cu_k', np.asarray(a['cu_k'], '<i4'))
    if 'block_table' in arrays:
        c.give('--block-table', 'block_table', arrays['block_table'], '<i4')
        if a.get('kv_len') is None:
            c.give('--kv-len', 'kv_len', per_entry(case, a['tk']))
    for n, option in (('bias', '--bias'), ('alibi_slopes', '--alibi'), ('sink', '--sinks')):
        if n in arrays:
            c.give(option, n, arrays[n], '<f4')
    if 'bool_mask' in arrays:
        c.give('--mask', 'bool_mask', arrays['bool_mask'], '|u1')
    for n in ('k_scale', 'k_zero', 'v_scale', 'v_zero'):
        x = arrays.get(n, arrays.get(n + '_pages'))
        if x is None:
            continue
        if 'k_pages' in arrays and n in arrays and x.ndim == 4:
            x = x.transpose(0, 2, 1, 3) # [1,hk,1,d] beside pages [pages,page,hk,d]
        c.give('--' + n.replace('_', '-'), n, x, '<f4')


def add_score_mod(c, case, arrays):
    if not case['attrs'].get('score_mod'):
        return
    c.args += ['--score-mod', c.text('mod.cl', mod_text(case, arrays, 'value'))]
    for n in sorted(arrays):
        if n.startswith('aux_'):
            file = c.write(n, arrays[n], '<i4' if n in INTEGER_BUFFERS else '<f4')
            c.args += ['--aux', n[len('aux_'):] + '=' + file]


def add_gradients(c, case, arrays, which):
    """Asks for those of `which` that the case has."""
    if 'do' not in arrays:
        return
    c.give('--dout', 'do', arrays['do'], '<f4')
    if 'dlse' in arrays:
        c.give('--dlse', 'dlse', arrays['dlse'], '<f4')
    has = dict(dq=True, dk=True, dv=True, dbias='bias' in arrays, dsink='sink' in arrays,
               dslope='alibi_slopes' in arrays and 'kind' not in case)
    for n in which:
        if has[n]:
            c.ask(dict(dsink='--dsinks', dslope='--dslopes').get(n, '--' + n), n)
    if case['attrs'].get('score_mod'):
        c.args += ['--score-mod-grad', c.text('mod_grad.cl', mod_text(case, arrays, 'dscore'))]


def add_scores(c, case):
    if case['attrs'].get('scores'):
        c.outputs['scores'] = c.path('out_scores.npy')
        c.args += ['--scores', '%s=%s' % (case['attrs']['scores'], c.outputs['scores'])]


def keys_and_values(arrays):
    if 'k_pages' in arrays:
        return arrays['k_pages'], arrays['v_pages']
    if 'k_past' in arrays:
        return tuple(np.concatenate([arrays[n + '_past'], arrays[n]], 2) for n in ('k', 'v'))
    return arrays['k'], arrays['v']


def command(case, arrays, folder, dtype, gradients):
    c = Command(folder)
    if case.get('kind') == 'merge':
        c.ask('-o', 'o')
        c.ask('--lse', 'lse')
        c.args += ['--merge'] + [c.write(n, arrays[n], '<f4') for n in ('o_parts', 'lse_parts')]
        return c
    c.args += ['--type', dtype]
    c.ask('-o', 'o')
    if case['tier'] != 'onnx': # whose operator has no such output
        c.ask('--lse', 'lse')
    add_scores(c, case)
    add_numbers(c, case)
    add_arrays(c, case, arrays)
    add_score_mod(c, case, arrays)
    add_gradients(c, case, arrays, gradients)
    k, v = keys_and_values(arrays)
    for n, x in (('q', arrays['q']), ('k', k), ('v', v)):
        c.args.append(c.write(n, x, None if x.dtype == np.int8 else '<f4'))
    return c


# ---- what is expected ----

def rounded(x, dtype):
    """x as the device stores it, in float64."""
    x = np.asarray(x)
    if dtype == 'f16':
        return x.astype(np.float16).astype(np.float64)
    if dtype == 'f32':
        return x.astype(np.float64)
    u = x.astype(np.float32).view(np.uint32).astype(np.uint64)
    u = (u + 0x7fff + ((u >> 16) & 1)) & 0xffff0000
    return np.where(np.isnan(x), x, u.astype(np.uint32).view(np.float32)).astype(np.float64)


STORED_IN_TYPE = ('q', 'k', 'v', 'do', 'k_pages', 'v_pages', 'k_past', 'v_past')


def expected(case, arrays, dtype):
    """The reference on the inputs as they are stored, and the peer's values: None where storing changed an input."""
    as_stored = dict(arrays)
    if case.get('kind') != 'merge':
        for n in STORED_IN_TYPE:
            if n in arrays and arrays[n].dtype != np.int8:
                as_stored[n] = rounded(arrays[n], dtype)
    exact = all(np.array_equal(as_stored[n], x.astype(np.float64), equal_nan=True) for n, x in arrays.items()
                if n in STORED_IN_TYPE)
    with np.errstate(all='ignore'):
        want = reference.run_case(case, as_stored)
    return want, stored.peer_values(case) if exact else None


# ---- running ----

def run(arguments, timeout):
    """Exit status and the last line of stderr."""
    try:
        r = subprocess.run(arguments, capture_output=True, text=True, timeout=timeout, stdin=subprocess.DEVNULL)
    except subprocess.TimeoutExpired:
        return 124, 'no answer in %g s' % timeout
    return r.returncode, (r.stderr.strip().splitlines() or [''])[-1][:200]


def try_case(case, o, folder):
    """What is wrong with a case, in words."""
    arrays = stored.inputs(case)
    if o.forward_only:
        arrays.pop('do', None)
    if o.int4:
        arrays = as_int4(arrays)
    c = command(case, arrays, folder, o.dtype, o.gradients.split(','))
    if o.int4:
        c.args += ['--k-type', 'int4', '--v-type', 'int4']
    status, words = run([o.run] + shlex.split(o.args) + c.args, o.timeout)
    if status:
        return ['exit %d: %s' % (status, words)]
    got = {n: np.load(file) for n, file in c.outputs.items() if os.path.exists(file)}
    missing = ['%s: not written' % n for n in c.outputs if n not in got]
    want, peer = expected(case, arrays, o.dtype)
    peer = None if o.int4 else peer
    return missing + check.judge(case, got, want, peer, o.dtype)


def options():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--cases', default=HERE, help='folder that has cases/')
    p.add_argument('--run', default='clattn-run')
    p.add_argument('--dtype', default='f32', choices=check.EPS)
    p.add_argument('--filter')
    p.add_argument('--without')
    p.add_argument('--tier')
    p.add_argument('--args', default='')
    p.add_argument('--timeout', type=float, default=120)
    p.add_argument('--keep', help='folder for the files of every case')
    p.add_argument('--report', help='a JSON file of all verdicts')
    p.add_argument('--forward-only', action='store_true')
    p.add_argument('--int4', action='store_true')
    p.add_argument('--gradients', default='dq,dk,dv,dbias,dsink,dslope', help='those that are asked for')
    p.add_argument('-v', action='store_true', help='print what passed, too')
    return p.parse_args()


def main():
    o = options()
    rows, skipped = [], 0
    for case in stored.chosen(o.cases, o.filter):
        if (o.without and re.search(o.without, stored.key(case))) or (o.tier and case['tier'] != o.tier) or \
                (o.int4 and 'int8' not in case['features']):
            skipped += 1
            continue
        began = time.time()
        with tempfile.TemporaryDirectory(prefix='clattn-conformance.') as folder:
            if o.keep:
                folder = os.path.join(o.keep, case['name'])
                os.makedirs(folder, exist_ok=True)
            bad = try_case(case, o, folder)
        rows.append(dict(name=case['name'], tier=case['tier'], features=case['features'], ok=not bad, why=bad,
                         seconds=round(time.time() - began, 3)))
        if bad or o.v:
            print('%s %s%s' % ('FAIL' if bad else 'ok', case['name'], '  ' + '; '.join(bad) if bad else ''), flush=True)
    if o.report:
        with open(o.report, 'w') as f:
            json.dump(rows, f, indent=1)
    failed = sum(not r['ok'] for r in rows)
    print('%d passed, %d failed, %d skipped' % (len(rows) - failed, failed, skipped))
    return 1 if failed or failed == len(rows) else 0


if __name__ == '__main__':
    sys.exit(main())
