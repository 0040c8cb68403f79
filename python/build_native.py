# build_native.py - cffi's bindings of the library's headers and of native.c, compiled as clattn/_native
# SPDX-License-Identifier: Apache-2.0
"""Describes the extension module to cffi: with the library that the package brings along (build_library.py), or with
the installed one, which pkg-config finds.

CLATTN_PREFIX=DIR names the prefix of an installation that pkg-config does not search. The declarations are read from
the library's own <clattn.h> and <clattn_tune.h>, so that Python and the library always agree on structs.
"""
import os
import re
import subprocess

from cffi import FFI

import build_library

HERE = os.path.dirname(os.path.abspath(__file__))

OPENCL = '''
typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_event *cl_event;
'''


class NoLibrary(Exception):
    """There is no installed clattn."""


def pkg_config(*words):
    env = dict(os.environ)
    prefix = env.get('CLATTN_PREFIX')
    if prefix:
        folders = [os.path.join(prefix, lib, 'pkgconfig') for lib in ('lib', 'lib64', 'lib/x86_64-linux-gnu')]
        env['PKG_CONFIG_PATH'] = os.pathsep.join(folders + [env.get('PKG_CONFIG_PATH', '')])
    try:
        done = subprocess.run(['pkg-config', *words], env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                              universal_newlines=True)
    except FileNotFoundError:
        raise NoLibrary('pkg-config is not installed') from None
    if done.returncode:
        raise NoLibrary('pkg-config does not find the installed clattn; set CLATTN_PREFIX to its prefix, or '
                        'PKG_CONFIG_PATH\n' + done.stderr)
    return done.stdout.strip()


def declarations(path):
    """A header as cffi reads it: without comments, preprocessor and attributes."""
    with open(path, encoding='utf-8') as f:
        text = f.read()
    text = re.sub(r'/\*.*?\*/', '', text, flags=re.S)
    text = re.sub(r'^#(?:.*\\\n)*.*$', '', text, flags=re.M)
    text = text.replace('extern "C" {', '')
    text = re.sub(r'\bCLATTN_(API|MUST_CHECK)\b', '', text)
    return re.sub(r'^\}\n', '', text, flags=re.M) # that of extern "C", alone on its line


def installed():
    """What the installed library asks for: (its headers, arguments of set_source())."""
    words = pkg_config('--cflags', '--libs', 'clattn').split()
    libraries = [w[2:] for w in words if w.startswith('-l')] + ['OpenCL']
    return pkg_config('--variable=includedir', 'clattn'), {
        'include_dirs': [HERE] + [w[2:] for w in words if w.startswith('-I')],
        'library_dirs': [w[2:] for w in words if w.startswith('-L')],
        'libraries': libraries,
        'runtime_library_dirs': [pkg_config('--variable=libdir', 'clattn')]} # found without LD_LIBRARY_PATH


def brought():
    """The same for one that the package brings along; setup.py adds the libraries once they are compiled. Nobody else
    sees its functions, so that another clattn of the same process is no matter."""
    include = build_library.include()
    if build_library.WINDOWS: # where a module exports what says so, and nothing else
        return include, {'include_dirs': [HERE, include]}
    return include, {
        'include_dirs': [HERE, include],
        'extra_link_args': ['-Wl,--version-script=' + os.path.join(HERE, 'native.map'), '-Wl,-rpath,$ORIGIN/lib']}


def builder():
    include, arguments = brought() if build_library.brought() else installed()
    headers = [os.path.join(include, name) for name in ('clattn.h', 'clattn_tune.h')]
    ffi = FFI()
    ffi.cdef(OPENCL + ''.join(map(declarations, headers + [os.path.join(HERE, 'native.h')])))
    ffi.cdef('extern "Python" void clattn_py_log(void *user, const char *text);'
             'extern "Python" int clattn_py_progress(void *user, const clattn_progress *step);')
    ffi.set_source(
        'clattn._native', '#define CL_TARGET_OPENCL_VERSION 120\n#define CL_USE_DEPRECATED_OPENCL_1_1_APIS\n'
        '#include "native.h"\n#include "native.c"\n',
        depends=[os.path.join(HERE, name) for name in ('native.c', 'native.h')] + headers,
        extra_compile_args=['-O2'], **arguments)
    return ffi


if __name__ == '__main__':
    builder().compile(verbose=True)
