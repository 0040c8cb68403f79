# setup.py - compiles clattn/_native, and takes the version of the library; everything else is in pyproject.toml
# SPDX-License-Identifier: Apache-2.0
import os
import sys
import sysconfig

from setuptools import setup
from setuptools.command.build_ext import build_ext

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import build_library # noqa: E402
from build_native import pkg_config # noqa: E402

# requires-python: one wheel serves that Python and all later ones, but those without the interpreter's lock.
STABLE = {} if sysconfig.get_config_var('Py_GIL_DISABLED') else {'bdist_wheel': {'py_limited_api': 'cp39'}}


def version():
    """That of the library. A source archive is for the one that it was made beside."""
    found, archive = (build_library.version() if build_library.brought() else pkg_config('--modversion', 'clattn'),
                      os.path.join(HERE, 'PKG-INFO'))
    if os.path.exists(archive):
        with open(archive, encoding='utf-8') as f:
            made_for = next(line.split()[1] for line in f if line.startswith('Version:'))
        if made_for != found:
            sys.exit('this archive is for clattn %s, and %s library is %s' % (
                made_for, 'its' if build_library.brought() else 'the installed', found))
    return found


class Bringing(build_ext):
    """Links clattn/_native with a library that the package brings along, and puts its programs into clattn/bin, and the
    OpenCL loader that CLATTN_LOADER names into clattn/lib."""

    def get_ext_filename(self, fullname):
        """Windows' Python looks for another name than that of this system does."""
        return fullname.replace('.', os.sep) + '.pyd' if build_library.WINDOWS else super().get_ext_filename(fullname)

    def build_extension(self, ext):
        prefix = build_library.compiled(self.build_temp)
        folders, names = build_library.linked(prefix)
        ext.library_dirs += folders
        ext.libraries += names + (['python3'] if build_library.WINDOWS else [])
        super().build_extension(ext)
        package = os.path.dirname(self.get_ext_fullpath(ext.name))
        carried = [(os.path.join(prefix, 'bin', name + build_library.EXE), 'bin', name + build_library.EXE)
                   for name in build_library.PROGRAMS]
        loader = os.environ.get('CLATTN_LOADER')
        if loader:
            carried.append((loader, 'lib', 'libOpenCL.so.1'))
        for source, folder, name in carried:
            self.mkpath(os.path.join(package, folder))
            self.copy_file(source, os.path.join(package, folder, name))


# An installed library has its programs with it: they must not be hidden by others of that name.
BROUGHT = {
    'cmdclass': {'build_ext': Bringing},
    'options': STABLE,
    'entry_points': {'console_scripts': [name + ' = clattn.programs:' + name.split('-')[1]
                                         for name in build_library.PROGRAMS]},
}
setup(version=version(), cffi_modules=['build_native.py:builder'],
      **(BROUGHT if build_library.brought() else {'entry_points': {}}))
