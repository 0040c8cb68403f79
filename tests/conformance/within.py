#!/usr/bin/env python3
# within.py - a pattern of the cases that are small enough, for peers.sh
# SPDX-License-Identifier: Apache-2.0
"""within.py FOLDER LACKING MOST WIDEST NAMES PART: a pattern of the cases in FOLDER that match NAMES and, unless it is
empty, not LACKING, where b h q k (d + dv) is at most MOST, and d and dv are at most WIDEST; with a PART of N/M of every
M-th of them.
"""
import glob
import json
import os
import re
import sys

folder, lacking, most, widest, chosen, part = sys.argv[1:]
names = []


def width(s):
    return max(s.get('D', 0), s['Dv'])


def work(s): # of a merge, which has parts and no keys, that of its parts
    return s['B'] * s['Hq'] * s['Tq'] * s.get('Tk', s.get('S')) * (s.get('D', 0) + s['Dv'])


for path in glob.glob(os.path.join(folder, 'index.json')) or glob.glob(os.path.join(folder, 'cases', '*.json')):
    with open(path) as f:
        for case in json.load(f)['cases']:
            key, s = case['name'] + ' ' + ' '.join(case['features']), case['shape']
            if lacking and re.search(lacking, key):
                continue
            if re.search(chosen, key) and width(s) <= float(widest) and work(s) <= float(most):
                names.append(case['name'])
n, m = map(int, part.split('/')) if '/' in part else (0, 1)
print('^(%s) ' % '|'.join(re.escape(name) for name in sorted(names)[n % m::m]))
