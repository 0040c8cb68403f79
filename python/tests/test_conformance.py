# test_conformance.py - a share of the conformance cases; tests/conformance.py by itself runs all
# SPDX-License-Identifier: Apache-2.0
"""CLATTN_PART=N/M: every M-th case from the N-th on, forward and backward; 1: all. CLATTN_CASES=PATTERN: of those whose
names match."""
import os

import conformance
import pytest

PART = os.environ.get('CLATTN_PART', '')
PART = PART if '/' in PART else '0/1' if PART else '3/32'


@pytest.mark.parametrize('case', conformance.chosen(os.environ.get('CLATTN_CASES') or None, PART),
                         ids=lambda case: case['name'])
def test_case(case):
    s = case['shape']
    work = s['B'] * s['Hq'] * s['Tq'] * s.get('Tk', s.get('S')) * (s.get('D', 0) + s['Dv'])
    bad = conformance.try_case(case, 'f32', forward_only=work > 3e7)
    assert not bad
