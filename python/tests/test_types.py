# test_types.py - what a type checker finds in programs that call clattn
# SPDX-License-Identifier: Apache-2.0
import re
import sys

import pytest

from clattn import arguments, one_call, options
from test_package import run

RIGHT = '''
import numpy as np
import clattn

q = np.ones((1, 1, 2, 16), np.float32)
o = clattn.attention(q, q, q, causal=True, window=(3, 4), score_mod='s += 1;', align='top-left', bias=q, scale=None)
o, lse = clattn.attention(q, q, q, return_lse=True, aux={'a': q}, score_mod=['s += a[0];', 's += 1;'])
o, w = clattn.attention(q, q, q, return_scores='weights', causal=True)
o, lse, w = clattn.attention(q, q, q, return_lse=True, return_scores='masked')
g = clattn.attention_backward(o, q, q, q, o, lse, causal=True, softcap=3)
plan = clattn.Plan(q, q, q, causal=True, config='simt', return_scores=True)
o, w = plan(q, q, q, return_scores='changed')
o, lse = plan(q, q, q, return_lse=True, out=o)
g = plan.backward(o, q, q, q, o, lse, wanted=['dq'], dlse=lse)
cache = clattn.KVCache(batch=1, heads=1, room=4, d=16)
o, lse = cache.attention(q, return_lse=True, sinks=q)
o = cache.step(q, q, q, causal=False, softcap=2.0)
'''
WRONG = '''
clattn.attention(q, q, q, sofcap=3)
clattn.attention(q, q, q, causal='yes')
clattn.attention(q, q, q, align='left')
clattn.attention(q, q, q, window=3)
clattn.attention(q, q, q, k_type='int3')
clattn.attention(q, q, q, return_scores='probabilities')
x: int = clattn.attention(q, q, q, return_lse=True)
cache.attention(q, layout='bnhd')
cache.step(q, q, q, causal=3.5)
plan(q, q, q, handel=None)
plan.backward(o, q, q, q, o, lse, wantd=['dq'])
clattn.attention_backward(o, q, q, q, o, lse, plam=None)
clattn.attention_backward(o, q, q, q, o, lse, score_mods='s += 1;')
clattn.Plan(q, q, q, casual=True)
clattn.Handle(kin='gpu')
'''


def test_names():
    """Checkers know the arguments that calls take, and no others."""
    known = set(arguments.Arguments.__annotations__)
    assert known == set(one_call._KNOWN) # pylint: disable=protected-access
    of_gradients = {name for name, rule in options.RULES.items() if rule.of_gradients}
    assert set(arguments.GradientArguments.__annotations__) == known | of_gradients | {'dlse', 'wanted'}
    assert not known & {'q', 'k', 'v', 'out', 'return_lse', 'return_scores', 'handle', 'plan'}


def test_checked(tmp_path):
    pytest.importorskip('mypy', reason='mypy is not installed')
    program = tmp_path / 'program.py'
    program.write_text(RIGHT + WRONG)
    done = run(sys.executable, '-m', 'mypy', '--strict', '--cache-dir', str(tmp_path / 'kept'), str(program))
    found = {int(line) for line in re.findall(r'program\.py:(\d+): error', done.stdout)}
    n = RIGHT.count('\n')
    assert found == set(range(n + 2, n + 1 + WRONG.count('\n'))), done.stdout
    assert '"sofcap"' in done.stdout and 'clattn/' not in re.sub(r'note: .*', '', done.stdout)
