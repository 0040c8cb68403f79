# try-here.sh - what tries a wheel on this machine has in common. Sourced with the wheel, by try-NAME-wheel.sh
# SPDX-License-Identifier: Apache-2.0
set -u
test $# -eq 1 || { echo "usage: build-aux/$(basename "$0") WHEEL" >&2; exit 2; }
top=$(cd "$(dirname "$0")/.." && pwd)
wheel=$(realpath "$1")
version=$(sed -n 's/^AC_INIT(\[clattn\], \[\(.*\)\])$/\1/p' "$top/configure.ac")
sudo=
test "$(id -u)" -eq 0 || sudo=sudo
work=$(mktemp -d "${TMPDIR:-/tmp}/clattn-wheel.XXXXXX")
trap '$sudo rm -rf "$work"' EXIT
trap 'exit 130' HUP INT TERM
cd "$work" || exit 1
n=0 bad=0
ok() { # DESCRIPTION COMMAND...
    local description=$1
    shift
    n=$((n + 1))
    "$@" >out 2>&1 && { echo "ok $n - $description"; return; }
    bad=1
    echo "not ok $n - $description"
    sed 's/^/# /' out | tail -n 20
}
