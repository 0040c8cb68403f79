#!/bin/sh
# readme.sh - the commands of a section of README, as they stand there: build-aux/readme.sh SECTION [README]
# SPDX-License-Identifier: Apache-2.0
#
# Commands are the lines that are indented by four columns. Fails where there is no such section or no command in it.
set -eu
test $# -eq 1 || test $# -eq 2 || {
    echo 'usage: build-aux/readme.sh SECTION [README]' >&2
    exit 2
}
awk -v section="$1" '
    /^-+$/ && before != "" { here = before == section } # a heading is underlined
    { before = $0 }
    here && sub(/^    /, "") { print; n++ }
    END { exit n == 0 }' "${2-$(dirname "$0")/../README}"
