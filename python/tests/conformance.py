#!/usr/bin/env python3
# conformance.py - the conformance cases through Python, judged as those through clattn-run are
# SPDX-License-Identifier: Apache-2.0
"""Runs the conformance cases (tests/conformance) through clattn.attention() and judges every output.

  conformance.py [--dtype f32|f16|bf16] [--filter RE] [--part N/M] [--forward-only] [-v]

The last line is "N passed, N failed"; exit status 1 when any failed or none ran.
"""
import argparse
import os
import sys

import numpy as np

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(os.path.dirname(os.path.dirname(HERE)), 'tests', 'conformance'))

import cases as stored # noqa: E402
import check # noqa: E402
import run as by_program # noqa: E402

import clattn # noqa: E402


def dtype_of(name):
    if name == 'bf16':
        import ml_dtypes # pylint: disable=import-outside-toplevel
        return np.dtype(ml_dtypes.bfloat16)
    return np.dtype({'f32': np.float32, 'f16': np.float16}[name])


def stored_as(x, dtype):
    return x if x.dtype == np.int8 else np.asarray(x, np.float32).astype(dtype)


def numbers(case, arrays):
    a, found = case['attrs'], {}
    if a.get('scale') is not None:
        found['scale'] = float(a['scale'])
    found['causal'] = bool(a.get('causal'))
    if a.get('align') == 'top_left':
        found['align'] = 'top-left'
    elif a.get('align') == 'explicit':
        found['offset'] = by_program.per_entry(case, a['offset'])
    if a.get('window') and tuple(a['window']) != (-1, -1):
        found['window'] = tuple(max(-1, x) for x in a['window'])
    if a.get('softcap'):
        found['softcap'] = float(a['softcap'])
    for n in ('kv_len', 'q_len', 'kv_start'):
        if a.get(n) is not None:
            found[n] = by_program.per_entry(case, a[n])
    if case.get('kind') == 'varlen':
        found.update(cu_seqlens_q=a['cu_q'], cu_seqlens_k=a['cu_k'])
    if 'block_table' in arrays and 'kv_len' not in found:
        found['kv_len'] = by_program.per_entry(case, a['tk'])
    return found


def given(case, arrays):
    """Arguments of attention() but for q, k and v."""
    found = numbers(case, arrays)
    for n, name in (('bias', 'bias'), ('alibi_slopes', 'alibi'), ('sink', 'sinks')):
        if n in arrays:
            found[name] = np.asarray(arrays[n], np.float32)
    if 'bool_mask' in arrays:
        found['mask'] = arrays['bool_mask'].astype(bool)
    if 'block_table' in arrays:
        found['block_table'] = arrays['block_table']
    for n in ('k_scale', 'k_zero', 'v_scale', 'v_zero'):
        x = arrays.get(n, arrays.get(n + '_pages'))
        if x is not None:
            found[n] = np.asarray(x, np.float32)
            if n + '_pages' in arrays and x.ndim == 3: # a scale per token and head
                found[n] = found[n][..., None]
            if 'k_pages' in arrays and n in arrays and x.ndim == 4: # [1,hk,1,d] beside pages [pages,page,hk,d]
                found[n] = found[n].transpose(0, 2, 1, 3)
        if x is not None and case['attrs'].get('group') and n.endswith('scale'):
            found[n[0] + '_group'] = case['attrs']['group']
    if case['attrs'].get('score_mod'):
        found['score_mod'] = by_program.mod_text(case, arrays, 'value')
        found['aux'] = {n[len('aux_'):]: np.asarray(x, np.int32 if n in by_program.INTEGER_BUFFERS else np.float32)
                        for n, x in arrays.items() if n.startswith('aux_')}
    return found


def gradients(case, arrays, dtype, q, k, v, more):
    """The result in f32, as clattn-run has it with --dout, and the gradients."""
    wide = {} if dtype == np.float32 else dict(out_dtype='f32')
    o, lse = clattn.attention(q, k, v, return_lse=True, **more, **wide)
    if more.get('score_mod'):
        wide['score_mod_grad'] = by_program.mod_text(case, arrays, 'dscore')
    dlse = None if 'dlse' not in arrays else np.asarray(arrays['dlse'], np.float32)
    wanted = ['dq', 'dk', 'dv'] + [n for n, of in (('dbias', 'bias'), ('dsinks', 'sinks')) if of in more]
    if 'alibi' in more and 'kind' not in case:
        wanted.append('dalibi')
    g = clattn.attention_backward(stored_as(arrays['do'], dtype), q, k, v, o, lse, dlse=dlse, wanted=wanted, **more,
                                  **wide)
    names = dict(dbias='dbias', dsinks='dsink', dalibi='dslope')
    return dict(o=o, lse=lse, **{names.get(n, n): getattr(g, n) for n in wanted})


def outputs(case, arrays, dtype):
    if case.get('kind') == 'merge':
        o, lse = (np.asarray(arrays[n], np.float32) for n in ('o_parts', 'lse_parts'))
        got = clattn.merge(o, lse)
        return dict(o=got[0], lse=got[1])
    q, (k, v) = arrays['q'], by_program.keys_and_values(arrays)
    q, k, v = (stored_as(x, dtype) for x in (q, k, v))
    more = given(case, arrays)
    if 'do' in arrays:
        return gradients(case, arrays, dtype, q, k, v, more)
    if case['attrs'].get('scores'):
        o, scores = clattn.attention(q, k, v, return_scores=case['attrs']['scores'], **more)
        return dict(o=o, scores=scores)
    o, lse = clattn.attention(q, k, v, return_lse=True, **more)
    return dict(o=o) if case['tier'] == 'onnx' else dict(o=o, lse=lse)


def try_case(case, name, forward_only):
    """What is wrong with a case, in words."""
    arrays = stored.inputs(case)
    if forward_only:
        arrays.pop('do', None)
    try:
        got = outputs(case, arrays, dtype_of(name))
    except (clattn.Error, TypeError, ValueError) as e:
        return ['%s: %s' % (type(e).__name__, e)]
    want, peer = by_program.expected(case, arrays, name)
    with np.errstate(all='ignore'):
        return check.judge(case, got, want, peer, name)


def chosen(pattern, part):
    n, m = map(int, part.split('/'))
    return stored.chosen(pattern=pattern)[n % m::m]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('--dtype', default='f32', choices=check.EPS)
    p.add_argument('--filter')
    p.add_argument('--part', default='0/1')
    p.add_argument('--forward-only', action='store_true')
    p.add_argument('-v', action='store_true')
    o = p.parse_args()
    passed = failed = 0
    for case in chosen(o.filter, o.part):
        bad = try_case(case, o.dtype, o.forward_only)
        passed, failed = passed + (not bad), failed + bool(bad)
        if bad or o.v:
            print('%s %s  %s' % ('FAIL' if bad else 'ok', case['name'], '; '.join(bad)), flush=True)
    print('%d passed, %d failed' % (passed, failed))
    return 1 if failed or not passed else 0


if __name__ == '__main__':
    sys.exit(main())
