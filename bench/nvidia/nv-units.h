/* nv-units.h - questions about what an NVIDIA device computes, and how fast
 * SPDX-License-Identifier: Apache-2.0 */
#ifndef NV_UNITS_H
#define NV_UNITS_H

#include "bench/nvidia/nv-at.h"

enum { F16, BF16, TF32, MMA_TYPES }; /* of matrix units */
void ask_mma(struct at *a, int type);
void ask_mma_peak(struct at *a, int type);
void ask_f32_peak(struct at *a, int unused);
void ask_clocks(struct at *a, int unused);

#endif
