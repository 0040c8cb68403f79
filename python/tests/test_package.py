# test_package.py - the package itself: its version, and its source archive, from which it installs
# SPDX-License-Identifier: Apache-2.0
import glob
import importlib.metadata
import os
import shutil
import subprocess
import sys
import tarfile

import pytest

import clattn

PYTHON = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def run(*command, **more):
    return subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          universal_newlines=True, timeout=600,
                          **more)


@pytest.fixture(scope='module')
def archive(tmp_path_factory):
    """A source archive, made in a copy of the tree."""
    pytest.importorskip('setuptools', reason='setuptools is not installed')
    tree = tmp_path_factory.mktemp('archive') / 'python'
    shutil.copytree(PYTHON, tree, ignore=shutil.ignore_patterns('build', '*.egg-info', '_native*', '__pycache__'))
    done = run(sys.executable, 'setup.py', '-q', 'sdist', cwd=tree)
    if 'pkg-config' in done.stdout:
        pytest.skip('pkg-config does not find clattn: CLATTN_PREFIX says where it is installed')
    assert done.returncode == 0, done.stdout
    found, = glob.glob(str(tree / 'dist' / '*.tar.gz'))
    return found


def test_version():
    """The package has the version of the library that it was compiled for, and that is the one that runs."""
    try:
        assert importlib.metadata.version('clattn') == clattn.version()
    except importlib.metadata.PackageNotFoundError:
        pytest.skip('clattn is not installed as a package')


def test_archive(archive):
    name = os.path.basename(archive)[:-len('.tar.gz')]
    assert name == 'clattn-' + clattn.version()
    with tarfile.open(archive) as f:
        held = set(f.getnames())
    for path in ('build_native.py', 'native.c', 'native.h', 'pyproject.toml', 'setup.py', 'clattn/py.typed'):
        assert '%s/%s' % (name, path) in held
    names = os.listdir(os.path.join(PYTHON, 'clattn'))
    sources = [p for p in names if p.endswith('.py') and not p.startswith('_native')]
    assert all('%s/clattn/%s' % (name, p) in held for p in sources)


def install(archive, target):
    return run(sys.executable, '-m', 'pip', 'install', '-q', '--no-deps', '--no-index', '--no-build-isolation',
               '--target',
               str(target), archive, env=dict(os.environ, PYTHONPATH=''))


def test_archive_installs(archive, tmp_path):
    pytest.importorskip('pip', reason='pip is not installed')
    if 'bdist_wheel' not in run(sys.executable, 'setup.py', '-q', '--help-commands', cwd=PYTHON).stdout:
        pytest.skip('setuptools is older than 70.1, and wheel is not installed')
    done = install(archive, tmp_path / 'site')
    assert done.returncode == 0, done.stdout
    text = 'import clattn, numpy as np; q = np.ones((1, 1, 2, 16), np.float32); ' \
        'print(clattn.__file__, clattn.version(), clattn.attention(q, q, q).shape)'
    done = run(sys.executable, '-c', text, cwd=tmp_path, env=dict(os.environ, PYTHONPATH=str(tmp_path / 'site')))
    assert done.stdout.split()[:2] == [str(tmp_path / 'site' / 'clattn' / '__init__.py'), clattn.version()], done.stdout
    assert '(1, 1, 2, 16)' in done.stdout


def test_archive_of_another_version(archive, tmp_path):
    """It is for the library that it was made beside."""
    pytest.importorskip('pip', reason='pip is not installed')
    with tarfile.open(archive) as f:
        f.extractall(tmp_path)
    tree, = tmp_path.iterdir()
    text = (tree / 'PKG-INFO').read_text()
    (tree / 'PKG-INFO').write_text(text.replace('\nVersion: ' + clattn.version(), '\nVersion: 0.0.9'))
    done = install(str(tree), tmp_path / 'site')
    assert done.returncode and 'this archive is for clattn 0.0.9, and the installed library is' in done.stdout
