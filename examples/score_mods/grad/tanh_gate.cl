// SPDX-License-Identifier: Apache-2.0
#define OPEN tanh(gate[h] * s + level[b])
#define STEEP (0.5f * s * (1.0f - OPEN * OPEN)) /* the score's derivative by what tanh is told */
gate_index = h;
gate_grad = ds * STEEP * s;
level_index = b;
level_grad = ds * STEEP;
worth_index = k;
worth_grad = ds;
ds *= 0.5f + 0.5f * OPEN + STEEP * gate[h];
