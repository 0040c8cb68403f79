# setup.py - compiles clattn/_native, and takes the version of the library; everything else is in pyproject.toml
# SPDX-License-Identifier: Apache-2.0
import os
import sys

from setuptools import setup

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
from build_native import pkg_config # noqa: E402


def version():
    """That of the installed library. A source archive is for the one that it was made beside."""
    found, archive = pkg_config('--modversion', 'clattn'), os.path.join(HERE, 'PKG-INFO')
    if os.path.exists(archive):
        with open(archive, encoding='utf-8') as f:
            made_for = next(line.split()[1] for line in f if line.startswith('Version:'))
        if made_for != found:
            sys.exit('this archive is for clattn %s, and the installed library is %s' % (made_for, found))
    return found


setup(version=version(), cffi_modules=['build_native.py:builder'])
