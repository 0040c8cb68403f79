# try.sh - what try-packages.sh and try-wheel.sh share. Sourced by them, in a root where they lie side by side
# SPDX-License-Identifier: Apache-2.0
set -eu
export DEBIAN_FRONTEND=noninteractive
n=0
ok() { # WHAT COMMAND...: a line of TAP; the first failure ends it
    n=$((n + 1))
    what=$1
    shift
    if "$@" >try.out 2>&1 </dev/null; then
        echo "ok $n - $what"
    else
        sed 's/^/# /' try.out
        echo "not ok $n - $what"
        exit 1
    fi
}
get() { apt-get install -y --no-install-recommends "$@"; }
