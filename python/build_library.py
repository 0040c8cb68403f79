# build_library.py - the library that a package brings along, in place of one that is installed
# SPDX-License-Identifier: Apache-2.0
"""A source archive has clattn's sources in libclattn/; python/sdist.sh puts them there. They are compiled here, as a
static library that becomes a part of clattn/_native. CLATTN_BUNDLE=DIR names a prefix where that was done already, for
another machine perhaps (python/wheel.sh). CLATTN_PREFIX takes an installed library in place of them."""
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
SOURCES = os.path.join(HERE, 'libclattn')
# The folder of a site's records is compiled in: that of the system, not one below where the package is made.
OPTIONS = ('--disable-shared', '--with-pic', '--disable-dependency-tracking', '--sysconfdir=/etc',
           '--datadir=/usr/share')
TARGETS = ('install-exec', 'install-includeHEADERS', 'install-pkgconfigDATA')
PROGRAMS = ('clattn-run', 'clattn-tune', 'clattn-bench', 'clattn-report')
# python/wheel.sh makes packages for Windows on Linux, by CLATTN_BUNDLE_FOR=windows.
WINDOWS = os.environ.get('CLATTN_BUNDLE_FOR') == 'windows'
EXE = '.exe' if WINDOWS else ''


def given():
    """The prefix of a library that is to be brought along and is there, or None."""
    return os.environ.get('CLATTN_BUNDLE') or None


def brought():
    """Whether the package brings its library along."""
    return bool(given()) or (os.path.isdir(SOURCES) and not os.environ.get('CLATTN_PREFIX'))


def include():
    """Where its headers are; there before anything is compiled."""
    return os.path.join(given() or SOURCES, 'include')


def version():
    """What <clattn.h> says."""
    with open(os.path.join(include(), 'clattn.h'), encoding='utf-8') as f:
        numbers = dict(re.findall(r'^#define CLATTN_VERSION_(MAJOR|MINOR|PATCH) (\d+)', f.read(), flags=re.M))
    return '.'.join(numbers[part] for part in ('MAJOR', 'MINOR', 'PATCH'))


def _run(words, folder):
    done = subprocess.run(words, cwd=folder, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, universal_newlines=True)
    if done.returncode:
        sys.exit('%s%s failed in %s' % (done.stdout, ' '.join(words), folder))


def compiled(scratch):
    """The prefix of the library, compiled in a scratch folder if need be."""
    if given():
        return given()
    build, prefix = (os.path.abspath(os.path.join(scratch, name)) for name in ('libclattn', 'prefix'))
    os.makedirs(build, exist_ok=True)
    _run([os.path.join(SOURCES, 'configure'), '-q', '--prefix=' + prefix,
          '--libdir=' + os.path.join(prefix, 'lib'), *OPTIONS], build)
    _run(['make', '-j%d' % (os.cpu_count() or 1), *TARGETS], build)
    return prefix


def linked(prefix):
    """(folders, names) of the libraries that clattn/_native takes; the first is clattn itself, which is static."""
    with open(os.path.join(prefix, 'lib', 'pkgconfig', 'clattn.pc'), encoding='utf-8') as f:
        fields = dict(line.rstrip('\n').split(': ', 1) for line in f if ': ' in line)
    words = (fields.get('Libs', '') + ' ' + fields.get('Libs.private', '')).split()
    names = [w[2:] for w in words if w.startswith('-l')]
    if 'OpenCL' not in names: # named by `Requires`
        names.append('OpenCL')
    return [os.path.join(prefix, 'lib')], names
