#!/bin/sh
# amd_faults.t - faults put into programs, which the pretended AMD device has to show
# SPDX-License-Identifier: Apache-2.0
#
# Machine code has one local memory, not arrays of it: one that is too short is not seen as it is in PTX.
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/amd/amd_device.sh"

simt='f32 b1 h2 q77 k133 d64 causal lse' mma='f16 b1 h2 q77 k133 d64 causal lse' gone=' '
holes='f32 b1 h2 q77 k133 d64 mask:11qk lse' # keys are dropped
barrier='barrier(CLK_LOCAL_MEM_FENCE);'
case_is_right $where "$simt" simt
if rest; then
    for device in $where driver=6,gfx=942; do
        case_is_right $device "$holes" simt
        case_is_right $device "$simt" simt
        due fault simt "$holes" "$barrier" "$gone" 1 $device
        # The others, 3, 4 and 7, are among the items of a row, which are of one wave here.
        for i in 2 5 6; do due fault simt "$simt" "$barrier" "$gone" $i $device; done
    done
    for device in driver=6,gfx=1100 driver=6,gfx=1201 driver=6,gfx=942; do
        engine=wmma
        test $device != driver=6,gfx=942 || engine=mfma
        case_is_right $device "$mma" $engine
        for i in 1 2 3 4; do due fault $engine "$mma" "$barrier" "$gone" $i $device; done
        due fault $engine "$mma" 'CLA_BARRIER_V_BEGINS CLA_ARRIVE();' 'CLA_BARRIER_V_BEGINS' 1 $device
        due fault $engine "$mma" '0x05040100' '0x05040101' 1 $device
        due fault $engine "$mma" '0x07060302' '0x07060303' 1 $device
        due fault $engine "$mma" '(half)low, (half)high' '(half)high, (half)low' 1 $device
    done
    # Lane maps.
    device=driver=6,gfx=942
    due fault mfma "$mma" 'CLA_MMA_COLUMN(item) ((item) % 16)' 'CLA_MMA_COLUMN(item) ((item) % 16 ^ 1)' 1 $device
    due fault mfma "$mma" '((item) / 16 % 4)' '((item) / 16 % 4 ^ 1)' 1 $device
    due fault mfma "$mma" 'CLA_MMA_APART 16' 'CLA_MMA_APART 32' 1 $device
    due fault mfma "$mma" 'w ^ by * 4' 'w' 1 $device
    due fault mfma "$mma" 'd[column] = sum.y' 'd[column] = sum.x' 1 $device
    device=driver=6,gfx=1201
    due fault wmma "$mma" '_COLUMN_0(item) ((item) % 16)' '_COLUMN_0(item) ((item) % 16 ^ 1)' 1 $device
    due fault wmma "$mma" '((item) / 16 % 2)' '((item) / 16 % 2 ^ 1)' 1 $device
    due fault wmma "$mma" '0x76543210' '0x67543210' 1 $device
    device=driver=6,gfx=1100
    due fault wmma "$mma" '((item) % 2 * 8 + (item) % 16 / 2)' '((item) % 16)' 1 $device
    due fault wmma "$mma" '((item) / 16 % 2)' '((item) / 16 % 2 ^ 1)' 1 $device
fi

echo "1..$n"
exit $bad
