#!/usr/bin/env python3
# reports.py - checks reports of clattn-report, and makes the table "Where it ran" of those that are here
# SPDX-License-Identifier: Apache-2.0
"""reports.py --check FILE...    whether the files are whole reports: their JSON parts are of schema.json
   reports.py --table [FILE...]  the table of these, or of all in this folder
   reports.py --write            puts that table into README of this folder
Exit status: 0, or 1 where a file is wrong."""
import glob
import json
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
README = os.path.join(HERE, 'README')
BEGIN, END = '==== JSON ====\n', '\n==== end ====\n'
TYPES = {'object': dict, 'array': list, 'string': str, 'boolean': bool, 'null': type(None)}


class Wrong(Exception):
    """What is wrong with a file."""


def is_type(x, name):
    if name in ('number', 'integer'):
        return isinstance(x, int if name == 'integer' else (int, float)) and not isinstance(x, bool)
    return isinstance(x, TYPES[name])


def validate(x, schema, root, at):
    """Holds x to the words of JSON Schema that schema.json has; a word that is not known here is an error."""
    for word, value in schema.items():
        if word in ('$schema', '$defs', 'title', 'description'):
            continue
        if word == '$ref':
            validate(x, root['$defs'][value.rsplit('/', 1)[1]], root, at)
        elif word == 'type':
            if not any(is_type(x, name) for name in ([value] if isinstance(value, str) else value)):
                raise Wrong('%s: %r is not of type %s' % (at, x, value))
        elif word == 'const':
            if x != value or isinstance(x, bool) != isinstance(value, bool):
                raise Wrong('%s: %r is not %r' % (at, x, value))
        elif word == 'enum':
            if x not in value:
                raise Wrong('%s: %r is none of %s' % (at, x, value))
        elif word == 'anyOf':
            any_of(x, value, root, at)
        elif word == 'required':
            for name in value if isinstance(x, dict) else ():
                if name not in x:
                    raise Wrong('%s has no %s' % (at, name))
        elif word == 'properties':
            for name in x if isinstance(x, dict) else ():
                if name in value:
                    validate(x[name], value[name], root, at + '.' + name)
        elif word == 'additionalProperties' and value is False:
            for name in x if isinstance(x, dict) else ():
                if name not in schema['properties']:
                    raise Wrong('%s has %s, which is not known' % (at, name))
        elif word == 'items':
            for i, item in enumerate(x if isinstance(x, list) else ()):
                validate(item, value, root, '%s[%d]' % (at, i))
        else:
            raise Wrong('schema.json says %s, which reports.py does not know' % word)


def any_of(x, schemas, root, at):
    wrong = []
    for schema in schemas:
        try:
            validate(x, schema, root, at)
            return
        except Wrong as e:
            wrong.append(str(e))
    raise Wrong(wrong[-1])


def read(path):
    """The JSON part of a report."""
    try:
        with open(path, encoding='utf-8', newline='') as f:
            text = f.read().replace('\r\n', '\n')
        begin, end = text.index(BEGIN) + len(BEGIN), text.rindex(END)
        return text, json.loads(text[begin:end])
    except (OSError, ValueError) as e: # of JSON and of UTF-8 as well
        raise Wrong('%s: no report: %s' % (path, e)) from e


def private(text):
    """What a report must not have: a path of a home, an address on a bus, a UUID."""
    for pattern in (r'/(home|root|Users|tmp|usr|opt)/[^\s"]*', r'[A-Za-z]:\\+[^\s"]*',
                    r'\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b',
                    r'\b[0-9a-f]{4}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-9a-f]\b'):
        found = re.search(pattern, text)
        if found:
            raise Wrong('it has %s' % found.group(0))


def check(path):
    with open(os.path.join(HERE, 'schema.json'), encoding='utf-8') as f:
        schema = json.load(f)
    text, report = read(path)
    try:
        validate(report, schema, schema, 'report')
        private(text)
    except Wrong as e:
        raise Wrong('%s: %s' % (path, e)) from e
    return report


# ---- The table ----

COLUMNS = ('device', 'kind', 'driver', 'within', 'prefill', 'decode', 'gradients', 'report')
NAME_MOST, VERSION_MOST = 30, 12
SHORT = {'Portable Computing Language': 'PoCL', 'Intel(R) OpenCL': 'Intel', 'NVIDIA CUDA': 'NVIDIA',
         'AMD Accelerated Parallel Processing': 'AMD', 'Intel(R) OpenCL Graphics': 'Intel'}


def cut(text, most):
    text = re.sub(r'\s+', ' ', text.replace('(R)', '').replace('(TM)', '')).strip()
    return text if len(text) <= most else text[:most - 2].rstrip() + '..'


def results(device):
    """'19/19': O, LSE and gradients, of checks and engines that were not refused."""
    verdicts = [r['verdict'] for r in device['checks'] + device['engines'] if r['verdict'] != 'refused']
    return '%d/%d' % (sum(v == 'within' for v in verdicts), len(verdicts))


def speed(device, what, figure):
    for r in device['bench']:
        if r['what'] == what and r['problem'].startswith('f16 ') and r[figure] is not None:
            return '%.3g' % r[figure] if r[figure] < 1000 else '%.0f' % r[figure]
    return '-'


def row(device, name):
    about = device['about']
    if about is None: # its driver crashed before it could be asked
        return ('not known', '-', '-', results(device), '-', '-', '-', name)
    pretended = about['name'].startswith('pretended ') # tests/nvidia
    driver = SHORT.get(about['platform'], cut(about['platform'], VERSION_MOST))
    return (cut(about['name'], NAME_MOST), 'none' if pretended else about['kind'],
            driver + ' ' + cut(about['driver'], VERSION_MOST), results(device), speed(device, 'prefill', 'gflops'),
            speed(device, 'decode', 'gbytes_s'), speed(device, 'gradient', 'gflops'), name)


def table(paths):
    rows = [COLUMNS]
    for path in paths:
        rows += [row(device, os.path.splitext(os.path.basename(path))[0]) for device in check(path)['devices']]
    widths = [max(len(r[i]) for r in rows) for i in range(len(COLUMNS))]
    return ''.join('    ' + '  '.join(x.ljust(w) for x, w in zip(r, widths)).rstrip() + '\n' for r in rows)


def write(paths):
    with open(README, encoding='utf-8') as f:
        text = f.read()
    head = text[:text.index('    ' + COLUMNS[0])]
    with open(README, 'w', encoding='utf-8') as f:
        f.write(head + table(paths))


def main(words):
    paths = words[1:] or sorted(glob.glob(os.path.join(HERE, '*.txt')))
    try:
        if words[:1] == ['--check']:
            for path in paths:
                check(path)
        elif words[:1] == ['--table']:
            sys.stdout.write(table(paths))
        elif words == ['--write']:
            write(paths)
        else:
            print(__doc__, file=sys.stderr)
            return 1
    except Wrong as e:
        print('reports.py: %s' % e, file=sys.stderr)
        return 1
    return 0


if __name__ == '__main__':
    sys.exit(main(sys.argv[1:]))
