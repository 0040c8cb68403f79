# setup.py - compiles clattn/_native; everything else is in pyproject.toml
# SPDX-License-Identifier: Apache-2.0
from setuptools import setup

setup(cffi_modules=['build_native.py:ffi'])
