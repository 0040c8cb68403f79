#!/bin/sh
# intel_faults.t - faults put into programs, which the pretended Intel device has to show
# SPDX-License-Identifier: Apache-2.0
. "${top_srcdir=$(dirname "$0")/../..}/tests/lib/program.sh"
. "$top_srcdir/tests/intel/intel_device.sh"

simt='f32 b1 h2 q77 k133 d64 causal lse' mma='f16 b1 h2 q77 k133 d64 causal lse' gone=' '
holes='f16 b1 h2 q77 k133 d64 mask:11qk lse' # keys are dropped
shared='f16 b1 h1 q40 k70 d64/256 lse'        # two sub-groups have the same rows
barrier='barrier(CLK_LOCAL_MEM_FENCE);'
case_is_right gpu=bmg "$mma" dpas
if rest; then
    # Of seven 1 is for keys that are dropped; 3, 4 and 7 are among the items of a row, which are of one thread.
    for i in 2 5 6; do due fault simt "$simt" "$barrier" "$gone" $i gpu=bmg; done
    by_driver() { # FROM TO: of DG2
        if has_driver; then
            fault simt "$simt" "$1" "$2" 1 driver=1,gpu=dg2
        else
            skip "no driver, or no clbuild: a fault on dg2"
        fi
    }
    due by_driver '#define CLA_BARRIER_CHUNK barrier(CLK_LOCAL_MEM_FENCE);' '#define CLA_BARRIER_CHUNK'
    due by_driver 'if (r >= cla_row_count(e, e->nq)) return;' "$gone"
    for gpu in bmg pvc acm-g10; do
        engine=dpas
        test $gpu != acm-g10 || engine=dpas8
        case_is_right gpu=$gpu "$holes" $engine
        for name in CLEARED MARKED; do
            due fault $engine "$holes" "define CLA_BARRIER_$name $barrier" "define CLA_BARRIER_$name" 1 gpu=$gpu
        done
        for name in FIRST_K K; do
            due fault $engine "$mma" "define CLA_BARRIER_$name $barrier" "define CLA_BARRIER_$name" 1 gpu=$gpu
        done
        due fault $engine "$mma" 'CLA_BARRIER_V_BEGINS CLA_ARRIVE();' 'CLA_BARRIER_V_BEGINS' 1 gpu=$gpu
        due fault $engine "$mma" 'CLA_BARRIER_V_ENDS CLA_WAIT();' 'CLA_BARRIER_V_ENDS' 1 gpu=$gpu
        # Lane maps, places in local memory, and what reads or writes outside.
        due fault $engine "$mma" 'CLA_MMA_ROW(column) (column)' 'CLA_MMA_ROW(column) ((column) ^ 1)' \
            1 gpu=$gpu
        due fault $engine "$mma" 'row % 8 * 2 + c % 2;' 'row % 8 * 2 + (c ^ 1) % 2;' 1 gpu=$gpu
        due fault $engine "$mma" 'p % 8 * 8 + row % 8]' 'p % 8 * 8 + (row ^ 1) % 8]' 1 gpu=$gpu
        due fault $engine "$mma" '(x & 0xffff) | y << 16' '(y & 0xffff) | x << 16' 1 gpu=$gpu
        due fault $engine "$mma" 'convert_half2_rte((float2)(low, high))' 'convert_half2_rte((float2)(high, low))' 1 \
            gpu=$gpu
        due fault $engine "$mma" 'const uint8 *x) { return x[0]; }' 'const uint8 *x) { return x[0].s10325476; }' 1 \
            gpu=$gpu
        due fault $engine "$mma" 'if (r >= cla_row_count(e, e->nq)) return;' "$gone" 1 gpu=$gpu
        due fault $engine "$mma" 'c % 2;' 'c % 2 + 16 * 500;' 1 gpu=$gpu
        # Sub-groups that share rows.
        engine="$engine nw8,rt1,bk16,qreg0"
        case_is_right gpu=$gpu "$shared" "$engine"
        due fault "$engine" "$shared" "define CLA_BARRIER_FIRST_K $barrier" 'define CLA_BARRIER_FIRST_K' 1 gpu=$gpu
        due fault "$engine" "$shared" '((t)->item / CLA_WAVE % CLA_ROW_WAVES)' '0' 1 gpu=$gpu
        due fault "$engine" "$shared" 'c / own * (8 * own)' '(c / own ^ 1) * (8 * own)' 1 gpu=$gpu
        due fault "$engine" "$shared" 'CLA_OWNS_ROWS(t) && CLA_IS_FIRST(t)' '0' 1 gpu=$gpu # both have the same LSE
    done
    # What reads blocks of two dimensions: barriers, places, dropped keys, and surfaces that break the rules.
    surface='f16 b1 h2 q77 k133 d80 causal lse'
    for gpu in bmg pvc; do
        for case in "$mma" "$surface" "$holes"; do case_is_right gpu=$gpu "$case" dpas forward aligned; done
        of_surface() { due fault dpas "$1" "$2" "$3" 1 gpu=$gpu aligned; }
        for name in CLEARED MARKED; do
            of_surface "$holes" "define CLA_BARRIER_$name $barrier" "define CLA_BARRIER_$name"
        done
        of_surface "$mma" "define CLA_BARRIER_K $barrier" 'define CLA_BARRIER_K'
        of_surface "$mma" 'CLA_BARRIER_V_BEGINS CLA_ARRIVE();' 'CLA_BARRIER_V_BEGINS'
        of_surface "$mma" 'CLA_BARRIER_V_ENDS CLA_WAIT();' 'CLA_BARRIER_V_ENDS'
        of_surface "$mma" 'p % 8 * 8;' '(p ^ 1) % 8 * 8;'
        of_surface "$mma" 'CLA_ROWS_OF_K * h + j' 'CLA_ROWS_OF_K * h + (j ^ 8)'
        of_surface "$mma" 'CLA_MMA_K * d, k0' 'CLA_MMA_K * d, 1 + k0'
        of_surface "$mma" '2 * CLA_DV, t->end' '2 * CLA_DV, t->end + 1'
        of_surface "$holes" '+ 2 * i + 1] ? 0xffff0000u' '+ 2 * i] ? 0xffff0000u'
        case_is_right gpu=$gpu "$shared" dpas forward aligned
        of_surface "$shared" 'c / own * (8 * own)' '(c / own ^ 1) * (8 * own)'
        of_surface "$surface" 's.x = ahead / 2' 's.x = 0'
        # The second head begins between multiples of 64, and no row is wider than it must be.
        case_is_right gpu=$gpu "$surface" dpas forward plain
        due fault dpas "$surface" '(uint)(uintptr_t)first & 63) + bytes' '0) + bytes' 1 gpu=$gpu plain
        of_surface "$surface" 'first - ahead' 'first'
        of_surface "$surface" 's.pitch = (int)pitch' 's.pitch = (int)pitch + 8'
        of_surface "$surface" 'ahead + bytes;' 'ahead + bytes + 32;'
    done
fi

finish
