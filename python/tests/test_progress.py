# test_progress.py - what is told while a plan is made: to a function, on a terminal, to the logger
# SPDX-License-Identifier: Apache-2.0
import logging
import os
import subprocess
import sys
import time

import numpy as np
import pytest

import clattn

Q = np.ones((1, 2, 8, 16), np.float32)
PROBLEM = 'f32 b1 h1 q8 k256 d32' # its class, as the library writes it


def handle(**more):
    return clattn.Handle(cache_dir='', **{'tune': 'off', **more})


def test_function():
    told = []
    h = handle(progress=told.append)
    clattn.attention(Q, Q, Q, handle=h)
    assert told[-1] is None and told.index(None) == len(told) - 1
    assert told[0] == 'compiling cla_forward for ' + PROBLEM
    del told[:]
    clattn.Plan(Q, Q, Q, handle=h)
    assert told == [None] # nothing was compiled


def test_search():
    told = []
    clattn.attention(Q, Q, Q, handle=handle(progress=told.append, tune='quick', tune_seconds=10))
    measured = [text for text in told[:-1] if text.startswith('measuring what is fastest for ' + PROBLEM)]
    assert told[-1] is None and measured[0].endswith(', 0 tried') and not measured[-1].endswith(' 0 tried'), told


def test_logger(caplog):
    with caplog.at_level(logging.INFO, 'clattn'):
        clattn.attention(Q, Q, Q, handle=handle(tune='quick', tune_seconds=0.01))
    assert [r.name for r in caplog.records] and all(r.name == 'clattn' for r in caplog.records)
    assert 'measuring configurations for f32 b1 h' in caplog.text


@pytest.mark.parametrize('raised', [KeyboardInterrupt, SystemExit])
def test_stop(raised):
    """Nothing is compiled after it, and the next call does all that it left."""
    told = []

    def tell(text):
        told.append(text)
        if len(told) == 1:
            raise raised
    h = handle(progress=tell)
    with pytest.raises(raised):
        clattn.attention(Q, Q, Q, handle=h)
    assert told[0].startswith('compiling ') and told[1:] == [None] and not h.stats()['trials']
    assert np.array_equal(clattn.attention(Q, Q, Q, handle=h), Q)


def test_function_that_fails():
    def tell(text):
        raise KeyError(text)
    h = handle(progress=tell)
    with pytest.warns(UserWarning, match='the progress function of a clattn.Handle failed: KeyError'):
        assert np.array_equal(clattn.attention(Q, Q, Q, handle=h), Q)


CALL = '''
import numpy as np, clattn
q = np.ones((1, 2, 8, 16), np.float32)
clattn.attention(q, q, q)
'''


def on_terminal(text=CALL, **env):
    """What a child writes to standard error, which is a terminal."""
    pty = pytest.importorskip('pty')
    ours, its = pty.openpty()
    with subprocess.Popen([sys.executable, '-c', text], stderr=its,
                          env=dict(os.environ, **{'TERM': 'xterm', 'CLATTN_CACHE_DIR': 'off', **env})) as child:
        os.close(its)
        said, until = b'', time.monotonic() + 120
        while time.monotonic() < until:
            try:
                more = os.read(ours, 4096)
            except OSError: # Linux' end of a terminal
                more = b''
            if not more:
                break
            said += more
        os.close(ours)
        assert child.wait() == 0, said
    return said.decode()


def test_terminal():
    said = on_terminal()
    lines = said.split('\r')
    assert lines[1].startswith('clattn: compiling cla_forward for f32 b1 h') and lines[1].endswith('(0 s)'), said
    assert lines[-2].strip() == '' and lines[-1] == '' and '\n' not in said # it vanishes
    assert len({len(line) for line in lines[1:-1]}) == 1 and len(lines[1]) == 79


@pytest.mark.parametrize('env', [{'CLATTN_PROGRESS': '0'}, {'TERM': 'dumb'}])
def test_quiet_terminal(env):
    assert on_terminal(**env) == ''


def test_no_terminal():
    def said(text=CALL, **env):
        return subprocess.run([sys.executable, '-c', text], stderr=subprocess.PIPE, timeout=120, check=True,
                              env=dict(os.environ, CLATTN_CACHE_DIR='off', **env)).stderr.decode()
    assert said() == ''
    assert said(CLATTN_PROGRESS='1').startswith('\rclattn: compiling cla_forward')
    assert said('import sys\nsys.stderr = None' + CALL, CLATTN_PROGRESS='1') == ''
    assert said('import sys\nsys.stderr.close()' + CALL, CLATTN_PROGRESS='1') == ''
