# house.sh - how tests of the source tree report. Sourced from its top
# SPDX-License-Identifier: Apache-2.0
. tests/lib/tap.sh
explain() { printf '%s\n' "$3"; }
result() { # WHAT PROBLEMS: one TAP line, and the problems under it
    test -z "$2"
    ok $? "$1" "$2"
}
