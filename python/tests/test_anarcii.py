# test_anarcii.py - a real model by clattn has the tokens that it has by PyTorch, and a wrong scale shows
# SPDX-License-Identifier: Apache-2.0
import os
import subprocess
import sys

import pytest
from conftest import TOP

pytest.importorskip('torch', reason='PyTorch is not installed')
pytest.importorskip('anarcii', reason='anarcii is not installed')
PROGRAM = os.path.join(TOP, 'examples', 'python', 'anarcii.py')


def run(*arguments):
    done = subprocess.run([sys.executable, PROGRAM, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                          universal_newlines=True)
    return done.returncode, done.stdout, done.stderr


def test_same_tokens():
    status, out, err = run('--sequences', '100')
    assert status == 0 and '; 0 sequences have other tokens' in out, err


def test_wrong_scale():
    status, out, err = run('--sequences', '10', '--scale-by', '1.5')
    assert status == 1 and 'have other tokens' in out, err
