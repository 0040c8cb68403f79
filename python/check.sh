#!/usr/bin/env bash
# check.sh - tests of the Python package against an installed clattn: python/check.sh PREFIX [PYTHON [FILE...]]
# SPDX-License-Identifier: Apache-2.0
#
# Makes a virtual environment in a scratch folder, installs the package into it as README says, and runs its tests from
# another folder, so that it is the installed package that they meet. PyTorch and what is built on it, gigabytes, are
# not fetched: CLATTN_TORCH=1 installs what tests/requirements-torch.txt names; without, the tests that need it say that
# they are skipped. FILE: of python/tests these alone.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
prefix=${1:?usage: python/check.sh PREFIX [PYTHON [FILE...]]}
python=${2:-python3}
tests=("${@:3}")
test ${#tests[@]} -gt 0 || tests=("")
work=$(mktemp -d "${TMPDIR:-/tmp}/clattn-python.XXXXXX")
trap 'rm -rf "$work"' EXIT

"$python" -m venv "$work/venv"
cp -R "$here" "$work/python" # pip builds in the tree that it is given
rm -rf "$work/python/build" "$work/python/clattn"/_native*
export CLATTN_PREFIX=$prefix
"$work/venv/bin/pip" install -q "$work/python[test]"
test "${CLATTN_TORCH:-0}" = 0 || "$work/venv/bin/pip" install -q -r "$here/tests/requirements-torch.txt"
cd "$work"

PYTHONDONTWRITEBYTECODE=1 "$work/venv/bin/python" -m pytest -q -p no:cacheprovider -rs "${tests[@]/#/$here/tests/}"
