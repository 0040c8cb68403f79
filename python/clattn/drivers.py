# drivers.py - the OpenCL drivers that pip has installed
# SPDX-License-Identifier: Apache-2.0
"""OpenCL's loader reads which drivers there are from a folder of the system, one text file for each with the name of
its library. pip cannot write there: PoCL's wheel leaves its file beside pyopencl, Intel's in the environment's own
etc/, with a path of the machine that it was made on. Both are shown to the loader here, beside those of the system.

Whoever sets one of the variables in CHOSEN chooses drivers by that, and nothing is looked for."""
import glob
import os
import shutil
import site
import sys
import sysconfig
import tempfile
import threading
from contextlib import contextmanager, suppress
from typing import Dict, Iterator, List, Optional, Tuple

WINDOWS = os.name == 'nt'
SYSTEM = '/etc/OpenCL/vendors'
CHOSEN = ('OCL_ICD_VENDORS', 'OCL_ICD_FILENAMES', 'OPENCL_VENDOR_PATH')
PACKAGES = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
VARIABLE = 'OCL_ICD_VENDORS'
_lock = threading.Lock()
_read = False # by this process's loader
_set: Optional[Tuple[str, Optional[str]]] = None # what the variable is set to for the moment, and what it was before


def need_loader() -> None:
    """Windows says of a library that it lacks neither which one that is nor where it comes from."""
    if not WINDOWS:
        return
    import ctypes # pylint: disable=import-outside-toplevel # what other systems' Python may lack
    try:
        ctypes.CDLL('OpenCL.dll')
    except OSError:
        raise ImportError('clattn needs OpenCL.dll, which is not here: it comes with the driver of a GPU, and with '
                          "Intel's OpenCL runtime for CPUs") from None


def _prefixes() -> List[str]:
    """Where pip puts files that belong to no package: of an environment, the system, or a user."""
    return list(dict.fromkeys((sys.prefix, sysconfig.get_path('data'), site.getuserbase())))


def _library(path: str) -> str:
    """The library that a driver's file names; '' where it is not there."""
    name = ''
    with suppress(OSError), open(path, encoding='utf-8', errors='replace') as f:
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
    files = _files(PACKAGES, '*', '.libs')
    for prefix in _prefixes():
        files += _files(prefix, 'etc', 'OpenCL', 'vendors')
    found = {os.path.basename(path): _library(path) for path in files}
    of_the_system = {_library(path) for path in _files(SYSTEM)}
    return {name: library for name, library in found.items() if library and library not in of_the_system}


def _write(folder: str, found: Dict[str, str]) -> None:
    for path in _files(SYSTEM):
        with suppress(OSError): # one that cannot be read: the loader could not either
            shutil.copyfile(path, os.path.join(folder, os.path.basename(path)))
    for name, library in found.items():
        with open(os.path.join(folder, 'pip-' + name), 'w', encoding='utf-8') as f:
            f.write(library + '\n')


def _put_back() -> None:
    global _set # pylint: disable=global-statement
    if _set is not None and os.environ.get(VARIABLE) == _set[0]:
        del os.environ[VARIABLE]
        if _set[1] is not None:
            os.environ[VARIABLE] = _set[1]
    _set = None


@contextmanager
def shown() -> Iterator[None]:
    """While this lasts, an OpenCL loader of this process or of one that it starts finds these drivers, too. Without a
    folder to write them to it finds those of the system."""
    global _set # pylint: disable=global-statement
    folder = ''
    with suppress(OSError):
        if not WINDOWS and not any(os.environ.get(name) for name in CHOSEN):
            found = installed()
            if found:
                folder = tempfile.mkdtemp(prefix='clattn-drivers-')
                _write(folder, found)
                _set = (folder + os.sep, os.environ.get(VARIABLE)) # old loaders put names directly behind it
                os.environ[VARIABLE] = _set[0]
    try:
        yield
    finally:
        _put_back()
        if folder:
            shutil.rmtree(folder, ignore_errors=True)


def forked() -> None:
    """A child has the lock as it was, perhaps held by a thread that it lacks, and may see a folder that its parent
    removes."""
    global _lock # pylint: disable=global-statement
    _lock = threading.Lock()
    _put_back()


def show() -> None:
    """Has this process's loader read them; a loader does that once."""
    global _read # pylint: disable=global-statement
    if _read:
        return
    from ._native import lib # pylint: disable=import-outside-toplevel # programs.py needs no library
    with _lock:
        if not _read:
            with shown():
                lib.clattn_py_show()
            _read = True
