# test_tutorial.py - the blocks of code of doc/python, in order
# SPDX-License-Identifier: Apache-2.0
import importlib.util
import os
import re
import textwrap

from conftest import TOP


def blocks(text):
    """Indented lines, where a line without indentation ends a block."""
    for found in re.finditer(r'(?:^(?:    .*|)\n)+', text, flags=re.M):
        code = textwrap.dedent(found.group())
        if code.strip():
            yield text[:found.start()].count('\n'), code


def can_run(code):
    """Whether what a block begins to import is installed."""
    found = re.match(r'import (torch|transformers)$', code, flags=re.M)
    return not found or importlib.util.find_spec(found.group(1)) is not None


def test_tutorial():
    path = os.path.join(TOP, 'doc', 'python')
    with open(path, encoding='utf-8') as f:
        text = f.read()
    scope, n = {}, 0
    for line, code in blocks(text):
        n += 1
        if can_run(code.lstrip()):
            exec(compile('\n' * line + code, path, 'exec'), scope) # pylint: disable=exec-used
    assert n == 12 and 'losses' in scope
