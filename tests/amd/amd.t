#!/bin/sh
# amd.t - the library on a pretended AMD device: kernels compiled by its drivers, executed as its machine code
# SPDX-License-Identifier: Apache-2.0
#
# As a user's program meets it, and tables of cases: in several schedules, with other errors of what is approximate.
# make check has one case of each kind.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/amd/amd_device.sh"
