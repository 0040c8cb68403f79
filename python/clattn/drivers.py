# drivers.py - the OpenCL drivers that pip has installed
# SPDX-License-Identifier: Apache-2.0
"""OpenCL's loader reads which drivers there are from a folder of the system, one text file for each with the name of
its library. pip cannot write there: PoCL's wheel leaves its file beside pyopencl, Intel's in the environment's own
etc/, with a path of the machine that it was made on. Both are shown to the loader here, beside those of the system.

Whoever sets OCL_ICD_VENDORS or OCL_ICD_FILENAMES chooses drivers by that, and nothing is looked for."""
import glob
import os
import shutil
import sys
import tempfile
import threading
from contextlib import contextmanager
from typing import Dict, Iterator, List

SYSTEM = '/etc/OpenCL/vendors'
CHOSEN = ('OCL_ICD_VENDORS', 'OCL_ICD_FILENAMES')
PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
_LOCK = threading.Lock()
_SHOWN: List[bool] = []


def _library(path: str) -> str:
    """The library that a driver's file names; '' where it is not there."""
    with open(path, encoding='utf-8', errors='replace') as f:
        name = f.readline().strip()
    folder = os.path.dirname(path)
    prefix = os.path.dirname(os.path.dirname(os.path.dirname(folder))) # of etc/OpenCL/vendors
    for place in (os.path.join(folder, name), os.path.join(prefix, 'lib', os.path.basename(name))):
        if name and os.path.isfile(place):
            return os.path.realpath(place)
    return ''


def _files(*folder: str) -> List[str]:
    return sorted(glob.glob(os.path.join(glob.escape(folder[0]), *folder[1:], '*.icd')))


def installed() -> Dict[str, str]:
    """The libraries of drivers that pip has installed, by the names of their files."""
    files = _files(PACKAGES, '*', '.libs') + _files(sys.prefix, 'etc', 'OpenCL', 'vendors')
    found = {os.path.basename(path): _library(path) for path in files}
    of_the_system = {_library(path) for path in _files(SYSTEM)}
    return {name: library for name, library in found.items() if library and library not in of_the_system}


def _write(folder: str, found: Dict[str, str]) -> None:
    for path in _files(SYSTEM):
        shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))
    for name, library in found.items():
        with open(os.path.join(folder, 'pip-' + name), 'w', encoding='utf-8') as f:
            f.write(library + '\n')


@contextmanager
def shown() -> Iterator[None]:
    """While this lasts, an OpenCL loader of this process or of one that it starts finds these drivers, too. Without a
    folder to write them to it finds those of the system."""
    folder = ''
    try:
        if os.name != 'nt' and not any(os.environ.get(name) for name in CHOSEN):
            found = installed()
            if found:
                folder = tempfile.mkdtemp(prefix='clattn-drivers-')
                _write(folder, found)
                os.environ['OCL_ICD_VENDORS'] = folder + os.sep # loaders before 2020 put names directly behind it
    except OSError:
        pass
    try:
        yield
    finally:
        if folder:
            os.environ.pop('OCL_ICD_VENDORS', None)
            shutil.rmtree(folder, ignore_errors=True)


def forked() -> None:
    """A child has the lock as it was, perhaps held by a thread that it lacks."""
    global _LOCK # pylint: disable=global-statement
    _LOCK = threading.Lock()


def show() -> None:
    """Has this process's loader read them; a loader does that once."""
    if _SHOWN:
        return
    from ._native import ffi, lib # pylint: disable=import-outside-toplevel # programs.py needs no library
    with _LOCK:
        if not _SHOWN:
            with shown():
                lib.clattn_default_device(ffi.NULL, ffi.new('cl_device_id *'))
            _SHOWN.append(True)
